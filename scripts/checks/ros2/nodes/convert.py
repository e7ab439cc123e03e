"""Reads samples of all converters as the real ROS 2 does, and writes them again: lines `ROS OURS HEX` from standard input to standard output.

A message that ROS 2 does not read to its last byte, or in which something stands in the wrong field, ends this.
"""

import importlib
import math
import sys

from rclpy.serialization import deserialize_message, serialize_message

STAMP = (1_700_000_012, 345_678_901)
# What stands where, in the samples of runtime/bridge/src/convert/samples.rs.
EXPECTED = {
    ("sensor_msgs/msg/Imu", "horus/Imu"): lambda m: (m.orientation.y, m.angular_velocity.y, m.linear_acceleration.z) == (-0.5, 1.25, -9.0)
    and (m.orientation_covariance[8], m.linear_acceleration_covariance[0]) == (8.0, 20.0),
    ("sensor_msgs/msg/BatteryState", "horus/BatteryState"): lambda m: (m.voltage, m.current, m.charge, m.capacity) == (24.5, -1.5, 2.0, 10.0)
    and (m.power_supply_status, m.present, len(m.cell_voltage)) == (2, True, 3) and math.isnan(m.temperature),
    ("sensor_msgs/msg/JointState", "horus/JointState"): lambda m: (list(m.name), list(m.position), list(m.velocity), list(m.effort))
    == (["shoulder", "elbow", "é"], [0.1, 0.2, 0.3], [], [4.0, 5.0, 6.0]),
    ("sensor_msgs/msg/LaserScan", "horus/LaserScan"): lambda m: (m.angle_min, m.angle_max, m.angle_increment, m.range_max, m.ranges[2])
    == (-1.0, 0.0, 0.5, 30.0, 3.0),
    ("sensor_msgs/msg/Image", "horus/ImageVga"): lambda m: (m.width, m.height, m.step, m.encoding, len(m.data), m.data[31]) == (3, 2, 16, "rgb8", 32, 31),
    ("sensor_msgs/msg/CompressedImage", "horus/ImageVga"): lambda m: (m.format, list(m.data)) == ("jpeg", [0, 1, 2, 3, 4]),
    ("sensor_msgs/msg/PointCloud2", "horus/PointCloud100"): lambda m: (m.width, m.height, m.point_step, m.row_step, len(m.data)) == (2, 1, 12, 24, 24)
    and [(field.name, field.offset, field.datatype, field.count) for field in m.fields] == [("x", 0, 7, 1), ("y", 4, 7, 1), ("z", 8, 7, 1)],
    ("nav_msgs/msg/Odometry", "horus/Odometry"): lambda m: (m.header.frame_id, m.child_frame_id, m.pose.pose.position.x) == ("odom", "base_link", 2.0)
    and (m.twist.twist.angular.z, m.pose.covariance[35], m.twist.covariance[0]) == (-4.0, 35.0, 100.0),
    ("geometry_msgs/msg/Twist", "horus/CmdVel"): lambda m: (m.linear.x, m.angular.z) == (0.5, -0.25),
    ("geometry_msgs/msg/TwistStamped", "horus/Twist"): lambda m: (m.twist.linear.x, m.twist.angular.y) == (1.0, 2.25),
    ("geometry_msgs/msg/PoseStamped", "horus/Pose3D"): lambda m: (m.pose.position.z, m.pose.orientation.w) == (-5.0, 0.5),
    ("geometry_msgs/msg/Pose2D", "horus/Pose2D"): lambda m: (m.x, m.y, m.theta) == (1.0, 2.0, 0.0),
    ("sensor_msgs/msg/NavSatFix", "sensor_msgs/NavSatFix"): lambda m: (m.latitude, m.status.status, m.status.service, m.position_covariance[8]) == (2.5, 1, 1, 2.5),
    ("nav_msgs/msg/OccupancyGrid", "nav_msgs/OccupancyGrid"): lambda m: (list(m.data), m.info.resolution, m.info.map_load_time.nanosec) == ([1, 1], 1.5, 345_678_901),
    ("nav_msgs/msg/Path", "nav_msgs/Path"): lambda m: [(pose.header.frame_id, pose.pose.position.z) for pose in m.poses] == 2 * [("frame", 2.5)],
    ("sensor_msgs/msg/CameraInfo", "sensor_msgs/CameraInfo"): lambda m: (m.distortion_model, list(m.d), m.k[8], m.roi.do_rectify) == ("frame", [2.5, 2.5], 2.5, True),
    ("std_msgs/msg/String", "horus/Bytes"): lambda m: m.data == "grüße",
    ("std_msgs/msg/UInt8MultiArray", "horus/Bytes"): lambda m: bytes(m.data).decode() == "grüße",
}


def has_nan(message) -> bool:
    return "nan" in str(message)


def main() -> None:
    for line in sys.stdin:
        name, ours, text = line.split()
        package, _, last = name.split("/")
        try:
            type_ = getattr(importlib.import_module(f"{package}.msg"), last)
        except ImportError:
            print(f"no package {package}", file=sys.stderr)
            continue
        raw = bytes.fromhex(text)
        message = deserialize_message(raw, type_)
        again = serialize_message(message)
        # rclpy sizes its bytes by an estimate: what is behind a message is nothing.
        if not 0 <= len(again) - len(raw) <= 16 or deserialize_message(again[: len(raw)], type_) != message and not has_nan(message):
            raise SystemExit(f"{name} of {ours} has {len(raw)} bytes, and in ROS 2 {len(again)}: {message}")
        header = getattr(message, "header", None)
        if header and ours not in ("horus/CmdVel",) and (header.stamp.sec, header.stamp.nanosec) != STAMP:
            raise SystemExit(f"{name} of {ours} has the stamp {header.stamp}")
        if header and ours != "horus/Odometry" and header.frame_id != "frame":
            raise SystemExit(f"{name} of {ours} has the frame {header.frame_id}")
        if not EXPECTED.get((name, ours), lambda _: True)(message):
            raise SystemExit(f"{name} of {ours} became {message}")
        print(name, ours, again[: len(raw)].hex(), flush=True)


main()
