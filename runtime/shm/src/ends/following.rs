//! A subscriber follows its topic, which was remade since it joined.
//!
//! That is looked for only where no lane of the subscriber's generation was ever used, so it costs nothing once it has received. It
//! happens in a receiving call, with the system calls of mapping the file. The subscriber has been a member of the remade topic from
//! before its first message ([`super::remake`]): it takes its cursors over, and goes on in the same call.

use horus_sys::clock::monotonic_ns;

use super::{Joining, Subscription};
use crate::error::OpenError;
use crate::ring::take_over;
use crate::segment::Segment;
use crate::segment::generation;
use crate::segment::header::Expected;
use crate::segment::lane::MappedLane;
use crate::segment::look::Look;
use crate::segment::map::Residency;
use crate::segment::rejected::Rejected;
use crate::sync::{Arc, Ordering};
use crate::wait::Waiter;
use crate::wait::bell::Bell;

/// The time between two attempts to follow where the first one failed.
const AGAIN_NS: u64 = 100_000_000;

/// What a subscriber follows its topic by.
pub(super) struct Following {
    /// The mapping that keeps the place, if the topic was mapped anew since. Dropped behind the newer ones.
    place: Option<Arc<Segment>>,
    /// What was asked for.
    expected: Expected,
    joining: Joining,
    refusal: Option<Refusal>,
}

/// Why a topic that was remade could not be followed.
struct Refusal {
    generation: u64,
    again_ns: u64,
    error: OpenError,
}

impl Following {
    pub fn new(expected: Expected, joining: Joining) -> Self {
        Self { place: None, expected, joining, refusal: None }
    }

    /// Why the topic could not be followed, if it could not.
    pub fn refusal(&self) -> Option<&OpenError> {
        self.refusal.as_ref().map(|refusal| &refusal.error)
    }
}

impl Subscription {
    /// Where no lane was ever used: follows the topic if it was remade. True if there is anything to receive from now on.
    #[cold]
    #[inline(never)]
    pub(super) fn follow(&mut self) -> bool {
        let word = self.segment.generation_word();
        let Some(generation) = generation::to_follow(word, self.segment.generation()) else { return false };
        let is_soon = |refusal: &Refusal| refusal.generation == generation && monotonic_ns() < refusal.again_ns;
        if self.following.refusal.as_ref().is_some_and(is_soon) {
            return false;
        }
        match self.move_to(generation) {
            Ok(moved) => {
                self.following.refusal = None;
                moved && self.segment.used_lanes().load(Ordering::Relaxed) != 0
            }
            Err(error) => {
                self.following.refusal = Some(Refusal { generation, again_ns: monotonic_ns() + AGAIN_NS, error });
                false
            }
        }
    }

    /// Maps the topic anew; false if it is remade at this moment.
    fn move_to(&mut self, generation: u64) -> Result<bool, OpenError> {
        let file = self.segment.file().clone();
        let look = Look::at(file.file(), file.path())?;
        if look.generation() != generation {
            return Ok(false);
        }
        let header = look.header(file.path())?;
        header.check(&self.following.expected).map_err(|reason| Rejected { path: file.path().to_owned(), reason })?;
        let policy = header.policy;
        // The old mapping keeps the place, and nothing is read there any more. Both may be more than this process may lock.
        self.segment.unlock_memory();
        let mapped = Segment::map(file.clone(), file.file(), header, generation, Residency::Locked);
        let is_current = |segment: &Segment| generation::now(segment.generation_word()) == generation;
        let segment = match mapped {
            Ok(segment) if is_current(&segment) => Arc::new(segment),
            other => {
                let failed = other.map(drop); // its memory is free for the old one, which stays
                self.segment.lock_memory_again();
                return failed.map(|()| false);
            }
        };
        let lanes = (0..segment.header().shape.lanes()).map(|lane| MappedLane::new(segment.clone(), lane)).collect();
        self.lanes = take_over(lanes, self.subscriber(), policy);
        (self.turn, self.has_history) = (0, false);
        self.wait_strategy = self.following.joining.wait_strategy_at(segment.header());
        if self.wait_strategy.sleeps() {
            // Relaxed: see the text of `bell`.
            segment.sleepers().fetch_or(1 << self.subscriber(), Ordering::Relaxed);
        }
        let mapped_before = std::mem::replace(&mut self.segment, segment);
        self.following.place.get_or_insert(mapped_before);
        Ok(true)
    }
}
