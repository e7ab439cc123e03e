// Messages as structs; made from their layouts by `horus message generate --lang cpp`: change those.
#ifndef HORUS_MESSAGES_HPP
#define HORUS_MESSAGES_HPP

#include <horus/cpp/message.hpp>

namespace horus {
// A vector in three dimensions, 24 bytes. Its unit and its axes are said by the field that holds it.
struct Vector3 {
  // Forward on a body, east on the ground.
  double x;
  // Left on a body, north on the ground.
  double y;
  // Up.
  double z;
};
}  // namespace horus
HORUS_MESSAGE(horus::Vector3, "horus/Vector3", x, y, z);
static_assert(sizeof(horus::Vector3) == 24, "Vector3");

namespace horus {
// A rotation as a unit quaternion, 32 bytes; without unit. It turns vectors of the child frame into the parent's.
struct Quaternion {
  // The axis's x, times the sine of half the angle.
  double x;
  // The axis's y, times the sine of half the angle.
  double y;
  // The axis's z, times the sine of half the angle.
  double z;
  // The cosine of half the angle.
  double w;
};
}  // namespace horus
HORUS_MESSAGE(horus::Quaternion, "horus/Quaternion", x, y, z, w);
static_assert(sizeof(horus::Quaternion) == 32, "Quaternion");

namespace horus {
// Where a vehicle is on the ground, 32 bytes. The frame is agreed on by the topic's users, usually a map.
struct Pose2D {
  // When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // East of the frame's origin, metres.
  double x;
  // North of the frame's origin, metres.
  double y;
  // Heading, radians counter-clockwise from the x axis.
  double yaw;
};
}  // namespace horus
HORUS_MESSAGE(horus::Pose2D, "horus/Pose2D", stamp_ns, x, y, yaw);
static_assert(sizeof(horus::Pose2D) == 32, "Pose2D");

namespace horus {
// Where a body is in space, 64 bytes. The frame is agreed on by the topic's users.
struct Pose3D {
  // When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // From the frame's origin to the body's, metres along the frame's axes.
  ::horus::Vector3 position;
  // How the body is turned in the frame.
  ::horus::Quaternion orientation;
};
}  // namespace horus
HORUS_MESSAGE(horus::Pose3D, "horus/Pose3D", stamp_ns, position, orientation);
static_assert(sizeof(horus::Pose3D) == 64, "Pose3D");

namespace horus {
// How a body moves, 56 bytes; along and about its own axes.
struct Twist {
  // When it moved so, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Speed, metres per second along the body's axes.
  ::horus::Vector3 linear;
  // Turn rate, radians per second about the body's axes.
  ::horus::Vector3 angular;
};
}  // namespace horus
HORUS_MESSAGE(horus::Twist, "horus/Twist", stamp_ns, linear, angular);
static_assert(sizeof(horus::Twist) == 56, "Twist");

namespace horus {
// How fast a vehicle shall drive and turn, 16 bytes: what a controller tells a base, many times a second.
struct CmdVel {
  // Speed forward, metres per second along the body's x axis; negative is backward.
  double forward;
  // Turn rate, radians per second about the body's z axis; positive is to the left.
  double turn;
};
}  // namespace horus
HORUS_MESSAGE(horus::CmdVel, "horus/CmdVel", forward, turn);
static_assert(sizeof(horus::CmdVel) == 16, "CmdVel");

namespace horus {
// State of a battery, 104 bytes. What the battery cannot measure is NaN.
struct BatteryState {
  // When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Voltage between the terminals, volts.
  float voltage;
  // Current into the battery, amperes; negative while it discharges.
  float current;
  // Temperature, degrees Celsius (REP 103 keeps them beside the SI units).
  float temperature;
  // Charge that is left, coulombs; 3600 of them are one ampere hour.
  float charge;
  // Charge when full, as of now and not as sold, coulombs.
  float capacity;
  // What is left as a fraction of what fits, 0 to 1.
  float level;
  // Voltages of the single cells, volts; the first `cell_count` of them count.
  std::array<float, 16> cell_voltages;
  // How many cells are given, 0 to 16.
  std::uint32_t cell_count;
  // Code of a `Supply`.
  std::uint16_t supply_code;
  // One bit for each fault that the battery reports, as its maker numbers them; 0 when it is well.
  std::uint16_t faults;
};
}  // namespace horus
HORUS_MESSAGE(horus::BatteryState, "horus/BatteryState", stamp_ns, voltage, current, temperature, charge, capacity, level, cell_voltages, cell_count, supply_code, faults);
static_assert(sizeof(horus::BatteryState) == 104, "BatteryState");

namespace horus {
// Attitude, turn rate and acceleration of a body, 304 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies (x forward, y left, z
// up).
struct Imu {
  // When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // How the sensor is turned in a frame with x east, y north, z up.
  ::horus::Quaternion orientation;
  // Turn rate, radians per second about the sensor's axes.
  ::horus::Vector3 angular_velocity;
  // Specific force, metres per second squared along the sensor's axes; at rest +9.81 along the axis that points up.
  ::horus::Vector3 linear_acceleration;
  // Covariance of small turns about x, y, z, radians squared.
  std::array<double, 9> orientation_covariance;
  // Covariance of the turn rate about x, y, z, (rad/s)².
  std::array<double, 9> angular_velocity_covariance;
  // Covariance of the acceleration along x, y, z, (m/s²)².
  std::array<double, 9> linear_acceleration_covariance;
};
}  // namespace horus
HORUS_MESSAGE(horus::Imu, "horus/Imu", stamp_ns, orientation, angular_velocity, linear_acceleration, orientation_covariance, angular_velocity_covariance, linear_acceleration_covariance);
static_assert(sizeof(horus::Imu) == 304, "Imu");

namespace horus {
// Pose and speed of a vehicle with their covariances, 736 bytes.
struct Odometry {
  // When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // From the origin of `frame` to that of `child_frame`, metres along the axes of `frame`.
  ::horus::Vector3 position;
  // How `child_frame` is turned in `frame`.
  ::horus::Quaternion orientation;
  // Speed, metres per second along the axes of `child_frame`.
  ::horus::Vector3 linear;
  // Turn rate, radians per second about the axes of `child_frame`.
  ::horus::Vector3 angular;
  // Covariance of the pose, 6 × 6 in the order x, y, z (metres), turns about fixed x, y, z (radians): products of two of them.
  std::array<double, 36> pose_covariance;
  // Covariance of the speed, 6 × 6 in the order x, y, z (m/s), turn rates about x, y, z (rad/s): products of two of them.
  std::array<double, 36> twist_covariance;
  // Name of the frame that the pose is given in: text, padded with zero bytes.
  std::array<std::uint8_t, 24> frame_text;
  // Name of the vehicle's own frame: text, padded with zero bytes.
  std::array<std::uint8_t, 24> child_frame_text;
};
}  // namespace horus
HORUS_MESSAGE(horus::Odometry, "horus/Odometry", stamp_ns, position, orientation, linear, angular, pose_covariance, twist_covariance, frame_text, child_frame_text);
static_assert(sizeof(horus::Odometry) == 736, "Odometry");

namespace horus {
// What up to 16 joints do, 912 bytes. The order of the joints is the publisher's; `names` says which is which.
struct JointState {
  // When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // How many joints count, 0 to 16.
  std::uint32_t count;
  // Which quantities were measured: bit 0 position, bit 1 velocity, bit 2 effort.
  std::uint32_t measured;
  // Positions, radians or metres from the joint's zero.
  std::array<double, 16> position;
  // Velocities, radians per second or metres per second.
  std::array<double, 16> velocity;
  // Efforts, newton metres or newtons.
  std::array<double, 16> effort;
  // Names of the joints: texts, padded with zero bytes.
  std::array<std::array<std::uint8_t, 32>, 16> name_texts;
};
}  // namespace horus
HORUS_MESSAGE(horus::JointState, "horus/JointState", stamp_ns, count, measured, position, velocity, effort, name_texts);
static_assert(sizeof(horus::JointState) == 912, "JointState");

namespace horus {
// What up to 16 joints shall do, 928 bytes. Each joint has a mode, which says which of its three numbers counts.
struct JointCommand {
  // When it was decided, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // How many joints count, 0 to 16.
  std::uint32_t count;
  // How long after its sending the command holds, nanoseconds (at most 4.29 s); 0 until the next one.
  std::uint32_t valid_for_ns;
  // One code of a `JointMode` a joint.
  std::array<std::uint8_t, 16> mode_codes;
  // Positions, radians or metres from the joint's zero.
  std::array<double, 16> position;
  // Velocities, radians per second or metres per second.
  std::array<double, 16> velocity;
  // Efforts, newton metres or newtons.
  std::array<double, 16> effort;
  // Names of the joints: texts, padded with zero bytes.
  std::array<std::array<std::uint8_t, 32>, 16> name_texts;
};
}  // namespace horus
HORUS_MESSAGE(horus::JointCommand, "horus/JointCommand", stamp_ns, count, valid_for_ns, mode_codes, position, velocity, effort, name_texts);
static_assert(sizeof(horus::JointCommand) == 928, "JointCommand");

namespace horus {
// Distances of one turn of a planar scanner, 1480 bytes; in the frame of the sensor, about its z axis.
struct LaserScan {
  // When the first beam was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Angle of the first beam, radians counter-clockwise from the x axis, which is forward.
  float angle_start;
  // Angle from one beam to the next, radians; negative for a scanner that turns clockwise.
  float angle_step;
  // Time from one beam to the next, seconds; 0 when all were measured at once.
  float beam_interval;
  // Time from one scan to the next, seconds.
  float scan_interval;
  // Shortest distance that the sensor can tell, metres; a shorter range is none.
  float range_min;
  // Longest distance that the sensor can tell, metres; a longer range, infinity too, saw nothing.
  float range_max;
  // Number of the sensor, for topics that carry several; 0 otherwise.
  std::uint32_t sensor;
  // How many ranges count, 0 to 360.
  std::uint32_t count;
  // Distances, metres; NaN where the beam gave none.
  std::array<float, 360> range;
};
}  // namespace horus
HORUS_MESSAGE(horus::LaserScan, "horus/LaserScan", stamp_ns, angle_start, angle_step, beam_interval, scan_interval, range_min, range_max, sensor, count, range);
static_assert(sizeof(horus::LaserScan) == 1480, "LaserScan");

namespace horus {
// A point, 12 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies.
struct Point {
  // Forward, metres; NaN in all three where the sensor saw nothing.
  float x;
  // Left, metres.
  float y;
  // Up, metres.
  float z;
};
}  // namespace horus
HORUS_MESSAGE(horus::Point, "horus/Point", x, y, z);
static_assert(sizeof(horus::Point) == 12, "Point");

namespace horus {
// Up to 100 points, 1216 bytes.
struct PointCloud100 {
  // When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Number of the sensor, for topics that carry several; 0 otherwise.
  std::uint32_t sensor;
  // How many points count.
  std::uint32_t count;
  // The points, metres in the frame of the sensor.
  std::array<::horus::Point, 100> point;
};
}  // namespace horus
HORUS_MESSAGE(horus::PointCloud100, "horus/PointCloud100", stamp_ns, sensor, count, point);
static_assert(sizeof(horus::PointCloud100) == 1216, "PointCloud100");

namespace horus {
// Up to 1000 points, 12 016 bytes.
struct PointCloud1k {
  // When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Number of the sensor, for topics that carry several; 0 otherwise.
  std::uint32_t sensor;
  // How many points count.
  std::uint32_t count;
  // The points, metres in the frame of the sensor.
  std::array<::horus::Point, 1000> point;
};
}  // namespace horus
HORUS_MESSAGE(horus::PointCloud1k, "horus/PointCloud1k", stamp_ns, sensor, count, point);
static_assert(sizeof(horus::PointCloud1k) == 12016, "PointCloud1k");

namespace horus {
// Up to 10 000 points, 120 016 bytes.
struct PointCloud10k {
  // When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Number of the sensor, for topics that carry several; 0 otherwise.
  std::uint32_t sensor;
  // How many points count.
  std::uint32_t count;
  // The points, metres in the frame of the sensor.
  std::array<::horus::Point, 10000> point;
};
}  // namespace horus
HORUS_MESSAGE(horus::PointCloud10k, "horus/PointCloud10k", stamp_ns, sensor, count, point);
static_assert(sizeof(horus::PointCloud10k) == 120016, "PointCloud10k");

namespace horus {
// A picture of up to 640 × 480 pixels of 3 bytes, 921 632 bytes.
struct ImageVga {
  // When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Pixels in a row.
  std::uint32_t width;
  // Rows.
  std::uint32_t height;
  // Bytes from the start of one row to that of the next.
  std::uint32_t stride;
  // Code of an `Encoding`.
  std::uint32_t encoding_code;
  // How many bytes of `data` are the picture.
  std::uint32_t length;
  // Number of the camera, for topics that carry several; 0 otherwise.
  std::uint32_t camera;
  // The picture, then bytes without meaning.
  std::array<std::uint8_t, 921600> data;
};
}  // namespace horus
HORUS_MESSAGE(horus::ImageVga, "horus/ImageVga", stamp_ns, width, height, stride, encoding_code, length, camera, data);
static_assert(sizeof(horus::ImageVga) == 921632, "ImageVga");

namespace horus {
// A picture of up to 1280 × 720 pixels of 3 bytes, 2 764 832 bytes. Too large for most stacks: write it where a publisher lends room.
struct ImageHd {
  // When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Pixels in a row.
  std::uint32_t width;
  // Rows.
  std::uint32_t height;
  // Bytes from the start of one row to that of the next.
  std::uint32_t stride;
  // Code of an `Encoding`.
  std::uint32_t encoding_code;
  // How many bytes of `data` are the picture.
  std::uint32_t length;
  // Number of the camera, for topics that carry several; 0 otherwise.
  std::uint32_t camera;
  // The picture, then bytes without meaning.
  std::array<std::uint8_t, 2764800> data;
};
}  // namespace horus
HORUS_MESSAGE(horus::ImageHd, "horus/ImageHd", stamp_ns, width, height, stride, encoding_code, length, camera, data);
static_assert(sizeof(horus::ImageHd) == 2764832, "ImageHd");

namespace horus {
// A picture of up to 1920 × 1080 pixels of 3 bytes, 6 220 832 bytes. Too large for most stacks: write it where a publisher lends room.
struct ImageFullHd {
  // When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  std::uint64_t stamp_ns;
  // Pixels in a row.
  std::uint32_t width;
  // Rows.
  std::uint32_t height;
  // Bytes from the start of one row to that of the next.
  std::uint32_t stride;
  // Code of an `Encoding`.
  std::uint32_t encoding_code;
  // How many bytes of `data` are the picture.
  std::uint32_t length;
  // Number of the camera, for topics that carry several; 0 otherwise.
  std::uint32_t camera;
  // The picture, then bytes without meaning.
  std::array<std::uint8_t, 6220800> data;
};
}  // namespace horus
HORUS_MESSAGE(horus::ImageFullHd, "horus/ImageFullHd", stamp_ns, width, height, stride, encoding_code, length, camera, data);
static_assert(sizeof(horus::ImageFullHd) == 6220832, "ImageFullHd");

namespace horus {
// A numbered moment: what the nodes `ping` and `pong` exchange, and the smallest message worth timing.
struct Stamp {
  // Number given by the first sender; an answer repeats it.
  std::uint64_t sequence;
  // When the first sender sent it, nanoseconds on CLOCK_MONOTONIC; an answer repeats it.
  std::uint64_t sent_ns;
};
}  // namespace horus
HORUS_MESSAGE(horus::Stamp, "horus/Stamp", sequence, sent_ns);
static_assert(sizeof(horus::Stamp) == 16, "Stamp");

#endif
