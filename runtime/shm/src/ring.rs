//! The lane: a ring with one writer, which every subscriber reads with a cursor of its own.
//!
//! The code is generic over where the ring's words live ([`Memory`]): in a mapped segment, on the heap
//! ([`crate::heap`]), or among loom's model-checked atomics. It is the same code in all three.
//!
//! # Protocol
//! Messages of a lane are numbered 0, 1, 2, …; message `n` lives in slot `n mod capacity`. The slot's **stamp** says
//! what it holds: `2n + 1` while `n` is being written, `2n + 2` once all of `n` is there, and 0 before the first
//! message. A stamp thus only ever grows, and a subscriber that waits for `n` needs to look at one cache line only:
//! smaller means "not yet", `2n + 2` means "here", greater means "overwritten; you missed it".
//!
//! ```text
//!     writer, message n                            reader, message n
//!     ─────────────────                            ─────────────────
//!     stamp   ← 2n + 1       Relaxed               stamp   = 2n + 2 ?     Acquire   ⟵ message
//!     fence                  Release  half-written copy    ← payload      Relaxed
//!     payload ← message      Relaxed               fence                  Acquire   ⟵ half-written
//!     stamp   ← 2n + 2       Release  message      stamp   = 2n + 2 ?     Relaxed
//!     position ← n + 1       Relaxed               cursor  ← n + 1        Release   slot-free
//! ```
//!
//! # Why these orderings
//! 1. *A reader that finds `2n + 2` copies message `n` or something newer*: its Acquire load reads from the writer's
//!    Release store (SYNC POINT: message), so all payload words of `n` happened before the copy.
//! 2. *If the copy holds a word of something newer, the second look at the stamp says so*: that word was stored after
//!    the writer's Release fence, and the reader's Acquire fence follows the load that saw it, so the fences
//!    synchronize (SYNC POINT: half-written) and the store of the newer odd stamp, which precedes the writer's fence,
//!    is visible to the second load. Stamps only grow, so it cannot read `2n + 2` again.
//! 3. *A reliable writer overwrites only what everybody has read*: it loads cursors with Acquire, readers store them
//!    with Release after their copy (SYNC POINT: slot-free), so the copy happened before the overwriting stores. A
//!    reader that leaves does the same with its bit (SYNC POINT: leave).
//! 4. *A subscriber that joins a reliable lane loses nothing from its first message on*: see [`Consumer::join`].
//!
//! The position needs no ordering: it is a hint for those who join or were overtaken, and what they do next is decided
//! by stamps. Neither side reads the other's words in the ordinary case: the writer looks at cursors only when the
//! room that it knows of is used up, the reader never looks at the position.
//!
//! # Bounds
//! `try_send` is wait-free with at most one pass over the subscriber table; `try_recv` is wait-free: it looks at no
//! more than log2(capacity) + 3 slots however fast the writer is. Neither makes a system call, allocates, or needs a
//! compare-and-swap. Sequence numbers end at 2^62; at 100 million messages a second that is after 1400 years.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::copy;
use crate::layout::{Policy, SENT_WORD, STAMP_WORD, payload_offset};
use crate::sync::{AtomicU64, Ordering, fence};

/// Sequence numbers from here on are never sent; one found in memory was not written by this code.
pub const MAX_SEQUENCE: u64 = 1 << 62;

/// Plain data: every bit pattern is a value and every byte belongs to it, so that it may cross processes as bytes.
///
/// Implemented for every type that zerocopy has proved to be so; derive its traits to get there.
pub trait Plain: FromBytes + IntoBytes + Immutable + Copy + Send + 'static {}
impl<T: FromBytes + IntoBytes + Immutable + Copy + Send + 'static> Plain for T {}

/// Where the words of one lane live.
///
/// All methods must always lend the same words. Their *contents* may be anything: the ring takes them for what a peer
/// alleges. Capacity and number of subscribers are the implementer's own copies, not something a peer can change.
pub trait Memory {
    /// Slots of the lane, a power of two.
    fn capacity(&self) -> u64;
    /// Subscribers that there are cursors for, at most 64.
    fn subscribers(&self) -> usize;
    /// One bit per subscriber whose cursor counts.
    fn members(&self) -> &AtomicU64;
    /// Sequence number of the next message.
    fn position(&self) -> &AtomicU64;
    /// Sequence number that the subscriber will read next.
    fn cursor(&self, subscriber: usize) -> &AtomicU64;
    /// The slot of message `sequence`: stamp, time of sending, payload.
    fn slot(&self, sequence: u64) -> &[AtomicU64];
}

const fn writing(sequence: u64) -> u64 {
    2 * sequence + 1
}

const fn ready(sequence: u64) -> u64 {
    2 * sequence + 2
}

/// The first sequence number that `stamp` does not promise: `n` while `n` is written, `n + 1` once it is there.
const fn position_of(stamp: u64) -> u64 {
    stamp / 2
}

const fn payload_word<T>() -> usize {
    payload_offset(align_of::<T>()) / copy::WORD
}

/// A reliable lane has no room because a subscriber has yet to read the oldest message; holds the value not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(
            "the lane is full: a subscriber has yet to read its oldest message; try again, wait, or reap the dead",
        )
    }
}

impl<T> std::error::Error for Full<T> {}

/// A message as it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<T> {
    /// The message itself.
    pub message: T,
    /// Its number in the lane; the lane's first message ever has number 0.
    pub sequence: u64,
    /// When it was sent, in nanoseconds on the sender's CLOCK_MONOTONIC, which all processes of a machine share; zero
    /// when the sender gave no time.
    pub sent_ns: u64,
}

/// The writing end of a lane.
pub struct Producer<T, M> {
    memory: M,
    /// Sequence number of the next message. This private copy is the truth; the position in memory is its shadow.
    next: u64,
    /// First sequence number for which room is not known. `next <= limit`; on a reliable lane also
    /// `limit <= cursor + capacity` for every member's cursor.
    limit: u64,
    policy: Policy,
    _message: PhantomData<fn(T)>,
    _not_sync: PhantomData<Cell<()>>,
}

impl<T: Plain, M: Memory> Producer<T, M> {
    /// The writing end of a lane that goes on where the last writer stopped: at message 0 in fresh memory.
    ///
    /// A message that the last writer left half-written was never seen and its number is used again. One that was
    /// finished although its writer died before saying so in the position is recognized by its stamp.
    ///
    /// The caller sees to it that the lane has no other writer. Returns `None` when the memory holds what no writer of
    /// this ring leaves behind.
    ///
    /// # Panics
    /// When the memory's slots are too small for `T` or its capacity is no power of two: the caller chose both.
    pub fn resume(memory: M, policy: Policy) -> Option<Self> {
        assert!(memory.capacity().is_power_of_two());
        assert!(memory.slot(0).len() >= payload_word::<T>() + copy::words_for(size_of::<T>()));
        // Relaxed, here and below: the last writer is dead or was dropped by the caller, and whoever knows that, by the
        // kernel or by program order, also sees everything it stored.
        let position = memory.position().load(Ordering::Relaxed);
        if position >= MAX_SEQUENCE {
            return None;
        }
        let finished = memory.slot(position)[STAMP_WORD].load(Ordering::Relaxed) == ready(position);
        let next = position + u64::from(finished);
        memory.position().store(next, Ordering::Relaxed);
        let limit = match policy {
            Policy::Reliable => next, // no room is known: the first send looks
            Policy::Latest => MAX_SEQUENCE,
        };
        Some(Self { memory, next, limit, policy, _message: PhantomData, _not_sync: PhantomData })
    }

    /// Sends a message and returns its sequence number; on a reliable lane without room gives it back.
    ///
    /// `sent_ns` travels with the message and is not interpreted.
    #[inline]
    pub fn try_send(&mut self, message: T, sent_ns: u64) -> Result<u64, Full<T>> {
        let sequence = self.next;
        if sequence >= self.limit && !self.find_room() {
            return Err(Full(message));
        }
        let slot = self.memory.slot(sequence);
        // Relaxed: the fence below orders it before the payload.
        slot[STAMP_WORD].store(writing(sequence), Ordering::Relaxed);
        fence(Ordering::Release); // SYNC POINT: half-written
        slot[SENT_WORD].store(sent_ns, Ordering::Relaxed);
        copy::store(&slot[payload_word::<T>()..], message.as_bytes());
        slot[STAMP_WORD].store(ready(sequence), Ordering::Release); // SYNC POINT: message
        self.next = sequence + 1;
        // Relaxed: a hint, except to a reader that joins, for whom the fence in `find_room` orders it.
        self.memory.position().store(self.next, Ordering::Relaxed);
        Ok(sequence)
    }

    /// Asks the subscribers' cursors for room; true if there is some. Writers of `latest` lanes never come here before
    /// the sequence numbers end.
    #[cold]
    fn find_room(&mut self) -> bool {
        if self.policy == Policy::Latest || self.next >= MAX_SEQUENCE {
            return false;
        }
        // SeqCst fence, so that of a subscriber that joins right now either we see the membership here, or it sees our
        // position there: the argument stands at `Consumer::join`.
        fence(Ordering::SeqCst); // SYNC POINT: join
        let mut members = self.memory.members().load(Ordering::Acquire); // SYNC POINT: leave
        let mut slowest = self.next;
        while members != 0 {
            let subscriber = members.trailing_zeros() as usize;
            members &= members - 1;
            if subscriber >= self.memory.subscribers() {
                break; // a bit that no subscriber of ours can have set
            }
            let cursor = self.memory.cursor(subscriber).load(Ordering::Acquire); // SYNC POINT: slot-free
            slowest = slowest.min(cursor); // a cursor beyond `next` is a lie that helps nobody: it counts as `next`
        }
        self.limit = (slowest + self.memory.capacity()).max(self.next);
        self.next < self.limit
    }

    /// Sequence number that the next message will have.
    pub fn position(&self) -> u64 {
        self.next
    }

    /// What the lane does when it is full.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Where the lane lives.
    pub fn memory(&self) -> &M {
        &self.memory
    }
}

/// A reading end of a lane.
pub struct Consumer<T, M> {
    memory: M,
    subscriber: usize,
    /// Sequence number of the message to read next. This private copy is the truth; the cursor in memory is its shadow.
    next: u64,
    missed: u64,
    _message: PhantomData<fn() -> T>,
    _not_sync: PhantomData<Cell<()>>,
}

impl<T: Plain, M: Memory> Consumer<T, M> {
    /// Joins the lane as `subscriber`, reading from the next message on; what was sent before is not seen.
    ///
    /// The caller sees to it that no two readers share the number `subscriber`. Returns `None` when the memory's
    /// position is none that a writer of this ring can have reached.
    ///
    /// # Why nothing is lost after joining a reliable lane
    /// Let `start` be the position read after the fence, where this reader begins, and take any look of the writer at
    /// the cursors, at position `p`, which permits messages up to `min(cursors) + capacity`. The two SeqCst fences
    /// (SYNC POINT: join) are ordered one way or the other:
    /// 1. *the writer's first*: then our load sees `p` or later, `start >= p`. Whatever that look permitted, without
    ///    knowing us, ends before `p + capacity <= start + capacity`.
    /// 2. *ours first*: then the writer sees our bit and our preliminary cursor, or the final one, both `<= start`. It
    ///    permits nothing from `start + capacity` on.
    ///
    /// A writer that sees our bit by chance, before either fence, may still see the cursor of whoever had this number
    /// before. That one stopped at or before our `start`, so it too permits less, not more. While the cursor lags the
    /// writer finds no room: for as long as it takes us from here to the end of this function.
    ///
    /// # Panics
    /// When the memory's slots are too small for `T` or it has no cursor of that number: the caller chose both.
    pub fn join(memory: M, subscriber: usize) -> Option<Self> {
        assert!(memory.capacity().is_power_of_two() && subscriber < memory.subscribers());
        assert!(memory.slot(0).len() >= payload_word::<T>() + copy::words_for(size_of::<T>()));
        // A cursor near the writer's position lets it go on while we are on our way from here to `start`, even if we
        // are preempted. Relaxed: it only must not be ahead of `start`, and positions only grow.
        let preliminary = memory.position().load(Ordering::Relaxed);
        memory.cursor(subscriber).store(preliminary, Ordering::Relaxed);
        // Relaxed: the fence orders it, and before the fence any older cursor will do (see above).
        memory.members().fetch_or(1 << subscriber, Ordering::Relaxed);
        fence(Ordering::SeqCst); // SYNC POINT: join
        let start = memory.position().load(Ordering::Relaxed);
        if start >= MAX_SEQUENCE {
            leave(&memory, subscriber);
            return None;
        }
        // Relaxed: this reader has copied nothing yet that the writer would have to wait for.
        memory.cursor(subscriber).store(start, Ordering::Relaxed);
        Some(Self { memory, subscriber, next: start, missed: 0, _message: PhantomData, _not_sync: PhantomData })
    }

    /// The next message, or `None` when it has not been sent yet.
    ///
    /// When the writer has overtaken this reader, goes on with the oldest message that is still whole and adds those in
    /// between to [`missed`](Self::missed).
    #[inline]
    pub fn try_recv(&mut self) -> Option<Received<T>> {
        let slot = self.memory.slot(self.next);
        let stamp = slot[STAMP_WORD].load(Ordering::Acquire); // SYNC POINT: message
        if stamp < ready(self.next) {
            return None;
        }
        if stamp == ready(self.next)
            && let Some(received) = self.copy_out(slot)
        {
            self.advance();
            return Some(received);
        }
        self.catch_up()
    }

    /// Copies message `next` out of `slot`, whose stamp said that it is there; `None` if it was overwritten meanwhile.
    #[inline]
    fn copy_out(&self, slot: &[AtomicU64]) -> Option<Received<T>> {
        let sent_ns = slot[SENT_WORD].load(Ordering::Relaxed);
        let mut message = T::new_zeroed();
        copy::load(&slot[payload_word::<T>()..], message.as_mut_bytes());
        fence(Ordering::Acquire); // SYNC POINT: half-written
        // Relaxed: the fence orders it after the copy.
        let whole = slot[STAMP_WORD].load(Ordering::Relaxed) == ready(self.next);
        whole.then_some(Received { message, sequence: self.next, sent_ns })
    }

    #[inline]
    fn advance(&mut self) {
        self.next += 1;
        // Release: the copy is finished before a reliable writer may overwrite the slot.
        self.memory.cursor(self.subscriber).store(self.next, Ordering::Release); // SYNC POINT: slot-free
    }

    /// Skips what was overwritten. Aims at the oldest message that the writer does not touch next; every time the
    /// writer got there first, halves the distance to its position, so that the number of attempts is bounded.
    #[cold]
    fn catch_up(&mut self) -> Option<Received<T>> {
        let capacity = self.memory.capacity();
        for attempt in 0..=capacity.trailing_zeros() + 1 {
            let slot = self.memory.slot(self.next);
            let stamp = slot[STAMP_WORD].load(Ordering::Acquire); // SYNC POINT: message
            if stamp < ready(self.next) {
                return None;
            }
            if stamp == ready(self.next)
                && let Some(received) = self.copy_out(slot)
            {
                self.advance();
                return Some(received);
            }
            // Relaxed: a position that is too old costs an attempt. The stamp in hand can be newer.
            let seen = slot[STAMP_WORD].load(Ordering::Relaxed);
            let head = self.memory.position().load(Ordering::Relaxed).max(position_of(seen));
            if head >= MAX_SEQUENCE {
                return None; // no writer of this ring was ever there
            }
            let distance = (capacity >> attempt).max(2) - 1;
            let resume = head.saturating_sub(distance).max(self.next + 1);
            self.missed += resume - self.next;
            self.next = resume;
        }
        None
    }

    /// How many messages were overwritten before this reader got to them, since it joined.
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
}

impl<T, M> Consumer<T, M> {
    /// Leaves the lane: its writer no longer waits for this reader.
    pub fn leave(self)
    where
        M: Memory,
    {
        leave(&self.memory, self.subscriber);
    }
}

/// Takes the reader `subscriber` out of the lane's members.
pub fn leave(memory: &impl Memory, subscriber: usize) {
    // Release: what this reader copied was copied before the writer stops waiting for it.
    memory.members().fetch_and(!(1 << subscriber), Ordering::Release); // SYNC POINT: leave
}
