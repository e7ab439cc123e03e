# Made by `python3 -m horus._stubs`; a test says when it is not current.
from collections.abc import Mapping, Sequence
from typing import Any

from horus import Array, Message

class Vector3(Message):
    """A vector in three dimensions, 24 bytes. Its unit and its axes are said by the field that holds it."""

    @property
    def x(self) -> float:
        """Forward on a body, east on the ground."""
    @x.setter
    def x(self, value: float) -> None: ...
    @property
    def y(self) -> float:
        """Left on a body, north on the ground."""
    @y.setter
    def y(self, value: float) -> None: ...
    @property
    def z(self) -> float:
        """Up."""
    @z.setter
    def z(self, value: float) -> None: ...
    def __init__(self, x: float = ..., y: float = ..., z: float = ...) -> None: ...

class Quaternion(Message):
    """A rotation as a unit quaternion, 32 bytes; without unit. It turns vectors of the child frame into the parent's."""

    @property
    def x(self) -> float:
        """The axis's x, times the sine of half the angle."""
    @x.setter
    def x(self, value: float) -> None: ...
    @property
    def y(self) -> float:
        """The axis's y, times the sine of half the angle."""
    @y.setter
    def y(self, value: float) -> None: ...
    @property
    def z(self) -> float:
        """The axis's z, times the sine of half the angle."""
    @z.setter
    def z(self, value: float) -> None: ...
    @property
    def w(self) -> float:
        """The cosine of half the angle."""
    @w.setter
    def w(self, value: float) -> None: ...
    def __init__(self, x: float = ..., y: float = ..., z: float = ..., w: float = ...) -> None: ...

class Pose2D(Message):
    """Where a vehicle is on the ground, 32 bytes. The frame is agreed on by the topic's users, usually a map."""

    @property
    def stamp_ns(self) -> int:
        """When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def x(self) -> float:
        """East of the frame's origin, metres."""
    @x.setter
    def x(self, value: float) -> None: ...
    @property
    def y(self) -> float:
        """North of the frame's origin, metres."""
    @y.setter
    def y(self, value: float) -> None: ...
    @property
    def yaw(self) -> float:
        """Heading, radians counter-clockwise from the x axis."""
    @yaw.setter
    def yaw(self, value: float) -> None: ...
    def __init__(self, stamp_ns: int = ..., x: float = ..., y: float = ..., yaw: float = ...) -> None: ...

class Pose3D(Message):
    """Where a body is in space, 64 bytes. The frame is agreed on by the topic's users."""

    @property
    def stamp_ns(self) -> int:
        """When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
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

    @property
    def stamp_ns(self) -> int:
        """When it moved so, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
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

    @property
    def forward(self) -> float:
        """Speed forward, metres per second along the body's x axis; negative is backward."""
    @forward.setter
    def forward(self, value: float) -> None: ...
    @property
    def turn(self) -> float:
        """Turn rate, radians per second about the body's z axis; positive is to the left."""
    @turn.setter
    def turn(self, value: float) -> None: ...
    def __init__(self, forward: float = ..., turn: float = ...) -> None: ...
    @classmethod
    def stop(cls) -> CmdVel:
        """Neither forward nor a turn."""

class BatteryState(Message):
    """State of a battery, 104 bytes. What the battery cannot measure is NaN."""

    @property
    def stamp_ns(self) -> int:
        """When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def voltage(self) -> float:
        """Voltage between the terminals, volts."""
    @voltage.setter
    def voltage(self, value: float) -> None: ...
    @property
    def current(self) -> float:
        """Current into the battery, amperes; negative while it discharges."""
    @current.setter
    def current(self, value: float) -> None: ...
    @property
    def temperature(self) -> float:
        """Temperature, degrees Celsius (REP 103 keeps them beside the SI units)."""
    @temperature.setter
    def temperature(self, value: float) -> None: ...
    @property
    def charge(self) -> float:
        """Charge that is left, coulombs; 3600 of them are one ampere hour."""
    @charge.setter
    def charge(self, value: float) -> None: ...
    @property
    def capacity(self) -> float:
        """Charge when full, as of now and not as sold, coulombs."""
    @capacity.setter
    def capacity(self, value: float) -> None: ...
    @property
    def level(self) -> float:
        """What is left as a fraction of what fits, 0 to 1."""
    @level.setter
    def level(self, value: float) -> None: ...
    @property
    def cell_voltages(self) -> Array[float]:
        """Voltages of the single cells, volts; the first `cell_count` of them count."""
    @cell_voltages.setter
    def cell_voltages(self, value: Sequence[float] | Array[float]) -> None: ...
    @property
    def cell_count(self) -> int:
        """How many cells are given, 0 to 16."""
    @cell_count.setter
    def cell_count(self, value: int) -> None: ...
    @property
    def supply_code(self) -> int:
        """Code of a `Supply`."""
    @supply_code.setter
    def supply_code(self, value: int) -> None: ...
    @property
    def faults(self) -> int:
        """One bit for each fault that the battery reports, as its maker numbers them; 0 when it is well."""
    @faults.setter
    def faults(self, value: int) -> None: ...
    def __init__(self, stamp_ns: int = ..., voltage: float = ..., current: float = ..., temperature: float = ..., charge: float = ..., capacity: float = ..., level: float = ..., cell_voltages: Sequence[float] | Array[float] = ..., cell_count: int = ..., supply_code: int = ..., faults: int = ...) -> None: ...

class Imu(Message):
    """
    Attitude, turn rate and acceleration of a body, 304 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies (x forward, y
    left, z up).
    """

    @property
    def stamp_ns(self) -> int:
        """When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
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

    @property
    def stamp_ns(self) -> int:
        """When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
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

    @property
    def stamp_ns(self) -> int:
        """When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def count(self) -> int:
        """How many joints count, 0 to 16."""
    @count.setter
    def count(self, value: int) -> None: ...
    @property
    def measured(self) -> int:
        """Which quantities were measured: bit 0 position, bit 1 velocity, bit 2 effort."""
    @measured.setter
    def measured(self, value: int) -> None: ...
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

    @property
    def stamp_ns(self) -> int:
        """When it was decided, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def count(self) -> int:
        """How many joints count, 0 to 16."""
    @count.setter
    def count(self, value: int) -> None: ...
    @property
    def valid_for_ns(self) -> int:
        """How long after its sending the command holds, nanoseconds (at most 4.29 s); 0 until the next one."""
    @valid_for_ns.setter
    def valid_for_ns(self, value: int) -> None: ...
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

    @property
    def stamp_ns(self) -> int:
        """When the first beam was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def angle_start(self) -> float:
        """Angle of the first beam, radians counter-clockwise from the x axis, which is forward."""
    @angle_start.setter
    def angle_start(self, value: float) -> None: ...
    @property
    def angle_step(self) -> float:
        """Angle from one beam to the next, radians; negative for a scanner that turns clockwise."""
    @angle_step.setter
    def angle_step(self, value: float) -> None: ...
    @property
    def beam_interval(self) -> float:
        """Time from one beam to the next, seconds; 0 when all were measured at once."""
    @beam_interval.setter
    def beam_interval(self, value: float) -> None: ...
    @property
    def scan_interval(self) -> float:
        """Time from one scan to the next, seconds."""
    @scan_interval.setter
    def scan_interval(self, value: float) -> None: ...
    @property
    def range_min(self) -> float:
        """Shortest distance that the sensor can tell, metres; a shorter range is none."""
    @range_min.setter
    def range_min(self, value: float) -> None: ...
    @property
    def range_max(self) -> float:
        """Longest distance that the sensor can tell, metres; a longer range, infinity too, saw nothing."""
    @range_max.setter
    def range_max(self, value: float) -> None: ...
    @property
    def sensor(self) -> int:
        """Number of the sensor, for topics that carry several; 0 otherwise."""
    @sensor.setter
    def sensor(self, value: int) -> None: ...
    @property
    def count(self) -> int:
        """How many ranges count, 0 to 360."""
    @count.setter
    def count(self, value: int) -> None: ...
    @property
    def range(self) -> Array[float]:
        """Distances, metres; NaN where the beam gave none."""
    @range.setter
    def range(self, value: Sequence[float] | Array[float]) -> None: ...
    def __init__(self, stamp_ns: int = ..., angle_start: float = ..., angle_step: float = ..., beam_interval: float = ..., scan_interval: float = ..., range_min: float = ..., range_max: float = ..., sensor: int = ..., count: int = ..., range: Sequence[float] | Array[float] = ...) -> None: ...

class Point(Message):
    """A point, 12 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies."""

    @property
    def x(self) -> float:
        """Forward, metres; NaN in all three where the sensor saw nothing."""
    @x.setter
    def x(self, value: float) -> None: ...
    @property
    def y(self) -> float:
        """Left, metres."""
    @y.setter
    def y(self, value: float) -> None: ...
    @property
    def z(self) -> float:
        """Up, metres."""
    @z.setter
    def z(self, value: float) -> None: ...
    def __init__(self, x: float = ..., y: float = ..., z: float = ...) -> None: ...

class PointCloud100(Message):
    """Up to 100 points, 1216 bytes."""

    @property
    def stamp_ns(self) -> int:
        """When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def sensor(self) -> int:
        """Number of the sensor, for topics that carry several; 0 otherwise."""
    @sensor.setter
    def sensor(self, value: int) -> None: ...
    @property
    def count(self) -> int:
        """How many points count."""
    @count.setter
    def count(self, value: int) -> None: ...
    @property
    def point(self) -> Array[Point]:
        """The points, metres in the frame of the sensor."""
    @point.setter
    def point(self, value: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point]) -> None: ...
    def __init__(self, stamp_ns: int = ..., sensor: int = ..., count: int = ..., point: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point] = ...) -> None: ...

class PointCloud1k(Message):
    """Up to 1000 points, 12 016 bytes."""

    @property
    def stamp_ns(self) -> int:
        """When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def sensor(self) -> int:
        """Number of the sensor, for topics that carry several; 0 otherwise."""
    @sensor.setter
    def sensor(self, value: int) -> None: ...
    @property
    def count(self) -> int:
        """How many points count."""
    @count.setter
    def count(self, value: int) -> None: ...
    @property
    def point(self) -> Array[Point]:
        """The points, metres in the frame of the sensor."""
    @point.setter
    def point(self, value: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point]) -> None: ...
    def __init__(self, stamp_ns: int = ..., sensor: int = ..., count: int = ..., point: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point] = ...) -> None: ...

class PointCloud10k(Message):
    """Up to 10 000 points, 120 016 bytes."""

    @property
    def stamp_ns(self) -> int:
        """When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def sensor(self) -> int:
        """Number of the sensor, for topics that carry several; 0 otherwise."""
    @sensor.setter
    def sensor(self, value: int) -> None: ...
    @property
    def count(self) -> int:
        """How many points count."""
    @count.setter
    def count(self, value: int) -> None: ...
    @property
    def point(self) -> Array[Point]:
        """The points, metres in the frame of the sensor."""
    @point.setter
    def point(self, value: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point]) -> None: ...
    def __init__(self, stamp_ns: int = ..., sensor: int = ..., count: int = ..., point: Sequence[Point | Sequence[Any] | Mapping[str, Any]] | Array[Point] = ...) -> None: ...

class ImageVga(Message):
    """A picture of up to 640 × 480 pixels of 3 bytes, 921 632 bytes."""

    @property
    def stamp_ns(self) -> int:
        """When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def width(self) -> int:
        """Pixels in a row."""
    @width.setter
    def width(self, value: int) -> None: ...
    @property
    def height(self) -> int:
        """Rows."""
    @height.setter
    def height(self, value: int) -> None: ...
    @property
    def stride(self) -> int:
        """Bytes from the start of one row to that of the next."""
    @stride.setter
    def stride(self, value: int) -> None: ...
    @property
    def encoding_code(self) -> int:
        """Code of an `Encoding`."""
    @encoding_code.setter
    def encoding_code(self, value: int) -> None: ...
    @property
    def length(self) -> int:
        """How many bytes of `data` are the picture."""
    @length.setter
    def length(self, value: int) -> None: ...
    @property
    def camera(self) -> int:
        """Number of the camera, for topics that carry several; 0 otherwise."""
    @camera.setter
    def camera(self, value: int) -> None: ...
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

    @property
    def stamp_ns(self) -> int:
        """When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def width(self) -> int:
        """Pixels in a row."""
    @width.setter
    def width(self, value: int) -> None: ...
    @property
    def height(self) -> int:
        """Rows."""
    @height.setter
    def height(self, value: int) -> None: ...
    @property
    def stride(self) -> int:
        """Bytes from the start of one row to that of the next."""
    @stride.setter
    def stride(self, value: int) -> None: ...
    @property
    def encoding_code(self) -> int:
        """Code of an `Encoding`."""
    @encoding_code.setter
    def encoding_code(self, value: int) -> None: ...
    @property
    def length(self) -> int:
        """How many bytes of `data` are the picture."""
    @length.setter
    def length(self, value: int) -> None: ...
    @property
    def camera(self) -> int:
        """Number of the camera, for topics that carry several; 0 otherwise."""
    @camera.setter
    def camera(self, value: int) -> None: ...
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

    @property
    def stamp_ns(self) -> int:
        """When the exposure began, nanoseconds on CLOCK_MONOTONIC; 0 when not known."""
    @stamp_ns.setter
    def stamp_ns(self, value: int) -> None: ...
    @property
    def width(self) -> int:
        """Pixels in a row."""
    @width.setter
    def width(self, value: int) -> None: ...
    @property
    def height(self) -> int:
        """Rows."""
    @height.setter
    def height(self, value: int) -> None: ...
    @property
    def stride(self) -> int:
        """Bytes from the start of one row to that of the next."""
    @stride.setter
    def stride(self, value: int) -> None: ...
    @property
    def encoding_code(self) -> int:
        """Code of an `Encoding`."""
    @encoding_code.setter
    def encoding_code(self, value: int) -> None: ...
    @property
    def length(self) -> int:
        """How many bytes of `data` are the picture."""
    @length.setter
    def length(self, value: int) -> None: ...
    @property
    def camera(self) -> int:
        """Number of the camera, for topics that carry several; 0 otherwise."""
    @camera.setter
    def camera(self, value: int) -> None: ...
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

    @property
    def sequence(self) -> int:
        """Number given by the first sender; an answer repeats it."""
    @sequence.setter
    def sequence(self, value: int) -> None: ...
    @property
    def sent_ns(self) -> int:
        """When the first sender sent it, nanoseconds on CLOCK_MONOTONIC; an answer repeats it."""
    @sent_ns.setter
    def sent_ns(self, value: int) -> None: ...
    def __init__(self, sequence: int = ..., sent_ns: int = ...) -> None: ...
