//! The nodes that the image brings, written as a user would write them, and what they count.
//!
//! `ping` and `pong` are in `src/bin`; start there. When they run and where stands in `ping.toml` and `pong.toml` of
//! `conf/horus/rootfs/usr/lib/horus/nodes`.
#![forbid(unsafe_code)]

mod account;

pub use account::Account;

/// Messages that a topic holds: more than either side sends while the other is a few periods late.
pub const CAPACITY: usize = 64;
