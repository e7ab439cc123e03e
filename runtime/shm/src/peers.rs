//! Who publishes and who subscribes: taking a place, leaving it, and reaping the dead.
//!
//! A place is taken by its lock (`peers::locks`), which only one living peer can have; all that stands in the segment about
//! the place is written by the peer that has the lock. So there is no lock over the whole table, and nothing to wait for:
//!
//! - joining takes the lock, writes who one is, then the cursor, then the member's bit, all of it in the door (`peers::door`);
//! - leaving clears the bits and unmaps, which gives the lock back;
//! - reaping takes the lock of a dead peer's place, clears its bits, and gives the lock back.
//!
//! A peer that is killed at any instruction leaves bits in a place whose lock is free. Who takes the place next, or reaps,
//! clears them.

pub mod clean;
pub(crate) mod door;
pub(crate) mod fork;
pub mod identity;
pub(crate) mod locks;
mod places;

pub(crate) use places::{Claim, Seat, clear, is_published, leave_lane, owners, publishers, readers, reap, subscribers};
