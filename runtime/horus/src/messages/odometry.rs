//! Where a vehicle believes to be, and how it moves.

use super::text::{TextError, set_text, text};
use super::{Quaternion, Vector3};

crate::message! {
    /// Pose and speed of a vehicle with their covariances, 736 bytes.
    ///
    /// The pose is given in the frame named `frame` (usually `odom`, which drifts and never jumps: REP 105,
    /// <https://ros.org/reps/rep-0105.html>), the speed in the vehicle's own, named `child_frame`.
    pub struct Odometry = "horus/Odometry" {
        /// When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// From the origin of `frame` to that of `child_frame`, metres along the axes of `frame`.
        position: Vector3,
        /// How `child_frame` is turned in `frame`.
        orientation: Quaternion,
        /// Speed, metres per second along the axes of `child_frame`.
        linear: Vector3,
        /// Turn rate, radians per second about the axes of `child_frame`.
        angular: Vector3,
        /// Covariance of the pose, 6 × 6 in the order x, y, z (metres), turns about fixed x, y, z (radians): products of
        /// two of them.
        pose_covariance: [f64; 36],
        /// Covariance of the speed, 6 × 6 in the order x, y, z (m/s), turn rates about x, y, z (rad/s): products of two of
        /// them.
        twist_covariance: [f64; 36],
        /// Name of the frame that the pose is given in: text, padded with zero bytes.
        frame_text: [u8; 24],
        /// Name of the vehicle's own frame: text, padded with zero bytes.
        child_frame_text: [u8; 24],
    }
}
const _: () = assert!(size_of::<Odometry>() == 736);

impl Odometry {
    /// At the origin and at rest, with covariances of zero, in these frames.
    ///
    /// ```
    /// let odometry = horus::messages::Odometry::new("odom", "base_link").unwrap();
    /// assert_eq!((odometry.frame(), odometry.child_frame()), ("odom", "base_link"));
    /// ```
    pub fn new(frame: &str, child_frame: &str) -> Result<Self, TextError> {
        let mut odometry = Self { orientation: Quaternion::IDENTITY, ..Self::zeroed() };
        set_text(&mut odometry.frame_text, frame)?;
        set_text(&mut odometry.child_frame_text, child_frame)?;
        Ok(odometry)
    }

    /// Name of the frame that the pose is given in.
    pub fn frame(&self) -> &str {
        text(&self.frame_text)
    }

    /// Name of the vehicle's own frame, which the speed is given in.
    pub fn child_frame(&self) -> &str {
        text(&self.child_frame_text)
    }
}
