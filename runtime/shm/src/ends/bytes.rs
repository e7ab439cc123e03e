//! Topics whose messages are bytes, up to a maximum that the topic is made with.
//!
//! A payload is its length, in a word, and the bytes behind it. Only as many bytes move as the message has.

use std::time::Duration;

use thiserror::Error;

use super::place::{Loan, Sample};
use super::subscription::received;
use super::{Payload, Publication, Subscription};
use crate::error::OpenError;
use crate::ring::{Full, NotStaged, Received, copy, payload_word};
use crate::segment::layout::{MAX_PAYLOAD_BYTES, ShapeError, WORD};
use crate::sync::{AtomicU64, Ordering};
use crate::wait::WaitStrategy;

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

/// The payload of a message of bytes: its length, the message, and zeros behind it. Not for a loop: it allocates.
///
/// # Panics
/// When the message is longer than the maximum.
pub fn whole(message: &[u8], payload: Payload) -> Box<[u8]> {
    let mut whole = vec![0; payload.bytes];
    let (length, bytes) = whole.split_at_mut(WORD);
    length.copy_from_slice(&(message.len() as u64).to_ne_bytes());
    bytes[..message.len()].copy_from_slice(message);
    whole.into_boxed_slice()
}

/// Writes a message of bytes to a slot.
#[inline(always)]
fn store(slot: &[AtomicU64], message: &[u8]) {
    let (length, bytes) = parts(slot);
    copy::store(bytes, message);
    length.store(message.len() as u64, Ordering::Relaxed); // the stamp orders it, as all of the payload
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
        wait_strategy: WaitStrategy,
    ) -> Result<u64, SendError> {
        match self.try_send_bytes(message, sent_ns) {
            Err(SendError::Full) => {}
            sent => return sent,
        }
        self.wait_for_room(limit, wait_strategy, |this| this.send_now(message, sent_ns)).ok_or(SendError::Full)
    }

    #[inline]
    fn send_now(&mut self, message: &[u8], sent_ns: u64) -> Option<u64> {
        self.send_with(sent_ns, |slot| store(slot, message))
    }

    /// Writes a message of bytes in its place, behind those that are staged, as [`stage`](Self::stage) does. Wait-free; no allocation and no
    /// system call.
    ///
    /// # Errors
    /// When there is no room for it.
    ///
    /// # Panics
    /// When it is longer than the maximum.
    #[inline]
    pub fn stage_bytes(&mut self, message: &[u8]) -> Result<(), NotStaged> {
        assert!(message.len() <= maximum(self.payload()), "a message of bytes is no longer than the maximum");
        self.producer().stage_with(|slot| store(slot, message))
    }

    /// Lends the next message's place, for `bytes` bytes; what stands there first is of some older message, or zeros.
    pub fn loan_bytes(&mut self, bytes: usize) -> Result<Loan<'_>, SendError> {
        self.check_length(bytes)?;
        let mut loan = self.loan()?;
        loan.from = WORD;
        loan.set_length(bytes);
        Ok(loan)
    }

    fn check_length(&self, bytes: usize) -> Result<(), SendError> {
        let maximum = maximum(self.payload());
        if bytes <= maximum { Ok(()) } else { Err(SendError::TooLong { bytes, maximum }) }
    }
}

impl From<Full<()>> for SendError {
    fn from(_: Full<()>) -> Self {
        Self::Full
    }
}

impl Loan<'_> {
    /// Keeps only the first `bytes` bytes of a message of bytes.
    ///
    /// # Panics
    /// When the loan has fewer, or is of another message: its first word is its own, and no length.
    pub fn shorten(&mut self, bytes: usize) {
        assert_eq!(self.from, WORD, "a loan of bytes has its length before them");
        assert!(bytes <= self.bytes, "{bytes} of {} bytes", self.bytes);
        self.set_length(bytes);
    }

    fn set_length(&mut self, bytes: usize) {
        self.bytes = bytes;
        self.payload()[0].store(bytes as u64, Ordering::Relaxed); // the stamp orders it, as all of the payload
    }
}

impl Subscription {
    /// The next message of bytes, copied to `into`, which has room for the longest one, and how many bytes it has; `None` when it has
    /// not been sent yet. Wait-free; no allocation.
    #[inline]
    pub fn try_recv_bytes(&mut self, into: &mut [u8]) -> Option<Received<usize>> {
        // The slot ends there, however much room the caller has.
        let longest = maximum(self.payload()).min(into.len());
        let mut length = 0;
        let (lane, taken) = self.poll(|lane| {
            lane.take(|slot| {
                let (alleged, bytes) = parts(slot);
                length = believed(alleged.load(Ordering::Relaxed), longest);
                copy::load_over(bytes, &mut into[..length]);
            })
        })?;
        Some(received(lane, taken, length))
    }

    /// The next message in its place, or copied to `into` as [`sample`](Self::sample) says; `None` when it has not been sent yet.
    pub fn sample_of_bytes<'a>(&'a mut self, into: &'a mut [u8]) -> Option<Sample<'a>> {
        if !self.can_hold() {
            let taken = self.try_recv_bytes(into)?;
            return Some(Sample::copied(self, taken, &into[..taken.message]));
        }
        let maximum = maximum(self.payload());
        let mut sample = self.held()?;
        let alleged = u64::from_ne_bytes(*sample.first_chunk().expect("a payload has a length"));
        (sample.from, sample.bytes) = (WORD, believed(alleged, maximum));
        Some(sample)
    }
}
