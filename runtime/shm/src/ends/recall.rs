//! Messages of a `latest` topic by their numbers, for a subscriber that searches in them.

use super::Subscription;
use crate::error::OpenError;
use crate::peers::identity::Identity;
use crate::peers::{owners, publishers};
use crate::ring::{MAX_SEQUENCE, Memory, copy, payload_word, recall};
use crate::segment::layout::DeliveryPolicy;
use crate::sync::Ordering;

impl Subscription {
    /// A bit for each lane that was ever used. Follows a topic that was remade.
    #[inline]
    pub fn used_lanes(&mut self) -> u64 {
        // Relaxed, as in `poll`.
        let used = self.segment.used_lanes().load(Ordering::Relaxed);
        if used != 0 {
            return used & (u64::MAX >> (64 - self.lanes.len()));
        }
        self.is_ready(); // follows
        self.segment.used_lanes().load(Ordering::Relaxed) & (u64::MAX >> (64 - self.lanes.len()))
    }

    /// The numbers of the messages that `lane` still has, but for the oldest one, in whose slot the next is written.
    ///
    /// # Panics
    /// When the topic has no such lane.
    #[inline]
    pub fn numbers(&self, lane: usize) -> std::ops::Range<u64> {
        let lane = self.lanes[lane].memory();
        // Relaxed: what is found behind a number is decided by its stamp.
        let end = lane.position().load(Ordering::Relaxed).min(MAX_SEQUENCE);
        end.saturating_sub(lane.capacity() - 1)..end
    }

    /// How many owners `lane` has had. A word that changes before the next owner's first message can be seen.
    ///
    /// # Panics
    /// When the topic has no such lane.
    #[inline]
    pub fn owners(&self, lane: usize) -> u64 {
        owners(&self.segment, lane)
    }

    /// Copies the first bytes of message `number` of `lane` and says when it was sent; `None` when it is not there yet or not any
    /// more. Then `into` holds anything. Wait-free; no allocation, no system call.
    ///
    /// # Panics
    /// When the topic has no such lane or is `reliable`, or when `into` is longer than a message.
    #[inline]
    pub fn recall(&self, lane: usize, number: u64, into: &mut [u8]) -> Option<u64> {
        assert!(self.segment.header().policy == DeliveryPolicy::Latest && into.len() <= self.payload().bytes);
        let from = payload_word(self.payload().align);
        recall(self.lanes[lane].memory(), number, |slot| copy::load_over(&slot[from..], into))
    }

    /// The living publishers: the lane of each and who it says it is. A system call for each lane.
    ///
    /// # Errors
    /// When the kernel refuses to tell who has a lock.
    pub fn publishers(&self) -> Result<Vec<(usize, Identity)>, OpenError> {
        publishers(&self.segment)
    }
}
