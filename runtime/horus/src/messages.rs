//! Messages of the field: what mobile robots and arms exchange most, as plain data with documented units.
//!
//! | message | bytes | what it is |
//! |---|---|---|
//! | [`CmdVel`] | 16 | how fast a vehicle shall drive and turn |
//! | [`Vector3`], [`Quaternion`] | 24, 32 | parts of other messages |
//! | [`Pose2D`], [`Pose3D`], [`Twist`] | 32, 64, 56 | where something is, how it moves |
//! | [`BatteryState`] | 104 | voltages, current, charge |
//! | [`Imu`] | 304 | attitude, turn rate and acceleration with their covariances |
//! | [`Odometry`] | 736 | pose and speed of a vehicle with their covariances |
//! | [`JointState`], [`JointCommand`] | 912, 928 | up to 16 joints: what they do, what they shall do |
//! | [`LaserScan`] | 1480 | up to 360 distances of one turn of a scanner |
//! | [`PointCloud100`], [`PointCloud1k`], [`PointCloud10k`] | 1216, 12 016, 120 016 | points; [`point_cloud_message!`](crate::point_cloud_message!) makes other sizes |
//! | [`ImageVga`], [`ImageHd`], [`ImageFullHd`] | 0.9, 2.8, 6.2 MB | a camera's frame; [`image_message!`](crate::image_message!) makes other sizes |
//!
//! # Conventions
//! - Units are SI, and axes are those of ROS REP 103 (<https://ros.org/reps/rep-0103.html>): right-handed; on a body x is
//!   forward, y left, z up; on the ground x is east, y north, z up; in a camera z is forward, x right, y down. Angles
//!   are radians and grow counter-clockwise; zero yaw is forward, or east. Covariances are matrices row by row.
//! - `stamp_ns` is when the thing was *measured*, nanoseconds on CLOCK_MONOTONIC of the machine that publishes; 0 when
//!   it is unknown. When the message was *sent* stands beside it, if its publisher stamps messages
//!   ([`Received::sent_ns`](crate::topic::Received)), so commands such as [`CmdVel`] need no stamp.
//! - A number that is not known is NaN where that is possible, and its docs say what stands for it where not.
//! - Names of frames and joints are UTF-8 text in fields of fixed size, padded with zero bytes: [`text`], [`set_text`].
//! - What is a choice of few is a code in a field and an `enum` at the accessor, because not every byte that a peer may
//!   write is a variant.
//!
//! # What they do not do
//! Nothing about a received message is believed but its size. A peer can write any number into a count, a text or a
//! code; hence read them through the accessors, which clamp counts to what the message holds and give `None` for
//! codes that mean nothing. Values are not checked: a quaternion need not have length one, nor a range be positive.
//!
//! ```
//! use horus::messages::LaserScan;
//! let mut scan = LaserScan::zeroed();
//! scan.set_ranges(&[1.5, 2.0]).unwrap();
//! assert_eq!(scan.ranges(), [1.5, 2.0]);
//! scan.count = u32::MAX; // what a hostile peer could write
//! assert_eq!(scan.ranges().len(), LaserScan::CAPACITY);
//! ```
//!
//! Two programs speak of the same message when name and layout hash agree; the hashes of these are fixed by a test.
//! Changing a field is a new message to every peer that was built before.

mod all;
mod battery;
mod cloud;
mod geometry;
mod image;
mod imu;
mod joint;
mod odometry;
mod scan;
mod text;

#[cfg(test)]
mod tests;

use thiserror::Error;

use crate::message::Message;

pub use all::{ALL, Definition};
pub use battery::{BatteryState, Supply};
pub use cloud::{Point, PointCloud1k, PointCloud10k, PointCloud100};
pub use geometry::{CmdVel, Pose2D, Pose3D, Quaternion, Twist, Vector3};
#[doc(hidden)]
pub use image::plan;
pub use image::{Encoding, FrameError, FrameShape, ImageFullHd, ImageHd, ImageVga};
pub use imu::Imu;
pub use joint::{JointCommand, JointError, JointMode, JointState};
pub use odometry::Odometry;
pub use scan::LaserScan;
pub use text::{TextError, set_text, text};

/// A message whose bytes are all zero, for code that works with any message; of a known type there is `Imu::zeroed()`.
pub fn zeroed<M: Message>() -> M {
    M::new_zeroed()
}

/// More elements than the message has room for; nothing was written.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{given} elements do not fit into a message that holds {capacity}: send fewer, or define a larger message")]
pub struct TooMany {
    /// How many there were.
    pub given: usize,
    /// How many there is room for.
    pub capacity: usize,
}

/// How many elements of `all` a message's own `count` stands for: no more than there are.
#[doc(hidden)]
pub fn counted<T>(all: &[T], count: u32) -> &[T] {
    &all[..all.len().min(usize::try_from(count).unwrap_or(usize::MAX))]
}

/// Copies `given` to the beginning of `all` and gives their count.
#[doc(hidden)]
pub fn fill<T: Copy>(all: &mut [T], given: &[T]) -> Result<u32, TooMany> {
    let too_many = TooMany { given: given.len(), capacity: all.len() };
    let count = u32::try_from(given.len()).map_err(|_| too_many)?;
    all.get_mut(..given.len()).ok_or(too_many)?.copy_from_slice(given);
    Ok(count)
}

/// The Rust of docs/topics.md, so that it goes on compiling.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/topics.md")]
struct Guide;
