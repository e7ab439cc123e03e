//! Messages that the caller knows only as bytes of a size: what typed ends of other languages are built on.
//!
//! Unlike [`super::bytes`], where each message has a length of its own, all bytes are moved, and there are as many as the topic says.

use std::time::Duration;

use super::{Publication, Subscription};
use crate::ring::{Full, Received, copy, payload_word};
use crate::wait::{self, Waiting};

impl Publication {
    /// As [`try_send`](Self::try_send) for who knows a message's type only as bytes: all of them, as many as
    /// [`payload`](Self::payload) says.
    ///
    /// # Panics
    /// When there are more or fewer.
    #[inline]
    pub fn try_send_whole(&mut self, message: &[u8], sent_ns: u64) -> Result<u64, Full<()>> {
        let payload = self.payload();
        check(message.len(), payload.bytes);
        let word = payload_word(payload.align);
        self.send_with(sent_ns, |slot| copy::store(&slot[word..], message)).ok_or(Full(()))
    }

    /// As [`send`](Self::send) for who knows a message's type only as bytes.
    ///
    /// # Panics
    /// As [`try_send_whole`](Self::try_send_whole).
    pub fn send_whole(
        &mut self,
        message: &[u8],
        sent_ns: u64,
        limit: Duration,
        waiting: Waiting,
    ) -> Result<u64, Full<()>> {
        if let Ok(sequence) = self.try_send_whole(message, sent_ns) {
            return Ok(sequence);
        }
        self.wait_for_room(limit, waiting, |this| this.try_send_whole(message, sent_ns).ok()).ok_or(Full(()))
    }
}

impl Subscription {
    /// As [`try_recv_into`](Self::try_recv_into) for who knows a message's type only as bytes: all of them, as many as
    /// [`payload`](Self::payload) says.
    ///
    /// # Panics
    /// When `into` has more or fewer.
    #[inline]
    pub fn try_recv_whole(&mut self, into: &mut [u8]) -> Option<Received<()>> {
        let payload = self.payload();
        check(into.len(), payload.bytes);
        let word = payload_word(payload.align);
        let (publisher, taken) = self.poll(|lane| lane.take(|slot| copy::load_over(&slot[word..], into)))?;
        Some(Received { message: (), sequence: taken.sequence, sent_ns: taken.sent_ns, publisher })
    }

    /// Waits, at most `limit`, for the next message, as [`try_recv_whole`](Self::try_recv_whole).
    ///
    /// # Panics
    /// As that.
    pub fn recv_whole_timeout(&mut self, into: &mut [u8], limit: Duration) -> Option<Received<()>> {
        wait::wait(self, limit, |this| this.try_recv_whole(into))
    }
}

#[inline(always)]
fn check(given: usize, wanted: usize) {
    if given != wanted {
        wrong_length(given, wanted);
    }
}

#[cold]
fn wrong_length(given: usize, wanted: usize) -> ! {
    panic!("{given} bytes are no message of this topic, which has {wanted}");
}
