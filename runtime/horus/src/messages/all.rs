//! All messages of this crate, for programs that know a message by its name only.

use super::*;
use crate::message::layout::Layout;
use crate::message::{Stamp, description};

/// What a topic of a message is made by.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    /// The message's name.
    pub type_name: &'static str,
    /// Its layout hash.
    pub layout_hash: u64,
    /// How many bytes it has.
    pub bytes: usize,
    /// Its alignment in bytes.
    pub align: usize,
    /// Makes the text that describes its fields.
    pub description: fn() -> String,
    /// Makes its layout.
    pub layout: fn() -> Layout,
}

const fn define<M: Message>() -> Definition {
    Definition {
        type_name: M::TYPE_NAME,
        layout_hash: M::LAYOUT_HASH,
        bytes: size_of::<M>(),
        align: align_of::<M>(),
        description: description::<M>,
        layout: Layout::of::<M>,
    }
}

/// Every message that this crate defines.
pub const ALL: [Definition; 20] = [
    define::<Vector3>(),
    define::<Quaternion>(),
    define::<Pose2D>(),
    define::<Pose3D>(),
    define::<Twist>(),
    define::<CmdVel>(),
    define::<BatteryState>(),
    define::<Imu>(),
    define::<Odometry>(),
    define::<JointState>(),
    define::<JointCommand>(),
    define::<LaserScan>(),
    define::<Point>(),
    define::<PointCloud100>(),
    define::<PointCloud1k>(),
    define::<PointCloud10k>(),
    define::<ImageVga>(),
    define::<ImageHd>(),
    define::<ImageFullHd>(),
    define::<Stamp>(),
];
