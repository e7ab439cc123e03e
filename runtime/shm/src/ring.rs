//! The lane: a ring with one writer, which every subscriber reads with a cursor of its own.
//!
//! The code is generic over where the ring's words live ([`Memory`]): in a mapped segment, on the heap
//! ([`heap`]), or among loom's model-checked atomics. It is the same code in all three.
//!
//! # Protocol
//! Messages of a lane are numbered 0, 1, 2, …; message `n` lives in slot `n mod capacity`. The slot's **stamp** says
//! what it holds: `2n + 2` once all of `n` is there, `2n + 1` while `n` is being written on a `latest` lane, and 0 before
//! the first message. A stamp thus only ever grows, and a subscriber that waits for `n` needs to look at one cache line only:
//! smaller means "not yet", `2n + 2` means "here", greater means "overwritten; you missed it". The writer of a `latest` lane
//! that finds a slot held by a reader passes its number over: the slot gets the stamp `2n + 3`, and no message the number `n`.
//!
//! ```text
//!     writer, message n                            reader, message n
//!     ─────────────────                            ─────────────────
//!     mark:  n is written    Relaxed               stamp   = 2n + 2 ?     Acquire   ⟵ message
//!     fence                  Release  half-written copy    ← payload      Relaxed
//!     payload ← message      Relaxed               fence                  Acquire   ⟵ half-written
//!     stamp   ← 2n + 2       Release  message      stamp   = 2n + 2 ?     Relaxed
//!     position ← n + 1       Relaxed               cursor  ← n + 1        Release   slot-free
//! ```
//!
//! The mark is the odd stamp on a `latest` lane. On a reliable one it is the lane's word `asking`: only readers of history
//! can be overtaken there, and only they look at it, behind the same fence as at the stamp. The line of the stamp, which a
//! waiting reader polls, is so written once a message.
//!
//! # Why these orderings
//! 1. *A reader that finds `2n + 2` copies message `n` or something newer*: its Acquire load reads from the writer's
//!    Release store (SYNC POINT: message), so all payload words of `n` happened before the copy.
//! 2. *If the copy holds a word of something newer, the second look at the stamp says so*: that word was stored after
//!    the writer's Release fence, and the reader's Acquire fence follows the load that saw it, so the fences
//!    synchronize (SYNC POINT: half-written) and the mark of the newer message, which precedes the writer's fence, is
//!    visible to the second load. Stamps only grow, so it cannot read `2n + 2` again; and the numbers in `asking` only
//!    grow, also from one writer of a reliable lane to the next, so that half a message stays marked whichever peer dies.
//! 3. *A reliable writer overwrites only what everybody has read*: it loads cursors with Acquire, readers store them
//!    with Release after their copy (SYNC POINT: slot-free), so the copy happened before the overwriting stores. A
//!    reader that leaves does the same with its bit (SYNC POINT: leave).
//! 4. *A subscriber that joins a reliable lane loses nothing from its first message on*: see [`join`].
//! 5. *A message held in place is not overwritten*: see [`Consumer::hold`].
//!
//! The position needs no ordering: it is a hint for those who join or were overtaken, and what they do next is decided
//! by stamps. Neither side reads the other's words in the ordinary case: the writer looks at cursors only when the
//! room that it knows of is used up, the reader never looks at the position.
//!
//! # Who moves the payload
//! Neither end knows what a payload is. A writer hands [`send_with`](Producer::send_with) a function that fills the slot,
//! or [`begin`](Producer::begin)s a message, fills its slot by whatever means, and [`commit`](Producer::commit)s it; a
//! reader hands [`take`](Consumer::take) a function that copies the slot, or
//! [`hold`](Consumer::hold)s the slot and looks at it in place.
//!
//! # Bounds
//! Sending is wait-free. It passes over the subscriber table at most once, and on a lane whose messages are held once more
//! for each held slot. `take` is wait-free: however fast the writer is, it looks at no more than log2(capacity) + 3 slots
//! and at those that were passed over. Neither makes a system call, allocates, or needs a
//! compare-and-swap. Sequence numbers end at 2^62; at 100 million messages a second that is after 1400 years.

use std::fmt;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::segment::layout::{WORD, payload_offset};
use crate::sync::{AtomicU64, Ordering};

mod consumer;
pub mod copy;
#[cfg(not(loom))]
mod fate;
pub mod heap;
pub mod local;
pub mod observe;
mod producer;
mod recall;
mod stamp;
mod typed;

pub use consumer::{AtOnce, Consumer, Taken, join, take_over};
#[cfg(not(loom))]
pub(crate) use fate::{Fate, fate};
pub use producer::{NotStaged, Producer};
pub use recall::recall;

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
    /// One bit per subscriber whose cursor counts; the same word for all lanes of a segment.
    fn members(&self) -> &AtomicU64;
    /// One bit per subscriber that holds a message of this lane in place.
    fn holders(&self) -> &AtomicU64;
    /// The message for whose slot the writer asked last, or zero: which one it is writing or wrote last, on a reliable
    /// lane. Only readers that hold look at it, and those of history.
    fn asking(&self) -> &AtomicU64;
    /// Sequence number of the next message.
    fn position(&self) -> &AtomicU64;
    /// Sequence number that the subscriber will read next.
    fn cursor(&self, subscriber: usize) -> &AtomicU64;
    /// The slot of message `sequence`: stamp, time of sending, payload.
    fn slot(&self, sequence: u64) -> &[AtomicU64];
    /// How far the clock of this end is ahead of the one by which times of sending stand in the slots, in nanoseconds
    /// (`horus_sys::clock`). Where it is not zero, every message goes the way that is kept for care.
    fn ahead_ns(&self) -> i64 {
        0
    }
}

const fn writing(sequence: u64) -> u64 {
    2 * sequence + 1
}

const fn ready(sequence: u64) -> u64 {
    2 * sequence + 2
}

/// The stamp of a slot whose message number was passed over, because a reader held the slot: greater than any that a reader of
/// this message waits for, and not greater than that of the slot's next message.
const fn passed_over(sequence: u64) -> u64 {
    2 * sequence + 3
}

/// The first sequence number that `stamp` does not promise: `n` while `n` is written, `n + 1` once it is there.
const fn position_of(stamp: u64) -> u64 {
    stamp / 2
}

/// Word of a slot at which the payload of a type with this alignment starts.
pub const fn payload_word(align: usize) -> usize {
    payload_offset(align) / WORD
}

/// The subscribers, among the first `known`, whose bits are set; other bits no subscriber of ours can have set.
fn bits(mask: u64, known: usize) -> impl Iterator<Item = usize> {
    let known = if known >= 64 { u64::MAX } else { (1 << known) - 1 };
    let mut mask = mask & known;
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        (mask != 0).then(|| {
            mask &= mask - 1;
            bit
        })
    })
}

/// There is no room: on a reliable lane a subscriber has yet to read the oldest message, on a `latest` lane subscribers hold
/// every message in place. Has what the caller wants back, which is `()` for a message that was given by reference.
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
            "the topic is full: a subscriber has yet to read its oldest message, or all messages are held in place; try again, \
             wait, or reap the dead",
        )
    }
}

impl<T> std::error::Error for Full<T> {}

/// A message as it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<T> {
    /// The message itself.
    pub message: T,
    /// Its number in its publisher's lane; the lane's first message ever has number 0.
    pub sequence: u64,
    /// When it was sent, in nanoseconds on this process's CLOCK_MONOTONIC, which all processes of a machine share; zero
    /// when the sender gave no time.
    pub sent_ns: u64,
    /// Number of the lane that it came by: tells publishers apart that live at the same time.
    /// A publisher that takes a dead one's place gets its number.
    pub publisher: usize,
}

impl<T> Received<T> {
    /// The same of what `make` makes of the message.
    #[inline(always)]
    pub fn map<R>(self, make: impl FnOnce(T) -> R) -> Received<R> {
        let Self { message, sequence, sent_ns, publisher } = self;
        Received { message: make(message), sequence, sent_ns, publisher }
    }
}

/// Takes the reader `subscriber` out of the lane's members.
pub fn leave(memory: &impl Memory, subscriber: usize) {
    // Release: what this reader copied was copied before the writer stops waiting for it.
    memory.members().fetch_and(!(1 << subscriber), Ordering::Release); // SYNC POINT: leave
}
