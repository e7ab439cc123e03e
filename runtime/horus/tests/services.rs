//! Services between a server and its clients: who gets which answer, and what becomes of calls that have none.

mod peers;

use std::time::{Duration, Instant};

use horus::service::{CallError, Client, MAX_CALLS, Options, Part, Pending, ServeError, Server};
use horus::topic::{Bytes, Serde};
use rustix::process::{Signal, getpid, kill_process};
use tempfile::TempDir;

use peers::{PATIENCE, Peer, await_no_file};

horus::message! {
    /// Asks for the sum of two numbers.
    pub struct Add = "test/Add" {
        /// A number.
        left: u64,
        /// Another one.
        right: u64,
    }
}
horus::message! {
    /// The sum.
    pub struct Sum = "test/Sum" {
        /// Of both.
        sum: u64,
    }
}
horus::message! {
    /// Another answer than [`Sum`].
    pub struct Difference = "test/Sum" {
        /// Of both.
        difference: u64,
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn files() -> (TempDir, Options) {
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::default().directory(files.path());
    (files, options)
}

fn serve_one(server: &mut Server<Add, Sum>) -> bool {
    server.serve(Duration::ZERO, |Add { left, right }, answer| answer.send(Sum { sum: left + right }).unwrap())
}

fn add(left: u64, right: u64) -> Add {
    Add { left, right }
}

/// Gives the call up.
fn give_up(pending: Pending) {
    drop(pending);
}

#[test]
fn an_answer_reaches_its_asker_alone_whichever_of_them_came_first() {
    let (files, options) = files();
    let mut early = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut late = Client::<Add, Sum>::open("add", &options).unwrap();
    for round in 0..100 {
        let mut first = early.ask(add(round, 1)).unwrap();
        let mut second = late.ask(add(round, 2)).unwrap();
        assert!(first.try_answer(&mut early).unwrap().is_none());
        while serve_one(&mut server) {}
        assert_eq!(second.try_answer(&mut late).unwrap().unwrap().sum, round + 2);
        assert_eq!(first.try_answer(&mut early).unwrap().unwrap().sum, round + 1);
        assert!(matches!(first.try_answer(&mut early), Err(CallError::Over { .. })));
    }
    assert_eq!((early.late(), late.late(), server.undelivered()), (0, 0, 0));
    drop((early, server, late));
    await_no_file(files.path());
}

#[test]
fn several_calls_of_a_client_are_answered_in_any_order() {
    let (_files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut asked: Vec<_> = (0..MAX_CALLS as u64).map(|left| client.ask(add(left, 0)).unwrap()).collect();
    assert!(matches!(client.ask(add(0, 0)), Err(CallError::TooMany { calls: MAX_CALLS, .. })));
    let mut tickets = Vec::new();
    while server.serve(Duration::ZERO, |request, answer| tickets.push((request.left, answer.later()))) {}
    for (left, ticket) in tickets.into_iter().rev() {
        server.answer(ticket).send(Sum { sum: 10 * left }).unwrap();
    }
    for (left, pending) in asked.iter_mut().enumerate() {
        assert_eq!(pending.try_answer(&mut client).unwrap().unwrap().sum, 10 * left as u64);
    }
}

#[test]
fn a_call_waits_until_it_is_answered() {
    let (_files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for _ in 0..100 {
                let sum = |request: Add| Sum { sum: request.left + request.right };
                assert!(server.serve(PATIENCE, |request, answer| answer.send(sum(request)).unwrap()));
            }
            server
        });
        for round in 0..100 {
            assert_eq!(client.call(add(round, round), PATIENCE).unwrap().sum, 2 * round);
        }
    });
}

#[test]
fn a_service_without_a_server_is_an_error_at_once() {
    let (_files, options) = files();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let started = Instant::now();
    assert!(matches!(client.call(add(1, 1), PATIENCE), Err(CallError::NotServed { .. })));
    assert!(!client.wait_until_served(Duration::ZERO).unwrap());
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn a_server_that_starts_does_not_answer_what_was_asked_before_it_and_says_so() {
    let (_files, options) = files();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut early = client.ask(add(1, 1)).unwrap();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    assert!(!serve_one(&mut server));
    assert!(matches!(early.try_answer(&mut client), Err(CallError::Died { .. })));
    let mut asked = client.ask(add(1, 1)).unwrap();
    assert!(serve_one(&mut server));
    assert_eq!(asked.try_answer(&mut client).unwrap().unwrap().sum, 2);
}

#[test]
fn a_server_that_stops_says_so_to_who_waits() {
    let (files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut answered = client.ask(add(1, 1)).unwrap();
    let mut waiting = client.ask(add(2, 2)).unwrap();
    serve_one(&mut server);
    drop(server);
    assert_eq!(answered.try_answer(&mut client).unwrap().unwrap().sum, 2);
    assert!(matches!(waiting.try_answer(&mut client), Err(CallError::Stopped { .. })));
    assert!(matches!(client.call(add(1, 1), PATIENCE), Err(CallError::NotServed { .. })));
    drop(client);
    await_no_file(files.path());
}

#[test]
fn a_server_that_lets_go_of_a_request_says_so() {
    let (_files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut asked = client.ask(add(1, 1)).unwrap();
    assert!(server.serve(Duration::ZERO, |_, _| {}));
    assert!(matches!(asked.try_answer(&mut client), Err(CallError::Unanswered { .. })));
}

#[test]
fn a_late_answer_is_dropped_and_counted() {
    let (_files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let limit = Duration::from_millis(1);
    assert!(matches!(client.call(add(1, 1), limit), Err(CallError::TimedOut { .. })));
    give_up(client.ask(add(2, 2)).unwrap());
    while serve_one(&mut server) {}
    let mut asked = client.ask(add(3, 3)).unwrap();
    assert_eq!(client.late(), 2);
    serve_one(&mut server);
    assert_eq!(asked.try_answer(&mut client).unwrap().unwrap().sum, 6);
}

#[test]
fn the_successor_of_a_client_gets_none_of_its_answers() {
    let (_files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut first = Client::<Add, Sum>::open("add", &options).unwrap();
    let _asked = first.ask(add(1, 1)).unwrap();
    drop(first);
    let mut second = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut asked = second.ask(add(2, 2)).unwrap();
    while serve_one(&mut server) {}
    assert_eq!(asked.try_answer(&mut second).unwrap().unwrap().sum, 4);
    assert_eq!((second.late(), server.undelivered()), (1, 0));
}

#[test]
fn there_is_one_server_and_the_second_one_is_told_who_it_is() {
    let (_files, options) = files();
    let server = Server::<Add, Sum>::open("add", &options).unwrap();
    let second = Server::<Add, Sum>::open("add", &options).err().unwrap();
    assert!(matches!(second, ServeError::Served { .. }));
    assert!(second.to_string().contains(&std::process::id().to_string()), "{second}");
    drop(server);
    Server::<Add, Sum>::open("add", &options).unwrap();
}

#[test]
fn other_types_are_refused_and_the_field_is_named() {
    let (_files, options) = files();
    let _server = Server::<Add, Sum>::open("add", &options).unwrap();
    let refused = Client::<Add, Difference>::open("add", &options).err().unwrap().to_string();
    assert!(refused.contains("difference") && refused.contains("sum"), "{refused}");
    let refused = Client::<Sum, Sum>::open("add", &options).err().unwrap().to_string();
    assert!(refused.contains("test/Add"), "{refused}");
}

#[test]
fn a_server_of_other_types_than_a_client_that_waits_is_refused_and_the_field_is_named() {
    let (_files, options) = files();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let refused = Server::<Add, Difference>::open("add", &options).err().unwrap().to_string();
    assert!(refused.contains("difference") && refused.contains("sum"), "{refused}");
    let refused = Server::<Sum, Sum>::open("add", &options).err().unwrap().to_string();
    assert!(refused.contains("test/Add") && refused.contains("test/Sum"), "{refused}");
    // What was refused has left nothing that holds up the right one.
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut asked = client.ask(add(1, 2)).unwrap();
    assert!(serve_one(&mut server));
    assert_eq!(asked.try_answer(&mut client).unwrap().unwrap().sum, 3);
}

#[test]
fn an_answer_of_several_parts_arrives_in_order_and_ends() {
    let (_files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    for ends_with_a_part in [true, false] {
        let mut asked = client.ask(add(5, 0)).unwrap();
        server.serve(Duration::ZERO, |request, mut answer| {
            (0..request.left).for_each(|sum| answer.part(Sum { sum }).unwrap());
            if ends_with_a_part { answer.send(Sum { sum: 5 }).unwrap() } else { answer.end() }
        });
        for sum in 0..5 + u64::from(ends_with_a_part) {
            assert!(matches!(asked.try_part(&mut client).unwrap(), Part::Next(part) if part.sum == sum));
        }
        assert!(matches!(asked.try_part(&mut client).unwrap(), Part::End));
        assert!(matches!(asked.try_part(&mut client), Err(CallError::Over { .. })));
    }
}

#[test]
fn what_a_client_has_no_room_for_is_counted_and_the_end_always_has_room() {
    for is_ended in [true, false] {
        let (_files, options) = files();
        let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
        let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
        let mut asked = client.ask(add(0, 0)).unwrap();
        let mut sent = 0;
        server.serve(Duration::ZERO, |_, mut answer| {
            while answer.part(Sum { sum: sent }).is_ok() {
                sent += 1
            }
            if is_ended {
                answer.end();
            }
        });
        assert!(server.undelivered() > 0);
        for sum in 0..sent {
            assert!(matches!(asked.try_part(&mut client).unwrap(), Part::Next(part) if part.sum == sum));
        }
        // The end has had room all the time: no server has to look again, as one of a node would not without a request.
        match asked.try_part(&mut client) {
            Ok(Part::End) => assert!(is_ended),
            Err(CallError::Unanswered { .. }) => assert!(!is_ended),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_call_behind_parts_that_no_caller_looks_at_ends_in_time_and_is_told_that_its_server_is_gone() {
    let (_files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let unread = client.ask(add(0, 0)).unwrap();
    let mut ticket = None;
    server.serve(Duration::ZERO, |_, answer| ticket = Some(answer.later()));
    // As many as the client keeps, and then some that stay where they are.
    for _ in 0..2 {
        let mut answer = server.answer(ticket.take().unwrap());
        while answer.part(Sum { sum: 0 }).is_ok() {}
        ticket = Some(answer.later());
        assert!(client.check_server().unwrap());
    }
    let limit = Duration::from_millis(50);
    assert!(matches!(client.call(add(1, 2), limit), Err(CallError::TimedOut { .. })));
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // The first request is that of the call which timed out. The server goes when it has the next one.
            for _ in 0..2 {
                assert!(server.serve(PATIENCE, |_, answer| _ = answer.later()));
            }
        });
        assert!(matches!(client.call(add(3, 4), PATIENCE), Err(CallError::Died { .. })));
    });
    drop(unread);
}

#[test]
fn a_hundred_thousand_calls_to_a_server_that_never_answers_stay_bounded() {
    let (files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let size =
        || -> u64 { std::fs::read_dir(files.path()).unwrap().map(|it| it.unwrap().metadata().unwrap().len()).sum() };
    let before = size();
    let (mut full, mut kept) = (0, Vec::new());
    for call in 0..100_000_u64 {
        // In the first half it takes no request, in the second half it takes them and keeps them.
        if call >= 50_000 {
            server.serve(Duration::ZERO, |_, answer| kept.push(answer.later()));
        }
        match client.ask(add(call, call)) {
            Ok(pending) => give_up(pending),
            Err(CallError::Full { .. }) => full += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(full, 50_000 - MAX_CALLS);
    assert_eq!((client.unanswered(), size()), (0, before));
    // Those that it answers at last are dropped, and a call after them is answered.
    for ticket in kept {
        let _no_room = server.answer(ticket).send(Sum { sum: 0 });
    }
    while server.serve(Duration::ZERO, |_, answer| drop(answer)) {}
    let mut asked = client.ask(add(1, 2)).unwrap();
    while serve_one(&mut server) {}
    assert_eq!(asked.try_answer(&mut client).unwrap().unwrap().sum, 3);
    assert!(client.late() > 0 && server.undelivered() > 0);
}

#[test]
fn requests_and_answers_may_be_bytes_and_values() {
    let (_files, options) = files();
    let shapes = (Bytes::up_to(64), Bytes::of_type("test/Words", 256));
    let mut server = Server::<[u8], Serde<Vec<String>>>::open_as("words", shapes.0, shapes.1, &options).unwrap();
    let mut client = Client::<[u8], Serde<Vec<String>>>::open_as("words", shapes.0, shapes.1, &options).unwrap();
    let mut asked = client.ask(b"one two").unwrap();
    server.serve(Duration::ZERO, |request, answer| {
        let words: Vec<String> = String::from_utf8_lossy(request).split(' ').map(str::to_owned).collect();
        answer.send(&words).unwrap();
    });
    assert_eq!(asked.try_answer(&mut client).unwrap().unwrap().unwrap(), ["one", "two"]);
    assert!(matches!(client.ask([0; 65]), Err(CallError::NotSent(_))));
    let mut asked = client.ask(b"too long for an answer").unwrap();
    server.serve(Duration::ZERO, |_, answer| assert!(answer.send(vec!["x".repeat(300)]).is_err()));
    assert!(matches!(asked.try_answer(&mut client), Err(CallError::Unanswered { .. })));
}

#[test]
fn a_server_that_comes_first_makes_room_for_as_many_clients_as_it_says() {
    let (_files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", options.clone().clients(12)).unwrap();
    assert_eq!(server.clients(), 12);
    let mut clients: Vec<_> = (0..12).map(|_| Client::<Add, Sum>::open("add", &options).unwrap()).collect();
    let refused = Client::<Add, Sum>::open("add", &options).err().unwrap().to_string();
    assert!(refused.contains("12 living publishers"), "{refused}");
    let mut asked: Vec<_> = clients.iter_mut().map(|client| client.ask(add(1, 1)).unwrap()).collect();
    while serve_one(&mut server) {}
    for (client, asked) in clients.iter_mut().zip(&mut asked) {
        assert_eq!(asked.try_answer(client).unwrap().unwrap().sum, 2);
    }
}

/// What a server does with a request before it kills itself.
const STEPS: [&str; 5] = ["waits", "took it", "answered a part", "answered", "stopped"];

fn die() -> ! {
    kill_process(getpid(), Signal::KILL).unwrap();
    unreachable!("the kernel ends it");
}

#[test]
#[ignore = "a peer"]
fn peer_serves_and_dies() {
    let (step, options) = (peers::policy(), Options::default().directory(peers::directory()));
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    peers::ready();
    if step == "waits" {
        std::thread::park_timeout(PATIENCE);
    }
    server.serve(PATIENCE, |request, mut answer| {
        if step == "took it" {
            die();
        }
        if step == "answered a part" {
            answer.part(Sum { sum: request.left }).unwrap();
            die();
        }
        answer.send(Sum { sum: request.left }).unwrap();
        if step == "answered" {
            die();
        }
    });
    drop(server);
    die();
}

#[test]
fn a_server_killed_at_any_step_is_an_error_of_its_own_and_its_successor_answers() {
    let (files, options) = files();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    for step in STEPS {
        for _ in 0..3 {
            let mut peer = Peer::start("peer_serves_and_dies", files.path(), step);
            peer.wait_until_ready();
            let mut asked = client.ask(add(7, 0)).unwrap();
            if step == "waits" {
                peer.kill();
            }
            let started = Instant::now();
            let mut parts = 0;
            let outcome = loop {
                assert!(started.elapsed() < PATIENCE, "{step}: a hang");
                match asked.try_part(&mut client) {
                    Ok(Part::Next(part)) => parts += part.sum / 7,
                    Ok(Part::Nothing) => _ = client.check_server().unwrap(),
                    Ok(Part::End) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            match step {
                "waits" | "took it" => assert!(matches!(outcome, Err(CallError::Died { .. })) && parts == 0),
                "answered a part" => assert!(matches!(outcome, Err(CallError::Died { .. })) && parts == 1),
                _ => assert!(outcome.is_ok() && parts == 1, "{step}: {outcome:?}, {parts} parts"),
            }
            drop(peer);
            // The next one starts at once, and gets none of what was asked before.
            let mut successor = Server::<Add, Sum>::open("add", &options).unwrap();
            assert!(!serve_one(&mut successor), "{step}: a request was handed out twice");
            let mut asked = client.ask(add(1, 1)).unwrap();
            assert!(serve_one(&mut successor));
            assert_eq!(asked.try_answer(&mut client).unwrap().unwrap().sum, 2);
        }
    }
    drop(client);
    await_no_file(files.path());
}

#[test]
fn a_caller_that_waits_notices_that_its_server_was_killed() {
    let (files, options) = files();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut peer = Peer::start("peer_serves_and_dies", files.path(), "waits");
    peer.wait_until_ready();
    let waiting = std::thread::spawn(move || client.call(add(1, 1), PATIENCE));
    std::thread::park_timeout(Duration::from_millis(30));
    peer.kill();
    // It may have asked after the end, on a slow machine.
    assert!(matches!(waiting.join().unwrap(), Err(CallError::Died { .. } | CallError::NotServed { .. })));
}

#[test]
#[ignore = "a peer"]
fn peer_serves_all_the_time() {
    let options = Options::default().directory(peers::directory());
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    peers::ready();
    while server.serve(PATIENCE, |Add { left, right }, answer| answer.send(Sum { sum: left + right }).unwrap()) {}
}

#[test]
fn a_server_that_is_held_up_is_told_as_one_that_lives_and_its_late_answer_is_dropped() {
    let (files, options) = files();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut peer = Peer::start("peer_serves_all_the_time", files.path(), "");
    peer.wait_until_ready();
    assert_eq!(client.call(add(1, 1), PATIENCE).unwrap().sum, 2);
    peer.signal(Signal::STOP);
    // The signal takes a moment.
    let held_up = loop {
        if let Err(error) = client.call(add(2, 2), Duration::from_millis(50)) {
            break error;
        }
    };
    assert!(matches!(held_up, CallError::TimedOut { .. }), "{held_up}");
    peer.signal(Signal::CONT);
    assert_eq!(client.call(add(3, 3), PATIENCE).unwrap().sum, 6);
    assert_eq!(client.late(), 1);
}

#[test]
fn a_client_outlives_a_row_of_servers_that_are_killed_at_any_moment() {
    let (files, options) = files();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let (mut round, mut died) = (0, 0);
    for turn in 0..30 {
        let mut peer = Peer::start("peer_serves_all_the_time", files.path(), "");
        peer.wait_until_ready();
        assert!(client.wait_until_served(PATIENCE).unwrap());
        let killer = std::thread::spawn(move || {
            std::thread::park_timeout(peers::some_time(turn));
            peer.kill();
            peer
        });
        loop {
            round += 1;
            match client.call(add(round, 1), PATIENCE) {
                Ok(answer) => assert_eq!(answer.sum, round + 1, "the answer to another call"),
                Err(CallError::Died { .. }) => died += 1,
                Err(CallError::NotServed { .. }) => break,
                Err(other) => panic!("{other}"),
            }
        }
        drop(killer.join().unwrap());
    }
    assert!(round > 30 && died > 0, "{round} calls, {died} of them met a death: nothing was tested");
    assert_eq!(client.unanswered(), 0);
    drop(client);
    await_no_file(files.path());
}

#[test]
#[ignore = "a peer"]
fn peer_asks_and_does_not_look() {
    let options = Options::default().directory(peers::directory());
    let mut client = Client::<Add, Sum>::open("add", options).unwrap();
    let _asked: Vec<_> = (0..4).map(|left| client.ask(add(left, 0)).unwrap()).collect();
    peers::ready();
    std::thread::park_timeout(PATIENCE);
}

#[test]
fn a_service_that_changes_places_with_another_topic_is_found() {
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "an_answer_of_several_parts_arrives_in_order_and_ends"])
        .env("HORUS_RENAME", "add=sum,sum=add");
    let output = test.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
}

#[test]
fn a_look_at_the_kernel_tells_a_call_that_no_server_got_from_one_whose_server_died() {
    let (_files, options) = files();
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let is_not_served = |client: &mut Client<Add, Sum>| {
        let mut asked = client.ask(add(1, 2)).unwrap();
        assert!(!client.check_server().unwrap());
        matches!(asked.try_answer(client), Err(CallError::NotServed { .. }))
    };
    assert!(is_not_served(&mut client), "none has ever come");
    drop(Server::<Add, Sum>::open("add", &options).unwrap());
    assert!(is_not_served(&mut client), "the last one had gone");
}

#[test]
fn answers_to_the_dead_go_nowhere_hold_nothing_up_and_reach_no_successor() {
    let (files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    let mut peer = Peer::start("peer_asks_and_does_not_look", files.path(), "");
    peer.wait_until_ready();
    let mut kept = Vec::new();
    while server.serve(Duration::ZERO, |_, answer| kept.push(answer.later())) {}
    assert_eq!(kept.len(), 4);
    peer.kill();
    let mut sent = 0;
    for ticket in kept.drain(..2) {
        let mut answer = server.answer(ticket);
        while answer.part(Sum { sum: 0 }).is_ok() && sent < 1_000 {
            sent += 1;
        }
        let _no_room = answer.send(Sum { sum: 0 });
    }
    assert!(server.undelivered() > 0 && sent < 1_000, "{sent} messages to the dead had room");
    // Its successor has its lane, is told nothing of the dead one's, and is answered.
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    let mut asked = client.ask(add(1, 2)).unwrap();
    for ticket in kept {
        let _late = server.answer(ticket).send(Sum { sum: 0 });
    }
    while serve_one(&mut server) {}
    assert_eq!(asked.try_answer(&mut client).unwrap().unwrap().sum, 3);
    // Two late answers. What came before lies in front of its place.
    assert_eq!(client.late(), 2);
}

#[test]
#[ignore = "a peer"]
fn peer_calls_all_the_time() {
    let options = Options::default().directory(peers::directory());
    let mut client = Client::<Add, Sum>::open("add", &options).unwrap();
    peers::ready();
    for round in 0.. {
        assert_eq!(client.call(add(round, 1), PATIENCE).unwrap().sum, round + 1);
    }
}

#[test]
fn clients_killed_at_any_moment_leave_nothing() {
    let (files, options) = files();
    let mut server = Server::<Add, Sum>::open("add", &options).unwrap();
    // More of them than there are lanes.
    for turn in 0..2 * server.clients() as u64 {
        let mut peer = Peer::start("peer_calls_all_the_time", files.path(), "");
        peer.wait_until_ready();
        let started = Instant::now();
        while started.elapsed() < peers::some_time(turn) {
            serve_one(&mut server);
        }
        peer.kill();
        while serve_one(&mut server) {}
    }
    let mut clients: Vec<_> =
        (0..server.clients()).map(|_| Client::<Add, Sum>::open("add", &options).unwrap()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        let mut asked = client.ask(add(number as u64, 1)).unwrap();
        assert!(server.serve(SECOND, |request, answer| answer.send(Sum { sum: request.left }).unwrap()));
        assert_eq!(asked.try_answer(client).unwrap().unwrap().sum, number as u64);
    }
    drop((server, clients));
    await_no_file(files.path());
}
