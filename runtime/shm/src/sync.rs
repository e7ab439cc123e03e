//! Chooses the atomics: the standard library's, or loom's while its model checker drives the ring.

#[cfg(loom)]
pub use loom::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};
#[cfg(not(loom))]
pub use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering, fence},
};
