//! A segment: a mapped file whose header was checked.
//!
//! Offsets are computed from a private copy of the checked [`Shape`](layout::Shape) for as long as the segment is open; the
//! header in the file is never read again. A topic that was remade meanwhile is mapped anew, with a header that is checked anew.
//!
//! What a [`Segment`] proves is that its bytes are *addressed* rightly. It proves nothing about their contents, which
//! peers go on changing: stamps, positions, cursors and identities are looked at with suspicion where they are read.

pub mod generation;
pub mod layout;

// loom's atomics are no plain words, so what maps memory does not exist while loom drives the ring.
#[cfg(not(loom))]
mod difference;
#[cfg(not(loom))]
pub mod file;
#[cfg(not(loom))]
pub(crate) mod guard;
#[cfg(not(loom))]
pub mod header;
#[cfg(not(loom))]
pub(crate) mod lane;
#[cfg(not(loom))]
pub(crate) mod look;
#[cfg(not(loom))]
pub mod map;
#[cfg(not(loom))]
mod mapped;
#[cfg(not(loom))]
pub mod rejected;
#[cfg(not(loom))]
pub mod stored;

#[cfg(not(loom))]
pub use mapped::Segment;
