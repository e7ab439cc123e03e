//! The base and navigation in one virtual world: no real time passes, and two runs are the same, bit for bit.

use std::sync::{Arc, Mutex};

use horus::action::{Progress, SentGoal};
use horus::prelude::*;
use robot_base::messages::{Arrived, DriveTo, Remaining};

/// What the one who asks was told.
type Told = Arc<Mutex<Vec<Result<f64, String>>>>;

const GOAL: DriveTo = DriveTo { x: 5.0, y: 1.0 };

/// Asks once for a goal, half a second after the start.
fn asker(app: &mut App, goal: DriveTo, told: Told) -> horus::Result {
    let mut client = app.action_client::<DriveTo, Remaining, Arrived>("drive_to")?;
    let mut sent: Option<SentGoal<Arrived>> = None;
    let step = move |cycle: &Cycle| {
        if cycle.number == 5 {
            sent = client.send(goal).ok();
        }
        let Some(goal) = &mut sent else { return };
        match goal.look(&mut client) {
            Ok(Progress::Nothing | Progress::Accepted) => {}
            Ok(Progress::Feedback(remaining)) => told.lock().unwrap().push(Ok(remaining.metres)),
            Ok(Progress::Ended(outcome)) => {
                let end = outcome.result.ok_or(outcome.reason.as_str().to_owned());
                told.lock().unwrap().push(end.map(|at| (at.x - GOAL.x).hypot(at.y - GOAL.y)));
                sent = None;
            }
            Err(error) => {
                told.lock().unwrap().push(Err(error.to_string()));
                sent = None;
            }
        }
    };
    app.node("asker", step).rate(10.0);
    Ok(())
}

fn world(goal: DriveTo) -> (VirtualWorld, Told) {
    let told = Told::default();
    let world = VirtualWorld::new(|app| {
        robot_base::base(app)?;
        robot_nav::navigation(app)?;
        asker(app, goal, Arc::clone(&told))
    });
    (world.unwrap(), told)
}

fn distance(world: &mut VirtualWorld) -> f64 {
    let pose = world.last::<Pose2D>("sim.pose").unwrap();
    (pose.x - GOAL.x).hypot(pose.y - GOAL.y)
}

#[test]
fn it_drives_through_the_door_to_the_goal_and_two_runs_are_the_same() {
    let runs: Vec<_> = (0..2)
        .map(|_| {
            let (mut world, told) = world(GOAL);
            world.run_for(secs(20));
            let pose = world.last::<Pose2D>("sim.pose").unwrap();
            let told = told.lock().unwrap().clone();
            (pose.x.to_bits(), pose.y.to_bits(), pose.yaw.to_bits(), told, distance(&mut world))
        })
        .collect();
    assert_eq!(runs[0], runs[1]);
    let (.., told, away) = &runs[0];
    assert!(told.len() > 4 && told.last().unwrap().as_ref().is_ok_and(|metres| *metres < 0.1), "{told:?}");
    assert!(*away < 0.15, "it is {away} m away from the goal in truth");
}

#[test]
fn a_late_controller_stops_the_base_until_a_person_lets_it_go_on() {
    let (mut world, told) = world(GOAL);
    world.run_for(secs(3));
    assert_ne!(world.last::<CmdVel>("base.cmd"), Some(CmdVel::STOP));
    world.takes("controller", ms(80)).for_cycles(5);
    world.run_for(secs(2));
    let stopped = distance(&mut world);
    world.run_for(secs(1));
    assert_eq!(world.last::<CmdVel>("base.cmd"), Some(CmdVel::STOP));
    assert_eq!(distance(&mut world), stopped, "it stands");
    world.rearm("controller");
    world.run_for(secs(20));
    assert!(told.lock().unwrap().last().unwrap().as_ref().is_ok_and(|metres| *metres < 0.1));
}

#[test]
fn a_goal_that_nothing_leads_to_is_given_up_and_one_outside_of_the_room_is_not_taken() {
    for (x, words) in [(3.05, "no way leads there"), (9.0, "the goal is outside of the room")] {
        let (mut world, told) = world(DriveTo { x, y: 1.0 });
        world.run_for(secs(12));
        assert_eq!(world.last::<CmdVel>("base.cmd"), Some(CmdVel::STOP));
        let told = told.lock().unwrap();
        assert!(told.last().unwrap().as_ref().is_err_and(|said| said.contains(words)), "{told:?}");
    }
}
