//! A lane of a mapped segment, for the ring.
//!
//! Where each word of the lane stands follows from the segment's checked shape; it is worked out once, as an address, so
//! that sending and receiving neither compute nor check it again: `benchmarks/research/instructions.sh` counts what is
//! left.

use std::ptr::NonNull;

use horus_sys::clock::ahead_of_machine_ns;

use super::Segment;
use super::layout::{ASLEEP, LINE, LINE_PAIR, MEMBERS_WORD, MEMBERSHIP, SLEEPERS_WORD, WORD};
use crate::ring::Memory;
use crate::sync::{Arc, AtomicU32, AtomicU64};
use crate::wait::bell::Bell;

/// A lane of a segment.
#[derive(Clone)]
pub struct MappedLane {
    membership: NonNull<AtomicU64>,
    /// The word of used lanes of the segment's generation.
    used_lanes: NonNull<AtomicU64>,
    holders: NonNull<AtomicU64>,
    asking: NonNull<AtomicU64>,
    position: NonNull<AtomicU64>,
    /// The first of `subscribers` cursors, each a [`LINE_PAIR`] behind the other.
    cursors: NonNull<AtomicU64>,
    subscribers: usize,
    /// The first word of the first of `mask + 1` slots of `stride` words each.
    slots: NonNull<AtomicU64>,
    /// Words of a slot: a multiple of those of a cache line.
    stride: usize,
    mask: u64,
    /// Who sleeps: see [`Bell`].
    asleep: NonNull<AtomicU64>,
    /// See [`Memory::ahead_ns`].
    ahead_ns: i64,
    /// Keeps mapped what the addresses point to.
    segment: Arc<Segment>,
}

// SAFETY: the addresses are as good as the reference-counted segment, which may be used by any thread; what they point to
// are atomics.
unsafe impl Send for MappedLane {}
// SAFETY: as above.
unsafe impl Sync for MappedLane {}

impl MappedLane {
    /// Lane `lane` of `segment`.
    ///
    /// # Panics
    /// When the segment has no lane of that number.
    pub fn new(segment: Arc<Segment>, lane: usize) -> Self {
        let shape = segment.header().shape;
        assert!(lane < shape.lanes());
        // Each of these panics unless all the words that will be used lie in the mapping.
        let first = |offset: usize, bytes: usize| NonNull::from(segment.words(offset, bytes / WORD)).cast();
        Self {
            membership: first(MEMBERSHIP, LINE),
            used_lanes: NonNull::from(segment.used_lanes()),
            holders: first(shape.holders(lane), WORD),
            asking: first(shape.asking(lane), WORD),
            position: first(shape.position(lane), WORD),
            cursors: first(shape.cursor(lane, 0), shape.subscribers() * LINE_PAIR),
            subscribers: shape.subscribers(),
            slots: first(shape.slots(lane), shape.capacity_of(lane) * shape.slot_stride()),
            stride: shape.slot_stride() / WORD,
            mask: shape.capacity_of(lane) as u64 - 1,
            asleep: first(ASLEEP, WORD),
            ahead_ns: ahead_of_machine_ns(),
            segment,
        }
    }

    /// The segment that the lane belongs to.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// One bit per lane of the segment that was ever used, in its generation.
    #[inline(always)]
    pub(crate) fn used_lanes(&self) -> &AtomicU64 {
        // SAFETY: `new` had the word from the segment, which keeps it mapped.
        unsafe { self.used_lanes.as_ref() }
    }

    #[inline(always)]
    fn membership(&self, word: usize) -> &AtomicU64 {
        debug_assert!(word < LINE / WORD);
        // SAFETY: `new` found a whole line of words here, and the segment keeps them mapped.
        unsafe { self.membership.add(word).as_ref() }
    }
}

impl Bell for MappedLane {
    #[inline(always)]
    fn sleepers(&self) -> &AtomicU64 {
        self.membership(SLEEPERS_WORD)
    }

    #[inline(always)]
    fn asleep(&self) -> &AtomicU64 {
        // SAFETY: `new` found the word here, and the segment keeps it mapped.
        unsafe { self.asleep.as_ref() }
    }

    fn rings(&self) -> &AtomicU32 {
        self.segment.rings()
    }
}

impl Memory for MappedLane {
    fn capacity(&self) -> u64 {
        self.mask + 1
    }

    fn subscribers(&self) -> usize {
        self.subscribers
    }

    fn members(&self) -> &AtomicU64 {
        self.membership(MEMBERS_WORD)
    }

    fn holders(&self) -> &AtomicU64 {
        // SAFETY: `new` found the word here, and the segment keeps it mapped.
        unsafe { self.holders.as_ref() }
    }

    fn asking(&self) -> &AtomicU64 {
        // SAFETY: `new` found the word here, and the segment keeps it mapped.
        unsafe { self.asking.as_ref() }
    }

    #[inline(always)]
    fn position(&self) -> &AtomicU64 {
        // SAFETY: `new` found the word here, and the segment keeps it mapped.
        unsafe { self.position.as_ref() }
    }

    #[inline(always)]
    fn cursor(&self, subscriber: usize) -> &AtomicU64 {
        assert!(subscriber < self.subscribers);
        // SAFETY: `new` found the words of all subscribers here, and the segment keeps them mapped.
        unsafe { self.cursors.add(subscriber * (LINE_PAIR / WORD)).as_ref() }
    }

    #[inline(always)]
    fn slot(&self, sequence: u64) -> &[AtomicU64] {
        let slot = (sequence & self.mask) as usize;
        // SAFETY: slot numbers are at most `mask`, and `new` found so many slots and one here, of `stride` words, each a
        // line at least; the segment keeps them mapped.
        unsafe {
            core::hint::assert_unchecked(self.stride >= LINE / WORD);
            std::slice::from_raw_parts(self.slots.add(slot * self.stride).as_ptr(), self.stride)
        }
    }

    fn ahead_ns(&self) -> i64 {
        self.ahead_ns
    }
}
