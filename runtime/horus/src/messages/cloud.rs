//! Points measured by a lidar or a depth camera.

/// Defines a point cloud: `pub struct Name = "package/Name" { up to 20000 points }`.
///
/// The message has 16 bytes, and 12 for each point; the number of points is even, so that nothing is padded. Its methods
/// are those of [`PointCloud1k`](crate::messages::PointCloud1k).
///
/// ```
/// use horus::messages::Point;
/// horus::point_cloud_message! {
///     /// What one ring of our lidar sees in a turn.
///     pub struct Ring = "example/Ring" { up to 1800 points }
/// }
/// let mut ring = Ring::zeroed();
/// ring.set_points(&[Point { x: 1.0, y: 0.0, z: 0.5 }]).unwrap();
/// assert_eq!((ring.points().len(), size_of::<Ring>()), (1, 16 + 1800 * 12));
/// ```
#[macro_export]
macro_rules! point_cloud_message {
    (
        $(#[$about:meta])*
        $visibility:vis struct $name:ident = $type_name:literal { up to $capacity:literal points }
    ) => {
        $crate::message! {
            $(#[$about])*
            $visibility struct $name = $type_name {
                /// When the first point was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
                stamp_ns: u64,
                /// Number of the sensor, for topics that carry several; 0 otherwise.
                sensor: u32,
                /// How many points count: read [`points`](Self::points).
                count: u32,
                /// The points, metres in the frame of the sensor.
                point: [horus::messages::Point; $capacity],
            }
        }

        impl $name {
            /// Most points that a message holds.
            pub const CAPACITY: usize = $capacity;

            /// The points that count; at most [`CAPACITY`](Self::CAPACITY), whatever the count says.
            pub fn points(&self) -> &[$crate::messages::Point] {
                $crate::messages::counted(&self.point, self.count)
            }

            /// Sets the points and their count.
            pub fn set_points(
                &mut self,
                points: &[$crate::messages::Point],
            ) -> Result<(), $crate::messages::TooMany> {
                self.count = $crate::messages::fill(&mut self.point, points)?;
                Ok(())
            }
        }
    };
}

crate::message! {
    /// A point, 12 bytes; in the frame of the sensor, which is turned as REP 103 says of bodies.
    #[derive(Default)]
    pub struct Point = "horus/Point" {
        /// Forward, metres; NaN in all three where the sensor saw nothing.
        x: f32,
        /// Left, metres.
        y: f32,
        /// Up, metres.
        z: f32,
    }
}
const _: () = assert!(size_of::<Point>() == 12);

point_cloud_message! {
    /// Up to 100 points, 1216 bytes.
    pub struct PointCloud100 = "horus/PointCloud100" { up to 100 points }
}
const _: () = assert!(size_of::<PointCloud100>() == 1216);

point_cloud_message! {
    /// Up to 1000 points, 12 016 bytes.
    pub struct PointCloud1k = "horus/PointCloud1k" { up to 1000 points }
}
const _: () = assert!(size_of::<PointCloud1k>() == 12_016);

point_cloud_message! {
    /// Up to 10 000 points, 120 016 bytes.
    pub struct PointCloud10k = "horus/PointCloud10k" { up to 10000 points }
}
const _: () = assert!(size_of::<PointCloud10k>() == 120_016);
