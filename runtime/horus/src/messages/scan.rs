//! What a planar laser scanner says.

use super::{TooMany, counted, fill};

crate::message! {
    /// Distances of one turn of a planar scanner, 1480 bytes; in the frame of the sensor, about its z axis.
    ///
    /// The beam of `range[i]` points at the angle `angle_start + i × angle_step`.
    pub struct LaserScan = "horus/LaserScan" {
        /// When the first beam was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// Angle of the first beam, radians counter-clockwise from the x axis, which is forward.
        angle_start: f32,
        /// Angle from one beam to the next, radians; negative for a scanner that turns clockwise.
        angle_step: f32,
        /// Time from one beam to the next, seconds; 0 when all were measured at once.
        beam_interval: f32,
        /// Time from one scan to the next, seconds.
        scan_interval: f32,
        /// Shortest distance that the sensor can tell, metres; a shorter range is none.
        range_min: f32,
        /// Longest distance that the sensor can tell, metres; a longer range, infinity too, saw nothing.
        range_max: f32,
        /// Number of the sensor, for topics that carry several; 0 otherwise.
        sensor: u32,
        /// How many ranges count, 0 to 360: read [`ranges`](Self::ranges).
        count: u32,
        /// Distances, metres; NaN where the beam gave none.
        range: [f32; 360],
    }
}
const _: () = assert!(size_of::<LaserScan>() == 1480);

impl LaserScan {
    /// Most ranges that a message holds: one a degree.
    pub const CAPACITY: usize = 360;

    /// The distances that count, metres; at most [`CAPACITY`](Self::CAPACITY), whatever the count says.
    pub fn ranges(&self) -> &[f32] {
        counted(&self.range, self.count)
    }

    /// Sets the distances, metres, and their count.
    pub fn set_ranges(&mut self, metres: &[f32]) -> Result<(), TooMany> {
        self.count = fill(&mut self.range, metres)?;
        Ok(())
    }

    /// Angle of beam `beam`, radians counter-clockwise from forward.
    pub fn angle(&self, beam: usize) -> f32 {
        self.angle_start + self.angle_step * beam as f32
    }
}
