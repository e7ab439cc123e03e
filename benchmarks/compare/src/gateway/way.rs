//! A way from a sender to a receiver, with one process in the middle.

use horus_benchmarks::transport::Failure;

use super::plan::Plan;

/// The sender's end.
pub trait Sending: Send {
    /// Sends messages, one behind the other in `messages`, by one call where the system has one for that.
    ///
    /// # Errors
    /// When the way is broken.
    fn send(&mut self, messages: &[u8]) -> Result<(), Failure>;
}

/// The receiver's end.
pub trait Receiving: Send {
    /// Waits for messages, some hundredths of a second at most, and hands each over.
    ///
    /// # Errors
    /// When the way is broken.
    fn receive(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), Failure>;
}

/// Both ends, and what is in the middle for as long as they live.
pub struct Way {
    /// The sender's end.
    pub sending: Box<dyn Sending>,
    /// The receiver's end.
    pub receiving: Box<dyn Receiving>,
    /// What ends when this is dropped: a [`Child`](super::child::Child), or several.
    pub middle: Box<dyn Send>,
}

/// A system whose way can be opened.
#[derive(Clone, Copy)]
pub struct System {
    /// Its name in the results.
    pub name: &'static str,
    /// Starts the process in the middle and connects both ends.
    pub open: fn(&Plan) -> Result<Way, Failure>,
}
