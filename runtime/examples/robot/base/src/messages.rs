//! What goes through the topics of this robot and is no message of the field: each with its unit and its frame.
//!
//! A definition is compared field by field when a topic is opened. So a program that was built from another one is refused, and told which field
//! differs.

horus::message! {
    /// Both wheels: how fast they turn (`motor.speeds`, rad/s), or how far they have turned (`sim.wheels`, rad). Forwards is positive.
    #[derive(Default)]
    pub struct Wheels = "robot/Wheels" {
        /// When it was measured or commanded, nanoseconds on CLOCK_MONOTONIC.
        stamp_ns: u64,
        /// The left wheel.
        left: f64,
        /// The right wheel.
        right: f64,
    }
}

horus::message! {
    /// What the encoders of both wheels have counted since the start.
    #[derive(Default)]
    pub struct Ticks = "robot/Ticks" {
        /// When they were read, nanoseconds on CLOCK_MONOTONIC.
        stamp_ns: u64,
        /// The left wheel; [`TICKS_PER_TURN`](crate::messages::TICKS_PER_TURN) are one turn.
        left: i64,
        /// The right wheel.
        right: i64,
    }
}

/// Ticks of an encoder in one turn of its wheel.
pub const TICKS_PER_TURN: f64 = 2048.0;

horus::message! {
    /// One turn of the lidar: what it saw in 72 directions, 5 degrees apart, the first one ahead, counter-clockwise. Frame `lidar`.
    pub struct Sweep = "robot/Sweep" {
        /// When it was measured, nanoseconds on CLOCK_MONOTONIC.
        stamp_ns: u64,
        /// Distances, metres.
        metres: [f32; 72],
    }
}

/// Directions of a [`Sweep`].
pub const BEAMS: usize = 72;

/// The direction of a beam, rad, in the frame `lidar`.
pub fn direction(beam: usize) -> f64 {
    beam as f64 * std::f64::consts::TAU / BEAMS as f64
}

horus::message! {
    /// What is known of the room: cells of 10 cm, 60 along x and 40 along y, row by row from the corner at the origin of the frame `map`.
    pub struct Grid = "robot/Grid" {
        /// The last sweep that is in it, nanoseconds on CLOCK_MONOTONIC.
        stamp_ns: u64,
        /// 0: surely free, or never seen; from 128 on: something stands there.
        cells: [u8; 2400],
    }
}

horus::message! {
    /// The way to a goal. Frame `map`.
    pub struct Path = "robot/Path" {
        /// When it was planned, nanoseconds on CLOCK_MONOTONIC.
        stamp_ns: u64,
        /// How many points it has; none: stay where you are.
        count: u32,
        /// Nothing; keeps the fields apart.
        reserved: u32,
        /// The points' x, metres.
        x: [f32; 32],
        /// Their y, metres.
        y: [f32; 32],
    }
}

impl Path {
    /// The most points that a path has.
    pub const CAPACITY: usize = 32;

    /// Its points. A count that another program wrote reaches never beyond them.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let places = self.x.iter().zip(&self.y).take(self.count as usize);
        places.map(|(x, y)| (f64::from(*x), f64::from(*y)))
    }

    /// Adds a point, if there is room.
    pub fn push(&mut self, (x, y): (f64, f64)) {
        if let (Some(at_x), Some(at_y)) = (self.x.get_mut(self.count as usize), self.y.get_mut(self.count as usize)) {
            (*at_x, *at_y) = (x as f32, y as f32);
            self.count += 1;
        }
    }
}

horus::message! {
    /// A goal: drive there. Frame `map`.
    #[derive(Default)]
    pub struct DriveTo = "robot/DriveTo" {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    }
}

horus::message! {
    /// How far it is.
    #[derive(Default)]
    pub struct Remaining = "robot/Remaining" {
        /// Metres to the goal, in a straight line.
        metres: f64,
    }
}

horus::message! {
    /// Where a drive ended. Frame `map`.
    #[derive(Default)]
    pub struct Arrived = "robot/Arrived" {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
    }
}

horus::message! {
    /// Asks for the map to be forgotten around a point, such as where a box stood that was carried away. Frame `map`.
    #[derive(Default)]
    pub struct ClearMap = "robot/ClearMap" {
        /// Metres.
        x: f64,
        /// Metres.
        y: f64,
        /// What is nearer than this is forgotten, metres.
        radius: f64,
    }
}

horus::message! {
    /// The map was forgotten.
    #[derive(Default)]
    pub struct MapCleared = "robot/MapCleared" {
        /// In so many cells something stood.
        cells: u64,
    }
}
