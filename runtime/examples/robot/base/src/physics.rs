//! What moves: the wheels turn as the motors say, and carry the base with them. In place of a robot.

use horus::prelude::*;

use crate::messages::Wheels;
use crate::room::{LENGTH, START, WIDTH};

/// Of a wheel, metres.
pub const RADIUS: f64 = 0.05;
/// Between the wheels, metres.
pub const TRACK: f64 = 0.3;
/// The left wheel's tyre is a little worn, which odometry does not know: what it says drifts, and localization has something to do.
const WORN: f64 = 0.99;
/// The base does not go through walls: half of its width, metres.
const HALF: f64 = 0.15;

struct Physics {
    speeds: Input<Wheels>,
    pose: Output<Pose2D>,
    turned: Output<Wheels>,
    is: Pose2D,
    wheels: Wheels,
    before: Option<MonotonicTime>,
}

/// A robot whose simulation was held up for longer stood still meanwhile.
const LONGEST: std::time::Duration = ms(100);

/// Declares the node. At 100 Hz the base moves by less than a centimetre in a step, and a laptop does not notice the work.
pub fn physics(app: &mut App) -> horus::Result {
    let node = Physics {
        speeds: app.input("motor.speeds")?,
        pose: app.output("sim.pose")?,
        turned: app.output("sim.wheels")?,
        is: Pose2D { x: START.0, y: START.1, ..Pose2D::default() },
        wheels: Wheels::default(),
        before: None,
    };
    app.node("physics", node).rate(100.0);
    Ok(())
}

impl Node for Physics {
    fn step(&mut self, cycle: &Cycle) {
        // The time between releases, which carries no jitter, and holds those that were skipped. Asking the machine for the time would make two runs
        // in virtual time differ.
        let before = self.before.replace(cycle.release).unwrap_or(cycle.release);
        let time = cycle.release.since(before).min(LONGEST).as_secs_f64();
        let speeds = self.speeds.latest().copied().unwrap_or_default();
        let (left, right) = (speeds.left * time, speeds.right * time);
        let (left_way, right_way) = (left * RADIUS * WORN, right * RADIUS);
        let (way, turn) = ((left_way + right_way) / 2.0, (right_way - left_way) / TRACK);
        let (sine, cosine) = (self.is.yaw + turn / 2.0).sin_cos();
        self.is.x = (self.is.x + way * cosine).clamp(HALF, LENGTH - HALF);
        self.is.y = (self.is.y + way * sine).clamp(HALF, WIDTH - HALF);
        self.is.yaw += turn;
        self.wheels.left += left;
        self.wheels.right += right;
        let stamp_ns = cycle.release.as_nanos();
        self.pose.set(Pose2D { stamp_ns, ..self.is });
        self.turned.set(Wheels { stamp_ns, ..self.wheels });
    }
}
