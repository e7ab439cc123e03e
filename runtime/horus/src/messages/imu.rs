//! What an inertial measurement unit says.

use super::{Quaternion, Vector3};

crate::message! {
    /// Attitude, turn rate and acceleration of a body, 304 bytes; in the frame of the sensor, which is turned as REP 103
    /// says of bodies (x forward, y left, z up).
    ///
    /// Of each covariance, all zero means that it is not known, and a negative first element means that the sensor gives
    /// no such quantity: the convention of ROS's sensor_msgs/Imu, so that filters need no translation.
    #[derive(Default)]
    pub struct Imu = "horus/Imu" {
        /// When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// How the sensor is turned in a frame with x east, y north, z up.
        orientation: Quaternion,
        /// Turn rate, radians per second about the sensor's axes.
        angular_velocity: Vector3,
        /// Specific force, metres per second squared along the sensor's axes; at rest +9.81 along the axis that points up.
        linear_acceleration: Vector3,
        /// Covariance of small turns about x, y, z, radians squared.
        orientation_covariance: [f64; 9],
        /// Covariance of the turn rate about x, y, z, (rad/s)².
        angular_velocity_covariance: [f64; 9],
        /// Covariance of the acceleration along x, y, z, (m/s²)².
        linear_acceleration_covariance: [f64; 9],
    }
}
const _: () = assert!(size_of::<Imu>() == 304);
