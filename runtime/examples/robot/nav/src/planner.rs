//! Takes goals and finds the way: a service `drive_to`, whose answer comes in parts and ends when the robot is there.

use horus::prelude::*;
use horus::service::{NodeServer, Ticket};
use horus::transform::Frames;
use robot_base::messages::{DriveTo, Grid, Path, Remaining};
use robot_base::room::planar;

use crate::route::Search;

/// How near is there, metres.
const THERE: f64 = 0.1;
/// Cycles a second.
const RATE: f64 = 10.0;
/// A way is looked for every so many cycles: the map has changed by then.
const AGAIN: u64 = 5;
/// A part of the answer is sent every so many cycles.
const TELL: u64 = 10;
/// So many cycles without a way, and the goal is given up.
const PATIENCE: u64 = 50;

struct Goal {
    to: DriveTo,
    ticket: Ticket,
    /// The cycle in which it came.
    since: u64,
    /// The last cycle in which there was a way.
    found: u64,
}

struct Planner {
    requests: NodeServer<DriveTo, Remaining>,
    map: Input<Grid>,
    frames: Frames,
    path: Output<Path>,
    search: Search,
    way: Path,
    goal: Option<Goal>,
}

/// Declares the node.
pub fn planner(app: &mut App) -> horus::Result {
    let node = Planner {
        requests: app.server("drive_to")?,
        map: app.input("map")?,
        frames: app.transforms()?,
        path: app.output("path")?,
        search: Search::new(),
        way: Path::zeroed(),
        goal: None,
    };
    // A robot may have nothing to do for a day, which is nothing to tell.
    app.node("planner", node).rate(RATE).stale_after_of("drive_to", secs(86_400));
    Ok(())
}

impl Planner {
    /// Takes what was asked since the last cycle. A new goal replaces the one before, whose caller is told that there is no answer.
    fn take(&mut self, cycle: &Cycle) {
        let (mut new, ticket) = (None, &mut self.goal);
        while self.requests.serve(|request, answer| new = Some((request, answer.later()))) {}
        if let Some((to, ticket_of_new)) = new {
            if let Some(old) = ticket.take() {
                drop(self.requests.answer(old.ticket));
            }
            cycle.log(info!("a goal at x {:.2} y {:.2}", to.x, to.y));
            self.goal = Some(Goal { to, ticket: ticket_of_new, since: cycle.number, found: cycle.number });
        }
    }

    /// Drives on towards the goal, and answers where there is something to say.
    fn go_on(&mut self, mut goal: Goal, here: (f64, f64), cycle: &Cycle) {
        let number = cycle.number;
        let metres = (goal.to.x - here.0).hypot(goal.to.y - here.1);
        let age = number - goal.since;
        if metres < THERE {
            self.way.count = 0;
            cycle.log(info!("there after {:.1} s", age as f64 / RATE));
            let _ = self.requests.answer(goal.ticket).send(Remaining { metres });
            return;
        }
        if age.is_multiple_of(AGAIN)
            && let Some(grid) = self.map.latest()
            && self.search.route(grid, here, (goal.to.x, goal.to.y), &mut self.way)
        {
            goal.found = number;
        }
        if number - goal.found > PATIENCE {
            self.way.count = 0;
            cycle.log(warn!("no way to x {:.2} y {:.2}: the goal is given up", goal.to.x, goal.to.y));
            drop(self.requests.answer(goal.ticket));
            return;
        }
        if age.is_multiple_of(TELL) {
            let mut answer = self.requests.answer(goal.ticket);
            let _ = answer.part(Remaining { metres });
            goal.ticket = answer.later();
        }
        self.goal = Some(goal);
    }
}

impl Node for Planner {
    fn step(&mut self, cycle: &Cycle) {
        self.take(cycle);
        let _ = self.map.latest(); // looked at in each cycle, so that a map that stays away is told
        match (self.goal.take(), self.frames.newest("map", "base_link")) {
            (Some(goal), Ok((here, _))) => {
                let (x, y, _) = planar(&here);
                self.go_on(goal, (x, y), cycle);
            }
            (goal, _) => self.goal = goal,
        }
        if self.goal.is_none() {
            self.way.count = 0;
        }
        // Sent in each cycle: an old path tells the base that navigation is gone.
        self.way.stamp_ns = cycle.release.as_nanos();
        self.path.set(self.way);
    }
}
