//! Where the wheels and the gyroscope say that the base is: the frame `base_link` in `odom`. It drifts, and never jumps.

use std::f64::consts::TAU;

use horus::messages::{Quaternion, Vector3};
use horus::prelude::*;
use horus::transform::{Broadcaster, StaticBroadcaster, Transform, urdf};

use crate::messages::{TICKS_PER_TURN, Ticks};
use crate::physics::RADIUS;

/// How the robot is built. It is a part of the program, so that the program finds it in whatever folder it runs.
const URDF: &str = include_str!("../robot.urdf");

struct DeadReckoning {
    ticks: Input<Ticks>,
    imu: Input<Imu>,
    odom: Output<Odometry>,
    frame: Broadcaster,
    /// The sensors' frames are known as long as a node keeps this.
    _mounted: StaticBroadcaster,
    message: Odometry,
    before: Option<Ticks>,
    x: f64,
    y: f64,
    yaw: f64,
}

/// Declares the node. It has one of its own, because all others need to know where the base is, whatever became of navigation.
pub fn odometry(app: &mut App) -> horus::Result {
    let mut mounted = app.static_broadcaster()?;
    let joints = urdf::fixed_joints(URDF).expect("robot.urdf is a part of this program, and a test reads it");
    mounted.add_all(joints.iter().map(|joint| (joint.parent.as_str(), joint.child.as_str(), joint.transform)))?;
    let node = DeadReckoning {
        ticks: app.input("encoders")?,
        imu: app.input("imu")?,
        odom: app.output("odom")?,
        frame: app.broadcaster("odom", "base_link")?,
        _mounted: mounted,
        message: Odometry::new("odom", "base_link").expect("both names are short"),
        before: None,
        x: 0.0,
        y: 0.0,
        yaw: 0.0,
    };
    app.node("odometry", node).rate(50.0);
    Ok(())
}

impl Node for DeadReckoning {
    fn step(&mut self, cycle: &Cycle) {
        let Some(&ticks) = self.ticks.fresh() else { return };
        let Some(before) = self.before.replace(ticks) else { return };
        let metres = |ticks: i64| ticks as f64 / TICKS_PER_TURN * TAU * RADIUS;
        let way = (metres(ticks.left - before.left) + metres(ticks.right - before.right)) / 2.0;
        let time = ticks.stamp_ns.saturating_sub(before.stamp_ns) as f64 * 1e-9;
        // The gyroscope knows better than the wheels how far it turned: they slip.
        let turning = self.imu.latest().map_or(0.0, |imu| imu.angular_velocity.z);
        let turn = turning * time;
        let (sine, cosine) = (self.yaw + turn / 2.0).sin_cos();
        (self.x, self.y, self.yaw) = (self.x + way * cosine, self.y + way * sine, self.yaw + turn);
        // A send is refused if its time is not later than the last one, which a release always is.
        let _ = self.frame.send(cycle.release, &Transform::planar(self.x, self.y, self.yaw));
        let message = &mut self.message;
        message.stamp_ns = cycle.release.as_nanos();
        message.position = Vector3 { x: self.x, y: self.y, z: 0.0 };
        message.orientation = Quaternion::from_yaw(self.yaw);
        message.linear.x = if time > 0.0 { way / time } else { 0.0 };
        message.angular.z = turning;
        self.odom.set(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lidar::AHEAD;

    #[test]
    fn the_lidar_stands_where_the_simulation_has_it() {
        let joints = urdf::fixed_joints(URDF).unwrap();
        let lidar = joints.iter().find(|joint| joint.child.as_str() == "lidar").unwrap();
        assert_eq!((lidar.parent.as_str(), lidar.transform.translation.x), ("base_link", AHEAD));
        assert_eq!(joints.len(), 2);
    }
}
