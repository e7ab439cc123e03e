//! Topics off the machine: a log on disk, frames with checksums, and the gateway that serves both.
//!
//! | room | what is in it |
//! |---|---|
//! | [`log`] | the messages of a topic on disk: appended, repaired after a crash, replayed by number or by time |
//! | [`frame`] | what goes over a socket: frames that are found again after garbage, batches that arrive whole |
//! | [`client`] | the other end, for programs in Rust |
//! | [`tls`] | certificates, for whom a port that other machines can reach is open |
//! | [`failpoint`] | where tests kill a writer |
//! | [`server`] | the gateway: topics for clients, by an allow-list, over Unix sockets, TCP on this machine, and TLS |
//!
//! # What it does not do
//! It has no real-time policy, and nothing here belongs in a real-time loop. It takes no place in a topic that it reads: no publisher
//! waits for it, wakes it, or knows of it. In exchange a message that is overwritten before the gateway looks is missed, and counted.
#![forbid(unsafe_code)]

mod checksum;
#[cfg(feature = "serving")]
pub mod client;
pub mod failpoint;
pub mod frame;
pub mod log;
#[cfg(feature = "serving")]
pub mod server;
#[cfg(feature = "serving")]
pub mod tls;
