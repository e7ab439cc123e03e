/* Messages as structs; made from their layouts by `horus message generate --lang c`: change those. */
#ifndef HORUS_MESSAGES_H
#define HORUS_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

/* A struct that the compiler lays out otherwise does not compile. */
#define HORUS_PROVE_AT(condition, line) typedef char horus_proof_##line[(condition) ? 1 : -1]
#define HORUS_PROVE_HERE(condition, line) HORUS_PROVE_AT(condition, line)
#define HORUS_PROVE(condition) HORUS_PROVE_HERE(condition, __COUNTER__)

// A vector in three dimensions, 24 bytes. Its unit and its axes are said by the field that holds it.
/* horus/Vector3 */
typedef struct {
  // Forward on a body, east on the ground.
  double x;
  // Left on a body, north on the ground.
  double y;
  // Up.
  double z;
} horus_vector3;
#define HORUS_VECTOR3_LAYOUT \
  "message horus/Vector3\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n"
HORUS_PROVE(offsetof(horus_vector3, x) == 0);
HORUS_PROVE(offsetof(horus_vector3, y) == 8);
HORUS_PROVE(offsetof(horus_vector3, z) == 16);
HORUS_PROVE(sizeof(horus_vector3) == 24);

// A rotation as a unit quaternion, 32 bytes; without unit. It turns vectors of the child frame into the parent's.
/* horus/Quaternion */
typedef struct {
  // The axis's x, times the sine of half the angle.
  double x;
  // The axis's y, times the sine of half the angle.
  double y;
  // The axis's z, times the sine of half the angle.
  double z;
  // The cosine of half the angle.
  double w;
} horus_quaternion;
#define HORUS_QUATERNION_LAYOUT \
  "message horus/Quaternion\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n" \
  " w f64\n"
HORUS_PROVE(offsetof(horus_quaternion, x) == 0);
HORUS_PROVE(offsetof(horus_quaternion, y) == 8);
HORUS_PROVE(offsetof(horus_quaternion, z) == 16);
HORUS_PROVE(offsetof(horus_quaternion, w) == 24);
HORUS_PROVE(sizeof(horus_quaternion) == 32);

// Where a vehicle is on the ground, 32 bytes. The frame is agreed on by the topic's users, usually a map.
/* horus/Pose2D */
typedef struct {
  // When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // East of the frame's origin, metres.
  double x;
  // North of the frame's origin, metres.
  double y;
  // Heading, radians counter-clockwise from the x axis.
  double yaw;
} horus_pose2d;
#define HORUS_POSE2D_LAYOUT \
  "message horus/Pose2D\n" \
  " stamp_ns u64\n" \
  " x f64\n" \
  " y f64\n" \
  " yaw f64\n"
HORUS_PROVE(offsetof(horus_pose2d, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_pose2d, x) == 8);
HORUS_PROVE(offsetof(horus_pose2d, y) == 16);
HORUS_PROVE(offsetof(horus_pose2d, yaw) == 24);
HORUS_PROVE(sizeof(horus_pose2d) == 32);

// Where a body is in space, 64 bytes. The frame is agreed on by the topic's users.
/* horus/Pose3D */
typedef struct {
  // When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // From the frame's origin to the body's, metres along the frame's axes.
  horus_vector3 position;
  // How the body is turned in the frame.
  horus_quaternion orientation;
} horus_pose3d;
#define HORUS_POSE3D_LAYOUT \
  "message horus/Pose3D\n" \
  " stamp_ns u64\n" \
  " position horus/Vector3\n" \
  " orientation horus/Quaternion\n" \
  HORUS_QUATERNION_LAYOUT \
  HORUS_VECTOR3_LAYOUT
HORUS_PROVE(offsetof(horus_pose3d, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_pose3d, position) == 8);
HORUS_PROVE(offsetof(horus_pose3d, orientation) == 32);
HORUS_PROVE(sizeof(horus_pose3d) == 64);

// How a body moves, 56 bytes; along and about its own axes.
/* horus/Twist */
typedef struct {
  // When it moved so, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // Speed, metres per second along the body's axes.
  horus_vector3 linear;
  // Turn rate, radians per second about the body's axes.
  horus_vector3 angular;
} horus_twist;
#define HORUS_TWIST_LAYOUT \
  "message horus/Twist\n" \
  " stamp_ns u64\n" \
  " linear horus/Vector3\n" \
  " angular horus/Vector3\n" \
  HORUS_VECTOR3_LAYOUT
HORUS_PROVE(offsetof(horus_twist, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_twist, linear) == 8);
HORUS_PROVE(offsetof(horus_twist, angular) == 32);
HORUS_PROVE(sizeof(horus_twist) == 56);

// How fast a vehicle shall drive and turn, 16 bytes: what a controller tells a base, many times a second.
/* horus/CmdVel */
typedef struct {
  // Speed forward, metres per second along the body's x axis; negative is backward.
  double forward;
  // Turn rate, radians per second about the body's z axis; positive is to the left.
  double turn;
} horus_cmd_vel;
#define HORUS_CMD_VEL_LAYOUT \
  "message horus/CmdVel\n" \
  " forward f64\n" \
  " turn f64\n"
HORUS_PROVE(offsetof(horus_cmd_vel, forward) == 0);
HORUS_PROVE(offsetof(horus_cmd_vel, turn) == 8);
HORUS_PROVE(sizeof(horus_cmd_vel) == 16);

// State of a battery, 104 bytes. What the battery cannot measure is NaN.
/* horus/BatteryState */
typedef struct {
  // When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
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
  float cell_voltages[16];
  // How many cells are given, 0 to 16.
  uint32_t cell_count;
  // Code of a `Supply`.
  uint16_t supply_code;
  // One bit for each fault that the battery reports, as its maker numbers them; 0 when it is well.
  uint16_t faults;
} horus_battery_state;
#define HORUS_BATTERY_STATE_LAYOUT \
  "message horus/BatteryState\n" \
  " stamp_ns u64\n" \
  " voltage f32\n" \
  " current f32\n" \
  " temperature f32\n" \
  " charge f32\n" \
  " capacity f32\n" \
  " level f32\n" \
  " cell_voltages [f32; 16]\n" \
  " cell_count u32\n" \
  " supply_code u16\n" \
  " faults u16\n"
HORUS_PROVE(offsetof(horus_battery_state, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_battery_state, voltage) == 8);
HORUS_PROVE(offsetof(horus_battery_state, current) == 12);
HORUS_PROVE(offsetof(horus_battery_state, temperature) == 16);
HORUS_PROVE(offsetof(horus_battery_state, charge) == 20);
HORUS_PROVE(offsetof(horus_battery_state, capacity) == 24);
HORUS_PROVE(offsetof(horus_battery_state, level) == 28);
HORUS_PROVE(offsetof(horus_battery_state, cell_voltages) == 32);
HORUS_PROVE(offsetof(horus_battery_state, cell_count) == 96);
HORUS_PROVE(offsetof(horus_battery_state, supply_code) == 100);
HORUS_PROVE(offsetof(horus_battery_state, faults) == 102);
HORUS_PROVE(sizeof(horus_battery_state) == 104);

// Attitude, turn rate and acceleration of a body, 304 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies (x forward, y left, z
// up).
/* horus/Imu */
typedef struct {
  // When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // How the sensor is turned in a frame with x east, y north, z up.
  horus_quaternion orientation;
  // Turn rate, radians per second about the sensor's axes.
  horus_vector3 angular_velocity;
  // Specific force, metres per second squared along the sensor's axes; at rest +9.81 along the axis that points up.
  horus_vector3 linear_acceleration;
  // Covariance of small turns about x, y, z, radians squared.
  double orientation_covariance[9];
  // Covariance of the turn rate about x, y, z, (rad/s)².
  double angular_velocity_covariance[9];
  // Covariance of the acceleration along x, y, z, (m/s²)².
  double linear_acceleration_covariance[9];
} horus_imu;
#define HORUS_IMU_LAYOUT \
  "message horus/Imu\n" \
  " stamp_ns u64\n" \
  " orientation horus/Quaternion\n" \
  " angular_velocity horus/Vector3\n" \
  " linear_acceleration horus/Vector3\n" \
  " orientation_covariance [f64; 9]\n" \
  " angular_velocity_covariance [f64; 9]\n" \
  " linear_acceleration_covariance [f64; 9]\n" \
  HORUS_VECTOR3_LAYOUT \
  HORUS_QUATERNION_LAYOUT
HORUS_PROVE(offsetof(horus_imu, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_imu, orientation) == 8);
HORUS_PROVE(offsetof(horus_imu, angular_velocity) == 40);
HORUS_PROVE(offsetof(horus_imu, linear_acceleration) == 64);
HORUS_PROVE(offsetof(horus_imu, orientation_covariance) == 88);
HORUS_PROVE(offsetof(horus_imu, angular_velocity_covariance) == 160);
HORUS_PROVE(offsetof(horus_imu, linear_acceleration_covariance) == 232);
HORUS_PROVE(sizeof(horus_imu) == 304);

// Pose and speed of a vehicle with their covariances, 736 bytes.
/* horus/Odometry */
typedef struct {
  // When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // From the origin of `frame` to that of `child_frame`, metres along the axes of `frame`.
  horus_vector3 position;
  // How `child_frame` is turned in `frame`.
  horus_quaternion orientation;
  // Speed, metres per second along the axes of `child_frame`.
  horus_vector3 linear;
  // Turn rate, radians per second about the axes of `child_frame`.
  horus_vector3 angular;
  // Covariance of the pose, 6 × 6 in the order x, y, z (metres), turns about fixed x, y, z (radians): products of two of them.
  double pose_covariance[36];
  // Covariance of the speed, 6 × 6 in the order x, y, z (m/s), turn rates about x, y, z (rad/s): products of two of them.
  double twist_covariance[36];
  // Name of the frame that the pose is given in: text, padded with zero bytes.
  uint8_t frame_text[24];
  // Name of the vehicle's own frame: text, padded with zero bytes.
  uint8_t child_frame_text[24];
} horus_odometry;
#define HORUS_ODOMETRY_LAYOUT \
  "message horus/Odometry\n" \
  " stamp_ns u64\n" \
  " position horus/Vector3\n" \
  " orientation horus/Quaternion\n" \
  " linear horus/Vector3\n" \
  " angular horus/Vector3\n" \
  " pose_covariance [f64; 36]\n" \
  " twist_covariance [f64; 36]\n" \
  " frame_text [u8; 24]\n" \
  " child_frame_text [u8; 24]\n" \
  HORUS_QUATERNION_LAYOUT \
  HORUS_VECTOR3_LAYOUT
HORUS_PROVE(offsetof(horus_odometry, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_odometry, position) == 8);
HORUS_PROVE(offsetof(horus_odometry, orientation) == 32);
HORUS_PROVE(offsetof(horus_odometry, linear) == 64);
HORUS_PROVE(offsetof(horus_odometry, angular) == 88);
HORUS_PROVE(offsetof(horus_odometry, pose_covariance) == 112);
HORUS_PROVE(offsetof(horus_odometry, twist_covariance) == 400);
HORUS_PROVE(offsetof(horus_odometry, frame_text) == 688);
HORUS_PROVE(offsetof(horus_odometry, child_frame_text) == 712);
HORUS_PROVE(sizeof(horus_odometry) == 736);

// What up to 16 joints do, 912 bytes. The order of the joints is the publisher's; `names` says which is which.
/* horus/JointState */
typedef struct {
  // When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // How many joints count, 0 to 16.
  uint32_t count;
  // Which quantities were measured: bit 0 position, bit 1 velocity, bit 2 effort.
  uint32_t measured;
  // Positions, radians or metres from the joint's zero.
  double position[16];
  // Velocities, radians per second or metres per second.
  double velocity[16];
  // Efforts, newton metres or newtons.
  double effort[16];
  // Names of the joints: texts, padded with zero bytes.
  uint8_t name_texts[16][32];
} horus_joint_state;
#define HORUS_JOINT_STATE_LAYOUT \
  "message horus/JointState\n" \
  " stamp_ns u64\n" \
  " count u32\n" \
  " measured u32\n" \
  " position [f64; 16]\n" \
  " velocity [f64; 16]\n" \
  " effort [f64; 16]\n" \
  " name_texts [[u8; 32]; 16]\n"
HORUS_PROVE(offsetof(horus_joint_state, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_joint_state, count) == 8);
HORUS_PROVE(offsetof(horus_joint_state, measured) == 12);
HORUS_PROVE(offsetof(horus_joint_state, position) == 16);
HORUS_PROVE(offsetof(horus_joint_state, velocity) == 144);
HORUS_PROVE(offsetof(horus_joint_state, effort) == 272);
HORUS_PROVE(offsetof(horus_joint_state, name_texts) == 400);
HORUS_PROVE(sizeof(horus_joint_state) == 912);

// What up to 16 joints shall do, 928 bytes. Each joint has a mode, which says which of its three numbers counts.
/* horus/JointCommand */
typedef struct {
  // When it was decided, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // How many joints count, 0 to 16.
  uint32_t count;
  // How long after its sending the command holds, nanoseconds (at most 4.29 s); 0 until the next one.
  uint32_t valid_for_ns;
  // One code of a `JointMode` a joint.
  uint8_t mode_codes[16];
  // Positions, radians or metres from the joint's zero.
  double position[16];
  // Velocities, radians per second or metres per second.
  double velocity[16];
  // Efforts, newton metres or newtons.
  double effort[16];
  // Names of the joints: texts, padded with zero bytes.
  uint8_t name_texts[16][32];
} horus_joint_command;
#define HORUS_JOINT_COMMAND_LAYOUT \
  "message horus/JointCommand\n" \
  " stamp_ns u64\n" \
  " count u32\n" \
  " valid_for_ns u32\n" \
  " mode_codes [u8; 16]\n" \
  " position [f64; 16]\n" \
  " velocity [f64; 16]\n" \
  " effort [f64; 16]\n" \
  " name_texts [[u8; 32]; 16]\n"
HORUS_PROVE(offsetof(horus_joint_command, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_joint_command, count) == 8);
HORUS_PROVE(offsetof(horus_joint_command, valid_for_ns) == 12);
HORUS_PROVE(offsetof(horus_joint_command, mode_codes) == 16);
HORUS_PROVE(offsetof(horus_joint_command, position) == 32);
HORUS_PROVE(offsetof(horus_joint_command, velocity) == 160);
HORUS_PROVE(offsetof(horus_joint_command, effort) == 288);
HORUS_PROVE(offsetof(horus_joint_command, name_texts) == 416);
HORUS_PROVE(sizeof(horus_joint_command) == 928);

// Distances of one turn of a planar scanner, 1480 bytes; in the frame of the sensor, about its z axis.
/* horus/LaserScan */
typedef struct {
  // When the first beam was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
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
  uint32_t sensor;
  // How many ranges count, 0 to 360.
  uint32_t count;
  // Distances, metres; NaN where the beam gave none.
  float range[360];
} horus_laser_scan;
#define HORUS_LASER_SCAN_LAYOUT \
  "message horus/LaserScan\n" \
  " stamp_ns u64\n" \
  " angle_start f32\n" \
  " angle_step f32\n" \
  " beam_interval f32\n" \
  " scan_interval f32\n" \
  " range_min f32\n" \
  " range_max f32\n" \
  " sensor u32\n" \
  " count u32\n" \
  " range [f32; 360]\n"
HORUS_PROVE(offsetof(horus_laser_scan, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_laser_scan, angle_start) == 8);
HORUS_PROVE(offsetof(horus_laser_scan, angle_step) == 12);
HORUS_PROVE(offsetof(horus_laser_scan, beam_interval) == 16);
HORUS_PROVE(offsetof(horus_laser_scan, scan_interval) == 20);
HORUS_PROVE(offsetof(horus_laser_scan, range_min) == 24);
HORUS_PROVE(offsetof(horus_laser_scan, range_max) == 28);
HORUS_PROVE(offsetof(horus_laser_scan, sensor) == 32);
HORUS_PROVE(offsetof(horus_laser_scan, count) == 36);
HORUS_PROVE(offsetof(horus_laser_scan, range) == 40);
HORUS_PROVE(sizeof(horus_laser_scan) == 1480);

// A point, 12 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies.
/* horus/Point */
typedef struct {
  // Forward, metres; NaN in all three where the sensor saw nothing.
  float x;
  // Left, metres.
  float y;
  // Up, metres.
  float z;
} horus_point;
#define HORUS_POINT_LAYOUT \
  "message horus/Point\n" \
  " x f32\n" \
  " y f32\n" \
  " z f32\n"
HORUS_PROVE(offsetof(horus_point, x) == 0);
HORUS_PROVE(offsetof(horus_point, y) == 4);
HORUS_PROVE(offsetof(horus_point, z) == 8);
HORUS_PROVE(sizeof(horus_point) == 12);

// Up to 100 points, 1216 bytes.
/* horus/PointCloud100 */
typedef struct {
  // When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // Number of the sensor, for topics that carry several; 0 otherwise.
  uint32_t sensor;
  // How many points count.
  uint32_t count;
  // The points, metres in the frame of the sensor.
  horus_point point[100];
} horus_point_cloud100;
#define HORUS_POINT_CLOUD100_LAYOUT \
  "message horus/PointCloud100\n" \
  " stamp_ns u64\n" \
  " sensor u32\n" \
  " count u32\n" \
  " point [horus/Point; 100]\n" \
  HORUS_POINT_LAYOUT
HORUS_PROVE(offsetof(horus_point_cloud100, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_point_cloud100, sensor) == 8);
HORUS_PROVE(offsetof(horus_point_cloud100, count) == 12);
HORUS_PROVE(offsetof(horus_point_cloud100, point) == 16);
HORUS_PROVE(sizeof(horus_point_cloud100) == 1216);

// Up to 1000 points, 12 016 bytes.
/* horus/PointCloud1k */
typedef struct {
  // When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // Number of the sensor, for topics that carry several; 0 otherwise.
  uint32_t sensor;
  // How many points count.
  uint32_t count;
  // The points, metres in the frame of the sensor.
  horus_point point[1000];
} horus_point_cloud1k;
#define HORUS_POINT_CLOUD1K_LAYOUT \
  "message horus/PointCloud1k\n" \
  " stamp_ns u64\n" \
  " sensor u32\n" \
  " count u32\n" \
  " point [horus/Point; 1000]\n" \
  HORUS_POINT_LAYOUT
HORUS_PROVE(offsetof(horus_point_cloud1k, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_point_cloud1k, sensor) == 8);
HORUS_PROVE(offsetof(horus_point_cloud1k, count) == 12);
HORUS_PROVE(offsetof(horus_point_cloud1k, point) == 16);
HORUS_PROVE(sizeof(horus_point_cloud1k) == 12016);

// Up to 10 000 points, 120 016 bytes.
/* horus/PointCloud10k */
typedef struct {
  // When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // Number of the sensor, for topics that carry several; 0 otherwise.
  uint32_t sensor;
  // How many points count.
  uint32_t count;
  // The points, metres in the frame of the sensor.
  horus_point point[10000];
} horus_point_cloud10k;
#define HORUS_POINT_CLOUD10K_LAYOUT \
  "message horus/PointCloud10k\n" \
  " stamp_ns u64\n" \
  " sensor u32\n" \
  " count u32\n" \
  " point [horus/Point; 10000]\n" \
  HORUS_POINT_LAYOUT
HORUS_PROVE(offsetof(horus_point_cloud10k, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_point_cloud10k, sensor) == 8);
HORUS_PROVE(offsetof(horus_point_cloud10k, count) == 12);
HORUS_PROVE(offsetof(horus_point_cloud10k, point) == 16);
HORUS_PROVE(sizeof(horus_point_cloud10k) == 120016);

// A picture of up to 640 × 480 pixels of 3 bytes, 921 632 bytes.
/* horus/ImageVga */
typedef struct {
  // When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // Pixels in a row.
  uint32_t width;
  // Rows.
  uint32_t height;
  // Bytes from the start of one row to that of the next.
  uint32_t stride;
  // Code of an `Encoding`.
  uint32_t encoding_code;
  // How many bytes of `data` are the picture.
  uint32_t length;
  // Number of the camera, for topics that carry several; 0 otherwise.
  uint32_t camera;
  // The picture, then bytes without meaning.
  uint8_t data[921600];
} horus_image_vga;
#define HORUS_IMAGE_VGA_LAYOUT \
  "message horus/ImageVga\n" \
  " stamp_ns u64\n" \
  " width u32\n" \
  " height u32\n" \
  " stride u32\n" \
  " encoding_code u32\n" \
  " length u32\n" \
  " camera u32\n" \
  " data [u8; 921600]\n"
HORUS_PROVE(offsetof(horus_image_vga, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_image_vga, width) == 8);
HORUS_PROVE(offsetof(horus_image_vga, height) == 12);
HORUS_PROVE(offsetof(horus_image_vga, stride) == 16);
HORUS_PROVE(offsetof(horus_image_vga, encoding_code) == 20);
HORUS_PROVE(offsetof(horus_image_vga, length) == 24);
HORUS_PROVE(offsetof(horus_image_vga, camera) == 28);
HORUS_PROVE(offsetof(horus_image_vga, data) == 32);
HORUS_PROVE(sizeof(horus_image_vga) == 921632);

// A picture of up to 1280 × 720 pixels of 3 bytes, 2 764 832 bytes. Too large for most stacks: write it where a publisher lends room.
/* horus/ImageHd */
typedef struct {
  // When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // Pixels in a row.
  uint32_t width;
  // Rows.
  uint32_t height;
  // Bytes from the start of one row to that of the next.
  uint32_t stride;
  // Code of an `Encoding`.
  uint32_t encoding_code;
  // How many bytes of `data` are the picture.
  uint32_t length;
  // Number of the camera, for topics that carry several; 0 otherwise.
  uint32_t camera;
  // The picture, then bytes without meaning.
  uint8_t data[2764800];
} horus_image_hd;
#define HORUS_IMAGE_HD_LAYOUT \
  "message horus/ImageHd\n" \
  " stamp_ns u64\n" \
  " width u32\n" \
  " height u32\n" \
  " stride u32\n" \
  " encoding_code u32\n" \
  " length u32\n" \
  " camera u32\n" \
  " data [u8; 2764800]\n"
HORUS_PROVE(offsetof(horus_image_hd, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_image_hd, width) == 8);
HORUS_PROVE(offsetof(horus_image_hd, height) == 12);
HORUS_PROVE(offsetof(horus_image_hd, stride) == 16);
HORUS_PROVE(offsetof(horus_image_hd, encoding_code) == 20);
HORUS_PROVE(offsetof(horus_image_hd, length) == 24);
HORUS_PROVE(offsetof(horus_image_hd, camera) == 28);
HORUS_PROVE(offsetof(horus_image_hd, data) == 32);
HORUS_PROVE(sizeof(horus_image_hd) == 2764832);

// A picture of up to 1920 × 1080 pixels of 3 bytes, 6 220 832 bytes. Too large for most stacks: write it where a publisher lends room.
/* horus/ImageFullHd */
typedef struct {
  // When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
  uint64_t stamp_ns;
  // Pixels in a row.
  uint32_t width;
  // Rows.
  uint32_t height;
  // Bytes from the start of one row to that of the next.
  uint32_t stride;
  // Code of an `Encoding`.
  uint32_t encoding_code;
  // How many bytes of `data` are the picture.
  uint32_t length;
  // Number of the camera, for topics that carry several; 0 otherwise.
  uint32_t camera;
  // The picture, then bytes without meaning.
  uint8_t data[6220800];
} horus_image_full_hd;
#define HORUS_IMAGE_FULL_HD_LAYOUT \
  "message horus/ImageFullHd\n" \
  " stamp_ns u64\n" \
  " width u32\n" \
  " height u32\n" \
  " stride u32\n" \
  " encoding_code u32\n" \
  " length u32\n" \
  " camera u32\n" \
  " data [u8; 6220800]\n"
HORUS_PROVE(offsetof(horus_image_full_hd, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_image_full_hd, width) == 8);
HORUS_PROVE(offsetof(horus_image_full_hd, height) == 12);
HORUS_PROVE(offsetof(horus_image_full_hd, stride) == 16);
HORUS_PROVE(offsetof(horus_image_full_hd, encoding_code) == 20);
HORUS_PROVE(offsetof(horus_image_full_hd, length) == 24);
HORUS_PROVE(offsetof(horus_image_full_hd, camera) == 28);
HORUS_PROVE(offsetof(horus_image_full_hd, data) == 32);
HORUS_PROVE(sizeof(horus_image_full_hd) == 6220832);

// A numbered moment: what the nodes `ping` and `pong` exchange, and the smallest message worth timing.
/* horus/Stamp */
typedef struct {
  // Number given by the first sender; an answer repeats it.
  uint64_t sequence;
  // When the first sender sent it, nanoseconds on CLOCK_MONOTONIC; an answer repeats it.
  uint64_t sent_ns;
} horus_stamp;
#define HORUS_STAMP_LAYOUT \
  "message horus/Stamp\n" \
  " sequence u64\n" \
  " sent_ns u64\n"
HORUS_PROVE(offsetof(horus_stamp, sequence) == 0);
HORUS_PROVE(offsetof(horus_stamp, sent_ns) == 8);
HORUS_PROVE(sizeof(horus_stamp) == 16);

#endif
