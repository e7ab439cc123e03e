//! The lidar: distances in 72 directions, ten times a second, in a message of its own.

use horus::prelude::*;

use crate::messages::{BEAMS, Sweep, direction};
use crate::room::distance;

/// Where the lidar stands on the base, ahead of its middle, metres: as `robot.urdf` says, for the simulation.
pub const AHEAD: f64 = 0.1;
/// A sweep errs by so much at most, metres.
const NOISE: f64 = 0.01;

struct Lidar {
    pose: Input<Pose2D>,
    sweeps: Output<Sweep>,
    noise: u32,
}

/// Declares the node.
pub fn lidar(app: &mut App) -> horus::Result {
    let node = Lidar { pose: app.input("sim.pose")?, sweeps: app.output("lidar")?, noise: 1 };
    app.node("lidar", node).rate(10.0);
    Ok(())
}

impl Lidar {
    /// From -1 to 1, the same row in each run: a linear congruential generator (Numerical Recipes).
    fn noise(&mut self) -> f64 {
        self.noise = self.noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(self.noise >> 8) / f64::from(1 << 23) - 1.0
    }
}

impl Node for Lidar {
    fn step(&mut self, _: &Cycle) {
        let Some(&pose) = self.pose.latest() else { return };
        let (sine, cosine) = pose.yaw.sin_cos();
        let (x, y) = (pose.x + AHEAD * cosine, pose.y + AHEAD * sine);
        // Stamped with the time at which it was measured: that of the pose, and not that of this cycle.
        let mut sweep = Sweep { stamp_ns: pose.stamp_ns, ..Sweep::zeroed() };
        for beam in 0..BEAMS {
            sweep.metres[beam] = (distance(x, y, pose.yaw + direction(beam)) + NOISE * self.noise()) as f32;
        }
        self.sweeps.set(sweep);
    }
}
