//! The reading end of a lane.

use std::cell::Cell;
use std::marker::PhantomData;

use horus_sys::failpoint;

use super::stamp::by_ones_own;
use super::{MAX_SEQUENCE, Memory, leave, passed_over, position_of, ready};
use crate::segment::layout::{DeliveryPolicy, SENT_WORD, STAMP_WORD};
use crate::sync::{AtomicU64, Ordering, fence};

/// What came with a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The message's number in its lane.
    pub sequence: u64,
    /// What its sender said about the time, by this reader's clock.
    pub sent_ns: u64,
}

/// What a look without care comes to.
pub enum AtOnce {
    /// What [`Consumer::take`] would give.
    Is(Option<Taken>),
    /// Nothing was done: [`Consumer::take`] has to look with care.
    NeedsCare,
}

/// A reading end of a lane.
pub struct Consumer<M> {
    memory: M,
    subscriber: usize,
    policy: DeliveryPolicy,
    /// Sequence number of the message to read next. This private copy is the truth; the cursor in memory is its shadow.
    next: u64,
    /// Where this reader joined: what was sent before is history, and may be gone without having been missed.
    joined_at: u64,
    missed: u64,
    /// The first message whose loss counts as missed.
    counted_from: u64,
    /// Whether this reader holds message `next` of a `latest` lane.
    is_holding: bool,
    /// Whether this reader holds a message, has history to read or a clock of its own: what `take` does not do in passing.
    needs_care: bool,
    _not_sync: PhantomData<Cell<()>>,
}

/// Joins all `lanes` of a segment as `subscriber`, reading from the next message on, or up to `history` messages before
/// it, of what is still there.
///
/// The caller sees to it that no two readers share the number `subscriber`. Returns `None` when a lane's position is
/// none that a writer of this ring can have reached; the reader is then no member.
///
/// # Why nothing is lost after joining a reliable lane
/// Let `start` be the position read after the fence, and take any look of the writer at the cursors, at position `p`,
/// which permits messages up to `min(cursors) + capacity`. The two SeqCst fences (SYNC POINT: join) are ordered one way
/// or the other:
/// 1. *the writer's first*: then our load sees `p` or later, `start >= p`. Whatever that look permitted, without
///    knowing us, ends before `p + capacity <= start + capacity`: it may overwrite history, and nothing from `start` on.
/// 2. *ours first*: then the writer sees our bit and our preliminary cursor, or the final one, both `<= start`. It
///    permits nothing from `start + capacity` on.
///
/// A writer that sees our bit by chance, before either fence, may still see the cursor of the reader that had this number
/// before. That one stopped at or before our `start`, so it too permits less, not more. While the cursor lags the
/// writer finds no room: for as long as it takes us from here to the end of this function.
///
/// # Panics
/// When a lane has no cursor of that number, or its capacity is no power of two: the caller chose both.
pub fn join<M: Memory>(
    lanes: Vec<M>,
    subscriber: usize,
    policy: DeliveryPolicy,
    history: u64,
) -> Option<Box<[Consumer<M>]>> {
    for lane in &lanes {
        assert!(lane.capacity().is_power_of_two() && subscriber < lane.subscribers());
        // A cursor near the writer's position lets it go on while we are on our way from here to `start`, even if we
        // are preempted. Relaxed: it only must not be ahead of `start`, and positions only grow.
        let preliminary = lane.position().load(Ordering::Relaxed).saturating_sub(history);
        lane.cursor(subscriber).store(preliminary, Ordering::Relaxed);
        // Relaxed: a reader that had this number and was killed while holding a message reads no more.
        lane.holders().fetch_and(!(1 << subscriber), Ordering::Relaxed);
        failpoint!("join:cursor");
    }
    let first = lanes.first()?;
    // Relaxed: the fence orders it, and before the fence any older cursor will do (see above).
    first.members().fetch_or(1 << subscriber, Ordering::Relaxed);
    failpoint!("join:member");
    fence(Ordering::SeqCst); // SYNC POINT: join
    let starts: Vec<u64> = lanes.iter().map(|lane| lane.position().load(Ordering::Relaxed)).collect();
    if starts.iter().any(|&start| start >= MAX_SEQUENCE) {
        leave(first, subscriber);
        return None;
    }
    let consumers = lanes.into_iter().zip(starts).map(|(memory, joined_at)| {
        let next = first_of_history(&memory, policy, joined_at, history);
        // Relaxed: this reader has copied nothing yet that the writer would have to wait for.
        memory.cursor(subscriber).store(next, Ordering::Relaxed);
        Consumer::at(memory, subscriber, policy, next, joined_at)
    });
    let consumers = Some(consumers.collect());
    failpoint!("join:joined");
    consumers
}

/// The first of up to `history` messages before `position`.
///
/// A writer that passed over numbers and then did not send, because it died or gave its loan back, leaves a position with no
/// message before it. So this goes back to one: a reader that asks for one message of history gets the newest that is there. It counts
/// numbers: a reader that asks for more gets fewer messages where some of these were passed over.
fn first_of_history(memory: &impl Memory, policy: DeliveryPolicy, position: u64, history: u64) -> u64 {
    fence(Ordering::Acquire); // SYNC POINT: passed over
    let oldest = position.saturating_sub(memory.capacity());
    let mut next = position.saturating_sub(history).max(oldest);
    let is_passed_over = |number: u64| {
        // Relaxed: the stamp stands for nothing else, and the fence orders it behind the position.
        memory.slot(number)[STAMP_WORD].load(Ordering::Relaxed) == passed_over(number)
    };
    while policy == DeliveryPolicy::Latest && oldest < next && next < position && is_passed_over(next) {
        next -= 1;
    }
    next
}

/// Takes over the cursors of a member, which who remade the lanes has set to the first message before any was sent.
///
/// So the lanes' writers have known this reader from their first message on: a reliable one waits for it, and what was
/// overwritten counts as missed.
pub fn take_over<M: Memory>(lanes: Vec<M>, subscriber: usize, policy: DeliveryPolicy) -> Box<[Consumer<M>]> {
    lanes.into_iter().map(|memory| Consumer::at(memory, subscriber, policy, 0, 0)).collect()
}

/// Copies message `next` out of `slot`, whose stamp said that it is there; `None` if it was overwritten meanwhile.
#[inline(always)]
pub(super) fn copy_out(next: u64, slot: &[AtomicU64], copy: &mut impl FnMut(&[AtomicU64])) -> Option<Taken> {
    let sent_ns = slot[SENT_WORD].load(Ordering::Relaxed);
    copy(slot);
    failpoint!("take:copied");
    fence(Ordering::Acquire); // SYNC POINT: half-written
    // Relaxed: the fence orders it after the copy.
    let whole = slot[STAMP_WORD].load(Ordering::Relaxed) == ready(next);
    whole.then_some(Taken { sequence: next, sent_ns })
}

impl<M: Memory> Consumer<M> {
    fn at(memory: M, subscriber: usize, policy: DeliveryPolicy, next: u64, joined_at: u64) -> Self {
        let (needs_care, is_holding) = (next < joined_at || memory.ahead_ns() != 0, false);
        let (missed, counted_from, _not_sync) = (0, joined_at, PhantomData);
        Self { memory, subscriber, policy, next, joined_at, missed, counted_from, is_holding, needs_care, _not_sync }
    }

    /// Looks whether a message, or the trace of one that was missed, is there to be taken.
    #[inline]
    pub fn is_ready(&self) -> bool {
        // Acquire: for who goes on to read the slot without `take`.
        self.memory.slot(self.next)[STAMP_WORD].load(Ordering::Acquire) >= ready(self.next) // SYNC POINT: message
    }

    /// Hands the slot of the next message to `copy`, and says what it was; `None` when it has not been sent yet.
    ///
    /// What was copied is the message only if this returns `Some`: `copy` may be called several times, and see a slot
    /// that changes under it. When the writer has overtaken this reader, goes on with the oldest message that is still
    /// whole and adds those in between to [`missed`](Self::missed).
    #[inline(always)]
    pub fn take(&mut self, mut copy: impl FnMut(&[AtomicU64])) -> Option<Taken> {
        match self.take_at_once(&mut copy) {
            AtOnce::Is(taken) => return taken,
            AtOnce::NeedsCare => {}
        }
        self.take_with_care(&mut copy)
    }

    /// [`take`](Self::take) as far as it goes without care, which nearly always is all of the way.
    #[inline(always)]
    pub(crate) fn take_at_once(&mut self, copy: &mut impl FnMut(&[AtomicU64])) -> AtOnce {
        if !self.needs_care {
            // Read once: the compiler does not know that the bytes which are copied are none of this reader's.
            let next = self.next;
            let slot = self.memory.slot(next);
            let stamp = slot[STAMP_WORD].load(Ordering::Acquire); // SYNC POINT: message
            if stamp < ready(next) {
                return AtOnce::Is(None);
            }
            if stamp == ready(next)
                && let Some(taken) = copy_out(next, slot, copy)
            {
                self.advance_to(next + 1);
                return AtOnce::Is(Some(taken));
            }
        }
        AtOnce::NeedsCare
    }

    /// [`take`](Self::take) for a reader that was overtaken, reads history, has a clock of its own, or forgot to let go of a message.
    #[cold]
    fn take_with_care(&mut self, copy: &mut impl FnMut(&[AtomicU64])) -> Option<Taken> {
        if self.is_holding {
            self.lower(); // held by a sample that was forgotten instead of dropped
            self.is_holding = false;
        }
        let taken = self.catch_up(|reader, slot| {
            let taken = copy_out(reader.next, slot, copy)?;
            (!reader.is_begun_anew()).then_some(taken)
        });
        if taken.is_some() {
            self.advance();
        }
        let taken = taken.map(|taken| self.by_own_clock(taken));
        self.needs_care = self.has_history() || self.memory.ahead_ns() != 0;
        taken
    }

    /// Whether message `next`, which was copied just now, may have been overwritten meanwhile without a trace in its
    /// stamp: history of a reliable lane, whose writer says elsewhere what it writes.
    ///
    /// To be asked after [`copy_out`], whose fence orders this load after the copy.
    fn is_begun_anew(&self) -> bool {
        self.policy == DeliveryPolicy::Reliable
            && self.has_history()
            && self.memory.asking().load(Ordering::Relaxed) >= self.next + self.memory.capacity()
    }

    /// Finds the next message and keeps its slot from being overwritten until [`let_go`](Self::let_go).
    ///
    /// On a reliable lane that is what the cursor does anyway, but for history (`has_history`), which
    /// must not be held. On a `latest` lane whose ends agreed to permit it, this reader raises its bit among the holders,
    /// its cursor saying which message it wants, and then looks what the writer is asking for; the writer says for which
    /// message it asks the slot, and then looks at the holders. The SeqCst fences between (SYNC POINT: hold) are ordered one
    /// way or the other, so at least one of the two sees the other and gives way: a writer has touched nothing by then and
    /// takes the next slot, a reader comes back later.
    pub fn hold(&mut self) -> Option<Taken> {
        let slot = self.memory.slot(self.next);
        let stamp = slot[STAMP_WORD].load(Ordering::Acquire); // SYNC POINT: message
        if stamp < ready(self.next) {
            return None;
        }
        let held = if stamp == ready(self.next) { self.hold_slot(slot) } else { None };
        let held = held.or_else(|| self.catch_up(Self::hold_slot))?;
        self.is_holding = self.policy == DeliveryPolicy::Latest;
        self.needs_care |= self.is_holding;
        Some(self.by_own_clock(held))
    }

    fn by_own_clock(&self, taken: Taken) -> Taken {
        Taken { sent_ns: by_ones_own(taken.sent_ns, self.memory.ahead_ns()), ..taken }
    }

    fn hold_slot(&self, slot: &[AtomicU64]) -> Option<Taken> {
        let taken = Taken { sequence: self.next, sent_ns: slot[SENT_WORD].load(Ordering::Relaxed) };
        if self.policy == DeliveryPolicy::Latest {
            // Relaxed, both: the fence orders them before the look at the stamp.
            self.memory.cursor(self.subscriber).store(self.next, Ordering::Relaxed);
            self.memory.holders().fetch_or(1 << self.subscriber, Ordering::Relaxed);
            failpoint!("hold:raised");
            fence(Ordering::SeqCst); // SYNC POINT: hold
            // Acquire: if what is asked for is something later already, the stamp below says so.
            let asked_for = self.memory.asking().load(Ordering::Acquire); // SYNC POINT: asking
            // Acquire: this load may be the one that saw the message.
            let stamp = slot[STAMP_WORD].load(Ordering::Acquire); // SYNC POINT: message
            let same_slot = (asked_for ^ self.next) & (self.memory.capacity() - 1) == 0;
            if stamp != ready(self.next) || (same_slot && asked_for > self.next) {
                self.lower();
                return None;
            }
        }
        Some(taken)
    }

    /// Takes the bit among the holders down.
    fn lower(&self) {
        // Release: what was read in place was read before the writer may overwrite it.
        failpoint!("hold:held");
        self.memory.holders().fetch_and(!(1 << self.subscriber), Ordering::Release); // SYNC POINT: let go
    }

    /// The slot of the message that is held.
    pub fn slot(&self) -> &[AtomicU64] {
        self.memory.slot(self.next)
    }

    /// Ends a [`hold`](Self::hold): the message has been read.
    pub fn let_go(&mut self) {
        if self.is_holding {
            self.lower();
            self.is_holding = false;
        }
        self.advance();
        self.needs_care = self.has_history() || self.memory.ahead_ns() != 0;
    }

    #[inline]
    fn advance(&mut self) {
        self.advance_to(self.next + 1);
    }

    #[inline(always)]
    fn advance_to(&mut self, next: u64) {
        self.next = next;
        // Release: the copy is finished before a reliable writer may overwrite the slot.
        self.memory.cursor(self.subscriber).store(next, Ordering::Release); // SYNC POINT: slot-free
        failpoint!("take:advanced");
    }

    /// Skips what was overwritten. Aims at the oldest message that the writer does not touch next; every time the
    /// writer got there first, halves the distance to its position, so that the number of attempts is bounded.
    #[cold]
    fn catch_up(&mut self, mut read: impl FnMut(&Self, &[AtomicU64]) -> Option<Taken>) -> Option<Taken> {
        let capacity = self.memory.capacity();
        for attempt in 0..=capacity.trailing_zeros() + 1 {
            self.skip_passed_over();
            let slot = self.memory.slot(self.next);
            let stamp = slot[STAMP_WORD].load(Ordering::Acquire); // SYNC POINT: message
            if stamp < ready(self.next) {
                return None;
            }
            if stamp == ready(self.next)
                && let Some(taken) = read(self, slot)
            {
                return Some(taken);
            }
            // Relaxed: a position that is too old costs an attempt. The stamp in hand can be newer.
            let seen = slot[STAMP_WORD].load(Ordering::Relaxed);
            let mut head = self.memory.position().load(Ordering::Relaxed).max(position_of(seen));
            if seen == ready(self.next) {
                if self.policy == DeliveryPolicy::Latest {
                    continue; // whole, but the writer asks for its slot at this moment
                }
                // Only history is lost to a wrong value.
                head = head.max(self.memory.asking().load(Ordering::Relaxed).min(MAX_SEQUENCE - 1));
            }
            if head >= MAX_SEQUENCE {
                return None; // no writer of this ring was ever there
            }
            let distance = (capacity >> attempt).max(2) - 1;
            let mut resume = head.saturating_sub(distance).max(self.next + 1);
            if self.policy == DeliveryPolicy::Reliable && self.next < self.joined_at {
                resume = resume.min(self.joined_at); // history may be gone, and nothing after it
            }
            self.resume_at(resume);
        }
        None
    }

    /// Skips the numbers that the writer of a `latest` lane passed over: no message has them. At most as many as there are slots.
    fn skip_passed_over(&mut self) {
        let passed = |number: &u64| {
            // Relaxed: the stamp stands for nothing else.
            self.memory.slot(*number)[STAMP_WORD].load(Ordering::Relaxed) == passed_over(*number)
        };
        let count = (self.next..self.next + self.memory.capacity()).take_while(passed).count();
        if count > 0 && self.policy == DeliveryPolicy::Latest {
            self.resume_at(self.next + count as u64);
        }
    }

    /// Goes on at `number`, and counts those in between as missed, but for history.
    fn resume_at(&mut self, number: u64) {
        self.missed += number.max(self.counted_from) - self.next.max(self.counted_from);
        self.next = number;
        // Release, as in `advance`. A writer may be waiting for this cursor, and this reader for that writer.
        self.memory.cursor(self.subscriber).store(self.next, Ordering::Release); // SYNC POINT: slot-free
    }

    /// Whether the next message was sent before this reader joined: on a reliable lane too it may be overwritten.
    pub(crate) fn has_history(&self) -> bool {
        self.next < self.joined_at
    }

    /// Leaves out, of the messages that were sent before this reader joined, those of lower numbers.
    pub(crate) fn skip_history_before(&mut self, number: u64) {
        let number = number.min(self.joined_at);
        if number > self.next {
            self.resume_at(number);
        }
    }

    /// Counts as missed what is lost from the lane's first message on, also before this reader joined: for one that was waiting
    /// for the lane before there was any.
    pub(crate) fn count_from_the_first(&mut self) {
        self.counted_from = 0;
        self.missed = self.next;
    }

    /// Reads every message as if it were history: for one whose cursor no writer sees, so that nothing is kept for it.
    pub(super) fn expect_to_be_overwritten(&mut self) {
        (self.joined_at, self.needs_care) = (MAX_SEQUENCE, true);
    }

    /// How many messages were overwritten before this reader got to them, of those sent since it joined.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// Sequence number of the message to be read next.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Where the lane lives.
    pub fn memory(&self) -> &M {
        &self.memory
    }

    /// The number under which this reader joined.
    pub fn subscriber(&self) -> usize {
        self.subscriber
    }

    /// Leaves the segment: no writer waits for this reader any longer, on this lane or another.
    pub fn leave(self) {
        leave(&self.memory, self.subscriber);
    }
}
