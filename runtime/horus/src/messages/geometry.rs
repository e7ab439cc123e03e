//! Where things are and how they move.

crate::message! {
    /// A vector in three dimensions, 24 bytes. Its unit and its axes are said by the field that holds it.
    #[derive(Default)]
    pub struct Vector3 = "horus/Vector3" {
        /// Forward on a body, east on the ground.
        x: f64,
        /// Left on a body, north on the ground.
        y: f64,
        /// Up.
        z: f64,
    }
}
const _: () = assert!(size_of::<Vector3>() == 24);

crate::message! {
    /// A rotation as a unit quaternion, 32 bytes; without unit. It turns vectors of the child frame into the parent's.
    ///
    /// All zero is no rotation at all but a message that was not filled in; "not turned" is [`Quaternion::IDENTITY`].
    #[derive(Default)]
    pub struct Quaternion = "horus/Quaternion" {
        /// The axis's x, times the sine of half the angle.
        x: f64,
        /// The axis's y, times the sine of half the angle.
        y: f64,
        /// The axis's z, times the sine of half the angle.
        z: f64,
        /// The cosine of half the angle.
        w: f64,
    }
}
const _: () = assert!(size_of::<Quaternion>() == 32);

impl Quaternion {
    /// Not turned.
    pub const IDENTITY: Self = Self { x: 0.0, y: 0.0, z: 0.0, w: 1.0 };

    /// Turned about the z axis by `yaw` radians, counter-clockwise seen from above.
    pub fn from_yaw(yaw: f64) -> Self {
        let (sine, cosine) = (yaw / 2.0).sin_cos();
        Self { z: sine, w: cosine, ..Self::default() }
    }

    /// How far a unit quaternion turns about the z axis, radians from -π to π: the yaw of the fixed-axis roll, pitch and
    /// yaw of REP 103.
    pub fn yaw(&self) -> f64 {
        let Self { x, y, z, w } = self;
        // Element (2,1) over element (1,1) of the rotation matrix; Diebel, "Representing Attitude" (2006), equation 290.
        (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z))
    }
}

crate::message! {
    /// Where a vehicle is on the ground, 32 bytes. The frame is agreed on by the topic's users, usually a map.
    #[derive(Default)]
    pub struct Pose2D = "horus/Pose2D" {
        /// When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// East of the frame's origin, metres.
        x: f64,
        /// North of the frame's origin, metres.
        y: f64,
        /// Heading, radians counter-clockwise from the x axis.
        yaw: f64,
    }
}
const _: () = assert!(size_of::<Pose2D>() == 32);

crate::message! {
    /// Where a body is in space, 64 bytes. The frame is agreed on by the topic's users.
    #[derive(Default)]
    pub struct Pose3D = "horus/Pose3D" {
        /// When it was there, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// From the frame's origin to the body's, metres along the frame's axes.
        position: Vector3,
        /// How the body is turned in the frame.
        orientation: Quaternion,
    }
}
const _: () = assert!(size_of::<Pose3D>() == 64);

crate::message! {
    /// How a body moves, 56 bytes; along and about its own axes.
    #[derive(Default)]
    pub struct Twist = "horus/Twist" {
        /// When it moved so, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// Speed, metres per second along the body's axes.
        linear: Vector3,
        /// Turn rate, radians per second about the body's axes.
        angular: Vector3,
    }
}
const _: () = assert!(size_of::<Twist>() == 56);

crate::message! {
    /// How fast a vehicle shall drive and turn, 16 bytes: what a controller tells a base, many times a second.
    ///
    /// The node that obeys it judges its age by the time of sending, so let its publisher stamp its messages.
    #[derive(Default)]
    pub struct CmdVel = "horus/CmdVel" {
        /// Speed forward, metres per second along the body's x axis; negative is backward.
        forward: f64,
        /// Turn rate, radians per second about the body's z axis; positive is to the left.
        turn: f64,
    }
}
const _: () = assert!(size_of::<CmdVel>() == 16);

impl CmdVel {
    /// Stands still.
    pub const STOP: Self = Self { forward: 0.0, turn: 0.0 };
}
