//! Where the robot is in the room: compares what the lidar sees with the plan of the building, and corrects what odometry says.
//!
//! It sends the frame `odom` in `map`, and not that of the base: odometry goes on smoothly, and what drifts is corrected below it (REP 105).

use horus::prelude::*;
use horus::transform::{Broadcaster, Frames, Transform};
use robot_base::messages::{BEAMS, Sweep, direction};
use robot_base::room::{START, distance, planar};

/// Where the correction of a predecessor stands, should this program start a second time.
const KEPT: &str = "localization.correction";
/// Of three beams one is compared: enough to know where walls are, and a third of the work.
const EVERY: usize = 3;
/// The first steps of the search, metres and rad; they are halved so many times.
const STEP: (f64, f64) = (0.02, 0.01);
const HALVINGS: usize = 3;
/// A beam that is farther off than this tells of something that the plan does not have, metres.
const OUTLIER: f64 = 0.3;

struct Localization {
    sweeps: Input<Sweep>,
    frames: Frames,
    odom: Broadcaster,
    kept: Output<Pose2D>,
    /// `odom` in `map`.
    correction: Transform,
}

/// Declares the node. It begins where its predecessor ended, or where the robot is switched on.
pub fn localization(app: &mut App) -> horus::Result {
    let latched = Options::latest(2).latched();
    let before = Subscriber::<Pose2D>::open(KEPT, &latched)?.try_recv().map(|received| received.message);
    let start = before.unwrap_or(Pose2D { x: START.0, y: START.1, ..Pose2D::default() });
    let node = Localization {
        sweeps: app.input("lidar")?,
        frames: app.transforms()?,
        odom: app.broadcaster("map", "odom")?,
        kept: app.output_with(KEPT, latched)?,
        correction: Transform::planar(start.x, start.y, start.yaw),
    };
    app.node("localization", node).rate(10.0);
    Ok(())
}

/// How badly a pose of the lidar explains a sweep: the mean of what its beams are off, metres.
fn mismatch((x, y, yaw): (f64, f64, f64), sweep: &Sweep) -> f64 {
    let off = |beam: usize| {
        let seen = f64::from(sweep.metres[beam]);
        (distance(x, y, yaw + direction(beam)) - seen).abs().min(OUTLIER)
    };
    (0..BEAMS).step_by(EVERY).map(off).sum::<f64>() * EVERY as f64 / BEAMS as f64
}

/// The pose near `at` that explains a sweep best: steps downhill, which become smaller. The work is bounded: one step of each size.
fn matched(at: (f64, f64, f64), sweep: &Sweep) -> (f64, f64, f64) {
    let (mut best, mut least) = (at, mismatch(at, sweep));
    let (mut way, mut turn) = STEP;
    for _ in 0..=HALVINGS {
        for (dx, dy, dyaw) in
            [(way, 0.0, 0.0), (-way, 0.0, 0.0), (0.0, way, 0.0), (0.0, -way, 0.0), (0.0, 0.0, turn), (0.0, 0.0, -turn)]
        {
            let tried = (best.0 + dx, best.1 + dy, best.2 + dyaw);
            let off = mismatch(tried, sweep);
            if off < least {
                (best, least) = (tried, off);
            }
        }
        (way, turn) = (way / 2.0, turn / 2.0);
    }
    best
}

impl Node for Localization {
    fn step(&mut self, cycle: &Cycle) {
        if cycle.number == 0 {
            let (x, y, yaw) = planar(&self.correction);
            cycle.log(info!("odometry began at x {:.2} y {:.2} yaw {:.2}", x, y, yaw));
        }
        if let Some(sweep) = self.sweeps.fresh() {
            // Where odometry had the lidar when it measured, and not where it is by now.
            let measured = MonotonicTime::from_nanos(sweep.stamp_ns);
            if let Ok(lidar) = self.frames.at("odom", "lidar", measured) {
                let (x, y, yaw) = matched(planar(&(self.correction * lidar)), sweep);
                // The plan is flat, and so is the correction.
                let (lidar_x, lidar_y, lidar_yaw) = planar(&lidar);
                let flat = Transform::planar(lidar_x, lidar_y, lidar_yaw);
                self.correction = Transform::planar(x, y, yaw) * flat.inverse();
            }
        }
        let _ = self.odom.send(cycle.release, &self.correction);
        let (x, y, yaw) = planar(&self.correction);
        self.kept.set(Pose2D { stamp_ns: cycle.release.as_nanos(), x, y, yaw });
    }
}
