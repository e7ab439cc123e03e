//! How a subscriber waits for a message, and a publisher for room.

pub mod bell;

// loom checks the bell's words; whatever waits on them does not exist there.
#[cfg(not(loom))]
pub(crate) mod spin;
#[cfg(not(loom))]
mod waiting;

#[cfg(not(loom))]
pub use spin::Spin;
#[cfg(not(loom))]
pub use waiting::{WaitStrategy, Waiter, any};
#[cfg(not(loom))]
pub(crate) use waiting::{wait, wake_all};
