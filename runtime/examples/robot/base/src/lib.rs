//! The base of the robot: seven nodes of one program, in the order in which data goes through them.
//!
//! | Node | reads | sends |
//! |---|---|---|
//! | `physics` | `motor.speeds` | `sim.pose`, `sim.wheels` |
//! | `encoders` | `sim.wheels` | `encoders` |
//! | `imu` | `sim.pose` | `imu` |
//! | `lidar` | `sim.pose` | `lidar` |
//! | `odometry` | `encoders`, `imu` | `odom`, the frame `base_link` in `odom`, the frames of the sensors |
//! | `controller` | `path`, the frame `base_link` in `map` | `base.cmd` |
//! | `motor` | `base.cmd` | `motor.speeds` |
//!
//! On a robot of metal, drivers take the places of the first four. All others stay as they are: they know topics, and not who publishes.
//!
//! These seven are one program because none of them is of use without the others. Navigation is another one: it may be killed, and the base stops by
//! itself.
#![forbid(unsafe_code)]

mod controller;
mod encoders;
mod imu;
mod lidar;
pub mod messages;
mod motor;
mod odometry;
mod physics;
pub mod room;

use horus::prelude::*;

/// Declares the nodes of the base.
///
/// # Errors
/// When a topic cannot be opened; the error says what to do.
pub fn base(app: &mut App) -> horus::Result {
    physics::physics(app)?;
    encoders::encoders(app)?;
    imu::imu(app)?;
    lidar::lidar(app)?;
    odometry::odometry(app)?;
    controller::controller(app)?;
    motor::motor(app)
}
