# Made by `python3 -m horus._stubs`; a test says when it is not current.
from collections.abc import Mapping, Sequence
from typing import Any

from horus import Array, Message

class Vector3(Message):
    """A vector in three dimensions, 24 bytes. Its unit and its axes are said by the field that holds it."""

    x: float
    """Forward on a body, east on the ground."""
    y: float
    """Left on a body, north on the ground."""
    z: float
    """Up."""
    def __init__(self, x: float = ..., y: float = ..., z: float = ...) -> None: ...

class Quaternion(Message):
    """A rotation as a unit quaternion, 32 bytes; without unit. It turns vectors of the child frame into the parent's."""

    x: float
    """The axis's x, times the sine of half the angle."""
    y: float
    """The axis's y, times the sine of half the angle."""
    z: float
    """The axis's z, times the sine of half the angle."""
    w: float
    """The cosine of half the angle."""
    def __init__(self, x: float = ..., y: float = ..., z: float = ..., w: float = ...) -> None: ...

class Pose2D(Message):
    """Where a vehicle is on the ground, 32 bytes. The frame is agreed on by the topic's users, usually a map."""

    stamp_ns: int
    """When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    x: float
    """East of the frame's origin, metres."""
    y: float
    """North of the frame's origin, metres."""
    yaw: float
    """Heading, radians counter-clockwise from the x axis."""
    def __init__(self, stamp_ns: int = ..., x: float = ..., y: float = ..., yaw: float = ...) -> None: ...

class Pose3D(Message):
    """Where a body is in space, 64 bytes. The frame is agreed on by the topic's users."""

    stamp_ns: int
    """When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @property
    def position(self) -> Vector3:
        """From the frame's origin to the body's, metres along the frame's axes."""
    @position.setter
    def position(self, value: Vector3 | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def orientation(self) -> Quaternion:
        """How the body is turned in the frame."""
    @orientation.setter
    def orientation(self, value: Quaternion | Sequence[Any] | Mapping[str, Any]) -> None: ...
    def __init__(self, stamp_ns: int = ..., position: Vector3 | Sequence[Any] | Mapping[str, Any] = ..., orientation: Quaternion | Sequence[Any] | Mapping[str, Any] = ...) -> None: ...

class Twist(Message):
    """How a body moves, 56 bytes; along and about its own axes."""

    stamp_ns: int
    """When it moved so, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @property
    def linear(self) -> Vector3:
        """Speed, metres per second along the body's axes."""
    @linear.setter
    def linear(self, value: Vector3 | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def angular(self) -> Vector3:
        """Turn rate, radians per second about the body's axes."""
    @angular.setter
    def angular(self, value: Vector3 | Sequence[Any] | Mapping[str, Any]) -> None: ...
    def __init__(self, stamp_ns: int = ..., linear: Vector3 | Sequence[Any] | Mapping[str, Any] = ..., angular: Vector3 | Sequence[Any] | Mapping[str, Any] = ...) -> None: ...

class CmdVel(Message):
    """How fast a vehicle shall drive and turn, 16 bytes: what a controller tells a base, many times a second."""

    forward: float
    """Speed forward, metres per second along the body's x axis; negative is backward."""
    turn: float
    """Turn rate, radians per second about the body's z axis; positive is to the left."""
    def __init__(self, forward: float = ..., turn: float = ...) -> None: ...
    @classmethod
    def stop(cls) -> CmdVel:
        """Neither forward nor a turn."""

class BatteryState(Message):
    """State of a battery, 104 bytes. What the battery cannot measure is NaN."""

    stamp_ns: int
    """When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    voltage: float
    """Voltage between the terminals, volts."""
    current: float
    """Current into the battery, amperes; negative while it discharges."""
    temperature: float
    """Temperature, degrees Celsius (REP 103 keeps them beside the SI units)."""
    charge: float
    """Charge that is left, coulombs; 3600 of them are one ampere hour."""
    capacity: float
    """Charge when full, as of now and not as sold, coulombs."""
    level: float
    """What is left as a fraction of what fits, 0 to 1."""
    @property
    def cell_voltages(self) -> Array[float]:
        """Voltages of the single cells, volts; the first `cell_count` of them count."""
    @cell_voltages.setter
    def cell_voltages(self, value: Sequence[float] | Array[float]) -> None: ...
    cell_count: int
    """How many cells are given, 0 to 16."""
    supply_code: int
    """Code of a `Supply`."""
    faults: int
    """One bit for each fault that the battery reports, as its maker numbers them; 0 when it is well."""
    def __init__(self, stamp_ns: int = ..., voltage: float = ..., current: float = ..., temperature: float = ..., charge: float = ..., capacity: float = ..., level: float = ..., cell_voltages: Sequence[float] | Array[float] = ..., cell_count: int = ..., supply_code: int = ..., faults: int = ...) -> None: ...

class Imu(Message):
    """
    Attitude, turn rate and acceleration of a body, 304 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies (x forward, y
    left, z up).
    """

    stamp_ns: int
    """When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @property
    def orientation(self) -> Quaternion:
        """How the sensor is turned in a frame with x east, y north, z up."""
    @orientation.setter
    def orientation(self, value: Quaternion | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def angular_velocity(self) -> Vector3:
        """Turn rate, radians per second about the sensor's axes."""
    @angular_velocity.setter
    def angular_velocity(self, value: Vector3 | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def linear_acceleration(self) -> Vector3:
        """Specific force, metres per second squared along the sensor's axes; at rest +9.81 along the axis that points up."""
    @linear_acceleration.setter
    def linear_acceleration(self, value: Vector3 | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def orientation_covariance(self) -> Array[float]:
        """Covariance of small turns about x, y, z, radians squared."""
    @orientation_covariance.setter
    def orientation_covariance(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def angular_velocity_covariance(self) -> Array[float]:
        """Covariance of the turn rate about x, y, z, (rad/s)²."""
    @angular_velocity_covariance.setter
    def angular_velocity_covariance(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def linear_acceleration_covariance(self) -> Array[float]:
        """Covariance of the acceleration along x, y, z, (m/s²)²."""
    @linear_acceleration_covariance.setter
    def linear_acceleration_covariance(self, value: Sequence[float] | Array[float]) -> None: ...
    def __init__(self, stamp_ns: int = ..., orientation: Quaternion | Sequence[Any] | Mapping[str, Any] = ..., angular_velocity: Vector3 | Sequence[Any] | Mapping[str, Any] = ..., linear_acceleration: Vector3 | Sequence[Any] | Mapping[str, Any] = ..., orientation_covariance: Sequence[float] | Array[float] = ..., angular_velocity_covariance: Sequence[float] | Array[float] = ..., linear_acceleration_covariance: Sequence[float] | Array[float] = ...) -> None: ...

class Odometry(Message):
    """Pose and speed of a vehicle with their covariances, 736 bytes."""

    stamp_ns: int
    """When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @property
    def position(self) -> Vector3:
        """From the origin of `frame` to that of `child_frame`, metres along the axes of `frame`."""
    @position.setter
    def position(self, value: Vector3 | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def orientation(self) -> Quaternion:
        """How `child_frame` is turned in `frame`."""
    @orientation.setter
    def orientation(self, value: Quaternion | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def linear(self) -> Vector3:
        """Speed, metres per second along the axes of `child_frame`."""
    @linear.setter
    def linear(self, value: Vector3 | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def angular(self) -> Vector3:
        """Turn rate, radians per second about the axes of `child_frame`."""
    @angular.setter
    def angular(self, value: Vector3 | Sequence[Any] | Mapping[str, Any]) -> None: ...
    @property
    def pose_covariance(self) -> Array[float]:
        """Covariance of the pose, 6 × 6 in the order x, y, z (metres), turns about fixed x, y, z (radians): products of two of them."""
    @pose_covariance.setter
    def pose_covariance(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def twist_covariance(self) -> Array[float]:
        """Covariance of the speed, 6 × 6 in the order x, y, z (m/s), turn rates about x, y, z (rad/s): products of two of them."""
    @twist_covariance.setter
    def twist_covariance(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def frame_text(self) -> Array[int]:
        """Name of the frame that the pose is given in: text, padded with zero bytes."""
    @frame_text.setter
    def frame_text(self, value: Sequence[int] | Array[int] | bytes | str) -> None: ...
    @property
    def child_frame_text(self) -> Array[int]:
        """Name of the vehicle's own frame: text, padded with zero bytes."""
    @child_frame_text.setter
    def child_frame_text(self, value: Sequence[int] | Array[int] | bytes | str) -> None: ...
    def __init__(self, stamp_ns: int = ..., position: Vector3 | Sequence[Any] | Mapping[str, Any] = ..., orientation: Quaternion | Sequence[Any] | Mapping[str, Any] = ..., linear: Vector3 | Sequence[Any] | Mapping[str, Any] = ..., angular: Vector3 | Sequence[Any] | Mapping[str, Any] = ..., pose_covariance: Sequence[float] | Array[float] = ..., twist_covariance: Sequence[float] | Array[float] = ..., frame_text: Sequence[int] | Array[int] | bytes | str = ..., child_frame_text: Sequence[int] | Array[int] | bytes | str = ...) -> None: ...

class JointState(Message):
    """What up to 16 joints do, 912 bytes. The order of the joints is the publisher's; `names` says which is which."""

    stamp_ns: int
    """When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    count: int
    """How many joints count, 0 to 16."""
    measured: int
    """Which quantities were measured: bit 0 position, bit 1 velocity, bit 2 effort."""
    @property
    def position(self) -> Array[float]:
        """Positions, radians or metres from the joint's zero."""
    @position.setter
    def position(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def velocity(self) -> Array[float]:
        """Velocities, radians per second or metres per second."""
    @velocity.setter
    def velocity(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def effort(self) -> Array[float]:
        """Efforts, newton metres or newtons."""
    @effort.setter
    def effort(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def name_texts(self) -> Array[Array[int]]:
        """Names of the joints: texts, padded with zero bytes."""
    @name_texts.setter
    def name_texts(self, value: Sequence[Sequence[int] | Array[int] | bytes | str] | Array[Array[int]]) -> None: ...
    def __init__(self, stamp_ns: int = ..., count: int = ..., measured: int = ..., position: Sequence[float] | Array[float] = ..., velocity: Sequence[float] | Array[float] = ..., effort: Sequence[float] | Array[float] = ..., name_texts: Sequence[Sequence[int] | Array[int] | bytes | str] | Array[Array[int]] = ...) -> None: ...

class JointCommand(Message):
    """What up to 16 joints shall do, 928 bytes. Each joint has a mode, which says which of its three numbers counts."""

    stamp_ns: int
    """When it was decided, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    count: int
    """How many joints count, 0 to 16."""
    valid_for_ns: int
    """How long after its sending the command holds, nanoseconds (at most 4.29 s); 0 until the next one."""
    @property
    def mode_codes(self) -> Array[int]:
        """One code of a `JointMode` a joint."""
    @mode_codes.setter
    def mode_codes(self, value: Sequence[int] | Array[int] | bytes | str) -> None: ...
    @property
    def position(self) -> Array[float]:
        """Positions, radians or metres from the joint's zero."""
    @position.setter
    def position(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def velocity(self) -> Array[float]:
        """Velocities, radians per second or metres per second."""
    @velocity.setter
    def velocity(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def effort(self) -> Array[float]:
        """Efforts, newton metres or newtons."""
    @effort.setter
    def effort(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def name_texts(self) -> Array[Array[int]]:
        """Names of the joints: texts, padded with zero bytes."""
    @name_texts.setter
    def name_texts(self, value: Sequence[Sequence[int] | Array[int] | bytes | str] | Array[Array[int]]) -> None: ...
    def __init__(self, stamp_ns: int = ..., count: int = ..., valid_for_ns: int = ..., mode_codes: Sequence[int] | Array[int] | bytes | str = ..., position: Sequence[float] | Array[float] = ..., velocity: Sequence[float] | Array[float] = ..., effort: Sequence[float] | Array[float] = ..., name_texts: Sequence[Sequence[int] | Array[int] | bytes | str] | Array[Array[int]] = ...) -> None: ...

class LaserScan(Message):
    """Distances of one turn of a planar scanner, 1480 bytes; in the frame of the sensor, about its z axis."""

    stamp_ns: int
    """When the first beam was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    angle_start: float
    """Angle of the first beam, radians counter-clockwise from the x axis, which is forward."""
    angle_step: float
    """Angle from one beam to the next, radians; negative for a scanner that turns clockwise."""
    beam_interval: float
    """Time from one beam to the next, seconds; 0 when all were measured at once."""
    scan_interval: float
    """Time from one scan to the next, seconds."""
    range_min: float
    """Shortest distance that the sensor can tell, metres; a shorter range is none."""
    range_max: float
    """Longest distance that the sensor can tell, metres; a longer range, infinity too, saw nothing."""
    sensor: int
    """Number of the sensor, for topics that carry several; 0 otherwise."""
    count: int
    """How many ranges count, 0 to 360."""
    @property
    def range(self) -> Array[float]:
        """Distances, metres; NaN where the beam gave none."""
    @range.setter
    def range(self, value: Sequence[float] | Array[float]) -> None: ...
    def __init__(self, stamp_ns: int = ..., angle_start: float = ..., angle_step: float = ..., beam_interval: float = ..., scan_interval: float = ..., range_min: float = ..., range_max: float = ..., sensor: int = ..., count: int = ..., range: Sequence[float] | Array[float] = ...) -> None: ...

class Point(Message):
    """A point, 12 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies."""

    x: float
    """Forward, metres; NaN in all three where the sensor saw nothing."""
    y: float
    """Left, metres."""
    z: float
    """Up, metres."""
    def __init__(self, x: float = ..., y: float = ..., z: float = ...) -> None: ...

class PointCloud100(Message):
    """Up to 100 points, 1216 bytes."""

    stamp_ns: int
    """When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    sensor: int
    """Number of the sensor, for topics that carry several; 0 otherwise."""
    count: int
    """How many points count."""
    @property
    def point(self) -> Array[Point]:
        """The points, metres in the frame of the sensor."""
    @point.setter
    def point(self, value: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point]) -> None: ...
    def __init__(self, stamp_ns: int = ..., sensor: int = ..., count: int = ..., point: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point] = ...) -> None: ...

class PointCloud1k(Message):
    """Up to 1000 points, 12 016 bytes."""

    stamp_ns: int
    """When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    sensor: int
    """Number of the sensor, for topics that carry several; 0 otherwise."""
    count: int
    """How many points count."""
    @property
    def point(self) -> Array[Point]:
        """The points, metres in the frame of the sensor."""
    @point.setter
    def point(self, value: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point]) -> None: ...
    def __init__(self, stamp_ns: int = ..., sensor: int = ..., count: int = ..., point: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point] = ...) -> None: ...

class PointCloud10k(Message):
    """Up to 10 000 points, 120 016 bytes."""

    stamp_ns: int
    """When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    sensor: int
    """Number of the sensor, for topics that carry several; 0 otherwise."""
    count: int
    """How many points count."""
    @property
    def point(self) -> Array[Point]:
        """The points, metres in the frame of the sensor."""
    @point.setter
    def point(self, value: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point]) -> None: ...
    def __init__(self, stamp_ns: int = ..., sensor: int = ..., count: int = ..., point: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point] = ...) -> None: ...

class ImageVga(Message):
    """A picture of up to 640 × 480 pixels of 3 bytes, 921 632 bytes."""

    stamp_ns: int
    """When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    width: int
    """Pixels in a row."""
    height: int
    """Rows."""
    stride: int
    """Bytes from the start of one row to that of the next."""
    encoding_code: int
    """Code of an `Encoding`."""
    length: int
    """How many bytes of `data` are the picture."""
    camera: int
    """Number of the camera, for topics that carry several; 0 otherwise."""
    @property
    def data(self) -> Array[int]:
        """The picture, then bytes without meaning."""
    @data.setter
    def data(self, value: Sequence[int] | Array[int] | bytes | str) -> None: ...
    def __init__(self, stamp_ns: int = ..., width: int = ..., height: int = ..., stride: int = ..., encoding_code: int = ..., length: int = ..., camera: int = ..., data: Sequence[int] | Array[int] | bytes | str = ...) -> None: ...
    def begin(self, width: int, height: int, encoding: str = "rgb8") -> Any:
        """Describes a picture whose rows follow each other without gap, and gives its pixels as a NumPy array, to be written."""
    @property
    def encoding(self) -> str | None:
        """The name of the encoding; None for a code that means nothing."""

class ImageHd(Message):
    """A picture of up to 1280 × 720 pixels of 3 bytes, 2 764 832 bytes. Too large for most stacks: write it where a publisher lends room."""

    stamp_ns: int
    """When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    width: int
    """Pixels in a row."""
    height: int
    """Rows."""
    stride: int
    """Bytes from the start of one row to that of the next."""
    encoding_code: int
    """Code of an `Encoding`."""
    length: int
    """How many bytes of `data` are the picture."""
    camera: int
    """Number of the camera, for topics that carry several; 0 otherwise."""
    @property
    def data(self) -> Array[int]:
        """The picture, then bytes without meaning."""
    @data.setter
    def data(self, value: Sequence[int] | Array[int] | bytes | str) -> None: ...
    def __init__(self, stamp_ns: int = ..., width: int = ..., height: int = ..., stride: int = ..., encoding_code: int = ..., length: int = ..., camera: int = ..., data: Sequence[int] | Array[int] | bytes | str = ...) -> None: ...
    def begin(self, width: int, height: int, encoding: str = "rgb8") -> Any:
        """Describes a picture whose rows follow each other without gap, and gives its pixels as a NumPy array, to be written."""
    @property
    def encoding(self) -> str | None:
        """The name of the encoding; None for a code that means nothing."""

class ImageFullHd(Message):
    """A picture of up to 1920 × 1080 pixels of 3 bytes, 6 220 832 bytes. Too large for most stacks: write it where a publisher lends room."""

    stamp_ns: int
    """When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    width: int
    """Pixels in a row."""
    height: int
    """Rows."""
    stride: int
    """Bytes from the start of one row to that of the next."""
    encoding_code: int
    """Code of an `Encoding`."""
    length: int
    """How many bytes of `data` are the picture."""
    camera: int
    """Number of the camera, for topics that carry several; 0 otherwise."""
    @property
    def data(self) -> Array[int]:
        """The picture, then bytes without meaning."""
    @data.setter
    def data(self, value: Sequence[int] | Array[int] | bytes | str) -> None: ...
    def __init__(self, stamp_ns: int = ..., width: int = ..., height: int = ..., stride: int = ..., encoding_code: int = ..., length: int = ..., camera: int = ..., data: Sequence[int] | Array[int] | bytes | str = ...) -> None: ...
    def begin(self, width: int, height: int, encoding: str = "rgb8") -> Any:
        """Describes a picture whose rows follow each other without gap, and gives its pixels as a NumPy array, to be written."""
    @property
    def encoding(self) -> str | None:
        """The name of the encoding; None for a code that means nothing."""

class Stamp(Message):
    """A numbered moment: what the nodes `ping` and `pong` exchange, and the smallest message worth timing."""

    sequence: int
    """Number given by the first sender; an answer repeats it."""
    sent_ns: int
    """When the first sender sent it, nanoseconds on CLOCK_MONOTONIC; an answer repeats it."""
    def __init__(self, sequence: int = ..., sent_ns: int = ...) -> None: ...
