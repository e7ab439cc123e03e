//! Topics of bytes: messages of any length up to a maximum, whose meaning is the program's own business.

mod publisher;
mod subscriber;

pub use publisher::*;
pub use subscriber::*;
