//! Which message of ours becomes which message of ROS: the first of each is what it becomes when the user does not say.

use horus::message::Message;
use horus::message::layout::{Layout, generate};
use horus::messages::{BatteryState, CmdVel, Imu, JointState, LaserScan, Odometry, Pose2D, Pose3D, Twist};
use horus::zerocopy::FromBytes;

use super::{Context, battery, cloud, geometry, image, imu, joints, odometry, scan, shapes, text};
use crate::cdr::{Malformed, Reader, Writer};

/// What a topic here carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ours {
    /// Messages of this layout.
    Layout(Layout),
    /// Bytes, at most so many.
    Bytes(usize),
}

impl Ours {
    /// The message's name.
    pub fn name(&self) -> &str {
        match self {
            Self::Layout(layout) => layout.type_name(),
            Self::Bytes(_) => horus::topic::Bytes::TYPE_NAME,
        }
    }
}

impl Ours {
    /// The layout as text, as docs/layout-hash.md has it; for bytes nothing.
    pub fn text(&self) -> String {
        match self {
            Self::Layout(layout) => generate::text(layout).unwrap_or_default(),
            Self::Bytes(_) => String::new(),
        }
    }
}

/// Writes a message of ours as that of ROS.
pub type Write = fn(&[u8], &mut Writer<'_>, &Context) -> Result<(), Malformed>;
/// Reads a message of ROS into the place of ours; says how many bytes count.
pub type Read = fn(&mut Reader<'_>, &mut [u8], &Context) -> Result<usize, Malformed>;

/// A converter.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Our message.
    pub ours: Known,
    /// That of ROS.
    pub ros: &'static str,
    /// The way to ROS.
    pub write: Write,
    /// The way from ROS, if there is one.
    pub read: Option<Read>,
}

/// How a message of ours is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// By its name and the hash of its layout.
    Message(&'static str, u64),
    /// An image of any size.
    Image,
    /// A point cloud of any size.
    Cloud,
    /// Bytes of any length.
    Bytes,
}

impl Known {
    /// Whether a topic carries it.
    pub fn is(self, ours: &Ours) -> bool {
        match (self, ours) {
            (Self::Message(name, hash), Ours::Layout(layout)) => layout.type_name() == name && layout.hash() == hash,
            (Self::Image, Ours::Layout(layout)) => shapes::is_image(layout),
            (Self::Cloud, Ours::Layout(layout)) => shapes::is_cloud(layout),
            (Self::Bytes, Ours::Bytes(_)) => true,
            _ => false,
        }
    }
}

const fn known<M: Message>() -> Known {
    Known::Message(M::TYPE_NAME, M::LAYOUT_HASH)
}

/// A converter of a message of fixed size: the bytes are made the message before it sees them.
macro_rules! entry {
    ($ours:ident, $ros:literal, $write:path) => {
        Entry {
            ours: known::<$ours>(),
            ros: $ros,
            write: |bytes, writer, context| {
                $write($ours::ref_from_bytes(bytes).map_err(|_| Malformed::Short)?, writer, context)
            },
            read: None,
        }
    };
    ($ours:ident, $ros:literal, $write:path, $read:path) => {
        Entry {
            read: Some(|reader, into, context| {
                let ours = $ours::mut_from_bytes(into).map_err(|_| Malformed::Short)?;
                $read(reader, ours, context).map(|()| size_of::<$ours>())
            }),
            ..entry!($ours, $ros, $write)
        }
    };
}

/// All converters.
pub const ENTRIES: [Entry; 19] = [
    entry!(CmdVel, "geometry_msgs/msg/Twist", geometry::write_command, geometry::read_command),
    entry!(CmdVel, "geometry_msgs/msg/TwistStamped", geometry::write_command_stamped, geometry::read_command_stamped),
    entry!(Twist, "geometry_msgs/msg/TwistStamped", geometry::write_twist_stamped, geometry::read_twist_stamped),
    entry!(Twist, "geometry_msgs/msg/Twist", geometry::write_twist, geometry::read_twist),
    entry!(Pose2D, "geometry_msgs/msg/PoseStamped", geometry::write_ground, geometry::read_ground),
    entry!(Pose2D, "geometry_msgs/msg/Pose2D", geometry::write_pose2d, geometry::read_pose2d),
    entry!(Pose3D, "geometry_msgs/msg/PoseStamped", geometry::write_pose_stamped, geometry::read_pose_stamped),
    entry!(Pose3D, "geometry_msgs/msg/Pose", geometry::write_pose, geometry::read_pose),
    entry!(Imu, "sensor_msgs/msg/Imu", imu::write, imu::read),
    entry!(BatteryState, "sensor_msgs/msg/BatteryState", battery::write, battery::read),
    entry!(JointState, "sensor_msgs/msg/JointState", joints::write, joints::read),
    entry!(LaserScan, "sensor_msgs/msg/LaserScan", scan::write, scan::read),
    entry!(Odometry, "nav_msgs/msg/Odometry", odometry::write, odometry::read),
    entry!(Odometry, "tf2_msgs/msg/TFMessage", odometry::write_transform),
    Entry { ours: Known::Image, ros: "sensor_msgs/msg/Image", write: image::write, read: Some(image::read) },
    Entry {
        ours: Known::Image,
        ros: "sensor_msgs/msg/CompressedImage",
        write: image::write_compressed,
        read: Some(image::read_compressed),
    },
    Entry { ours: Known::Cloud, ros: "sensor_msgs/msg/PointCloud2", write: cloud::write, read: Some(cloud::read) },
    Entry { ours: Known::Bytes, ros: "std_msgs/msg/String", write: text::write, read: Some(text::read) },
    Entry {
        ours: Known::Bytes,
        ros: "std_msgs/msg/UInt8MultiArray",
        write: text::write_numbers,
        read: Some(text::read_numbers),
    },
];
