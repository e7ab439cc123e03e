//! Where frames are to each other: a tree of named coordinate frames that programs send and look up.
//!
//! A **frame** is a coordinate system with a name: `map`, `odom`, `base`, `lidar`. Each has one parent at most. Who knows where a moving
//! frame is in its parent sends that with a [`Broadcaster`]; who knows a mounting sends it once with a [`StaticBroadcaster`]. Who asks
//! opens [`Frames`], and gets any frame in any other of the same tree, at any time that the tree still holds.
//!
//! ```
//! use horus::time::MonotonicTime;
//! use horus::topic::Options;
//! use horus::transform::{Broadcaster, Frames, Transform};
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm")?;
//! let options = Options::default();
//! # let options = options.directory(scratch.path());
//! let mut base = Broadcaster::open("odom", "base", &options)?; // in one program
//! let frames = Frames::open(&options)?; // in another
//!
//! let seconds = |seconds: f64| MonotonicTime::from_nanos((seconds * 1e9) as u64);
//! base.send(seconds(1.0), &Transform::planar(2.0, 0.0, 0.0))?;
//! base.send(seconds(1.1), &Transform::planar(2.1, 0.0, 0.2))?;
//!
//! let between = frames.at("odom", "base", seconds(1.05))?;
//! assert!((between.translation.x - 2.05).abs() < 1e-12 && (between.rotation.yaw() - 0.1).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it is held
//! All frames of a namespace are in one `latest` topic, [`TOPIC`]. A moving frame has a lane of it, which is a ring of its last
//! [`HELD`] transforms; all static frames of a broadcaster share one. A look-up searches the rings by time and reads each transform
//! between two looks at its stamp (a sequence lock, [`horus_shm::ring`]).
//!
//! # Guarantees
//! - A look-up takes no lock, allocates nothing and makes no system call, and no sender waits for it. It looks a bounded number of times;
//!   a sender that was faster each time is an error ([`LookupError::Busy`]) and no wait.
//! - Sending is what [`Publisher::try_send`](crate::topic::Publisher::try_send) is, on a topic that wakes no process.
//! - A time outside of what is held is refused with how far it is outside. Nothing is ever extrapolated.
//!
//! # What it does not do
//! It does not convert between clocks: times are those of `CLOCK_MONOTONIC`, or of the virtual world. It does not wait in a step:
//! [`Frames::wait`] is for programs without a period. It keeps no frame for longer than [`HELD`] transforms.
#![allow(
    clippy::result_large_err,
    reason = "an error of a look-up has its names inside: a real-time loop must not allocate to be told"
)]

mod broadcaster;
mod claim;
mod error;
mod frames;
mod name;
mod pose;
mod sample;
mod search;
mod statics;
mod survey;
mod table;
pub mod urdf;

pub use broadcaster::Broadcaster;
pub use error::{LookupError, SendError};
pub use frames::Frames;
pub use name::FrameName;
pub use pose::Transform;
#[doc(hidden)]
pub use sample::FrameSample;
pub use statics::StaticBroadcaster;
pub use survey::{Known, Link, Survey};

/// The topic that all frames of a namespace are in.
pub const TOPIC: &str = "transforms";

/// How many transforms of a moving frame are held, but for the oldest, in whose place the next is written.
pub const HELD: usize = 256;

/// How many broadcasters there can be at a time: one for each moving frame, and one for all static frames of a program.
pub const MAX_BROADCASTERS: usize = 63;

/// How many frames a reader knows at most.
pub const MAX_FRAMES: usize = 1024;
