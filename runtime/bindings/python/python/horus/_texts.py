"""What the messages of the field and their fields are, for `help()` and the stubs.

Made of the messages' comments in Rust; HORUS_WRITE_HEADER=1 cargo test -p horus-c --test header makes it anew.
"""

# fmt: off
TEXTS = {
    "BatteryState": (
        "State of a battery, 104 bytes. What the battery cannot measure is NaN.",
        {
            "capacity": "Charge when full, as of now and not as sold, coulombs.",
            "cell_count": "How many cells are given, 0 to 16.",
            "cell_voltages": "Voltages of the single cells, volts; the first `cell_count` of them count.",
            "charge": "Charge that is left, coulombs; 3600 of them are one ampere hour.",
            "current": "Current into the battery, amperes; negative while it discharges.",
            "faults": "One bit for each fault that the battery reports, as its maker numbers them; 0 when it is well.",
            "level": "What is left as a fraction of what fits, 0 to 1.",
            "stamp_ns": "When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
            "supply_code": "Code of a `Supply`.",
            "temperature": "Temperature, degrees Celsius (REP 103 keeps them beside the SI units).",
            "voltage": "Voltage between the terminals, volts.",
        },
    ),
    "CmdVel": (
        "How fast a vehicle shall drive and turn, 16 bytes: what a controller tells a base, many times a second.",
        {
            "forward": "Speed forward, metres per second along the body's x axis; negative is backward.",
            "turn": "Turn rate, radians per second about the body's z axis; positive is to the left.",
        },
    ),
    "ImageFullHd": (
        "A picture of up to 1920 × 1080 pixels of 3 bytes, 6 220 832 bytes. Too large for most stacks: write it where a publisher lends room.",
        {
            "camera": "Number of the camera, for topics that carry several; 0 otherwise.",
            "data": "The picture, then bytes without meaning.",
            "encoding_code": "Code of an `Encoding`.",
            "height": "Rows.",
            "length": "How many bytes of `data` are the picture.",
            "stamp_ns": "When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
            "stride": "Bytes from the start of one row to that of the next.",
            "width": "Pixels in a row.",
        },
    ),
    "ImageHd": (
        "A picture of up to 1280 × 720 pixels of 3 bytes, 2 764 832 bytes. Too large for most stacks: write it where a publisher lends room.",
        {
            "camera": "Number of the camera, for topics that carry several; 0 otherwise.",
            "data": "The picture, then bytes without meaning.",
            "encoding_code": "Code of an `Encoding`.",
            "height": "Rows.",
            "length": "How many bytes of `data` are the picture.",
            "stamp_ns": "When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
            "stride": "Bytes from the start of one row to that of the next.",
            "width": "Pixels in a row.",
        },
    ),
    "ImageVga": (
        "A picture of up to 640 × 480 pixels of 3 bytes, 921 632 bytes.",
        {
            "camera": "Number of the camera, for topics that carry several; 0 otherwise.",
            "data": "The picture, then bytes without meaning.",
            "encoding_code": "Code of an `Encoding`.",
            "height": "Rows.",
            "length": "How many bytes of `data` are the picture.",
            "stamp_ns": "When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
            "stride": "Bytes from the start of one row to that of the next.",
            "width": "Pixels in a row.",
        },
    ),
    "Imu": (
        (
            "Attitude, turn rate and acceleration of a body, 304 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies (x forward, y left, z "
            "up)."
        ),
        {
            "angular_velocity": "Turn rate, radians per second about the sensor's axes.",
            "angular_velocity_covariance": "Covariance of the turn rate about x, y, z, (rad/s)².",
            "linear_acceleration": "Specific force, metres per second squared along the sensor's axes; at rest +9.81 along the axis that points up.",
            "linear_acceleration_covariance": "Covariance of the acceleration along x, y, z, (m/s²)².",
            "orientation": "How the sensor is turned in a frame with x east, y north, z up.",
            "orientation_covariance": "Covariance of small turns about x, y, z, radians squared.",
            "stamp_ns": "When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
        },
    ),
    "JointCommand": (
        "What up to 16 joints shall do, 928 bytes. Each joint has a mode, which says which of its three numbers counts.",
        {
            "count": "How many joints count, 0 to 16.",
            "effort": "Efforts, newton metres or newtons.",
            "mode_codes": "One code of a `JointMode` a joint.",
            "name_texts": "Names of the joints: texts, padded with zero bytes.",
            "position": "Positions, radians or metres from the joint's zero.",
            "stamp_ns": "When it was decided, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
            "valid_for_ns": "How long after its sending the command holds, nanoseconds (at most 4.29 s); 0 until the next one.",
            "velocity": "Velocities, radians per second or metres per second.",
        },
    ),
    "JointState": (
        "What up to 16 joints do, 912 bytes. The order of the joints is the publisher's; `names` says which is which.",
        {
            "count": "How many joints count, 0 to 16.",
            "effort": "Efforts, newton metres or newtons.",
            "measured": "Which quantities were measured: bit 0 position, bit 1 velocity, bit 2 effort.",
            "name_texts": "Names of the joints: texts, padded with zero bytes.",
            "position": "Positions, radians or metres from the joint's zero.",
            "stamp_ns": "When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
            "velocity": "Velocities, radians per second or metres per second.",
        },
    ),
    "LaserScan": (
        "Distances of one turn of a planar scanner, 1480 bytes; in the frame of the sensor, about its z axis.",
        {
            "angle_start": "Angle of the first beam, radians counter-clockwise from the x axis, which is forward.",
            "angle_step": "Angle from one beam to the next, radians; negative for a scanner that turns clockwise.",
            "beam_interval": "Time from one beam to the next, seconds; 0 when all were measured at once.",
            "count": "How many ranges count, 0 to 360.",
            "range": "Distances, metres; NaN where the beam gave none.",
            "range_max": "Longest distance that the sensor can tell, metres; a longer range, infinity too, saw nothing.",
            "range_min": "Shortest distance that the sensor can tell, metres; a shorter range is none.",
            "scan_interval": "Time from one scan to the next, seconds.",
            "sensor": "Number of the sensor, for topics that carry several; 0 otherwise.",
            "stamp_ns": "When the first beam was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
        },
    ),
    "Odometry": (
        "Pose and speed of a vehicle with their covariances, 736 bytes.",
        {
            "angular": "Turn rate, radians per second about the axes of `child_frame`.",
            "child_frame_text": "Name of the vehicle's own frame: text, padded with zero bytes.",
            "frame_text": "Name of the frame that the pose is given in: text, padded with zero bytes.",
            "linear": "Speed, metres per second along the axes of `child_frame`.",
            "orientation": "How `child_frame` is turned in `frame`.",
            "pose_covariance": "Covariance of the pose, 6 × 6 in the order x, y, z (metres), turns about fixed x, y, z (radians): products of two of them.",
            "position": "From the origin of `frame` to that of `child_frame`, metres along the axes of `frame`.",
            "stamp_ns": "When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
            "twist_covariance": "Covariance of the speed, 6 × 6 in the order x, y, z (m/s), turn rates about x, y, z (rad/s): products of two of them.",
        },
    ),
    "Point": (
        "A point, 12 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies.",
        {
            "x": "Forward, metres; NaN in all three where the sensor saw nothing.",
            "y": "Left, metres.",
            "z": "Up, metres.",
        },
    ),
    "PointCloud100": (
        "Up to 100 points, 1216 bytes.",
        {
            "count": "How many points count.",
            "point": "The points, metres in the frame of the sensor.",
            "sensor": "Number of the sensor, for topics that carry several; 0 otherwise.",
            "stamp_ns": "When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
        },
    ),
    "PointCloud10k": (
        "Up to 10 000 points, 120 016 bytes.",
        {
            "count": "How many points count.",
            "point": "The points, metres in the frame of the sensor.",
            "sensor": "Number of the sensor, for topics that carry several; 0 otherwise.",
            "stamp_ns": "When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
        },
    ),
    "PointCloud1k": (
        "Up to 1000 points, 12 016 bytes.",
        {
            "count": "How many points count.",
            "point": "The points, metres in the frame of the sensor.",
            "sensor": "Number of the sensor, for topics that carry several; 0 otherwise.",
            "stamp_ns": "When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
        },
    ),
    "Pose2D": (
        "Where a vehicle is on the ground, 32 bytes. The frame is agreed on by the topic's users, usually a map.",
        {
            "stamp_ns": "When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
            "x": "East of the frame's origin, metres.",
            "y": "North of the frame's origin, metres.",
            "yaw": "Heading, radians counter-clockwise from the x axis.",
        },
    ),
    "Pose3D": (
        "Where a body is in space, 64 bytes. The frame is agreed on by the topic's users.",
        {
            "orientation": "How the body is turned in the frame.",
            "position": "From the frame's origin to the body's, metres along the frame's axes.",
            "stamp_ns": "When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
        },
    ),
    "Quaternion": (
        "A rotation as a unit quaternion, 32 bytes; without unit. It turns vectors of the child frame into the parent's.",
        {
            "w": "The cosine of half the angle.",
            "x": "The axis's x, times the sine of half the angle.",
            "y": "The axis's y, times the sine of half the angle.",
            "z": "The axis's z, times the sine of half the angle.",
        },
    ),
    "Stamp": (
        "A numbered moment: what the nodes `ping` and `pong` exchange, and the smallest message worth timing.",
        {
            "sent_ns": "When the first sender sent it, nanoseconds on CLOCK_MONOTONIC; an answer repeats it.",
            "sequence": "Number given by the first sender; an answer repeats it.",
        },
    ),
    "Twist": (
        "How a body moves, 56 bytes; along and about its own axes.",
        {
            "angular": "Turn rate, radians per second about the body's axes.",
            "linear": "Speed, metres per second along the body's axes.",
            "stamp_ns": "When it moved so, nanoseconds on CLOCK_MONOTONIC; 0 when not known.",
        },
    ),
    "Vector3": (
        "A vector in three dimensions, 24 bytes. Its unit and its axes are said by the field that holds it.",
        {
            "x": "Forward on a body, east on the ground.",
            "y": "Left on a body, north on the ground.",
            "z": "Up.",
        },
    ),
}
