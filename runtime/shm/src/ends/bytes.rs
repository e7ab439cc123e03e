//! Topics whose messages are bytes, up to a maximum that the topic is made with.
//!
//! A payload is its length, in a word, and the bytes behind it. Only as many bytes move as the message has.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use thiserror::Error;

use super::place::{Copied, Loan, Sample};
use super::{Payload, Publication, Subscription};
use crate::error::OpenError;
use crate::ring::{copy, payload_word};
use crate::segment::layout::{MAX_PAYLOAD_BYTES, ShapeError, WORD};
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

/// The payload of messages of up to `maximum` bytes.
pub fn payload(maximum: usize) -> Result<Payload, OpenError> {
    if maximum > MAX_PAYLOAD_BYTES - WORD {
        return Err(ShapeError::Bytes(maximum).into());
    }
    Ok(Payload { bytes: WORD + maximum, align: WORD })
}

/// The most bytes of a message with this payload.
pub fn maximum(payload: Payload) -> usize {
    payload.bytes - WORD
}

/// The length and the bytes in a slot.
pub(super) fn parts(slot: &[AtomicU64]) -> (&AtomicU64, &[AtomicU64]) {
    slot[payload_word(WORD)..].split_first().expect("a payload has a length")
}

/// The length of a message: what a peer alleges, cut to what can be.
pub(super) fn believed(alleged: u64, maximum: usize) -> usize {
    usize::try_from(alleged).unwrap_or(usize::MAX).min(maximum)
}

impl Publication {
    /// Sends bytes stamped `sent_ns` and returns the message's sequence number, on a topic made with [`payload`]. Wait-free; no
    /// allocation.
    #[inline]
    pub fn try_send_bytes(&mut self, message: &[u8], sent_ns: u64) -> Result<u64, SendError> {
        self.check_length(message.len())?;
        self.send_now(message, sent_ns).ok_or(SendError::Full)
    }

    /// As [`try_send_bytes`](Self::try_send_bytes), but waits for room at most `limit`.
    pub fn send_bytes(
        &mut self,
        message: &[u8],
        sent_ns: u64,
        limit: Duration,
        waiting: Waiting,
    ) -> Result<u64, SendError> {
        match self.try_send_bytes(message, sent_ns) {
            Err(SendError::Full) => {}
            sent => return sent,
        }
        self.wait_for_room(limit, waiting, |this| this.send_now(message, sent_ns)).ok_or(SendError::Full)
    }

    #[inline]
    fn send_now(&mut self, message: &[u8], sent_ns: u64) -> Option<u64> {
        self.send_with(sent_ns, |slot| {
            let (length, bytes) = parts(slot);
            copy::store(bytes, message);
            length.store(message.len() as u64, Ordering::Relaxed); // the stamp orders it, as all of the payload
        })
    }

    /// Lends the next message's place, for `bytes` bytes; what stands there first is of some older message, or zeros.
    pub fn loan_bytes(&mut self, bytes: usize) -> Result<BytesLoan<'_>, SendError> {
        self.check_length(bytes)?;
        let loan = self.loan().map_err(|_full| SendError::Full)?;
        Ok(BytesLoan { loan, length: bytes })
    }

    fn check_length(&self, bytes: usize) -> Result<(), SendError> {
        let maximum = maximum(self.payload());
        if bytes <= maximum { Ok(()) } else { Err(SendError::TooLong { bytes, maximum }) }
    }
}

/// The place of a message of bytes that is being written; dropped without [`publish`](Self::publish), it was never sent.
#[must_use = "a loan that is not published sends nothing"]
pub struct BytesLoan<'a> {
    loan: Loan<'a>,
    length: usize,
}

impl BytesLoan<'_> {
    /// Sends the message, stamped `sent_ns`, and returns its sequence number.
    pub fn publish(mut self, sent_ns: u64) -> u64 {
        self.loan[..WORD].copy_from_slice(&(self.length as u64).to_ne_bytes());
        self.loan.publish(sent_ns)
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

impl Deref for BytesLoan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.loan[WORD..][..self.length]
    }
}

impl DerefMut for BytesLoan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.loan[WORD..][..self.length]
    }
}

/// Room for copied messages of bytes.
pub struct CopiedBytes {
    bytes: Box<[u8]>,
    copied: Copied,
}

impl CopiedBytes {
    /// Room for messages of up to `maximum` bytes.
    pub fn new(maximum: usize) -> Self {
        Self { bytes: vec![0; maximum].into_boxed_slice(), copied: Copied::default() }
    }
}

impl Subscription {
    /// The next message of bytes, copied to `into`, or `None` when it has not been sent yet. Wait-free; no allocation.
    #[inline]
    pub fn try_recv_bytes<'a>(&'a mut self, into: &'a mut CopiedBytes) -> Option<BytesSample<'a>> {
        let received = receive(self, &mut into.bytes)?;
        Some(BytesSample::copied(received, into))
    }

    /// Waits, at most `limit`, for the next message, and copies it to `into`.
    pub fn recv_bytes_timeout<'a>(&'a mut self, into: &'a mut CopiedBytes, limit: Duration) -> Option<BytesSample<'a>> {
        let received = wait::wait(self, limit, |this| receive(this, &mut into.bytes))?;
        Some(BytesSample::copied(received, into))
    }

    /// The next message in its place, or `None` when it has not been sent yet; see [`borrow`](Self::sample).
    pub fn borrow_bytes<'a>(&'a mut self, into: &'a mut CopiedBytes) -> Option<BytesSample<'a>> {
        if !self.can_hold() {
            return self.try_recv_bytes(into);
        }
        let maximum = maximum(self.payload());
        let sample = self.sample(&mut into.copied)?;
        let alleged = u64::from_ne_bytes(*sample.first_chunk().expect("a payload has a length"));
        let (sequence, sent_ns, publisher) = (sample.sequence(), sample.sent_ns(), sample.publisher());
        let length = believed(alleged, maximum);
        Some(BytesSample { place: Place::Held(sample), length, sequence, sent_ns, publisher })
    }
}

/// Length, lane, sequence number and time of a message.
type Received = (usize, usize, u64, u64);

#[inline]
fn receive(subscription: &mut Subscription, into: &mut [u8]) -> Option<Received> {
    let mut length = 0;
    let (lane, taken) = subscription.poll(|lane| {
        lane.take(|slot| {
            let (alleged, bytes) = parts(slot);
            length = believed(alleged.load(Ordering::Relaxed), into.len());
            copy::load_over(bytes, &mut into[..length]);
        })
    })?;
    Some((length, lane, taken.sequence, taken.sent_ns))
}

/// A received message of bytes; the next one can be received when this one is dropped.
pub struct BytesSample<'a> {
    place: Place<'a>,
    length: usize,
    sequence: u64,
    sent_ns: u64,
    publisher: usize,
}

/// Where the bytes are.
enum Place<'a> {
    Copied(&'a CopiedBytes),
    Held(Sample<'a>),
}

impl<'a> BytesSample<'a> {
    fn copied((length, publisher, sequence, sent_ns): Received, bytes: &'a CopiedBytes) -> Self {
        Self { place: Place::Copied(bytes), length, sequence, sent_ns, publisher }
    }

    /// Its number in its publisher's lane.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// When it was sent, in nanoseconds on this process's CLOCK_MONOTONIC; zero when the sender gave no time.
    pub fn sent_ns(&self) -> u64 {
        self.sent_ns
    }

    /// Number of the lane that it came by.
    pub fn publisher(&self) -> usize {
        self.publisher
    }
}

impl Deref for BytesSample<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.place {
            Place::Copied(copied) => &copied.bytes[..self.length],
            Place::Held(sample) => &sample[WORD..][..self.length],
        }
    }
}
