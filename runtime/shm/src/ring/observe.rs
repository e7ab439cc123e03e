//! A reader that no writer knows of: it reads what is there and changes no word of the lane.
//!
//! It is a [`Consumer`] whose cursor, membership and holder's bit lie in its own memory. So a reliable writer never waits for it,
//! a `latest` one never passes a slot over for it, and what it does not read in time is overwritten. On a reliable lane every
//! message is to it what history is to a subscriber: the word `asking` says whether it was overwritten meanwhile
//! ([`crate::ring`], case 2), and what was lost counts as missed, on both kinds of lanes.
//!
//! # Trade-offs
//! It takes the lines that it looks at from the writer's cache as any reader does: a look is a cache-line transfer. It cannot
//! sleep, since only members are woken, and cannot hold a message in place.

use super::{Consumer, Memory, join};
use crate::segment::layout::DeliveryPolicy;
use crate::sync::AtomicU64;

/// A lane of which this reader sees all, and in which no peer sees this reader.
pub struct Unseen<M> {
    lane: M,
    members: AtomicU64,
    holders: AtomicU64,
    cursor: AtomicU64,
}

impl<M> Unseen<M> {
    /// The lane itself.
    pub fn lane(&self) -> &M {
        &self.lane
    }
}

impl<M: Memory> Memory for Unseen<M> {
    fn capacity(&self) -> u64 {
        self.lane.capacity()
    }

    fn subscribers(&self) -> usize {
        1
    }

    fn members(&self) -> &AtomicU64 {
        &self.members
    }

    fn holders(&self) -> &AtomicU64 {
        &self.holders
    }

    fn asking(&self) -> &AtomicU64 {
        self.lane.asking()
    }

    fn position(&self) -> &AtomicU64 {
        self.lane.position()
    }

    fn cursor(&self, _only_this: usize) -> &AtomicU64 {
        &self.cursor
    }

    fn slot(&self, sequence: u64) -> &[AtomicU64] {
        self.lane.slot(sequence)
    }

    fn ahead_ns(&self) -> i64 {
        self.lane.ahead_ns()
    }
}

/// Reads all `lanes` from the next message on, or up to `history` messages before it, of what is still there. `None` when a
/// lane's position is none that a writer can have reached.
///
/// # Panics
/// When the capacity of a lane is no power of two.
pub fn observe<M: Memory>(lanes: Vec<M>, policy: DeliveryPolicy, history: u64) -> Option<Box<[Consumer<Unseen<M>>]>> {
    let zero = || AtomicU64::new(0);
    let unseen = |lane| Unseen { lane, members: zero(), holders: zero(), cursor: zero() };
    let mut readers = join(lanes.into_iter().map(unseen).collect(), 0, policy, history)?;
    readers.iter_mut().for_each(Consumer::expect_to_be_overwritten);
    Some(readers)
}
