//! Topics off the machine to those who speak otherwise: ROS 2 over DDS or Zenoh, without a ROS installation, and other appliances.
//!
//! | room | what is in it |
//! |---|---|
//! | [`config`] | which topics go where, by an allow-list |
//! | [`interface`], [`cdr`] | what messages of ROS 2 consist of, their hashes, their bytes |
//! | [`convert`] | our messages as ROS's and back |
//! | [`route`] | one topic in one direction, and the loop that serves all |
//! | `dds` | ROS 2's default wire (feature `dds`) |
//! | `zenoh` | rmw_zenoh's wire (feature `zenoh`) |
//!
//! # What it does not do
//! It has no real-time policy, and nothing here belongs in a real-time loop. It takes no place in a topic that it sends away: no
//! publisher waits for it, wakes it, or knows of it. In exchange a message that is overwritten before the bridge looks is missed, and
//! counted.
#![forbid(unsafe_code)]

pub mod cdr;
pub mod clock;
pub mod config;
pub mod convert;
#[cfg(feature = "dds")]
pub mod dds;
pub mod interface;
pub mod names;
pub mod route;
#[cfg(feature = "zenoh")]
pub mod zenoh;
