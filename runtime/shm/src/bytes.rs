//! The ends of a topic whose messages are bytes, up to a maximum that the topic is made with.
//!
//! A payload is its length, in a word, and the bytes behind it. Only as many bytes move as the message has.

use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use thiserror::Error;

use crate::copy::{self, WORD};
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::layout::{MAX_PAYLOAD_BYTES, ShapeError};
use crate::opening::{Joining, Kind, Making, Payload};
use crate::publication::Publication;
use crate::ring::{Taken, payload_word};
use crate::segment::Segment;
use crate::subscription::Subscription;
use crate::sync::{AtomicU64, Ordering};
use crate::wait::{self, Waiting};

/// Why bytes were not sent.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum SendError {
    /// There is no room.
    #[error("the topic is full: a subscriber has yet to read its oldest message, or holds it; try again or wait")]
    Full,
    /// The message is longer than the topic's maximum.
    #[error("a message of {bytes} bytes is too long for this topic: it was made for at most {maximum}")]
    TooLong {
        /// Bytes of the message.
        bytes: usize,
        /// Bytes that the topic was made for.
        maximum: usize,
    },
}

fn payload(maximum: usize) -> Result<Payload, OpenError> {
    if maximum > MAX_PAYLOAD_BYTES - WORD {
        return Err(ShapeError::PayloadBytes(maximum).into());
    }
    Ok(Payload { bytes: WORD + maximum, align: WORD })
}

/// The length and the bytes in a slot.
fn parts(slot: &[AtomicU64]) -> (&AtomicU64, &[AtomicU64]) {
    let (length, bytes) = slot[payload_word(WORD)..].split_first().expect("a payload has a length");
    (length, bytes)
}

/// The length of the message in a slot: what a peer alleges, cut to what can be.
fn length_of(length: &AtomicU64, maximum: usize) -> usize {
    usize::try_from(length.load(Ordering::Relaxed)).unwrap_or(usize::MAX).min(maximum)
}

/// The publishing end of a topic of bytes.
pub struct BytesWriter {
    publication: Publication,
    maximum: usize,
}

impl BytesWriter {
    /// As [`Writer::create_or_open`](crate::endpoint::Writer::create_or_open), for messages of up to `maximum` bytes.
    pub fn create_or_open(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        maximum: usize,
        making: &Making,
    ) -> Result<Self, OpenError> {
        let publication = Publication::create_or_open(directory, name, kind, payload(maximum)?, making)?;
        Ok(Self { publication, maximum })
    }

    /// Sends a message stamped `sent_ns` and returns its sequence number. Wait-free; no allocation.
    #[inline]
    pub fn try_send(&mut self, message: &[u8], sent_ns: u64) -> Result<u64, SendError> {
        self.check(message.len())?;
        Self::send_now(&mut self.publication, message, sent_ns).ok_or(SendError::Full)
    }

    /// As [`try_send`](Self::try_send), but waits for room at most `limit`.
    pub fn send(&mut self, message: &[u8], sent_ns: u64, limit: Duration, waiting: Waiting) -> Result<u64, SendError> {
        self.check(message.len())?;
        if let Some(sequence) = Self::send_now(&mut self.publication, message, sent_ns) {
            return Ok(sequence);
        }
        let attempt = |publication: &mut Publication| Self::send_now(publication, message, sent_ns);
        self.publication.wait_for_room(limit, waiting, attempt).ok_or(SendError::Full)
    }

    #[inline]
    fn send_now(publication: &mut Publication, message: &[u8], sent_ns: u64) -> Option<u64> {
        publication.send_with(sent_ns, |slot| {
            let (length, bytes) = parts(slot);
            copy::store(bytes, message);
            length.store(message.len() as u64, Ordering::Relaxed); // the stamp orders it, as all of the payload
        })
    }

    /// Lends the next message's place, for `bytes` bytes; what stands there first is of some older message, or zeros.
    pub fn loan(&mut self, bytes: usize) -> Result<BytesLoan<'_>, SendError> {
        self.check(bytes)?;
        match self.publication.begin() {
            true => Ok(BytesLoan { publication: &mut self.publication, length: bytes }),
            false => Err(SendError::Full),
        }
    }

    fn check(&self, bytes: usize) -> Result<(), SendError> {
        match bytes <= self.maximum {
            true => Ok(()),
            false => Err(SendError::TooLong { bytes, maximum: self.maximum }),
        }
    }

    /// Bytes that a message can have.
    pub fn maximum(&self) -> usize {
        self.maximum
    }

    /// See [`Writer::bury_subscribers`](crate::endpoint::Writer::bury_subscribers).
    pub fn bury_subscribers(&mut self) -> usize {
        self.publication.bury_subscribers()
    }

    /// How many living processes' subscribers there are. Takes the segment's lock: not for a real-time loop.
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        self.publication.subscribers()
    }

    /// The segment, for its path and header.
    pub fn segment(&self) -> &Segment {
        self.publication.segment()
    }
}

/// The place of a message that is being written; dropped without [`publish`](Self::publish), it was never sent.
#[must_use = "a loan that is not published sends nothing"]
pub struct BytesLoan<'a> {
    publication: &'a mut Publication,
    length: usize,
}

impl BytesLoan<'_> {
    /// Sends the message, stamped `sent_ns`, and returns its sequence number.
    pub fn publish(self, sent_ns: u64) -> u64 {
        parts(self.publication.slot()).0.store(self.length as u64, Ordering::Relaxed);
        self.publication.commit(sent_ns)
    }

    /// Sends only the first `bytes` bytes.
    ///
    /// # Panics
    /// When the loan has fewer.
    pub fn publish_first(mut self, bytes: usize, sent_ns: u64) -> u64 {
        assert!(bytes <= self.length, "{bytes} of {} bytes", self.length);
        self.length = bytes;
        self.publish(sent_ns)
    }
}

/// The first `length` bytes of a slot's words.
fn place_of(words: &[AtomicU64], length: usize) -> *mut [u8] {
    assert!(size_of_val(words) >= length);
    std::ptr::slice_from_raw_parts_mut(words.as_ptr().cast_mut().cast(), length)
}

impl Deref for BytesLoan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: inside of the slot, by the assertion. Nobody who follows the protocol writes to a slot that was begun
        // but its writer, which this value borrows; see the text of `endpoint` for the others.
        unsafe { &*place_of(parts(self.publication.slot()).1, self.length) }
    }
}

impl DerefMut for BytesLoan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above. Atomics may be written through the shared reference that the pointer comes from.
        unsafe { &mut *place_of(parts(self.publication.slot()).1, self.length) }
    }
}

/// The subscribing end of a topic of bytes.
pub struct BytesReader {
    subscription: Subscription,
    /// Where messages are copied to: `maximum` bytes, of which those in front are of the last message.
    copied: Box<[u8]>,
}

impl BytesReader {
    /// As [`Reader::open`](crate::endpoint::Reader::open), for messages of up to `maximum` bytes, as many as the
    /// publishers say.
    pub fn open(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        maximum: usize,
        joining: Joining,
    ) -> Result<Self, OpenError> {
        let subscription = Subscription::open(directory, name, kind, payload(maximum)?, joining)?;
        Ok(Self { subscription, copied: vec![0; maximum].into_boxed_slice() })
    }

    /// The next message, copied out of the topic, or `None` when it has not been sent yet. Wait-free; no allocation.
    #[inline]
    pub fn try_recv(&mut self) -> Option<BytesSample<'_>> {
        let Self { subscription, copied } = self;
        let (length, lane, taken) = receive(subscription, copied)?;
        Some(BytesSample { reader: self, held: false, length, lane, taken })
    }

    /// Waits, at most `limit`, for the next message, and copies it out of the topic.
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<BytesSample<'_>> {
        let Self { subscription, copied } = self;
        let (length, lane, taken) = wait::wait(subscription, limit, |subscription| receive(subscription, copied))?;
        Some(BytesSample { reader: self, held: false, length, lane, taken })
    }

    /// The next message in its place, or `None` when it has not been sent yet; see
    /// [`Reader::borrow`](crate::endpoint::Reader::borrow).
    pub fn borrow(&mut self) -> Option<BytesSample<'_>> {
        if !self.subscription.can_hold() {
            return self.try_recv();
        }
        let (lane, taken) = self.subscription.hold()?;
        let length = length_of(parts(self.subscription.slot(lane)).0, self.copied.len());
        Some(BytesSample { reader: self, held: true, length, lane, taken })
    }

    /// How many messages were overwritten before this reader got to them, of those sent since it joined.
    pub fn missed(&self) -> u64 {
        self.subscription.missed()
    }

    /// Whether a living process publishes the topic. Takes the segment's lock: not for a real-time loop.
    pub fn is_published(&self) -> Result<bool, OpenError> {
        self.subscription.is_published()
    }

    /// For waiting on several topics: [`crate::wait::any`].
    pub fn subscription(&mut self) -> &mut Subscription {
        &mut self.subscription
    }
}

#[inline]
fn receive(subscription: &mut Subscription, into: &mut [u8]) -> Option<(usize, usize, Taken)> {
    let mut length = 0;
    let (lane, taken) = subscription.poll(|lane| {
        lane.take(|slot| {
            let (alleged, bytes) = parts(slot);
            length = length_of(alleged, into.len());
            copy::load(bytes, as_uninit(&mut into[..length]));
        })
    })?;
    Some((length, lane, taken))
}

fn as_uninit(bytes: &mut [u8]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the same memory, exclusively borrowed as long. `load` only ever writes initialized bytes to it.
    unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) }
}

/// A received message; the next one can be received when this one is dropped.
pub struct BytesSample<'a> {
    reader: &'a mut BytesReader,
    held: bool,
    length: usize,
    lane: usize,
    taken: Taken,
}

impl BytesSample<'_> {
    /// Its number in its publisher's lane.
    pub fn sequence(&self) -> u64 {
        self.taken.sequence
    }

    /// When it was sent, in nanoseconds on the sender's CLOCK_MONOTONIC; zero when the sender gave no time.
    pub fn sent_ns(&self) -> u64 {
        self.taken.sent_ns
    }

    /// Number of the lane that it came by.
    pub fn publisher(&self) -> usize {
        self.lane
    }
}

impl Deref for BytesSample<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if !self.held {
            return &self.reader.copied[..self.length];
        }
        // SAFETY: inside of the slot, by the assertion. While it is held, nobody who follows the protocol writes to the
        // slot; see the text of `endpoint` for the others.
        unsafe { &*place_of(parts(self.reader.subscription.slot(self.lane)).1, self.length) }
    }
}

impl Drop for BytesSample<'_> {
    fn drop(&mut self) {
        if self.held {
            self.reader.subscription.let_go(self.lane);
        }
    }
}
