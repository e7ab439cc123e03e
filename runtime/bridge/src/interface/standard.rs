//! Definitions of ROS 2's standard messages: all of five packages, and those of two more; beside them those that were learned. A test compares
//! the hashes of the standard ones with those of a ROS 2.

use std::sync::OnceLock;

use super::{Interface, Whole, Wrong, parse, services};
use crate::names;

/// Definitions of this machine's own.
static LEARNED: OnceLock<Vec<Interface>> = OnceLock::new();

/// A message on each line: its fields, separated by commas.
const MESSAGES: &str = "
builtin_interfaces/Duration: int32 sec, uint32 nanosec
builtin_interfaces/Time: int32 sec, uint32 nanosec

std_msgs/Bool: bool data
std_msgs/Byte: byte data
std_msgs/ByteMultiArray: MultiArrayLayout layout, byte[] data
std_msgs/Char: char data
std_msgs/ColorRGBA: float32 r, float32 g, float32 b, float32 a
std_msgs/Empty:
std_msgs/Float32: float32 data
std_msgs/Float32MultiArray: MultiArrayLayout layout, float32[] data
std_msgs/Float64: float64 data
std_msgs/Float64MultiArray: MultiArrayLayout layout, float64[] data
std_msgs/Header: builtin_interfaces/Time stamp, string frame_id
std_msgs/Int16: int16 data
std_msgs/Int16MultiArray: MultiArrayLayout layout, int16[] data
std_msgs/Int32: int32 data
std_msgs/Int32MultiArray: MultiArrayLayout layout, int32[] data
std_msgs/Int64: int64 data
std_msgs/Int64MultiArray: MultiArrayLayout layout, int64[] data
std_msgs/Int8: int8 data
std_msgs/Int8MultiArray: MultiArrayLayout layout, int8[] data
std_msgs/MultiArrayDimension: string label, uint32 size, uint32 stride
std_msgs/MultiArrayLayout: MultiArrayDimension[] dim, uint32 data_offset
std_msgs/String: string data
std_msgs/UInt16: uint16 data
std_msgs/UInt16MultiArray: MultiArrayLayout layout, uint16[] data
std_msgs/UInt32: uint32 data
std_msgs/UInt32MultiArray: MultiArrayLayout layout, uint32[] data
std_msgs/UInt64: uint64 data
std_msgs/UInt64MultiArray: MultiArrayLayout layout, uint64[] data
std_msgs/UInt8: uint8 data
std_msgs/UInt8MultiArray: MultiArrayLayout layout, uint8[] data

geometry_msgs/Accel: Vector3 linear, Vector3 angular
geometry_msgs/AccelStamped: std_msgs/Header header, Accel accel
geometry_msgs/AccelWithCovariance: Accel accel, float64[36] covariance
geometry_msgs/AccelWithCovarianceStamped: std_msgs/Header header, AccelWithCovariance accel
geometry_msgs/Inertia: float64 m, Vector3 com, float64 ixx, float64 ixy, float64 ixz, float64 iyy, float64 iyz, float64 izz
geometry_msgs/InertiaStamped: std_msgs/Header header, Inertia inertia
geometry_msgs/Point: float64 x, float64 y, float64 z
geometry_msgs/Point32: float32 x, float32 y, float32 z
geometry_msgs/PointStamped: std_msgs/Header header, Point point
geometry_msgs/Polygon: Point32[] points
geometry_msgs/PolygonInstance: Polygon polygon, int64 id
geometry_msgs/PolygonInstanceStamped: std_msgs/Header header, PolygonInstance polygon
geometry_msgs/PolygonStamped: std_msgs/Header header, Polygon polygon
geometry_msgs/Pose: Point position, Quaternion orientation
geometry_msgs/Pose2D: float64 x, float64 y, float64 theta
geometry_msgs/PoseArray: std_msgs/Header header, Pose[] poses
geometry_msgs/PoseStamped: std_msgs/Header header, Pose pose
geometry_msgs/PoseWithCovariance: Pose pose, float64[36] covariance
geometry_msgs/PoseWithCovarianceStamped: std_msgs/Header header, PoseWithCovariance pose
geometry_msgs/Quaternion: float64 x, float64 y, float64 z, float64 w
geometry_msgs/QuaternionStamped: std_msgs/Header header, Quaternion quaternion
geometry_msgs/Transform: Vector3 translation, Quaternion rotation
geometry_msgs/TransformStamped: std_msgs/Header header, string child_frame_id, Transform transform
geometry_msgs/Twist: Vector3 linear, Vector3 angular
geometry_msgs/TwistStamped: std_msgs/Header header, Twist twist
geometry_msgs/TwistWithCovariance: Twist twist, float64[36] covariance
geometry_msgs/TwistWithCovarianceStamped: std_msgs/Header header, TwistWithCovariance twist
geometry_msgs/Vector3: float64 x, float64 y, float64 z
geometry_msgs/Vector3Stamped: std_msgs/Header header, Vector3 vector
geometry_msgs/VelocityStamped: std_msgs/Header header, string body_frame_id, string reference_frame_id, Twist velocity
geometry_msgs/Wrench: Vector3 force, Vector3 torque
geometry_msgs/WrenchStamped: std_msgs/Header header, Wrench wrench

sensor_msgs/BatteryState: std_msgs/Header header, float32 voltage, float32 temperature, float32 current, float32 charge, float32 capacity, float32 design_capacity, float32 percentage, uint8 power_supply_status, uint8 power_supply_health, uint8 power_supply_technology, bool present, float32[] cell_voltage, float32[] cell_temperature, string location, string serial_number
sensor_msgs/CameraInfo: std_msgs/Header header, uint32 height, uint32 width, string distortion_model, float64[] d, float64[9] k, float64[9] r, float64[12] p, uint32 binning_x, uint32 binning_y, RegionOfInterest roi
sensor_msgs/ChannelFloat32: string name, float32[] values
sensor_msgs/CompressedImage: std_msgs/Header header, string format, uint8[] data
sensor_msgs/FluidPressure: std_msgs/Header header, float64 fluid_pressure, float64 variance
sensor_msgs/Illuminance: std_msgs/Header header, float64 illuminance, float64 variance
sensor_msgs/Image: std_msgs/Header header, uint32 height, uint32 width, string encoding, uint8 is_bigendian, uint32 step, uint8[] data
sensor_msgs/Imu: std_msgs/Header header, geometry_msgs/Quaternion orientation, float64[9] orientation_covariance, geometry_msgs/Vector3 angular_velocity, float64[9] angular_velocity_covariance, geometry_msgs/Vector3 linear_acceleration, float64[9] linear_acceleration_covariance
sensor_msgs/JointState: std_msgs/Header header, string[] name, float64[] position, float64[] velocity, float64[] effort
sensor_msgs/Joy: std_msgs/Header header, float32[] axes, int32[] buttons
sensor_msgs/JoyFeedback: uint8 type, uint8 id, float32 intensity
sensor_msgs/JoyFeedbackArray: JoyFeedback[] array
sensor_msgs/LaserEcho: float32[] echoes
sensor_msgs/LaserScan: std_msgs/Header header, float32 angle_min, float32 angle_max, float32 angle_increment, float32 time_increment, float32 scan_time, float32 range_min, float32 range_max, float32[] ranges, float32[] intensities
sensor_msgs/MagneticField: std_msgs/Header header, geometry_msgs/Vector3 magnetic_field, float64[9] magnetic_field_covariance
sensor_msgs/MultiDOFJointState: std_msgs/Header header, string[] joint_names, geometry_msgs/Transform[] transforms, geometry_msgs/Twist[] twist, geometry_msgs/Wrench[] wrench
sensor_msgs/MultiEchoLaserScan: std_msgs/Header header, float32 angle_min, float32 angle_max, float32 angle_increment, float32 time_increment, float32 scan_time, float32 range_min, float32 range_max, LaserEcho[] ranges, LaserEcho[] intensities
sensor_msgs/NavSatFix: std_msgs/Header header, NavSatStatus status, float64 latitude, float64 longitude, float64 altitude, float64[9] position_covariance, uint8 position_covariance_type
sensor_msgs/NavSatStatus: int8 status, uint16 service
sensor_msgs/PointCloud: std_msgs/Header header, geometry_msgs/Point32[] points, ChannelFloat32[] channels
sensor_msgs/PointCloud2: std_msgs/Header header, uint32 height, uint32 width, PointField[] fields, bool is_bigendian, uint32 point_step, uint32 row_step, uint8[] data, bool is_dense
sensor_msgs/PointField: string name, uint32 offset, uint8 datatype, uint32 count
sensor_msgs/Range: std_msgs/Header header, uint8 radiation_type, float32 field_of_view, float32 min_range, float32 max_range, float32 range, float32 variance
sensor_msgs/RegionOfInterest: uint32 x_offset, uint32 y_offset, uint32 height, uint32 width, bool do_rectify
sensor_msgs/RelativeHumidity: std_msgs/Header header, float64 relative_humidity, float64 variance
sensor_msgs/Temperature: std_msgs/Header header, float64 temperature, float64 variance
sensor_msgs/TimeReference: std_msgs/Header header, builtin_interfaces/Time time_ref, string source

nav_msgs/Goals: std_msgs/Header header, geometry_msgs/PoseStamped[] goals
nav_msgs/GridCells: std_msgs/Header header, float32 cell_width, float32 cell_height, geometry_msgs/Point[] cells
nav_msgs/MapMetaData: builtin_interfaces/Time map_load_time, float32 resolution, uint32 width, uint32 height, geometry_msgs/Pose origin
nav_msgs/OccupancyGrid: std_msgs/Header header, MapMetaData info, int8[] data
nav_msgs/Odometry: std_msgs/Header header, string child_frame_id, geometry_msgs/PoseWithCovariance pose, geometry_msgs/TwistWithCovariance twist
nav_msgs/Path: std_msgs/Header header, geometry_msgs/PoseStamped[] poses

diagnostic_msgs/DiagnosticArray: std_msgs/Header header, DiagnosticStatus[] status
diagnostic_msgs/DiagnosticStatus: byte level, string name, string message, string hardware_id, KeyValue[] values
diagnostic_msgs/KeyValue: string key, string value

rcl_interfaces/FloatingPointRange: float64 from_value, float64 to_value, float64 step
rcl_interfaces/IntegerRange: int64 from_value, int64 to_value, uint64 step
rcl_interfaces/Parameter: string name, ParameterValue value
rcl_interfaces/ParameterDescriptor: string name, uint8 type, string description, string additional_constraints, bool read_only, bool dynamic_typing, FloatingPointRange[<=1] floating_point_range, IntegerRange[<=1] integer_range
rcl_interfaces/ParameterEvent: builtin_interfaces/Time stamp, string node, Parameter[] new_parameters, Parameter[] changed_parameters, Parameter[] deleted_parameters
rcl_interfaces/ParameterValue: uint8 type, bool bool_value, int64 integer_value, float64 double_value, string string_value, byte[] byte_array_value, bool[] bool_array_value, int64[] integer_array_value, float64[] double_array_value, string[] string_array_value

rosgraph_msgs/Clock: builtin_interfaces/Time clock

tf2_msgs/TF2Error: uint8 error, string error_string
tf2_msgs/TFMessage: geometry_msgs/TransformStamped[] transforms
";

/// The names of all, as `package/msg/Name`.
pub fn names() -> impl Iterator<Item = String> {
    MESSAGES.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.replace('/', "/msg/"))
}

/// From now on these are known like those of the table. Only the first call counts.
pub fn learn(all: Vec<Whole>) {
    let flat = all.into_iter().flat_map(|whole| std::iter::once(whole.top).chain(whole.inner.into_values()));
    let _ = LEARNED.set(flat.collect());
}

/// One that was learned.
pub(super) fn learned(name: &str) -> Option<&'static Interface> {
    LEARNED.get()?.iter().find(|known| known.name == name)
}

/// The definition of a standard message, or of one that was learned.
pub fn get(name: &str) -> Option<Interface> {
    if let Some(learned) = learned(name) {
        return Some(learned.clone());
    }
    if let Some(part) = services::part(name) {
        return Some(part);
    }
    let wanted = name.replace("/msg/", "/");
    let (_, fields) = MESSAGES.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| *name == wanted)?;
    parse(name, &fields.replace(", ", "\n")).ok()
}

/// Whether the bridge knows a service: a standard one, or one of a definition of this machine's own.
pub fn has_service(type_name: &str) -> bool {
    services::messages(type_name).iter().all(|name| get(name).is_some())
}

/// Checks the type of a service as a person wrote it. A package of ROS's own has no other services than it has.
///
/// # Errors
/// What to write, with the nearest name.
pub fn check_service(type_name: &str) -> Result<String, String> {
    let whole = names::service_type(type_name).map_err(|error| error.to_string())?;
    let package = |name: &str| name.split('/').next().unwrap_or_default().to_owned();
    let of_it: Vec<_> = services::all().filter(|known| package(known) == package(&whole)).collect();
    if of_it.is_empty() || has_service(&whole) {
        return Ok(whole);
    }
    let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let nearest = of_it.iter().find(|known| horus::near::is_near(&last(known), &last(&whole)));
    let meant = match nearest {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("it has {}", of_it.join(", ")),
    };
    Err(format!("{whole} is no service that the bridge knows: {meant} One of your own is named by `definitions`"))
}

/// The definition of a standard message with all that are inside of it.
///
/// # Errors
/// When there is none of that name.
pub fn whole(name: &str) -> Result<Whole, Wrong> {
    let top = get(name).ok_or_else(|| Wrong::Unknown { name: name.to_owned(), user: "the settings".to_owned() })?;
    Whole::new(top, &get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_is_complete() {
        let names: Vec<_> = names().collect();
        assert!(names.len() > 90);
        for name in names {
            let whole = whole(&name).unwrap();
            assert_eq!(whole.top.fields.is_empty(), name == "std_msgs/msg/Empty", "{name}");
        }
    }

    #[test]
    fn a_service_that_is_nearly_one_of_ros_is_refused_and_one_of_another_package_is_not() {
        assert_eq!(check_service("std_srvs/Trigger").unwrap(), "std_srvs/srv/Trigger");
        assert!(check_service("std_srvs/srv/Triger").unwrap_err().contains("did you mean std_srvs/srv/Trigger?"));
        assert!(check_service("std_srvs/srv/Fly").unwrap_err().contains("std_srvs/srv/SetBool"));
        assert_eq!(check_service("my_robot/srv/Fly").unwrap(), "my_robot/srv/Fly");
    }
}
