//! Takes goals and finds the way: an action `drive_to`, which tells how far it is and ends when the robot is there.

use horus::action::{ActionServer, Goal, Preemption, Reason};
use horus::prelude::*;
use horus::transform::Frames;
use robot_base::messages::{Arrived, DriveTo, Grid, Path, Remaining};
use robot_base::room::planar;

use crate::costmap::cell;
use crate::route::Search;

/// Cycles a second.
const RATE: f64 = 10.0;
/// How near is there, metres.
const THERE: f64 = 0.1;
/// A way is looked for every so many cycles: the map has changed by then.
const AGAIN: u64 = 5;
/// How far it is, is told every so many cycles.
const TELL: u64 = 10;
/// So many cycles without a way, and the goal is given up.
const PATIENCE: u64 = 50;

type DriveGoal<'a> = Goal<'a, DriveTo, Remaining, Arrived>;

struct Planner {
    goals: ActionServer<DriveTo, Remaining, Arrived>,
    frames: Frames,
    path: Output<Path>,
    way: Way,
}

/// The way to the goal that runs.
struct Way {
    map: Input<Grid>,
    search: Search,
    path: Path,
    /// The cycle in which the goal came.
    since: u64,
    /// The last cycle in which there was a way.
    found: u64,
}

/// Declares the node. A new goal replaces the one before, whose client is told so: a person who sends a robot elsewhere means it.
pub fn planner(app: &mut App) -> horus::Result {
    let mut goals = app.action("drive_to", Preemption::Replace)?;
    goals.accept_if(|goal: &DriveTo| match cell(goal.x, goal.y) {
        Some(_) => Ok(()),
        None => Err(Reason::from("the goal is outside of the room, which is 6 m long and 4 m wide")),
    });
    let node = Planner {
        goals,
        frames: app.transforms()?,
        path: app.output("path")?,
        way: Way { map: app.input("map")?, search: Search::new(), path: Path::zeroed(), since: 0, found: 0 },
    };
    app.node("planner", node).rate(RATE);
    Ok(())
}

impl Way {
    /// Drives on towards the goal, or ends it.
    fn go_on(&mut self, mut goal: DriveGoal<'_>, here: (f64, f64), cycle: &Cycle) {
        let (to, number) = (*goal.value(), cycle.number);
        if goal.is_new() {
            cycle.log(info!("a goal at x {:.2} y {:.2}", to.x, to.y));
            (self.since, self.found) = (number, number);
        }
        let (metres, age) = ((to.x - here.0).hypot(to.y - here.1), number - self.since);
        let arrived = Arrived { x: here.0, y: here.1 };
        // Each end of a goal may fail because its client is gone, and then there is nothing to do about it.
        if goal.is_canceling() {
            cycle.log(info!("the goal is canceled, {:.1} m before it", metres));
            self.path.count = 0;
            let _ = goal.canceled_with(arrived);
            return;
        }
        if metres < THERE {
            cycle.log(info!("there after {:.1} s", age as f64 / RATE));
            self.path.count = 0;
            let _ = goal.succeed(arrived);
            return;
        }
        if age.is_multiple_of(AGAIN)
            && let Some(grid) = self.map.latest()
            && self.search.route(grid, here, (to.x, to.y), &mut self.path)
        {
            self.found = number;
        }
        if number - self.found > PATIENCE {
            cycle.log(warn!("no way to x {:.2} y {:.2}: the goal is given up", to.x, to.y));
            self.path.count = 0;
            let _ = goal.abort("no way leads there");
            return;
        }
        if age.is_multiple_of(TELL) {
            let _ = goal.feedback(Remaining { metres });
        }
    }
}

impl Node for Planner {
    fn step(&mut self, cycle: &Cycle) {
        let _ = self.way.map.latest(); // looked at in each cycle, so that a map that stays away is told
        match (self.goals.goal(), self.frames.newest("map", "base_link")) {
            (Some(goal), Ok((here, _))) => {
                let (x, y, _) = planar(&here);
                self.way.go_on(goal, (x, y), cycle);
            }
            (Some(_), Err(_)) => {} // it is not known yet where the robot is
            (None, _) => self.way.path.count = 0,
        }
        // Sent in each cycle: an old path tells the base that navigation is gone.
        self.way.path.stamp_ns = cycle.release.as_nanos();
        self.path.set(self.way.path);
    }
}
