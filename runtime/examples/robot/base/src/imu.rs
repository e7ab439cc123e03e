//! The gyroscope: how fast the base turns, a little wrong, as gyroscopes are.

use horus::messages::Vector3;
use horus::prelude::*;

/// What it says when nothing turns, rad/s. It is in the data sheet of no gyroscope, and of each one another.
const BIAS: f64 = 0.002;

struct Gyroscope {
    pose: Input<Pose2D>,
    imu: Output<Imu>,
    before: Option<Pose2D>,
}

/// Declares the node.
pub fn imu(app: &mut App) -> horus::Result {
    let node = Gyroscope { pose: app.input("sim.pose")?, imu: app.output("imu")?, before: None };
    app.node("imu", node).rate(100.0);
    Ok(())
}

impl Node for Gyroscope {
    fn step(&mut self, cycle: &Cycle) {
        let Some(&pose) = self.pose.fresh() else { return };
        if let Some(before) = self.before.replace(pose)
            && pose.stamp_ns > before.stamp_ns
        {
            // The simulation takes equal steps, which its stamps count.
            let time = (pose.stamp_ns - before.stamp_ns) as f64 * 1e-9;
            let z = (pose.yaw - before.yaw) / time + BIAS;
            let angular_velocity = Vector3 { z, ..Vector3::default() };
            self.imu.set(Imu { stamp_ns: cycle.release.as_nanos(), angular_velocity, ..Imu::default() });
        }
    }
}
