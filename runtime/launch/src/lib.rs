//! One file starts the robot: `robot.toml` names its programs, and this crate starts them in order and ends them in the reverse one.
//!
//! [`Robot::read`] reads the file and checks all of it, before anything starts. [`run`] starts the programs, each when those that it
//! comes after are ready, says what they say, starts again what fails, and ends all when a signal comes.
//!
//! # What it does not do
//! It is for a person at a terminal. On the appliance, systemd starts programs, with users and rights that this crate cannot give.
//! It knows processes and no topics: a program is ready when it says so by the protocol of `sd_notify`, as programs of nodes do.
//!
//! # A look at the files
//! `reader.rs` knows tables and lines, `file.rs` the words of the file. `manifest.rs` checks it, `order.rs` whether the order has an end, `start.rs` what
//! a program is started by; `robot.rs` has all of it, and `units.rs` knows
//! what can stand in a unit. `describe.rs` asks it what its nodes are, and `admit.rs` whether all fit.
//!
//! `cast.rs` says whether all can run on one virtual clock, `conductor.rs` gives them their turns on it, and `digest.rs` makes a number of all
//! messages.
//!
//! `supervise.rs` is the loop, `member.rs` one program in it, `process.rs` one process and `group.rs` its group, `ready.rs` its socket, `restart.rs`
//! when it is started again. `screen.rs` prints, and `lines.rs` makes lines of bytes. `guard.rs` ends what is left when the command is killed, and
//! `strays.rs` what left its group.
#![forbid(unsafe_code)]

mod admit;
mod cast;
mod command;
mod conductor;
mod describe;
mod digest;
mod file;
mod group;
mod guard;
mod lines;
mod manifest;
mod member;
mod order;
mod process;
mod reader;
mod ready;
mod restart;
mod robot;
mod schema;
mod screen;
mod signals;
mod start;
mod strays;
mod supervise;
mod units;

pub use admit::{Asking, Verdict};
pub use cast::Cast;
pub use describe::describe;
pub use file::Ready;
pub use guard::guard;
pub use manifest::{Entry, MOST_PROGRAMS, Manifest};
pub use reader::Mistake;
pub use restart::Restart;
pub use robot::Robot;
pub use schema::schema;
pub use screen::Screen;
pub use signals::Signals;
pub use start::Start;
pub use supervise::{Outcome, Play, run};
