//! The writing end of a lane.

mod stage;

use std::cell::Cell;
use std::marker::PhantomData;

pub use stage::NotStaged;

use horus_sys::failpoint;

use super::stamp::{by_ones_own, by_the_machines};
use super::{MAX_SEQUENCE, Memory, bits, passed_over, ready, writing};
use crate::segment::layout::{DeliveryPolicy, SENT_WORD, STAMP_WORD};
use crate::sync::{AtomicU64, Ordering, fence};

/// The writing end of a lane.
pub struct Producer<M> {
    memory: M,
    /// Sequence number of the next message. This private copy is the truth; the position in memory is its shadow.
    next: u64,
    /// First sequence number for which room is not known; on a reliable lane `next <= limit <= cursor + capacity` for every
    /// member's cursor. On a `latest` lane it is beyond all numbers, or below, where readers may hold messages in place. Between calls, of a
    /// writer with a clock of its own, it is never beyond `next`: each send looks for room, and then converts its stamp.
    limit: u64,
    /// Messages from `next` on that stand in their slots and are not to be seen yet.
    staged: u64,
    policy: DeliveryPolicy,
    _not_sync: PhantomData<Cell<()>>,
}

impl<M: Memory> Producer<M> {
    /// The writing end of a lane that goes on where the last writer stopped: at message 0 in fresh memory.
    ///
    /// A message that the last writer left half-written was never seen and its number is used again. One that was
    /// finished although its writer died before saying so in the position is recognized by its stamp.
    ///
    /// `is_held` says whether readers of a `latest` lane may hold messages in place; all ends must agree.
    ///
    /// The caller sees to it that the lane has no other writer. Returns `None` when the memory holds what no writer of
    /// this ring leaves behind.
    ///
    /// # Panics
    /// When the memory's capacity is no power of two: the caller chose it.
    pub fn resume(memory: M, policy: DeliveryPolicy, is_held: bool) -> Option<Self> {
        assert!(memory.capacity().is_power_of_two());
        // Relaxed, here and below: the last writer is dead or was dropped by the caller, and a writer that knows that, by the
        // kernel or by program order, also sees everything it stored.
        let position = memory.position().load(Ordering::Relaxed);
        if position >= MAX_SEQUENCE {
            return None;
        }
        // One that was finished, and on a `latest` lane those that were passed over: at most as many as there are slots.
        let is_over = |number: &u64| {
            let stamp = memory.slot(*number)[STAMP_WORD].load(Ordering::Relaxed);
            stamp == ready(*number) || stamp == passed_over(*number)
        };
        let over = (position..position + memory.capacity()).take_while(is_over).count();
        let next = position + over as u64;
        memory.position().store(next, Ordering::Relaxed);
        let limit = match policy {
            // No room is known: the first send looks. And what a dead writer began to overwrite stays begun.
            DeliveryPolicy::Reliable => next,
            DeliveryPolicy::Latest => {
                memory.asking().store(0, Ordering::Relaxed); // what a dead writer asked for is asked for no more
                if is_held || memory.ahead_ns() != 0 { 0 } else { MAX_SEQUENCE }
            }
        };
        Some(Self { memory, next, limit, staged: 0, policy, _not_sync: PhantomData })
    }

    /// Sends the message that `fill` writes to the slot's payload, and returns its sequence number; `None` when there is
    /// no room. `sent_ns` travels with it and is not interpreted.
    #[inline(always)]
    pub fn send_with(&mut self, sent_ns: u64, fill: impl FnOnce(&[AtomicU64])) -> Option<u64> {
        if self.next >= self.limit {
            return self.send_where_there_is_room(sent_ns, fill);
        }
        Some(self.send_next(sent_ns, fill))
    }

    /// As [`send_with`](Self::send_with) where the last look for room found some; `None` where there may be some or not.
    #[inline(always)]
    pub fn send_at_once(&mut self, sent_ns: u64, fill: impl FnOnce(&[AtomicU64])) -> Option<u64> {
        (self.next < self.limit).then(|| self.send_next(sent_ns, fill))
    }

    /// As [`send_with`](Self::send_with), after a look for room. Apart, so that it costs others no registers.
    #[cold]
    #[inline(never)]
    fn send_where_there_is_room(&mut self, sent_ns: u64, fill: impl FnOnce(&[AtomicU64])) -> Option<u64> {
        if !self.find_room() {
            return None;
        }
        let sequence = self.send_next(self.by_the_machines_clock(sent_ns), fill);
        self.forget_room();
        Some(sequence)
    }

    /// What stands in a slot for a stamp by this end's clock.
    fn by_the_machines_clock(&self, sent_ns: u64) -> u64 {
        by_the_machines(sent_ns, self.memory.ahead_ns())
    }

    /// After sending, where the clock is another one than the machine's: the next message takes the same way.
    fn forget_room(&mut self) {
        if self.memory.ahead_ns() != 0 {
            self.limit = self.limit.min(self.next);
        }
    }

    /// Sends the next message, for which there is room.
    #[inline(always)]
    fn send_next(&mut self, sent_ns: u64, fill: impl FnOnce(&[AtomicU64])) -> u64 {
        debug_assert_eq!(self.staged, 0, "staged messages are released or taken back first");
        let sequence = self.next;
        let slot = self.memory.slot(sequence);
        self.mark(slot, sequence);
        fill(slot);
        self.publish(slot, sequence, sent_ns);
        self.next = sequence + 1;
        sequence
    }

    /// Begins a message, to be filled in its place ([`slot`](Self::slot)) and then [`commit`](Self::commit)ted; false when
    /// there is no room.
    ///
    /// Until then readers see nothing of it, and a message begun and not committed was never sent.
    pub fn begin(&mut self) -> bool {
        debug_assert_eq!(self.staged, 0, "staged messages are released or taken back first");
        let is_possible = self.next < self.limit || self.find_room();
        if is_possible {
            self.mark(self.memory.slot(self.next), self.next);
        }
        is_possible
    }

    /// Says that a message is being written.
    ///
    /// On a `latest` lane the stamp says that the slot is being written, which every reader looks at. On a reliable one no reader
    /// reads what may be overwritten but one that asked for history. So it is said apart, and a reader that waits for the message
    /// keeps the stamp's line until the message is there.
    #[inline(always)]
    fn mark(&self, slot: &[AtomicU64], sequence: u64) {
        match self.policy {
            // Relaxed, both: the fence below orders them before the payload.
            DeliveryPolicy::Reliable => self.memory.asking().store(sequence, Ordering::Relaxed),
            DeliveryPolicy::Latest => slot[STAMP_WORD].store(writing(sequence), Ordering::Relaxed),
        }
        fence(Ordering::Release); // SYNC POINT: half-written
        failpoint!("publish:marked");
    }

    /// Makes the message that was begun visible, and returns its sequence number.
    pub fn commit(&mut self, sent_ns: u64) -> u64 {
        let sequence = self.next;
        self.publish(self.memory.slot(sequence), sequence, self.by_the_machines_clock(sent_ns));
        self.next = sequence + 1;
        self.forget_room();
        sequence
    }

    /// Makes a message visible whose payload is in its slot.
    #[inline(always)]
    fn publish(&self, slot: &[AtomicU64], sequence: u64, sent_ns: u64) {
        publish_stamp(slot, sequence, sent_ns);
        failpoint!("publish:even");
        // Relaxed: a hint, except to a reader that joins, for whom the fence in `find_room` orders it.
        self.memory.position().store(sequence + 1, Ordering::Relaxed);
        failpoint!("publish:position");
    }

    /// The slot of the message that was begun.
    #[inline(always)]
    pub fn slot(&self) -> &[AtomicU64] {
        self.memory.slot(self.next)
    }

    /// Goes on to the next slot that no reader holds, `None` when readers hold all of them. The numbers of the slots before it are
    /// passed over: no message will have them, and readers count them as missed.
    fn pass_over_held(&mut self) -> bool {
        let first = self.next;
        let Some(free) = (first..first + self.memory.capacity()).find(|&number| self.may_overwrite(number)) else {
            // Withdrawn: nothing was touched. Release as at the question.
            self.memory.asking().store(0, Ordering::Release); // SYNC POINT: asking
            return false;
        };
        if free != first {
            for number in first..free {
                // Relaxed: there is nothing to see but the stamp. Who holds the slot has looked at it before.
                self.memory.slot(number)[STAMP_WORD].store(passed_over(number), Ordering::Relaxed);
            }
            self.next = free;
            // Release: a reader that joins by this position sees that the numbers before it were passed over.
            self.memory.position().store(free, Ordering::Release); // SYNC POINT: passed over
        }
        true
    }

    /// As [`may_overwrite`](Self::may_overwrite), and asks no more when it may not.
    fn may_overwrite_or_withdraws(&self, number: u64) -> bool {
        let may = self.may_overwrite(number);
        if !may {
            // Withdrawn: nothing was touched. Release as at the question.
            self.memory.asking().store(0, Ordering::Release); // SYNC POINT: asking
        }
        may
    }

    /// Asks whether a reader holds the message that is still in the slot of message `number`. The argument stands at
    /// [`Consumer::hold`](super::Consumer::hold).
    fn may_overwrite(&self, number: u64) -> bool {
        let capacity = self.memory.capacity();
        if number < capacity {
            return true; // a slot that was never used
        }
        // Release: a reader that sees this question sees the stamps of all messages before it.
        self.memory.asking().store(number, Ordering::Release); // SYNC POINT: asking
        fence(Ordering::SeqCst); // SYNC POINT: hold
        failpoint!("publish:unless-held");
        // Acquire: a reader that no longer holds has read before.
        let holders = self.memory.holders().load(Ordering::Acquire); // SYNC POINT: let go
        let members = self.memory.members().load(Ordering::Acquire); // SYNC POINT: leave
        let is_in_slot = |subscriber| {
            let held = self.memory.cursor(subscriber).load(Ordering::Acquire); // SYNC POINT: slot-free
            (held ^ number) & (capacity - 1) == 0
        };
        !bits(holders & members, self.memory.subscribers()).any(is_in_slot)
    }

    /// Asks the subscribers for room, which may change the next number; true if there is some. Writers of `latest` lanes whose
    /// messages are never held come here when the sequence numbers end.
    #[cold]
    fn find_room(&mut self) -> bool {
        if self.next >= MAX_SEQUENCE {
            return false;
        }
        if self.policy == DeliveryPolicy::Latest {
            return self.pass_over_held();
        }
        // SeqCst fence, so that of a subscriber that joins right now either we see the membership here, or it sees our
        // position there: the argument stands at `join`.
        fence(Ordering::SeqCst); // SYNC POINT: join
        let members = self.memory.members().load(Ordering::Acquire); // SYNC POINT: leave
        let mut slowest = self.next;
        for subscriber in bits(members, self.memory.subscribers()) {
            let cursor = self.memory.cursor(subscriber).load(Ordering::Acquire); // SYNC POINT: slot-free
            slowest = slowest.min(cursor); // a cursor beyond `next` is a lie that helps no peer: it counts as `next`
        }
        self.limit = (slowest + self.memory.capacity()).max(self.next);
        self.next < self.limit
    }

    /// Whether so many messages have room at once on a `reliable` lane.
    pub fn has_room_for(&mut self, messages: u64) -> bool {
        if self.next + messages > self.limit {
            self.find_room(); // it looks how far the slowest reader is
        }
        let has_room = self.next + messages <= self.limit;
        self.forget_room();
        has_room
    }

    /// Sequence number that the next message will have.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// When the last message of the lane was sent, by whom ever, and the slot that it is in; `None` where there is none.
    pub fn last(&self) -> Option<(u64, &[AtomicU64])> {
        // Behind it there may be numbers that were passed over for one that was never sent.
        let oldest = self.next.saturating_sub(self.memory.capacity());
        let stamp = |number: u64| self.memory.slot(number)[STAMP_WORD].load(Ordering::Relaxed);
        let number = (oldest..self.next).rev().find(|number| stamp(*number) != passed_over(*number))?;
        let slot = self.memory.slot(number);
        // Relaxed: as in `resume`.
        let is_there = slot[STAMP_WORD].load(Ordering::Relaxed) == ready(number);
        is_there.then(|| (by_ones_own(slot[SENT_WORD].load(Ordering::Relaxed), self.memory.ahead_ns()), slot))
    }

    /// What the lane does when it is full.
    pub fn delivery_policy(&self) -> DeliveryPolicy {
        self.policy
    }

    /// Where the lane lives.
    pub fn memory(&self) -> &M {
        &self.memory
    }
}

/// Gives a slot whose payload is there the time and the stamp that readers look for.
#[inline(always)]
fn publish_stamp(slot: &[AtomicU64], sequence: u64, sent_ns: u64) {
    slot[SENT_WORD].store(sent_ns, Ordering::Relaxed);
    failpoint!("publish:payload");
    slot[STAMP_WORD].store(ready(sequence), Ordering::Release); // SYNC POINT: message
}
