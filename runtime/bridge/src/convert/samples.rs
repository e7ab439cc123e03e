//! A message for each converter, which survives the way to ROS and back: for tests, and for comparison with a ROS 2.

use std::collections::BTreeMap;

use horus::message::Message;
use horus::message::layout::Layout;
use horus::messages::{
    BatteryState, CmdVel, Encoding, FrameShape, ImageVga, Imu, JointState, LaserScan, Odometry, Point, PointCloud100,
    Pose2D, Pose3D, Quaternion, Supply, Twist, Vector3,
};
use horus::zerocopy::IntoBytes;

use super::fields::{self, Step};
use super::{ENTRIES, Ours};
use crate::clock::Offset;
use crate::interface::import::{self, Sizes};
use crate::interface::standard;

/// The clocks of samples: a stamp is so much later in ROS.
pub const OFFSET: Offset = Offset(1_700_000_000_000_000_000);
/// A moment, on CLOCK_MONOTONIC.
const STAMP: u64 = 12_345_678_901;

/// A sample: what it is, what it becomes, and its bytes, as words so that they are aligned.
pub struct Sample {
    /// What a topic of it carries.
    pub ours: Ours,
    /// The message of ROS.
    pub ros: &'static str,
    words: Vec<u64>,
    length: usize,
}

impl Sample {
    /// The message of ours.
    pub fn bytes(&self) -> &[u8] {
        &self.words.as_bytes()[..self.length]
    }
}

/// Messages that have no converter of their own: their layouts are imported.
pub const IMPORTED: [&str; 10] = [
    "nav_msgs/msg/OccupancyGrid",
    "nav_msgs/msg/Path",
    "tf2_msgs/msg/TFMessage",
    "geometry_msgs/msg/PoseWithCovarianceStamped",
    "sensor_msgs/msg/CameraInfo",
    "sensor_msgs/msg/NavSatFix",
    "sensor_msgs/msg/Joy",
    "sensor_msgs/msg/MultiEchoLaserScan",
    "diagnostic_msgs/msg/DiagnosticArray",
    "rosgraph_msgs/msg/Clock",
];

/// A sample for each converter, and for each layout that is imported.
pub fn all() -> Vec<Sample> {
    let made =
        ENTRIES.iter().flat_map(|entry| messages(entry.ros).into_iter().filter(|sample| entry.ours.is(&sample.ours)));
    made.chain(IMPORTED.into_iter().map(imported)).collect()
}

fn imported(ros: &'static str) -> Sample {
    let whole = standard::whole(ros).expect("a standard message");
    let sizes = Sizes { texts: 16, lists: 3, fields: BTreeMap::new() };
    let text = import::layout(&whole, &sizes).expect("its layout");
    let layout: Layout = text.parse().expect("a layout");
    let steps = fields::plan(&layout, &whole).expect("its own layout");
    let length = layout.payload().bytes;
    let mut words = vec![0_u64; length.div_ceil(8)];
    fill(&steps, &mut words.as_mut_bytes()[..length]);
    Sample { ours: Ours::Layout(layout), ros, words, length }
}

/// Numbers that are valid whatever they are, two elements in each list, and a frame in each text.
fn fill(steps: &[Step], bytes: &mut [u8]) {
    for step in steps {
        match step {
            Step::Numbers { at, size, count } => {
                let (one, two) = (1.5_f32.to_le_bytes(), 2.5_f64.to_le_bytes());
                let number: &[u8] = match size {
                    8 => &two,
                    4 => &one,
                    size => &[1, 0][..*size],
                };
                (0..*count).for_each(|index| bytes[at + index * size..][..*size].copy_from_slice(number));
            }
            Step::Time { at, .. } => bytes[*at..][..8].copy_from_slice(&STAMP.to_le_bytes()),
            Step::Nothing => {}
            Step::Text { at, .. } => bytes[*at..][..5].copy_from_slice(b"frame"),
            Step::Each { at, stride, room, count_at, steps } => {
                let count = if let Some(place) = count_at {
                    bytes[*place] = 2;
                    2
                } else {
                    *room
                };
                (0..count).for_each(|index| fill(steps, &mut bytes[at + index * stride..][..*stride]));
            }
        }
    }
}

fn messages(ros: &'static str) -> Vec<Sample> {
    let v = |x: f64| Vector3 { x, y: x + 0.25, z: -x };
    let q = Quaternion { x: 0.5, y: -0.5, z: 0.5, w: 0.5 };
    let imu = Imu {
        stamp_ns: STAMP,
        orientation: q,
        angular_velocity: v(1.0),
        linear_acceleration: v(9.0),
        orientation_covariance: std::array::from_fn(|i| i as f64),
        angular_velocity_covariance: std::array::from_fn(|i| 10.0 + i as f64),
        linear_acceleration_covariance: std::array::from_fn(|i| 20.0 + i as f64),
    };
    let mut battery =
        BatteryState { stamp_ns: STAMP, voltage: 24.5, current: -1.5, charge: 7200.0, ..BatteryState::unknown() };
    (battery.capacity, battery.supply_code) = (36_000.0, Supply::Discharging.code());
    let mut scan =
        LaserScan { stamp_ns: STAMP, angle_start: -1.0, angle_step: 0.5, range_max: 30.0, ..LaserScan::zeroed() };
    let mut joints = JointState::new(&["shoulder", "elbow", "é"]).unwrap_or_else(|_| JointState::zeroed());
    (joints.stamp_ns, joints.measured) = (STAMP, 0b101);
    joints.position[..3].copy_from_slice(&[0.1, 0.2, 0.3]);
    joints.effort[..3].copy_from_slice(&[4.0, 5.0, 6.0]);
    let mut odometry = Odometry::new("odom", "base_link").unwrap_or_else(|_| Odometry::zeroed());
    (odometry.stamp_ns, odometry.position, odometry.linear) = (STAMP, v(2.0), v(3.0));
    (odometry.angular, odometry.orientation) = (v(4.0), q);
    odometry.pose_covariance = std::array::from_fn(|i| i as f64);
    odometry.twist_covariance = std::array::from_fn(|i| 100.0 + i as f64);
    // They have room for it.
    let _ = (battery.set_cells(&[4.0, 4.1, 4.2]), scan.set_ranges(&[1.0, f32::NAN, 3.0]));
    let stamp_ns = if ros.ends_with("Stamped") { STAMP } else { 0 };
    vec![
        sample(&CmdVel { forward: 0.5, turn: -0.25 }, ros),
        sample(&Twist { stamp_ns, linear: v(1.0), angular: v(2.0) }, ros),
        sample(&Pose2D { stamp_ns, x: 1.0, y: 2.0, yaw: 0.0 }, ros),
        sample(&Pose3D { stamp_ns, position: v(5.0), orientation: q }, ros),
        sample(&imu, ros),
        sample(&battery, ros),
        sample(&scan, ros),
        sample(&joints, ros),
        sample(&odometry, ros),
        picture(ros),
        cloud(ros),
        Sample { ours: Ours::Bytes(64), ros, words: vec![u64::from_le_bytes(*b"gr\xc3\xbc\xc3\x9fe\0"); 1], length: 7 },
    ]
}

fn sample<M: Message>(message: &M, ros: &'static str) -> Sample {
    let length = size_of::<M>();
    let mut words = vec![0_u64; length.div_ceil(8)];
    words.as_mut_bytes()[..length].copy_from_slice(message.as_bytes());
    Sample { ours: Ours::Layout(Layout::of::<M>()), ros, words, length }
}

fn picture(ros: &'static str) -> Sample {
    let shape = match ros.contains("Compressed") {
        true => FrameShape::compressed(0, 0, Encoding::Jpeg, 5),
        false => FrameShape::strided(3, 2, Encoding::Rgb8, 16),
    };
    let mut image: Box<ImageVga> = horus_box();
    image.stamp_ns = STAMP;
    if let Ok(picture) = image.begin(shape) {
        picture.iter_mut().enumerate().for_each(|(index, byte)| *byte = index as u8);
    }
    sample(&*image, ros)
}

fn cloud(ros: &'static str) -> Sample {
    let mut cloud = PointCloud100 { stamp_ns: STAMP, ..PointCloud100::zeroed() };
    let _ = cloud.set_points(&[Point { x: 1.0, y: 2.0, z: 3.0 }, Point { x: -1.0, y: f32::NAN, z: 0.5 }]);
    sample(&cloud, ros)
}

/// A message too large for most stacks.
fn horus_box<M: Message>() -> Box<M> {
    M::new_box_zeroed().expect("there is memory for a sample")
}
