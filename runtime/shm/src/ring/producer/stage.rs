//! Messages that are written in their slots before they may be seen: all of them are released at once, or taken back.
//!
//! A staged message stands in the slot where it will be read, behind those staged before it. The lane's position does not move,
//! so no reader knows of it: to a reader that waits for it, its number is not sent yet. [`release`](Producer::release) gives each
//! its even stamp, in order; [`take_back`](Producer::take_back) forgets them, and the next message is written over the first.
//!
//! # The stamp of a staged message
//! Let `p` be the first number that was not published. The stamp is `2p + 1` for the first message that is staged and `2p + 3` for those
//! behind it, and not `2n + 1`. That is more than the stamp of the message that the slot held: a reader of that one finds it
//! overwritten. It is less than `2n + 2`: a reader that waits for `n` goes on waiting. A reader that was overtaken takes the
//! lane's position from a stamp, and goes on one before it at most: so it never goes beyond `p`, to a number that is perhaps
//! never sent. And it is not the stamp of a number that was passed over, on a lane of more than one slot.
//!
//! It is the mark of [`crate::ring`] on both kinds of lanes. On a reliable one the line of the stamp is so written twice, but the
//! payload beside it is there early in any case.
//!
//! # A writer that dies
//! While it stages, its messages were never seen: its successor goes on at the position. While it releases, those with an even stamp
//! were sent, and `resume` finds them; the others were not.

use horus_sys::failpoint;

use super::{Producer, publish_stamp};
use crate::ring::{MAX_SEQUENCE, Memory, writing};
use crate::segment::layout::{DeliveryPolicy, STAMP_WORD};
use crate::sync::{AtomicU64, Ordering, fence};

/// Why a message was not staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotStaged {
    /// As many messages are staged as the lane holds.
    Beyond,
    /// A subscriber has yet to read, or holds in place, what stands in the next slot.
    Full,
}

impl<M: Memory> Producer<M> {
    /// Writes a message by `fill` behind those that are staged.
    ///
    /// # Errors
    /// When there is no room, which is said of this message and changes nothing about those before it.
    #[inline(always)]
    pub fn stage_with(&mut self, fill: impl FnOnce(&[AtomicU64])) -> Result<(), NotStaged> {
        if self.next + self.staged >= self.limit || self.staged >= self.memory.capacity() {
            self.find_room_to_stage()?;
        }
        // After the look for room, which may have changed the next number.
        let slot = self.memory.slot(self.next + self.staged);
        // Relaxed: the fence orders it before the payload.
        slot[STAMP_WORD].store(writing(self.next + u64::from(self.staged > 0)), Ordering::Relaxed);
        fence(Ordering::Release); // SYNC POINT: half-written
        failpoint!("stage:marked");
        fill(slot);
        failpoint!("stage:filled");
        self.staged += 1;
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn find_room_to_stage(&mut self) -> Result<(), NotStaged> {
        if self.staged >= self.memory.capacity() {
            return Err(NotStaged::Beyond);
        }
        let next = self.next + self.staged;
        let has_room = match self.policy {
            // Numbers behind a staged message are not passed over: they would have to stay so when it is taken back.
            DeliveryPolicy::Latest if self.staged > 0 => next < MAX_SEQUENCE && self.may_overwrite_or_withdraws(next),
            DeliveryPolicy::Latest => self.find_room(),
            DeliveryPolicy::Reliable => {
                self.find_room();
                next < self.limit
            }
        };
        if has_room { Ok(()) } else { Err(NotStaged::Full) }
    }

    /// How many messages are staged.
    #[inline(always)]
    pub fn staged(&self) -> u64 {
        self.staged
    }

    /// Makes all staged messages visible, in order; returns how many.
    #[inline(always)]
    pub fn release(&mut self, sent_ns: u64) -> u64 {
        let sent_ns = self.by_the_machines_clock(sent_ns);
        let released = self.staged;
        let end = self.next + released;
        for number in self.next..end {
            publish_stamp(self.memory.slot(number), number, sent_ns);
            failpoint!("stage:released");
        }
        // Relaxed: as in `publish`. Those who join between find what `resume` would find.
        self.memory.position().store(end, Ordering::Relaxed);
        failpoint!("stage:position");
        (self.next, self.staged) = (end, 0);
        self.forget_room();
        released
    }

    /// Forgets all staged messages, which no reader has seen; returns how many. What they have overwritten stays overwritten.
    #[inline(always)]
    pub fn take_back(&mut self) -> u64 {
        self.forget_room();
        std::mem::take(&mut self.staged)
    }
}
