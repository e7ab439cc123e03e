//! Actions in nodes: a goal is driven forward cycle by cycle, and the same each time in virtual time.

use horus::action::{
    ActionClient, ActionServer, Cause, GoalStatus, GoalStatusArray, Options, Outcome, Preemption, Progress, SentGoal,
};
use horus::prelude::{App, Cycle, VirtualWorld, ms, secs};

horus::message! {
    /// Where to go.
    pub struct DriveTo = "test/DriveTo" {
        /// Metres.
        x: f64,
    }
}
horus::message! {
    /// How far it is.
    pub struct Remaining = "test/Remaining" {
        /// Metres.
        metres: f64,
    }
}
horus::message! {
    /// Where it ended.
    pub struct Arrived = "test/Arrived" {
        /// Metres.
        x: f64,
        /// How many goals were begun.
        begun: u64,
    }
}

type Server = ActionServer<DriveTo, Remaining, Arrived>;
type Client = ActionClient<DriveTo, Remaining, Arrived>;

/// Drives 0.1 m a cycle.
fn driver(app: &mut App, options: Options) -> horus::Result {
    let mut drive: Server = app.action("drive_to", options)?;
    drive.accept_if(|goal| if goal.x < 10.0 { Ok(()) } else { Err("farther than 10 m".into()) });
    let (mut x, mut begun) = (0.0, 0);
    let step = move |_: &Cycle| {
        let Some(mut goal) = drive.goal() else { return };
        if goal.is_new() {
            (x, begun) = (0.0, begun + 1);
        }
        let metres = goal.value().x - x;
        let ended = match metres {
            _ if goal.is_canceling() => goal.canceled_with(Arrived { x, begun }),
            near if near < 0.05 => goal.succeed(Arrived { x, begun }),
            _ => {
                x += 0.1;
                goal.feedback(Remaining { metres })
            }
        };
        ended.expect("its client looks");
    };
    app.node("drive", step).period(ms(10));
    Ok(())
}

/// Sends goals one after the other, and says what it hears: of outcomes, and how many feedbacks there were.
fn sender(app: &mut App, name: &str, period: u64, told: &str) -> horus::Result {
    let mut client: Client = app.action_client("drive_to")?;
    let mut told = app.output::<Arrived>(told)?;
    let (mut sent, mut feedbacks) = (None::<SentGoal<Arrived>>, 0);
    let step = move |cycle: &Cycle| {
        let Some(goal) = &mut sent else {
            sent = client.send(DriveTo { x: 0.5 + (cycle.number % 3) as f64 * 0.2 }).ok();
            return;
        };
        loop {
            match goal.look(&mut client) {
                Ok(Progress::Nothing) => break,
                Ok(Progress::Accepted) => {}
                Ok(Progress::Feedback(_)) => feedbacks += 1,
                Ok(Progress::Ended(Outcome { result, .. })) => {
                    told.set(Arrived { x: result.map_or(-1.0, |arrived| arrived.x), begun: feedbacks });
                    sent = None;
                    break;
                }
                Err(_rejected) => {
                    sent = None;
                    break;
                }
            }
        }
    };
    app.node(name, step).period(ms(period));
    Ok(())
}

fn world(preemption: Preemption) -> VirtualWorld {
    VirtualWorld::new(|app| {
        sender(app, "first", 10, "first.told")?;
        sender(app, "second", 70, "second.told")?;
        driver(app, preemption.into())
    })
    .unwrap()
}

fn run(preemption: Preemption) -> (Vec<String>, [Option<Arrived>; 2], GoalStatusArray) {
    let mut world = world(preemption);
    world.takes("drive", ms(2)).for_cycles(50);
    world.run_for(secs(3));
    let events = world.events().iter().map(|event| format!("{event:?}")).collect();
    let told = ["first.told", "second.told"].map(|topic| world.last::<Arrived>(topic));
    (events, told, world.last::<GoalStatusArray>("drive_to.status").unwrap())
}

#[test]
fn a_node_drives_goals_to_their_end_cycle_by_cycle_and_tells_how_far_it_is() {
    let (_, [first, _], _) = run(Preemption::Refuse);
    let first = first.unwrap();
    assert!((0.4..0.95).contains(&first.x), "{first:?}");
    assert!(first.begun > 50, "feedbacks: {first:?}");
}

#[test]
fn with_queue_the_goals_of_both_nodes_end_in_turn() {
    let (_, told, _) = run(Preemption::Queue);
    for told in told {
        assert!((0.4..0.95).contains(&told.unwrap().x), "{told:?}");
    }
}

#[test]
fn with_replace_the_slow_nodes_goals_take_the_place_of_the_fast_ones() {
    let (_, told, states) = run(Preemption::Replace);
    assert!(told.iter().any(|told| told.unwrap().x < 0.0), "no goal was ever replaced: {told:?}");
    let aborted = GoalStatus::Aborted.code();
    assert!(states.goals().iter().any(|goal| goal.status == aborted), "{states:?}");
}

#[test]
fn two_runs_in_virtual_time_are_the_same_down_to_the_goals_numbers_and_times() {
    for preemption in [Preemption::Refuse, Preemption::Queue, Preemption::Replace] {
        let (events, told, states) = run(preemption);
        assert!(events.len() > 500, "{}", events.len());
        assert_eq!((events, told, states), run(preemption));
    }
}

#[test]
fn a_program_outside_of_a_world_sends_goals_to_its_nodes_and_cancels_them() {
    let mut world = VirtualWorld::new(|app| driver(app, Options::default())).unwrap();
    let mut client = Client::open("drive_to", Options::default().directory(world.directory())).unwrap();
    let mut far = client.send(DriveTo { x: 12.0 }).unwrap();
    let mut sent = client.send(DriveTo { x: 9.0 }).unwrap();
    world.run_for(ms(100));
    let rejected = far.look(&mut client).unwrap_err().to_string();
    assert_eq!(rejected, "the server of drive_to rejected the goal: farther than 10 m");
    drop(client.cancel(sent.id()).unwrap());
    world.run_for(ms(20));
    let mut told = Vec::new();
    while !sent.is_over() {
        told.push(sent.look(&mut client).unwrap());
    }
    assert_eq!(told[0], Progress::Accepted);
    assert!(matches!(
        told[1..],
        [Progress::Feedback(_), .., Progress::Ended(Outcome { status: GoalStatus::Canceled, .. })]
    ));
}

#[test]
fn goals_release_a_node_that_waits_for_them() {
    let mut world = VirtualWorld::new(|app| {
        sender(app, "sender", 20, "told")?;
        let mut drive: Server = app.action("drive_to", Options::default())?;
        let step = move |_: &Cycle| {
            if let Some(goal) = drive.goal() {
                let x = goal.value().x;
                goal.succeed(Arrived { x, begun: 0 }).unwrap();
            }
        };
        app.node("drive", step).on("drive_to.goal").deadline(ms(1));
        Ok(())
    })
    .unwrap();
    world.run_for(secs(1));
    assert!((0.4..0.95).contains(&world.last::<Arrived>("told").unwrap().x));
    // One goal in two cycles of the sender.
    assert!((23..=27).contains(&world.tally("drive").cycles), "{:?}", world.tally("drive"));
}

#[test]
fn goals_of_an_action_that_robot_toml_renames_release_its_node() {
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "goals_release_a_node_that_waits_for_them"]).env("HORUS_RENAME", "drive_to=left.drive_to");
    let output = test.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
}

#[test]
fn a_node_cancels_its_goal_and_hears_how_far_it_came() {
    let mut world = VirtualWorld::new(|app| {
        driver(app, Options::default())?;
        let mut client: Client = app.action_client("drive_to")?;
        let mut told = app.output::<Arrived>("told")?;
        let mut sent = None::<SentGoal<Arrived>>;
        let step = move |cycle: &Cycle| {
            let goal = sent.get_or_insert_with(|| client.send(DriveTo { x: 9.0 }).unwrap());
            if cycle.number == 20 {
                drop(client.cancel(goal.id()).unwrap());
            }
            while !goal.is_over() {
                match goal.look(&mut client).unwrap() {
                    Progress::Nothing => break,
                    Progress::Ended(Outcome {
                        status: GoalStatus::Canceled, cause: Cause::Canceled, result, ..
                    }) => {
                        told.set(result.unwrap());
                    }
                    Progress::Ended(other) => panic!("{other:?}"),
                    _ => {}
                }
            }
        };
        app.node("sender", step).period(ms(10));
        Ok(())
    })
    .unwrap();
    world.run_for(ms(500));
    let arrived = world.last::<Arrived>("told").unwrap();
    assert!((1.5..2.5).contains(&arrived.x), "{arrived:?}");
}

#[test]
fn a_second_node_that_serves_the_same_action_is_refused() {
    let refused = VirtualWorld::new(|app| {
        driver(app, Options::default())?;
        driver(app, Options::default())
    });
    assert!(refused.err().unwrap().to_string().contains("drive_to.goal has a server already"));
}
