//! Messages written and read in their place, as bytes.
//!
//! # In place or by copy
//! The copying calls ([`Publication::try_send`], [`Subscription::try_recv`]) trust no peer: what a hostile peer scribbles into
//! a slot meanwhile yields wrong messages at worst. The calls in place lend a reference into the segment. No process that uses
//! this crate changes what is lent; one that may write to the topic and ignores the protocol could, and then the reader's
//! program has the data race that Rust's references exclude. On a `latest` topic, and of a reliable one's history, a reader that
//! copies may, and an observer ([`super::observe`]) on any topic, besides copy from a slot whose writer fills it through a loan: what it copied is thrown away, as everywhere, but
//! the writer's accesses are not atomic there, which Rust's rules have no name for. Who is let into a topic's group is trusted
//! that far where messages are read in place.

use std::ops::{Deref, DerefMut};

use super::subscription::received;
use super::{Payload, Publication, Subscription};
use crate::ring::{Full, Received, copy, payload_word};
use crate::segment::layout::LINE;
use crate::sync::AtomicU64;

impl Publication {
    /// Lends the next message's place, to be filled there and then published. What stands there first is some older
    /// message, or zeros. Refused only when there is no room: on a `latest` topic, when subscribers hold every message.
    #[inline]
    pub fn loan(&mut self) -> Result<Loan<'_>, Full<()>> {
        let bytes = self.payload().bytes;
        if self.begin() { Ok(Loan { publication: self, from: 0, bytes }) } else { Err(Full(())) }
    }
}

/// The place of a message that is being written; dropped without [`publish`](Self::publish), it was never sent.
#[must_use = "a loan that is not published sends nothing"]
pub struct Loan<'a> {
    publication: &'a mut Publication,
    /// The bytes of the payload that are lent: so many from there on.
    pub(super) from: usize,
    pub(super) bytes: usize,
}

impl Loan<'_> {
    /// Sends the message, stamped `sent_ns`, and returns its sequence number.
    #[inline]
    pub fn publish(self, sent_ns: u64) -> u64 {
        self.publication.commit(sent_ns)
    }

    /// The words of the slot, from the payload on.
    #[inline]
    pub(super) fn payload(&self) -> &[AtomicU64] {
        &self.publication.slot()[payload_word(self.publication.payload().align)..]
    }

    #[inline]
    fn place(&self) -> *mut [u8] {
        place_of(self.payload(), self.from, self.bytes)
    }
}

/// So many bytes of a payload, from there on.
#[inline]
fn place_of(payload: &[AtomicU64], from: usize, bytes: usize) -> *mut [u8] {
    assert!(from <= size_of_val(payload) && bytes <= size_of_val(payload) - from);
    std::ptr::slice_from_raw_parts_mut(payload.as_ptr().cast_mut().cast::<u8>().wrapping_add(from), bytes)
}

impl Deref for Loan<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: inside of the slot, by the assertion. No process that follows the protocol writes to a slot that was begun but
        // its writer, which this value borrows, nor uses what it reads there; see the module's text for the others.
        unsafe { &*self.place() }
    }
}

impl DerefMut for Loan<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above. Atomics may be written through the shared reference that the pointer comes from.
        unsafe { &mut *self.place() }
    }
}

/// Room for a copy of a message, aligned as every message can be. Made where messages cannot be held in place.
#[derive(Default)]
pub struct Copied(Vec<Line>);

#[derive(Clone, Copy, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

impl Copied {
    /// Room for messages of `subscription`, if it must copy them; else made when it is needed.
    pub fn for_messages_of(subscription: &mut Subscription) -> Self {
        let mut copied = Self::default();
        if !subscription.can_hold() {
            copied.reserve(subscription.payload().bytes);
        }
        copied
    }

    fn reserve(&mut self, bytes: usize) -> &mut [u8] {
        let lines = bytes.div_ceil(LINE);
        if self.0.len() < lines {
            // Zeroed by the allocator, and never on the stack: a message can have hundreds of megabytes.
            self.0 = zerocopy::FromZeros::new_vec_zeroed(lines)
                .unwrap_or_else(|_| std::alloc::handle_alloc_error(std::alloc::Layout::new::<Line>()));
        }
        &mut zerocopy::IntoBytes::as_mut_bytes(self.0.as_mut_slice())[..bytes]
    }

    /// The first bytes of the copy.
    ///
    /// # Panics
    /// When no message of so many was copied.
    pub fn bytes(&self, bytes: usize) -> &[u8] {
        &zerocopy::IntoBytes::as_bytes(self.0.as_slice())[..bytes]
    }
}

impl Subscription {
    /// The next message in its place, or `None` when it has not been sent yet.
    ///
    /// While the sample lives, the message stays: a reliable publisher finds no room behind it, and a `latest` one passes its
    /// slot over. On a `latest` topic with messages below [`HELD_FROM_BYTES`](crate::segment::layout::HELD_FROM_BYTES) bytes,
    /// where that protection would cost more than a copy, the sample is a copy. So it is as long as messages of the
    /// [`history`](super::Joining::history) are left, which a publisher may overwrite.
    #[inline]
    pub fn sample<'a>(&'a mut self, copied: &'a mut Copied) -> Option<Sample<'a>> {
        if self.can_hold() {
            return self.held();
        }
        let taken = self.try_recv_copied(copied)?;
        Some(Sample::copied(self, taken, copied.bytes(taken.message)))
    }

    /// The next message, copied to `into`, and how many bytes it has; `None` when it has not been sent yet. Wait-free. Allocates the
    /// first time, where [`Copied::for_messages_of`] did not.
    pub fn try_recv_copied(&mut self, into: &mut Copied) -> Option<Received<usize>> {
        let Payload { bytes, align } = self.payload();
        let into = into.reserve(bytes);
        let (lane, taken) = self.poll(|lane| lane.take(|slot| copy::load_over(&slot[payload_word(align)..], into)))?;
        Some(received(lane, taken, bytes))
    }

    /// The next message, held in its place.
    #[inline]
    pub(super) fn held(&mut self) -> Option<Sample<'_>> {
        let (lane, taken) = self.hold()?;
        let bytes = self.payload().bytes;
        Some(Sample { taken: received(lane, taken, ()), copied: None, from: 0, bytes, subscription: self })
    }
}

/// A received message in its place; the next one can be received when this one is dropped.
pub struct Sample<'a> {
    subscription: &'a mut Subscription,
    taken: Received<()>,
    /// Where the message is, if not in the segment.
    copied: Option<&'a [u8]>,
    /// The bytes of the payload that are the message: so many from there on.
    pub(super) from: usize,
    pub(super) bytes: usize,
}

impl<'a> Sample<'a> {
    /// A message that was copied.
    pub(super) fn copied<T>(subscription: &'a mut Subscription, taken: Received<T>, bytes: &'a [u8]) -> Self {
        Self { subscription, taken: taken.map(drop), copied: Some(bytes), from: 0, bytes: bytes.len() }
    }

    /// Its number in its publisher's lane.
    pub fn sequence(&self) -> u64 {
        self.taken.sequence
    }

    /// When it was sent, in nanoseconds on this process's CLOCK_MONOTONIC; zero when the sender gave no time.
    pub fn sent_ns(&self) -> u64 {
        self.taken.sent_ns
    }

    /// Number of the lane that it came by.
    pub fn publisher(&self) -> usize {
        self.taken.publisher
    }
}

impl Deref for Sample<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        if let Some(copied) = self.copied {
            return copied;
        }
        let slot = self.subscription.slot(self.taken.publisher);
        let payload = &slot[payload_word(self.subscription.payload().align)..];
        // SAFETY: inside of the slot, by the assertion. While it is held, no process that follows the protocol writes to the slot;
        // see the module's text for the others.
        unsafe { &*place_of(payload, self.from, self.bytes) }
    }
}

impl Drop for Sample<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.copied.is_none() {
            self.subscription.let_go(self.taken.publisher);
        }
    }
}
