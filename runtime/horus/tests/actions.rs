//! Actions between a server and its clients: what becomes of goals, of requests to cancel them, and of both when one of the ends is gone.

mod peers;

use std::time::{Duration, Instant};

use horus::action::{
    ActionClient, ActionError, ActionServer, CancelAnswer, Cause, ClientGone, GoalError, GoalId, GoalStatus,
    GoalStatusArray, MAX_GOALS, NotAllowed, Options, Outcome, Preemption, Progress, Reason, SentGoal,
};
use horus::message::layout::Layout;
use horus::service::ServeError;
use horus::topic::{self, Bytes, Raw, Serde, Subscriber};
use rustix::process::{Signal, getpid, kill_process};
use tempfile::TempDir;

use peers::{PATIENCE, Peer, await_no_file};

horus::message! {
    /// How far to count.
    pub struct Count = "test/Count" {
        /// So far.
        to: u64,
    }
}
horus::message! {
    /// How far it is.
    pub struct Reached = "test/Reached" {
        /// So far.
        number: u64,
    }
}
horus::message! {
    /// How far it came.
    pub struct Counted = "test/Counted" {
        /// So far.
        number: u64,
    }
}
horus::message! {
    /// Another goal than [`Count`].
    pub struct Until = "test/Count" {
        /// So far.
        until: u64,
    }
}

horus::message! {
    /// Of one byte.
    pub struct Small = "test/Small" {
        /// It.
        byte: u8,
    }
}

type Server = ActionServer<Count, Reached, Counted>;
type Client = ActionClient<Count, Reached, Counted>;
type Sent = SentGoal<Counted>;

fn files() -> (TempDir, Options) {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::default().directory(files.path());
    (files, options)
}

fn both(options: &Options) -> (Server, Client) {
    (Server::open("count", options).unwrap(), Client::open("count", options).unwrap())
}

fn count(to: u64) -> Count {
    Count { to }
}

/// What is there to tell, until there is nothing more.
fn all(sent: &mut Sent, client: &mut Client) -> Vec<Progress<Reached, Counted>> {
    let mut told = Vec::new();
    while !sent.is_over() {
        match sent.look(client).unwrap() {
            Progress::Nothing => break,
            progress => told.push(progress),
        }
    }
    told
}

/// The outcome, which is there by now.
fn outcome(sent: &mut Sent, client: &mut Client) -> Outcome<Counted> {
    match all(sent, client).pop() {
        Some(Progress::Ended(outcome)) => outcome,
        other => panic!("the goal has not ended: {other:?}"),
    }
}

/// Looks until the goal has ended, or nothing can come any more.
fn await_end(sent: &mut Sent, client: &mut Client) -> Result<Outcome<Counted>, ActionError> {
    let started = Instant::now();
    loop {
        assert!(started.elapsed() < PATIENCE, "the goal did not end");
        match sent.look(client)? {
            Progress::Ended(outcome) => return Ok(outcome),
            Progress::Nothing => {
                if !client.wait(Duration::from_millis(10)) {
                    client.check_server()?;
                }
            }
            _ => {}
        }
    }
}

fn rejected(sent: &mut Sent, client: &mut Client) -> (Cause, String) {
    match sent.look(client) {
        Err(ActionError::Rejected { cause, reason, .. }) => (cause, reason.to_string()),
        other => panic!("the goal was not rejected: {other:?}"),
    }
}

fn succeeded(number: u64) -> Outcome<Counted> {
    let result = Some(Counted { number });
    Outcome { status: GoalStatus::Succeeded, result, cause: Cause::Program, reason: Reason::NONE }
}

#[test]
fn a_goal_is_accepted_tells_how_far_it_is_and_ends_with_its_result() {
    let (files, options) = files();
    let (mut server, mut client) = both(&options);
    let mut sent = client.send(count(3)).unwrap();
    assert_eq!(sent.look(&mut client).unwrap(), Progress::Nothing);
    let mut goal = server.goal().unwrap();
    assert!(goal.is_new() && goal.status() == GoalStatus::Executing && goal.id() == sent.id());
    assert_eq!(goal.value().to, 3);
    for number in 1..=3 {
        goal.feedback(Reached { number }).unwrap();
    }
    let goal = server.goal().unwrap();
    assert!(!goal.is_new());
    goal.succeed(Counted { number: 3 }).unwrap();
    assert!(server.goal().is_none());
    let mut wanted = vec![Progress::Accepted];
    wanted.extend((1..=3).map(|number| Progress::Feedback(Reached { number })));
    wanted.push(Progress::Ended(succeeded(3)));
    assert_eq!(all(&mut sent, &mut client), wanted);
    assert!(sent.accepted().is_some());
    assert!(matches!(sent.look(&mut client), Err(ActionError::Over { .. })));
    assert_eq!((client.late(), client.missed(), server.undelivered()), (0, 0, 0));
    drop((server, client));
    await_no_file(files.path());
}

#[test]
fn feedbacks_and_outcomes_reach_the_client_of_their_goal_alone() {
    let (_files, options) = files();
    let options = options.at_once(2);
    let (mut server, mut first) = both(&options);
    let mut second = Client::open("count", &options).unwrap();
    let (mut one, mut two) = (first.send(count(1)).unwrap(), second.send(count(2)).unwrap());
    server.each(|mut goal| {
        let number = goal.value().to;
        goal.feedback(Reached { number }).unwrap();
        goal.succeed(Counted { number }).unwrap();
    });
    for (sent, client, number) in [(&mut one, &mut first, 1), (&mut two, &mut second, 2)] {
        let wanted = [Progress::Accepted, Progress::Feedback(Reached { number }), Progress::Ended(succeeded(number))];
        assert_eq!(all(sent, client), wanted);
    }
}

#[test]
fn a_program_decides_which_goals_it_takes_and_says_why_not() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    server.accept_if(|goal| match goal.to {
        0..=9 => Ok(()),
        far => Err(Reason::of(format_args!("{far} is more than 9"))),
    });
    let (mut far, mut near) = (client.send(count(10)).unwrap(), client.send(count(9)).unwrap());
    assert_eq!(server.goal().unwrap().value().to, 9);
    let error = far.look(&mut client).unwrap_err();
    assert_eq!(error.to_string(), "the server of count rejected the goal: 10 is more than 9");
    assert!(far.is_over());
    assert_eq!(near.look(&mut client).unwrap(), Progress::Accepted);
}

#[test]
fn with_refuse_a_goal_that_comes_while_another_runs_is_rejected() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    let (mut first, mut second) = (client.send(count(1)).unwrap(), client.send(count(2)).unwrap());
    assert_eq!(server.goal().unwrap().id(), first.id());
    let (cause, reason) = rejected(&mut second, &mut client);
    assert_eq!(cause, Cause::Busy);
    assert_eq!(reason, format!("goal {} runs: wait for its outcome, or cancel it", first.id()));
    server.goal().unwrap().succeed(Counted { number: 1 }).unwrap();
    assert_eq!(outcome(&mut first, &mut client), succeeded(1));
    let _third = client.send(count(3)).unwrap();
    assert_eq!(server.goal().unwrap().value().to, 3);
}

#[test]
fn with_queue_goals_wait_for_their_turn() {
    let (files, options) = files();
    let (mut server, mut client) = both(&options.preemption(Preemption::Queue));
    let mut sent: Vec<_> = (0..MAX_GOALS as u64).map(|to| client.send(count(to)).unwrap()).collect();
    let mut other = Client::open("count", Options::default().directory(files.path())).unwrap();
    server.take_in();
    let mut beyond = other.send(count(99)).unwrap();
    for to in 0..MAX_GOALS as u64 {
        let goal = server.goal().unwrap();
        assert_eq!((goal.value().to, goal.status()), (to, GoalStatus::Executing));
        assert_eq!((server.running(), server.waiting()), (1, MAX_GOALS - 1 - to as usize));
        server.goal().unwrap().succeed(Counted { number: to }).unwrap();
    }
    assert_eq!(rejected(&mut beyond, &mut other).0, Cause::Busy);
    for (to, sent) in sent.iter_mut().enumerate() {
        assert_eq!(outcome(sent, &mut client), succeeded(to as u64));
    }
}

#[test]
fn with_replace_a_new_goal_takes_the_place_of_the_one_that_runs() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.preemption(Preemption::Replace));
    let mut first = client.send(count(1)).unwrap();
    assert!(server.goal().unwrap().is_new());
    let mut second = client.send(count(2)).unwrap();
    let goal = server.goal().unwrap();
    assert!(goal.is_new() && goal.id() == second.id());
    let replaced = outcome(&mut first, &mut client);
    assert_eq!((replaced.status, replaced.cause, replaced.result), (GoalStatus::Aborted, Cause::Replaced, None));
    assert_eq!(replaced.reason.as_str(), format!("goal {} took its place", second.id()));
    // One that is canceling ends as canceled.
    let _asked = client.cancel(second.id()).unwrap();
    assert!(server.goal().unwrap().is_canceling());
    let third = client.send(count(3)).unwrap();
    assert_eq!(server.goal().unwrap().id(), third.id());
    let replaced = outcome(&mut second, &mut client);
    assert_eq!((replaced.status, replaced.cause), (GoalStatus::Canceled, Cause::Replaced));
}

#[test]
fn a_goal_that_is_replaced_under_its_program_says_so() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.preemption(Preemption::Replace));
    let _first = client.send(count(1)).unwrap();
    let mut goal = server.goal().unwrap();
    let _second = client.send(count(2)).unwrap();
    assert_eq!(goal.status(), GoalStatus::Executing);
    assert_eq!(goal.poll(), GoalStatus::Aborted);
    assert!(goal.try_value().is_none());
    let late = goal.succeed(Counted { number: 1 }).unwrap_err();
    assert!(matches!(late, GoalError::NotAllowed(NotAllowed { status: GoalStatus::Aborted, .. })), "{late}");
}

#[test]
fn several_goals_run_at_a_time_and_end_in_any_order() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.at_once(3));
    let mut sent: Vec<_> = (0..4).map(|to| client.send(count(to)).unwrap()).collect();
    let mut seen = Vec::new();
    server.each(|goal| seen.push(goal.value().to));
    assert_eq!(seen, [0, 1, 2]);
    assert_eq!(rejected(&mut sent[3], &mut client).0, Cause::Busy);
    for to in [1, 2, 0] {
        let id = sent[to as usize].id();
        server.goal_of(id).unwrap().succeed(Counted { number: to }).unwrap();
        assert_eq!(outcome(&mut sent[to as usize], &mut client), succeeded(to));
    }
}

#[test]
fn a_goal_is_canceled_by_its_server_when_a_client_asks() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    let mut other = Client::open("count", &options).unwrap();
    let mut sent = client.send(count(9)).unwrap();
    let error = server.goal().unwrap().canceled().unwrap_err();
    assert!(error.to_string().contains("wait until a client cancels it"), "{error}");
    // Any client may.
    let mut asked = other.cancel(sent.id()).unwrap();
    let goal = server.goal().unwrap();
    assert!(goal.is_canceling() && goal.cause() == Cause::Canceled);
    let answer = asked.look(&mut other).unwrap().unwrap();
    assert_eq!((answer.return_code, answer.goals().collect::<Vec<_>>()), (CancelAnswer::NONE, vec![sent.id()]));
    goal.canceled_with(Counted { number: 4 }).unwrap();
    let ended = outcome(&mut sent, &mut client);
    assert_eq!((ended.status, ended.result), (GoalStatus::Canceled, Some(Counted { number: 4 })));
}

#[test]
fn a_canceling_goal_may_succeed_or_be_aborted_all_the_same() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    for aborts in [false, true] {
        let mut sent = client.send(count(1)).unwrap();
        assert!(server.goal().is_some());
        let _asked = client.cancel(sent.id()).unwrap();
        let goal = server.goal().unwrap();
        assert!(goal.is_canceling());
        if aborts {
            goal.abort_with(Counted { number: 0 }, "the motor is hot")
        } else {
            goal.succeed(Counted { number: 1 })
        }
        .unwrap();
        let ended = outcome(&mut sent, &mut client);
        let (status, reason) =
            if aborts { (GoalStatus::Aborted, "the motor is hot") } else { (GoalStatus::Succeeded, "") };
        assert_eq!((ended.status, ended.reason.as_str()), (status, reason));
    }
}

#[test]
fn what_becomes_of_a_request_to_cancel_is_told_as_in_ros_2() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.preemption(Preemption::Queue));
    server.cancel_if(|goal| goal.to < 10);
    let ask = |server: &mut Server, client: &mut Client, id| {
        let mut asked = client.cancel(id).unwrap();
        server.take_in();
        asked.look(client).unwrap().unwrap().return_code
    };
    let unknown = ask(&mut server, &mut client, GoalId([7; 16]));
    assert_eq!(unknown, CancelAnswer::UNKNOWN_GOAL_ID);
    let mut refuses = client.send(count(10)).unwrap();
    assert_eq!(ask(&mut server, &mut client, refuses.id()), CancelAnswer::REJECTED);
    // One that waits for its turn is over at once.
    let mut waits = client.send(count(2)).unwrap();
    assert_eq!(ask(&mut server, &mut client, waits.id()), CancelAnswer::NONE);
    let ended = outcome(&mut waits, &mut client);
    assert_eq!((ended.status, ended.cause), (GoalStatus::Canceled, Cause::Canceled));
    assert_eq!(ask(&mut server, &mut client, waits.id()), CancelAnswer::GOAL_TERMINATED);
    server.goal().unwrap().succeed(Counted { number: 10 }).unwrap();
    assert_eq!(outcome(&mut refuses, &mut client), succeeded(10));
    let mut all = client.cancel_all().unwrap();
    server.take_in();
    let answer = all.look(&mut client).unwrap().unwrap();
    assert_eq!((answer.return_code, answer.count), (CancelAnswer::NONE, 0));
}

#[test]
fn goals_are_canceled_together_or_up_to_a_time() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.at_once(3));
    let mut sent: Vec<_> = (0..3).map(|to| client.send(count(to)).unwrap()).collect();
    server.take_in();
    for goal in &mut sent {
        assert_eq!(goal.look(&mut client).unwrap(), Progress::Accepted);
    }
    let mut until = client.cancel_until(sent[1].accepted().unwrap(), None).unwrap();
    server.take_in();
    let ids: Vec<_> = until.look(&mut client).unwrap().unwrap().goals().collect();
    assert_eq!(ids, [sent[0].id(), sent[1].id()]);
    let rest = client.cancel_all().unwrap();
    server.take_in();
    assert_eq!(client.await_cancel(rest, PATIENCE).unwrap().goals().collect::<Vec<_>>(), [sent[2].id()]);
    server.each(|goal| goal.canceled().unwrap());
    assert_eq!(server.running(), 0);
}

#[test]
fn a_request_to_cancel_that_follows_its_goal_at_once_finds_it() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    for _ in 0..20 {
        let sent = client.send(count(1)).unwrap();
        let mut asked = client.cancel(sent.id()).unwrap();
        server.goal().unwrap().canceled().unwrap();
        assert_eq!(asked.look(&mut client).unwrap().unwrap().count, 1);
    }
}

#[test]
fn who_comes_late_knows_where_all_goals_stand() {
    let (files, options) = files();
    let (mut server, mut client) = both(&options.clone().preemption(Preemption::Queue));
    let sent: Vec<_> = (0..3).map(|to| client.send(count(to)).unwrap()).collect();
    server.goal().unwrap().succeed(Counted { number: 0 }).unwrap();
    let late = topic::Options::default().directory(files.path()).history(1);
    let mut states = Subscriber::<GoalStatusArray>::open("count.status", late).unwrap();
    let mut newest = states.try_recv().unwrap().message;
    while let Some(newer) = states.try_recv() {
        newest = newer.message;
    }
    let told: Vec<_> = newest.goals().iter().map(|goal| (GoalId(goal.goal_id), goal.status)).collect();
    assert_eq!(told, [(sent[1].id(), 2), (sent[2].id(), 1), (sent[0].id(), 4)]);
}

#[test]
fn a_number_is_taken_once() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.at_once(2));
    let id = GoalId([9; 16]);
    let mut first = client.send_as(id, count(1)).unwrap();
    let mut again = client.send_as(id, count(2)).unwrap();
    assert_eq!(server.goal().unwrap().id(), id);
    assert_eq!(rejected(&mut again, &mut client).0, Cause::Twice);
    server.goal().unwrap().succeed(Counted { number: 1 }).unwrap();
    assert_eq!(outcome(&mut first, &mut client), succeeded(1));
    let mut none = client.send_as(GoalId::ZERO, count(2)).unwrap();
    assert!(server.goal().is_none());
    assert_eq!(rejected(&mut none, &mut client).0, Cause::Twice);
}

#[test]
fn a_client_acts_and_waits_while_a_program_works() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..20 {
                let mut goal = server.next_goal(PATIENCE).unwrap();
                let to = goal.value().to;
                (1..=to).for_each(|number| goal.feedback(Reached { number }).unwrap());
                goal.succeed(Counted { number: to }).unwrap();
            }
            server // goes last, so that each outcome is told
        });
        for to in 1..=20 {
            let (mut told, missed) = (Vec::new(), client.missed());
            let ended = client.act(count(to), PATIENCE, |feedback| told.push(feedback.number)).unwrap();
            assert_eq!(ended, succeeded(to));
            assert_eq!(told.len() as u64 + client.missed() - missed, to, "every feedback is told or counted");
            assert!(told.is_sorted() && told.last() == Some(&to));
        }
    });
}

#[test]
fn when_the_time_is_up_the_goal_is_to_be_canceled() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    let late = client.act(count(1), Duration::from_millis(1), |_| {}).unwrap_err();
    assert!(matches!(late, ActionError::TimedOut { .. }), "{late}");
    assert!(server.goal().unwrap().is_canceling());
}

#[test]
fn the_limit_holds_while_feedbacks_come_without_a_pause() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut goal = server.next_goal(PATIENCE).unwrap();
            let mut number = 0;
            while !goal.is_canceling() {
                number += 1;
                goal.feedback(Reached { number }).unwrap();
                goal.poll();
            }
            goal.canceled().unwrap();
        });
        let told = |_| std::thread::park_timeout(Duration::from_millis(2));
        let late = client.act(count(1), Duration::from_millis(50), told).unwrap_err();
        assert!(matches!(late, ActionError::TimedOut { .. }), "{late}");
    });
}

#[test]
fn a_goal_that_is_over_takes_no_feedback() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.preemption(Preemption::Replace));
    let _first = client.send(count(1)).unwrap();
    let mut goal = server.goal().unwrap();
    let _second = client.send(count(2)).unwrap();
    assert_eq!(goal.poll(), GoalStatus::Aborted, "another took its place");
    assert!(matches!(goal.feedback(Reached { number: 1 }), Err(GoalError::Over)));
}

#[test]
fn a_client_has_at_most_so_many_goals() {
    let (_files, options) = files();
    let (_server, mut client) = both(&options);
    let sent: Vec<_> = (0..MAX_GOALS as u64).map(|to| client.send(count(to)).unwrap()).collect();
    let beyond = client.send(count(99)).err().unwrap();
    assert!(matches!(beyond, ActionError::TooMany { goals: MAX_GOALS, .. }), "{beyond}");
    assert_eq!(client.unended(), sent.len());
}

#[test]
fn all_goals_of_a_client_that_does_not_look_are_told_to_be_accepted_and_to_have_ended() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.at_once(MAX_GOALS));
    let mut sent: Vec<_> = (0..MAX_GOALS as u64).map(|to| client.send(count(to)).unwrap()).collect();
    let mut ids = Vec::new();
    server.each(|goal| ids.push(goal.id()));
    assert_eq!(ids.len(), MAX_GOALS);
    for (number, id) in (0..).zip(ids) {
        server.goal_of(id).unwrap().succeed(Counted { number }).unwrap();
    }
    for (number, sent) in (0..).zip(&mut sent) {
        assert_eq!(all(sent, &mut client), [Progress::Accepted, Progress::Ended(succeeded(number))]);
    }
    assert_eq!(server.undelivered(), 0);
}

#[test]
fn an_action_without_a_server_is_an_error_at_once() {
    let (_files, options) = files();
    let mut client = Client::open("count", &options).unwrap();
    let error = client.act(count(1), PATIENCE, |_| {}).unwrap_err();
    assert!(matches!(error, ActionError::NotServed { .. }), "{error}");
    let mut sent = client.send(count(1)).unwrap();
    assert!(!client.check_server().unwrap());
    assert!(matches!(sent.look(&mut client), Err(ActionError::NotServed { .. })));
}

#[test]
fn there_is_one_server_and_types_are_compared_by_field() {
    let (_files, options) = files();
    let (_server, _client) = both(&options);
    let second = Server::open("count", &options).err().unwrap();
    assert!(matches!(second, ServeError::Served { .. }), "{second}");
    let other = ActionClient::<Until, Reached, Counted>::open("count", &options).err().unwrap().to_string();
    assert!(other.contains("to") && other.contains("until"), "{other}");
    let other = ActionClient::<Count, Counted, Counted>::open("count", &options).err().unwrap().to_string();
    assert!(other.contains("test/Reached_Feedback") && other.contains("test/Counted_Feedback"), "{other}");
}

#[test]
fn a_server_that_stops_says_so_to_who_waits() {
    let (files, options) = files();
    let (mut server, mut client) = both(&options);
    let mut sent = client.send(count(1)).unwrap();
    server.goal().unwrap().feedback(Reached { number: 1 }).unwrap();
    drop(server);
    assert_eq!(sent.look(&mut client).unwrap(), Progress::Accepted);
    assert_eq!(sent.look(&mut client).unwrap(), Progress::Feedback(Reached { number: 1 }));
    let error = sent.look(&mut client).unwrap_err();
    assert!(matches!(error, ActionError::Stopped { .. }), "{error}");
    drop(client);
    await_no_file(files.path());
}

#[test]
fn the_goals_of_a_client_that_leaves_are_canceled() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.clone().preemption(Preemption::Queue));
    let mut other = Client::open("count", &options).unwrap();
    let _running = client.send(count(1)).unwrap();
    let _waiting = client.send(count(2)).unwrap();
    let _others = other.send(count(3)).unwrap();
    server.take_in();
    drop(client);
    let goal = server.goal().unwrap();
    assert!(goal.is_canceling() && goal.cause() == Cause::ClientGone);
    goal.canceled().unwrap();
    // The one that waited is over, and the other client's runs.
    let goal = server.goal().unwrap();
    assert_eq!((goal.value().to, goal.status()), (3, GoalStatus::Executing));
    assert_eq!(server.waiting(), 0);
}

#[test]
fn the_goals_of_a_client_that_leaves_go_on_if_the_server_says_so() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options.client_gone(ClientGone::Continue));
    let _sent = client.send(count(1)).unwrap();
    server.take_in();
    drop(client);
    let goal = server.goal().unwrap();
    assert_eq!(goal.status(), GoalStatus::Executing);
    assert!(matches!(goal.succeed(Counted { number: 1 }), Ok(()) | Err(GoalError::Untold)));
}

#[test]
fn a_goal_whose_handle_is_dropped_goes_on() {
    let (_files, options) = files();
    let (mut server, mut client) = both(&options);
    drop(client.send(count(1)).unwrap());
    server.goal().unwrap().succeed(Counted { number: 1 }).unwrap();
    let mut next = client.send(count(2)).unwrap();
    server.goal().unwrap().succeed(Counted { number: 2 }).unwrap();
    assert_eq!(outcome(&mut next, &mut client), succeeded(2));
    assert_eq!(client.late(), 2);
}

#[test]
fn goals_feedbacks_and_results_are_of_every_kind() {
    let (_files, options) = files();
    let (text, list) = (Bytes::up_to(64), Bytes::of_type("test/List", 64));
    let layout = Layout::of::<Counted>();
    let mut server =
        ActionServer::<[u8], Serde<Vec<String>>, Raw>::open_as("kinds", text, list, &layout, &options).unwrap();
    let mut client =
        ActionClient::<[u8], Serde<Vec<String>>, Raw>::open_as("kinds", text, list, &layout, &options).unwrap();
    let mut sent = client.send(b"three").unwrap();
    let mut goal = server.goal().unwrap();
    assert_eq!(goal.value(), b"three");
    goal.feedback(vec!["one".to_owned(), "two".to_owned()]).unwrap();
    let too_long = goal.feedback(vec!["x".repeat(100)]).unwrap_err();
    assert!(matches!(too_long, GoalError::NotSent(_)), "{too_long}");
    goal.succeed(7_u64.to_ne_bytes()).unwrap();
    assert_eq!(sent.look(&mut client).unwrap(), Progress::Accepted);
    assert_eq!(sent.look(&mut client).unwrap(), Progress::Feedback(vec!["one".to_owned(), "two".to_owned()]));
    let Progress::Ended(ended) = sent.look(&mut client).unwrap() else { panic!("it has ended") };
    assert_eq!(ended.result.unwrap(), 7_u64.to_ne_bytes());
}

#[test]
fn messages_of_any_size_and_alignment_are_goals_and_results() {
    let (_files, options) = files();
    let mut server = ActionServer::<Small, Count, Small>::open("small", &options).unwrap();
    let mut client = ActionClient::<Small, Count, Small>::open("small", &options).unwrap();
    let mut sent = client.send(Small { byte: 3 }).unwrap();
    let goal = server.goal().unwrap();
    assert_eq!(goal.value().byte, 3);
    goal.succeed(Small { byte: 7 }).unwrap();
    assert_eq!(sent.look(&mut client).unwrap(), Progress::Accepted);
    let Progress::Ended(ended) = sent.look(&mut client).unwrap() else { panic!("it has ended") };
    assert_eq!((ended.status, ended.result.unwrap().byte), (GoalStatus::Succeeded, 7));
}

#[test]
fn a_result_that_cannot_be_sent_aborts_its_goal() {
    let (_files, options) = files();
    let short = Bytes::up_to(4);
    let mut server = ActionServer::<[u8], [u8], [u8]>::open_as("short", short, short, short, &options).unwrap();
    let mut client = ActionClient::<[u8], [u8], [u8]>::open_as("short", short, short, short, &options).unwrap();
    let mut sent = client.send(b"goal").unwrap();
    let error = server.goal().unwrap().succeed(b"a long result").unwrap_err();
    assert!(matches!(error, GoalError::NotSent(_)), "{error}");
    assert!(server.goal().is_none());
    assert_eq!(sent.look(&mut client).unwrap(), Progress::Accepted);
    let Progress::Ended(ended) = sent.look(&mut client).unwrap() else { panic!("it has ended") };
    assert_eq!((ended.status, ended.cause, ended.result), (GoalStatus::Aborted, Cause::NoResult, None));
    assert!(client.send(b"a long goal").is_err_and(|error| matches!(error, ActionError::NotSent(_))));
    assert_eq!(client.unended(), 0);
}

#[test]
fn a_client_that_comes_first_and_a_server_that_comes_again_meet() {
    let (_files, options) = files();
    let mut client = Client::open("count", &options).unwrap();
    assert!(!client.wait_until_served(Duration::ZERO).unwrap());
    for round in 0..3 {
        let mut server = Server::open("count", &options).unwrap();
        assert!(client.wait_until_served(PATIENCE).unwrap());
        let mut sent = client.send(count(round)).unwrap();
        server.goal().unwrap().succeed(Counted { number: round }).unwrap();
        assert_eq!(outcome(&mut sent, &mut client), succeeded(round));
    }
}

/// Serves, and is killed by its own hand at the step that its argument says.
#[test]
#[ignore = "a peer"]
fn peer_works_and_dies() {
    let dies_at = peers::policy();
    let die_at = |step: &str| {
        if dies_at == step {
            kill_process(getpid(), Signal::KILL).unwrap();
        }
    };
    let options = Options::default().directory(peers::directory());
    let mut server = Server::open("count", &options).unwrap();
    peers::ready();
    server.wait(PATIENCE);
    die_at("before it takes the goal");
    let mut goal = server.next_goal(PATIENCE).unwrap();
    die_at("accepted");
    goal.feedback(Reached { number: 1 }).unwrap();
    die_at("fed back");
    while !goal.is_canceling() {
        goal.wait(PATIENCE);
    }
    die_at("canceling");
    goal.canceled().unwrap();
    die_at("ended");
}

#[test]
fn a_server_killed_at_any_step_of_a_goal_ends_it_with_an_error_and_its_successor_works() {
    let (files, options) = files();
    let mut client = Client::open("count", &options).unwrap();
    for step in ["before it takes the goal", "accepted", "fed back", "canceling", "ended"] {
        let mut peer = Peer::start("peer_works_and_dies", files.path(), step);
        peer.wait_until_ready();
        assert!(client.wait_until_served(PATIENCE).unwrap());
        let mut sent = client.send(count(3)).unwrap();
        let _asked = client.cancel(sent.id());
        match await_end(&mut sent, &mut client) {
            Ok(ended) => assert_eq!((step, ended.status), ("ended", GoalStatus::Canceled)),
            Err(ActionError::Died { .. }) => assert_ne!(step, "ended"),
            Err(other) => panic!("{step}: {other}"),
        }
        peer.kill();
        let mut successor = Server::open("count", &options).unwrap();
        assert!(client.wait_until_served(PATIENCE).unwrap());
        let mut sent = client.send(count(4)).unwrap();
        assert!(sent.look(&mut client).is_ok(), "{step}");
        successor.goal().unwrap().succeed(Counted { number: 4 }).unwrap();
        assert_eq!(outcome(&mut sent, &mut client), succeeded(4), "{step}");
    }
    drop(client);
    await_no_file(files.path());
}

/// Sends a goal that is not reached, and is killed.
#[test]
#[ignore = "a peer"]
fn peer_sends_a_goal_and_waits() {
    let options = Options::default().directory(peers::directory());
    let mut client = Client::open("count", &options).unwrap();
    let mut sent = client.send(count(9)).unwrap();
    while !matches!(sent.look(&mut client).unwrap(), Progress::Accepted) {
        client.wait(Duration::from_millis(1));
    }
    peers::ready();
    std::thread::park_timeout(PATIENCE);
}

#[test]
fn the_goal_of_a_client_that_is_killed_is_canceled() {
    let (files, options) = files();
    let mut server = Server::open("count", &options).unwrap();
    let mut bystander = Client::open("count", &options).unwrap();
    for round in 0..3 {
        let mut peer = Peer::start("peer_sends_a_goal_and_waits", files.path(), "");
        let mut goal = server.next_goal(PATIENCE).unwrap();
        peer.wait_until_ready();
        assert_eq!(goal.wait(Duration::from_millis(300)), GoalStatus::Executing, "its client lives");
        peer.kill();
        let started = Instant::now();
        let late = || {
            assert!(started.elapsed() < PATIENCE, "round {round}: the server does not learn that the client is gone")
        };
        if round > 0 {
            while goal.wait(Duration::from_millis(200)) == GoalStatus::Executing {
                late();
            }
        }
        // A program that looks in between its own work, and waits for nothing.
        let goal = loop {
            let goal = server.next_goal(Duration::ZERO).unwrap();
            if goal.is_canceling() {
                break server.next_goal(Duration::ZERO).unwrap();
            }
            late();
        };
        assert!(goal.is_canceling() && goal.cause() == Cause::ClientGone);
        let _untold = goal.canceled();
        let mut sent = bystander.send(count(round)).unwrap();
        server.goal().unwrap().succeed(Counted { number: round }).unwrap();
        assert_eq!(outcome(&mut sent, &mut bystander), succeeded(round));
    }
}

#[test]
fn the_successor_of_a_killed_client_has_the_lane_and_none_of_its_goals() {
    let (files, options) = files();
    let mut server = Server::open("count", options.clone().at_once(2)).unwrap();
    let mut peer = Peer::start("peer_sends_a_goal_and_waits", files.path(), "");
    let old = server.next_goal(PATIENCE).unwrap().id();
    peer.wait_until_ready();
    peer.kill();
    // It takes the dead one's lane at once, before the server's next look at who lives.
    let mut client = Client::open("count", &options).unwrap();
    let mut sent = client.send(count(1)).unwrap();
    server.take_in();
    assert_eq!(server.status_of(old), Some(GoalStatus::Canceling));
    assert_eq!(server.status_of(sent.id()), Some(GoalStatus::Executing));
    server.goal_of(sent.id()).unwrap().succeed(Counted { number: 1 }).unwrap();
    let _untold = server.goal_of(old).unwrap().canceled();
    assert_eq!(outcome(&mut sent, &mut client), succeeded(1));
}

#[test]
#[ignore = "a peer"]
fn peer_works_all_the_time() {
    let options = Options::default().directory(peers::directory());
    let mut server = Server::open("count", &options).unwrap();
    peers::ready();
    while let Some(mut goal) = server.next_goal(PATIENCE) {
        let number = goal.value().to;
        goal.feedback(Reached { number }).unwrap();
        goal.succeed(Counted { number }).unwrap();
    }
}

#[test]
fn a_client_outlives_a_row_of_servers_that_are_killed_at_any_moment() {
    let (files, options) = files();
    let mut client = Client::open("count", &options).unwrap();
    let (mut round, mut died) = (0, 0);
    for turn in 0..15 {
        let mut peer = Peer::start("peer_works_all_the_time", files.path(), "");
        peer.wait_until_ready();
        assert!(client.wait_until_served(PATIENCE).unwrap());
        let killer = std::thread::spawn(move || {
            std::thread::park_timeout(peers::some_time(turn));
            peer.kill();
            peer
        });
        loop {
            round += 1;
            match client.act(count(round), PATIENCE, |feedback| assert_eq!(feedback.number, round)) {
                Ok(ended) => assert_eq!(ended, succeeded(round), "the outcome of another goal"),
                Err(ActionError::Died { .. }) => died += 1,
                Err(ActionError::NotServed { .. }) => break,
                Err(other) => panic!("{other}"),
            }
        }
        drop(killer.join().unwrap());
    }
    assert!(round > 15 && died > 0, "{round} goals, {died} of them met a death: nothing was tested");
    assert_eq!(client.unended(), 0);
    drop(client);
    await_no_file(files.path());
}
