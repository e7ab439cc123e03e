//! The room that the robot is in: walls, and how far it is to them. The plan of the building, and what the simulated lidar sees.

use horus::transform::Transform;

/// From the corner at the origin, metres.
pub const LENGTH: f64 = 6.0;
/// Metres.
pub const WIDTH: f64 = 4.0;

/// Where the robot stands when it is switched on, and looks along x. Frame `map`.
pub const START: (f64, f64) = (1.0, 1.0);

/// Walls, from one end to the other: the room, a wall that parts it and leaves a door, and a box that makes one end unlike the other.
const WALLS: [[f64; 4]; 9] = [
    [0.0, 0.0, LENGTH, 0.0],
    [LENGTH, 0.0, LENGTH, WIDTH],
    [LENGTH, WIDTH, 0.0, WIDTH],
    [0.0, WIDTH, 0.0, 0.0],
    [3.0, 0.0, 3.0, 2.4],
    [4.4, 3.2, 5.0, 3.2],
    [5.0, 3.2, 5.0, 3.6],
    [5.0, 3.6, 4.4, 3.6],
    [4.4, 3.6, 4.4, 3.2],
];

/// The farthest that the lidar sees, metres.
pub const FARTHEST: f64 = 8.0;

/// How far it is from `(x, y)` in direction `angle` to the nearest wall, metres. Frame `map`.
pub fn distance(x: f64, y: f64, angle: f64) -> f64 {
    let (sine, cosine) = angle.sin_cos();
    let mut nearest = FARTHEST;
    for [x1, y1, x2, y2] in WALLS {
        // The wall in the coordinates of the beam: `along` it and `across` it. The beam meets it where `across` changes its sign.
        let (along_1, across_1) = along_and_across(x1 - x, y1 - y, sine, cosine);
        let (along_2, across_2) = along_and_across(x2 - x, y2 - y, sine, cosine);
        if (across_1 > 0.0) == (across_2 > 0.0) {
            continue;
        }
        let share = across_1 / (across_1 - across_2);
        let along = along_1 + share * (along_2 - along_1);
        if along > 0.0 && along < nearest {
            nearest = along;
        }
    }
    nearest
}

fn along_and_across(x: f64, y: f64, sine: f64, cosine: f64) -> (f64, f64) {
    (x * cosine + y * sine, y * cosine - x * sine)
}

/// A pose in the plane: x, y in metres, yaw in rad.
pub fn planar(pose: &Transform) -> (f64, f64, f64) {
    (pose.translation.x, pose.translation.y, pose.rotation.yaw())
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    #[test]
    fn the_nearest_wall_is_seen_in_each_direction() {
        for (angle, metres) in [(0.0, 2.0), (FRAC_PI_2, 3.0), (PI, 1.0), (-FRAC_PI_2, 1.0)] {
            assert!((distance(START.0, START.1, angle) - metres).abs() < 1e-9, "{angle}");
        }
        assert!(
            (distance(1.0, 3.0, 0.0) - 5.0).abs() < 1e-9,
            "above the wall and below the box, to the end of the room"
        );
    }
}
