/* Messages as structs; made from their layouts by `horus message generate --lang c`: change those. */
#ifndef HORUS_MESSAGES_H
#define HORUS_MESSAGES_H

#include <stddef.h>
#include <stdint.h>

/* A struct that the compiler lays out otherwise does not compile. */
#define HORUS_PROVE_AT(condition, line) typedef char horus_proof_##line[(condition) ? 1 : -1]
#define HORUS_PROVE_HERE(condition, line) HORUS_PROVE_AT(condition, line)
#define HORUS_PROVE(condition) HORUS_PROVE_HERE(condition, __COUNTER__)

/* horus/Vector3 */
typedef struct {
  double x;
  double y;
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

/* horus/Quaternion */
typedef struct {
  double x;
  double y;
  double z;
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

/* horus/Pose2D */
typedef struct {
  uint64_t stamp_ns;
  double x;
  double y;
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

/* horus/Pose3D */
typedef struct {
  uint64_t stamp_ns;
  horus_vector3 position;
  horus_quaternion orientation;
} horus_pose3d;
#define HORUS_POSE3D_LAYOUT \
  "message horus/Pose3D\n" \
  " stamp_ns u64\n" \
  " position horus/Vector3\n" \
  " orientation horus/Quaternion\n" \
  "message horus/Quaternion\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n" \
  " w f64\n" \
  "message horus/Vector3\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n"
HORUS_PROVE(offsetof(horus_pose3d, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_pose3d, position) == 8);
HORUS_PROVE(offsetof(horus_pose3d, orientation) == 32);
HORUS_PROVE(sizeof(horus_pose3d) == 64);

/* horus/Twist */
typedef struct {
  uint64_t stamp_ns;
  horus_vector3 linear;
  horus_vector3 angular;
} horus_twist;
#define HORUS_TWIST_LAYOUT \
  "message horus/Twist\n" \
  " stamp_ns u64\n" \
  " linear horus/Vector3\n" \
  " angular horus/Vector3\n" \
  "message horus/Vector3\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n"
HORUS_PROVE(offsetof(horus_twist, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_twist, linear) == 8);
HORUS_PROVE(offsetof(horus_twist, angular) == 32);
HORUS_PROVE(sizeof(horus_twist) == 56);

/* horus/CmdVel */
typedef struct {
  double forward;
  double turn;
} horus_cmd_vel;
#define HORUS_CMD_VEL_LAYOUT \
  "message horus/CmdVel\n" \
  " forward f64\n" \
  " turn f64\n"
HORUS_PROVE(offsetof(horus_cmd_vel, forward) == 0);
HORUS_PROVE(offsetof(horus_cmd_vel, turn) == 8);
HORUS_PROVE(sizeof(horus_cmd_vel) == 16);

/* horus/BatteryState */
typedef struct {
  uint64_t stamp_ns;
  float voltage;
  float current;
  float temperature;
  float charge;
  float capacity;
  float level;
  float cell_voltages[16];
  uint32_t cell_count;
  uint16_t supply_code;
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

/* horus/Imu */
typedef struct {
  uint64_t stamp_ns;
  horus_quaternion orientation;
  horus_vector3 angular_velocity;
  horus_vector3 linear_acceleration;
  double orientation_covariance[9];
  double angular_velocity_covariance[9];
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
  "message horus/Vector3\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n" \
  "message horus/Quaternion\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n" \
  " w f64\n"
HORUS_PROVE(offsetof(horus_imu, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_imu, orientation) == 8);
HORUS_PROVE(offsetof(horus_imu, angular_velocity) == 40);
HORUS_PROVE(offsetof(horus_imu, linear_acceleration) == 64);
HORUS_PROVE(offsetof(horus_imu, orientation_covariance) == 88);
HORUS_PROVE(offsetof(horus_imu, angular_velocity_covariance) == 160);
HORUS_PROVE(offsetof(horus_imu, linear_acceleration_covariance) == 232);
HORUS_PROVE(sizeof(horus_imu) == 304);

/* horus/Odometry */
typedef struct {
  uint64_t stamp_ns;
  horus_vector3 position;
  horus_quaternion orientation;
  horus_vector3 linear;
  horus_vector3 angular;
  double pose_covariance[36];
  double twist_covariance[36];
  uint8_t frame_text[24];
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
  "message horus/Quaternion\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n" \
  " w f64\n" \
  "message horus/Vector3\n" \
  " x f64\n" \
  " y f64\n" \
  " z f64\n"
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

/* horus/JointState */
typedef struct {
  uint64_t stamp_ns;
  uint32_t count;
  uint32_t measured;
  double position[16];
  double velocity[16];
  double effort[16];
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

/* horus/JointCommand */
typedef struct {
  uint64_t stamp_ns;
  uint32_t count;
  uint32_t valid_for_ns;
  uint8_t mode_codes[16];
  double position[16];
  double velocity[16];
  double effort[16];
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

/* horus/LaserScan */
typedef struct {
  uint64_t stamp_ns;
  float angle_start;
  float angle_step;
  float beam_interval;
  float scan_interval;
  float range_min;
  float range_max;
  uint32_t sensor;
  uint32_t count;
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

/* horus/Point */
typedef struct {
  float x;
  float y;
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

/* horus/PointCloud100 */
typedef struct {
  uint64_t stamp_ns;
  uint32_t sensor;
  uint32_t count;
  horus_point point[100];
} horus_point_cloud100;
#define HORUS_POINT_CLOUD100_LAYOUT \
  "message horus/PointCloud100\n" \
  " stamp_ns u64\n" \
  " sensor u32\n" \
  " count u32\n" \
  " point [horus/Point; 100]\n" \
  "message horus/Point\n" \
  " x f32\n" \
  " y f32\n" \
  " z f32\n"
HORUS_PROVE(offsetof(horus_point_cloud100, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_point_cloud100, sensor) == 8);
HORUS_PROVE(offsetof(horus_point_cloud100, count) == 12);
HORUS_PROVE(offsetof(horus_point_cloud100, point) == 16);
HORUS_PROVE(sizeof(horus_point_cloud100) == 1216);

/* horus/PointCloud1k */
typedef struct {
  uint64_t stamp_ns;
  uint32_t sensor;
  uint32_t count;
  horus_point point[1000];
} horus_point_cloud1k;
#define HORUS_POINT_CLOUD1K_LAYOUT \
  "message horus/PointCloud1k\n" \
  " stamp_ns u64\n" \
  " sensor u32\n" \
  " count u32\n" \
  " point [horus/Point; 1000]\n" \
  "message horus/Point\n" \
  " x f32\n" \
  " y f32\n" \
  " z f32\n"
HORUS_PROVE(offsetof(horus_point_cloud1k, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_point_cloud1k, sensor) == 8);
HORUS_PROVE(offsetof(horus_point_cloud1k, count) == 12);
HORUS_PROVE(offsetof(horus_point_cloud1k, point) == 16);
HORUS_PROVE(sizeof(horus_point_cloud1k) == 12016);

/* horus/PointCloud10k */
typedef struct {
  uint64_t stamp_ns;
  uint32_t sensor;
  uint32_t count;
  horus_point point[10000];
} horus_point_cloud10k;
#define HORUS_POINT_CLOUD10K_LAYOUT \
  "message horus/PointCloud10k\n" \
  " stamp_ns u64\n" \
  " sensor u32\n" \
  " count u32\n" \
  " point [horus/Point; 10000]\n" \
  "message horus/Point\n" \
  " x f32\n" \
  " y f32\n" \
  " z f32\n"
HORUS_PROVE(offsetof(horus_point_cloud10k, stamp_ns) == 0);
HORUS_PROVE(offsetof(horus_point_cloud10k, sensor) == 8);
HORUS_PROVE(offsetof(horus_point_cloud10k, count) == 12);
HORUS_PROVE(offsetof(horus_point_cloud10k, point) == 16);
HORUS_PROVE(sizeof(horus_point_cloud10k) == 120016);

/* horus/ImageVga */
typedef struct {
  uint64_t stamp_ns;
  uint32_t width;
  uint32_t height;
  uint32_t stride;
  uint32_t encoding_code;
  uint32_t length;
  uint32_t camera;
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

/* horus/ImageHd */
typedef struct {
  uint64_t stamp_ns;
  uint32_t width;
  uint32_t height;
  uint32_t stride;
  uint32_t encoding_code;
  uint32_t length;
  uint32_t camera;
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

/* horus/ImageFullHd */
typedef struct {
  uint64_t stamp_ns;
  uint32_t width;
  uint32_t height;
  uint32_t stride;
  uint32_t encoding_code;
  uint32_t length;
  uint32_t camera;
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

/* horus/Stamp */
typedef struct {
  uint64_t sequence;
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
