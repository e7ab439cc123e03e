//! The ends of a topic, by copy and in place, for messages and for bytes, and waiting for several of them.

mod lending;
pub(crate) mod options;
pub(crate) mod publisher;
mod shape;
pub(crate) mod subscriber;
pub(crate) mod wait;

pub use options::*;
pub use publisher::*;
pub use shape::*;
pub use subscriber::*;
pub use wait::*;
