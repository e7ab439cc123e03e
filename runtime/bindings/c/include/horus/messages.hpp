// Messages as structs; made from their layouts by `horus message generate --lang cpp`: change those.
#ifndef HORUS_MESSAGES_HPP
#define HORUS_MESSAGES_HPP

#include <horus/cpp/message.hpp>

namespace horus {
struct Vector3 {
  double x;
  double y;
  double z;
};
}  // namespace horus
HORUS_MESSAGE(horus::Vector3, "horus/Vector3", x, y, z);
static_assert(offsetof(horus::Vector3, x) == 0, "Vector3.x");
static_assert(offsetof(horus::Vector3, y) == 8, "Vector3.y");
static_assert(offsetof(horus::Vector3, z) == 16, "Vector3.z");
static_assert(sizeof(horus::Vector3) == 24, "Vector3");

namespace horus {
struct Quaternion {
  double x;
  double y;
  double z;
  double w;
};
}  // namespace horus
HORUS_MESSAGE(horus::Quaternion, "horus/Quaternion", x, y, z, w);
static_assert(offsetof(horus::Quaternion, x) == 0, "Quaternion.x");
static_assert(offsetof(horus::Quaternion, y) == 8, "Quaternion.y");
static_assert(offsetof(horus::Quaternion, z) == 16, "Quaternion.z");
static_assert(offsetof(horus::Quaternion, w) == 24, "Quaternion.w");
static_assert(sizeof(horus::Quaternion) == 32, "Quaternion");

namespace horus {
struct Pose2D {
  std::uint64_t stamp_ns;
  double x;
  double y;
  double yaw;
};
}  // namespace horus
HORUS_MESSAGE(horus::Pose2D, "horus/Pose2D", stamp_ns, x, y, yaw);
static_assert(offsetof(horus::Pose2D, stamp_ns) == 0, "Pose2D.stamp_ns");
static_assert(offsetof(horus::Pose2D, x) == 8, "Pose2D.x");
static_assert(offsetof(horus::Pose2D, y) == 16, "Pose2D.y");
static_assert(offsetof(horus::Pose2D, yaw) == 24, "Pose2D.yaw");
static_assert(sizeof(horus::Pose2D) == 32, "Pose2D");

namespace horus {
struct Pose3D {
  std::uint64_t stamp_ns;
  ::horus::Vector3 position;
  ::horus::Quaternion orientation;
};
}  // namespace horus
HORUS_MESSAGE(horus::Pose3D, "horus/Pose3D", stamp_ns, position, orientation);
static_assert(offsetof(horus::Pose3D, stamp_ns) == 0, "Pose3D.stamp_ns");
static_assert(offsetof(horus::Pose3D, position) == 8, "Pose3D.position");
static_assert(offsetof(horus::Pose3D, orientation) == 32, "Pose3D.orientation");
static_assert(sizeof(horus::Pose3D) == 64, "Pose3D");

namespace horus {
struct Twist {
  std::uint64_t stamp_ns;
  ::horus::Vector3 linear;
  ::horus::Vector3 angular;
};
}  // namespace horus
HORUS_MESSAGE(horus::Twist, "horus/Twist", stamp_ns, linear, angular);
static_assert(offsetof(horus::Twist, stamp_ns) == 0, "Twist.stamp_ns");
static_assert(offsetof(horus::Twist, linear) == 8, "Twist.linear");
static_assert(offsetof(horus::Twist, angular) == 32, "Twist.angular");
static_assert(sizeof(horus::Twist) == 56, "Twist");

namespace horus {
struct CmdVel {
  double forward;
  double turn;
};
}  // namespace horus
HORUS_MESSAGE(horus::CmdVel, "horus/CmdVel", forward, turn);
static_assert(offsetof(horus::CmdVel, forward) == 0, "CmdVel.forward");
static_assert(offsetof(horus::CmdVel, turn) == 8, "CmdVel.turn");
static_assert(sizeof(horus::CmdVel) == 16, "CmdVel");

namespace horus {
struct BatteryState {
  std::uint64_t stamp_ns;
  float voltage;
  float current;
  float temperature;
  float charge;
  float capacity;
  float level;
  std::array<float, 16> cell_voltages;
  std::uint32_t cell_count;
  std::uint16_t supply_code;
  std::uint16_t faults;
};
}  // namespace horus
HORUS_MESSAGE(horus::BatteryState, "horus/BatteryState", stamp_ns, voltage, current, temperature, charge, capacity, level, cell_voltages, cell_count, supply_code, faults);
static_assert(offsetof(horus::BatteryState, stamp_ns) == 0, "BatteryState.stamp_ns");
static_assert(offsetof(horus::BatteryState, voltage) == 8, "BatteryState.voltage");
static_assert(offsetof(horus::BatteryState, current) == 12, "BatteryState.current");
static_assert(offsetof(horus::BatteryState, temperature) == 16, "BatteryState.temperature");
static_assert(offsetof(horus::BatteryState, charge) == 20, "BatteryState.charge");
static_assert(offsetof(horus::BatteryState, capacity) == 24, "BatteryState.capacity");
static_assert(offsetof(horus::BatteryState, level) == 28, "BatteryState.level");
static_assert(offsetof(horus::BatteryState, cell_voltages) == 32, "BatteryState.cell_voltages");
static_assert(offsetof(horus::BatteryState, cell_count) == 96, "BatteryState.cell_count");
static_assert(offsetof(horus::BatteryState, supply_code) == 100, "BatteryState.supply_code");
static_assert(offsetof(horus::BatteryState, faults) == 102, "BatteryState.faults");
static_assert(sizeof(horus::BatteryState) == 104, "BatteryState");

namespace horus {
struct Imu {
  std::uint64_t stamp_ns;
  ::horus::Quaternion orientation;
  ::horus::Vector3 angular_velocity;
  ::horus::Vector3 linear_acceleration;
  std::array<double, 9> orientation_covariance;
  std::array<double, 9> angular_velocity_covariance;
  std::array<double, 9> linear_acceleration_covariance;
};
}  // namespace horus
HORUS_MESSAGE(horus::Imu, "horus/Imu", stamp_ns, orientation, angular_velocity, linear_acceleration, orientation_covariance, angular_velocity_covariance, linear_acceleration_covariance);
static_assert(offsetof(horus::Imu, stamp_ns) == 0, "Imu.stamp_ns");
static_assert(offsetof(horus::Imu, orientation) == 8, "Imu.orientation");
static_assert(offsetof(horus::Imu, angular_velocity) == 40, "Imu.angular_velocity");
static_assert(offsetof(horus::Imu, linear_acceleration) == 64, "Imu.linear_acceleration");
static_assert(offsetof(horus::Imu, orientation_covariance) == 88, "Imu.orientation_covariance");
static_assert(offsetof(horus::Imu, angular_velocity_covariance) == 160, "Imu.angular_velocity_covariance");
static_assert(offsetof(horus::Imu, linear_acceleration_covariance) == 232, "Imu.linear_acceleration_covariance");
static_assert(sizeof(horus::Imu) == 304, "Imu");

namespace horus {
struct Odometry {
  std::uint64_t stamp_ns;
  ::horus::Vector3 position;
  ::horus::Quaternion orientation;
  ::horus::Vector3 linear;
  ::horus::Vector3 angular;
  std::array<double, 36> pose_covariance;
  std::array<double, 36> twist_covariance;
  std::array<std::uint8_t, 24> frame_text;
  std::array<std::uint8_t, 24> child_frame_text;
};
}  // namespace horus
HORUS_MESSAGE(horus::Odometry, "horus/Odometry", stamp_ns, position, orientation, linear, angular, pose_covariance, twist_covariance, frame_text, child_frame_text);
static_assert(offsetof(horus::Odometry, stamp_ns) == 0, "Odometry.stamp_ns");
static_assert(offsetof(horus::Odometry, position) == 8, "Odometry.position");
static_assert(offsetof(horus::Odometry, orientation) == 32, "Odometry.orientation");
static_assert(offsetof(horus::Odometry, linear) == 64, "Odometry.linear");
static_assert(offsetof(horus::Odometry, angular) == 88, "Odometry.angular");
static_assert(offsetof(horus::Odometry, pose_covariance) == 112, "Odometry.pose_covariance");
static_assert(offsetof(horus::Odometry, twist_covariance) == 400, "Odometry.twist_covariance");
static_assert(offsetof(horus::Odometry, frame_text) == 688, "Odometry.frame_text");
static_assert(offsetof(horus::Odometry, child_frame_text) == 712, "Odometry.child_frame_text");
static_assert(sizeof(horus::Odometry) == 736, "Odometry");

namespace horus {
struct JointState {
  std::uint64_t stamp_ns;
  std::uint32_t count;
  std::uint32_t measured;
  std::array<double, 16> position;
  std::array<double, 16> velocity;
  std::array<double, 16> effort;
  std::array<std::array<std::uint8_t, 32>, 16> name_texts;
};
}  // namespace horus
HORUS_MESSAGE(horus::JointState, "horus/JointState", stamp_ns, count, measured, position, velocity, effort, name_texts);
static_assert(offsetof(horus::JointState, stamp_ns) == 0, "JointState.stamp_ns");
static_assert(offsetof(horus::JointState, count) == 8, "JointState.count");
static_assert(offsetof(horus::JointState, measured) == 12, "JointState.measured");
static_assert(offsetof(horus::JointState, position) == 16, "JointState.position");
static_assert(offsetof(horus::JointState, velocity) == 144, "JointState.velocity");
static_assert(offsetof(horus::JointState, effort) == 272, "JointState.effort");
static_assert(offsetof(horus::JointState, name_texts) == 400, "JointState.name_texts");
static_assert(sizeof(horus::JointState) == 912, "JointState");

namespace horus {
struct JointCommand {
  std::uint64_t stamp_ns;
  std::uint32_t count;
  std::uint32_t valid_for_ns;
  std::array<std::uint8_t, 16> mode_codes;
  std::array<double, 16> position;
  std::array<double, 16> velocity;
  std::array<double, 16> effort;
  std::array<std::array<std::uint8_t, 32>, 16> name_texts;
};
}  // namespace horus
HORUS_MESSAGE(horus::JointCommand, "horus/JointCommand", stamp_ns, count, valid_for_ns, mode_codes, position, velocity, effort, name_texts);
static_assert(offsetof(horus::JointCommand, stamp_ns) == 0, "JointCommand.stamp_ns");
static_assert(offsetof(horus::JointCommand, count) == 8, "JointCommand.count");
static_assert(offsetof(horus::JointCommand, valid_for_ns) == 12, "JointCommand.valid_for_ns");
static_assert(offsetof(horus::JointCommand, mode_codes) == 16, "JointCommand.mode_codes");
static_assert(offsetof(horus::JointCommand, position) == 32, "JointCommand.position");
static_assert(offsetof(horus::JointCommand, velocity) == 160, "JointCommand.velocity");
static_assert(offsetof(horus::JointCommand, effort) == 288, "JointCommand.effort");
static_assert(offsetof(horus::JointCommand, name_texts) == 416, "JointCommand.name_texts");
static_assert(sizeof(horus::JointCommand) == 928, "JointCommand");

namespace horus {
struct LaserScan {
  std::uint64_t stamp_ns;
  float angle_start;
  float angle_step;
  float beam_interval;
  float scan_interval;
  float range_min;
  float range_max;
  std::uint32_t sensor;
  std::uint32_t count;
  std::array<float, 360> range;
};
}  // namespace horus
HORUS_MESSAGE(horus::LaserScan, "horus/LaserScan", stamp_ns, angle_start, angle_step, beam_interval, scan_interval, range_min, range_max, sensor, count, range);
static_assert(offsetof(horus::LaserScan, stamp_ns) == 0, "LaserScan.stamp_ns");
static_assert(offsetof(horus::LaserScan, angle_start) == 8, "LaserScan.angle_start");
static_assert(offsetof(horus::LaserScan, angle_step) == 12, "LaserScan.angle_step");
static_assert(offsetof(horus::LaserScan, beam_interval) == 16, "LaserScan.beam_interval");
static_assert(offsetof(horus::LaserScan, scan_interval) == 20, "LaserScan.scan_interval");
static_assert(offsetof(horus::LaserScan, range_min) == 24, "LaserScan.range_min");
static_assert(offsetof(horus::LaserScan, range_max) == 28, "LaserScan.range_max");
static_assert(offsetof(horus::LaserScan, sensor) == 32, "LaserScan.sensor");
static_assert(offsetof(horus::LaserScan, count) == 36, "LaserScan.count");
static_assert(offsetof(horus::LaserScan, range) == 40, "LaserScan.range");
static_assert(sizeof(horus::LaserScan) == 1480, "LaserScan");

namespace horus {
struct Point {
  float x;
  float y;
  float z;
};
}  // namespace horus
HORUS_MESSAGE(horus::Point, "horus/Point", x, y, z);
static_assert(offsetof(horus::Point, x) == 0, "Point.x");
static_assert(offsetof(horus::Point, y) == 4, "Point.y");
static_assert(offsetof(horus::Point, z) == 8, "Point.z");
static_assert(sizeof(horus::Point) == 12, "Point");

namespace horus {
struct PointCloud100 {
  std::uint64_t stamp_ns;
  std::uint32_t sensor;
  std::uint32_t count;
  std::array<::horus::Point, 100> point;
};
}  // namespace horus
HORUS_MESSAGE(horus::PointCloud100, "horus/PointCloud100", stamp_ns, sensor, count, point);
static_assert(offsetof(horus::PointCloud100, stamp_ns) == 0, "PointCloud100.stamp_ns");
static_assert(offsetof(horus::PointCloud100, sensor) == 8, "PointCloud100.sensor");
static_assert(offsetof(horus::PointCloud100, count) == 12, "PointCloud100.count");
static_assert(offsetof(horus::PointCloud100, point) == 16, "PointCloud100.point");
static_assert(sizeof(horus::PointCloud100) == 1216, "PointCloud100");

namespace horus {
struct PointCloud1k {
  std::uint64_t stamp_ns;
  std::uint32_t sensor;
  std::uint32_t count;
  std::array<::horus::Point, 1000> point;
};
}  // namespace horus
HORUS_MESSAGE(horus::PointCloud1k, "horus/PointCloud1k", stamp_ns, sensor, count, point);
static_assert(offsetof(horus::PointCloud1k, stamp_ns) == 0, "PointCloud1k.stamp_ns");
static_assert(offsetof(horus::PointCloud1k, sensor) == 8, "PointCloud1k.sensor");
static_assert(offsetof(horus::PointCloud1k, count) == 12, "PointCloud1k.count");
static_assert(offsetof(horus::PointCloud1k, point) == 16, "PointCloud1k.point");
static_assert(sizeof(horus::PointCloud1k) == 12016, "PointCloud1k");

namespace horus {
struct PointCloud10k {
  std::uint64_t stamp_ns;
  std::uint32_t sensor;
  std::uint32_t count;
  std::array<::horus::Point, 10000> point;
};
}  // namespace horus
HORUS_MESSAGE(horus::PointCloud10k, "horus/PointCloud10k", stamp_ns, sensor, count, point);
static_assert(offsetof(horus::PointCloud10k, stamp_ns) == 0, "PointCloud10k.stamp_ns");
static_assert(offsetof(horus::PointCloud10k, sensor) == 8, "PointCloud10k.sensor");
static_assert(offsetof(horus::PointCloud10k, count) == 12, "PointCloud10k.count");
static_assert(offsetof(horus::PointCloud10k, point) == 16, "PointCloud10k.point");
static_assert(sizeof(horus::PointCloud10k) == 120016, "PointCloud10k");

namespace horus {
struct ImageVga {
  std::uint64_t stamp_ns;
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t stride;
  std::uint32_t encoding_code;
  std::uint32_t length;
  std::uint32_t camera;
  std::array<std::uint8_t, 921600> data;
};
}  // namespace horus
HORUS_MESSAGE(horus::ImageVga, "horus/ImageVga", stamp_ns, width, height, stride, encoding_code, length, camera, data);
static_assert(offsetof(horus::ImageVga, stamp_ns) == 0, "ImageVga.stamp_ns");
static_assert(offsetof(horus::ImageVga, width) == 8, "ImageVga.width");
static_assert(offsetof(horus::ImageVga, height) == 12, "ImageVga.height");
static_assert(offsetof(horus::ImageVga, stride) == 16, "ImageVga.stride");
static_assert(offsetof(horus::ImageVga, encoding_code) == 20, "ImageVga.encoding_code");
static_assert(offsetof(horus::ImageVga, length) == 24, "ImageVga.length");
static_assert(offsetof(horus::ImageVga, camera) == 28, "ImageVga.camera");
static_assert(offsetof(horus::ImageVga, data) == 32, "ImageVga.data");
static_assert(sizeof(horus::ImageVga) == 921632, "ImageVga");

namespace horus {
struct ImageHd {
  std::uint64_t stamp_ns;
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t stride;
  std::uint32_t encoding_code;
  std::uint32_t length;
  std::uint32_t camera;
  std::array<std::uint8_t, 2764800> data;
};
}  // namespace horus
HORUS_MESSAGE(horus::ImageHd, "horus/ImageHd", stamp_ns, width, height, stride, encoding_code, length, camera, data);
static_assert(offsetof(horus::ImageHd, stamp_ns) == 0, "ImageHd.stamp_ns");
static_assert(offsetof(horus::ImageHd, width) == 8, "ImageHd.width");
static_assert(offsetof(horus::ImageHd, height) == 12, "ImageHd.height");
static_assert(offsetof(horus::ImageHd, stride) == 16, "ImageHd.stride");
static_assert(offsetof(horus::ImageHd, encoding_code) == 20, "ImageHd.encoding_code");
static_assert(offsetof(horus::ImageHd, length) == 24, "ImageHd.length");
static_assert(offsetof(horus::ImageHd, camera) == 28, "ImageHd.camera");
static_assert(offsetof(horus::ImageHd, data) == 32, "ImageHd.data");
static_assert(sizeof(horus::ImageHd) == 2764832, "ImageHd");

namespace horus {
struct ImageFullHd {
  std::uint64_t stamp_ns;
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t stride;
  std::uint32_t encoding_code;
  std::uint32_t length;
  std::uint32_t camera;
  std::array<std::uint8_t, 6220800> data;
};
}  // namespace horus
HORUS_MESSAGE(horus::ImageFullHd, "horus/ImageFullHd", stamp_ns, width, height, stride, encoding_code, length, camera, data);
static_assert(offsetof(horus::ImageFullHd, stamp_ns) == 0, "ImageFullHd.stamp_ns");
static_assert(offsetof(horus::ImageFullHd, width) == 8, "ImageFullHd.width");
static_assert(offsetof(horus::ImageFullHd, height) == 12, "ImageFullHd.height");
static_assert(offsetof(horus::ImageFullHd, stride) == 16, "ImageFullHd.stride");
static_assert(offsetof(horus::ImageFullHd, encoding_code) == 20, "ImageFullHd.encoding_code");
static_assert(offsetof(horus::ImageFullHd, length) == 24, "ImageFullHd.length");
static_assert(offsetof(horus::ImageFullHd, camera) == 28, "ImageFullHd.camera");
static_assert(offsetof(horus::ImageFullHd, data) == 32, "ImageFullHd.data");
static_assert(sizeof(horus::ImageFullHd) == 6220832, "ImageFullHd");

namespace horus {
struct Stamp {
  std::uint64_t sequence;
  std::uint64_t sent_ns;
};
}  // namespace horus
HORUS_MESSAGE(horus::Stamp, "horus/Stamp", sequence, sent_ns);
static_assert(offsetof(horus::Stamp, sequence) == 0, "Stamp.sequence");
static_assert(offsetof(horus::Stamp, sent_ns) == 8, "Stamp.sent_ns");
static_assert(sizeof(horus::Stamp) == 16, "Stamp");

#endif
