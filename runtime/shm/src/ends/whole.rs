//! Messages that the caller knows only as bytes of a size: what typed ends of other languages are built on.
//!
//! They are described by a layout, so none is aligned to more than the largest number.
//! Unlike [`super::bytes`], where each message has a length of its own, all bytes are moved, and there are as many as the topic says.

use std::time::Duration;

use super::subscription::received;
use super::{Payload, Publication, Subscription};
use crate::ring::{AtOnce, Full, Received, copy, payload_word};
use crate::sync::{AtomicU64, Ordering};
use crate::wait::WaitStrategy;

/// A message was sent.
#[must_use = "who sleeps has to be woken"]
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Who is to be woken by [`Publication::ring`], if anybody.
    pub asleep: Option<u64>,
}

impl Publication {
    /// As [`try_send`](Self::try_send) for who knows a message's type only as bytes: all of them, as many as
    /// [`payload`](Self::payload) says.
    ///
    /// # Panics
    /// When there are more or fewer.
    #[inline]
    pub fn try_send_whole(&mut self, message: &[u8], sent_ns: u64) -> Result<u64, Full<()>> {
        check(message.len(), self.payload());
        if !copy::sized::is_short(message.len()) {
            return self.try_send_long(message, sent_ns);
        }
        self.send_with(sent_ns, |slot| copy::sized::store_short(&slot[FIRST_WORD..], message)).ok_or(Full(()))
    }

    /// Sends a message of zeros.
    pub fn try_send_zeros(&mut self, sent_ns: u64) -> Result<u64, Full<()>> {
        // Relaxed: the stamp behind it releases the words, as those of every message.
        let fill = |slot: &[AtomicU64]| slot[FIRST_WORD..].iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.send_with(sent_ns, fill).ok_or(Full(()))
    }

    /// As [`try_send_whole`](Self::try_send_whole) of so many bytes where that is short, and `None` where it is not and nothing was sent: where
    /// room has to be looked for. For callers who keep what the long way needs out of the short one. That messages have as many bytes is
    /// theirs to see to, and so is [`ring`](Self::ring).
    #[inline(always)]
    pub fn try_send_at_once<const BYTES: usize>(&mut self, message: &[u8; BYTES], sent_ns: u64) -> Option<Sent> {
        self.send_at_once(sent_ns, |slot| copy::store(&slot[FIRST_WORD..], message))?;
        Some(Sent { asleep: self.asleep() })
    }

    /// Apart, so that it costs short messages no registers.
    #[inline(never)]
    fn try_send_long(&mut self, message: &[u8], sent_ns: u64) -> Result<u64, Full<()>> {
        self.send_with(sent_ns, |slot| copy::store(&slot[FIRST_WORD..], message)).ok_or(Full(()))
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
        wait_strategy: WaitStrategy,
    ) -> Result<u64, Full<()>> {
        if let Ok(sequence) = self.try_send_whole(message, sent_ns) {
            return Ok(sequence);
        }
        self.wait_for_room(limit, wait_strategy, |this| this.try_send_whole(message, sent_ns).ok()).ok_or(Full(()))
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
        check(into.len(), self.payload());
        let (publisher, taken) =
            self.poll(|lane| lane.take(|slot| copy::sized::load_over(&slot[FIRST_WORD..], into)))?;
        Some(received(publisher, taken, ()))
    }

    /// As [`try_recv_whole`](Self::try_recv_whole) of so many bytes where that is short, and nothing where it is not: where several publish,
    /// none does yet, or the next message was overwritten. For callers who keep what the long way needs out of the short one. That messages
    /// have as many bytes is theirs to see to.
    #[inline(always)]
    pub fn try_recv_at_once<const BYTES: usize>(&mut self, into: &mut [u8; BYTES]) -> Option<Option<Received<()>>> {
        let lane = self.only_lane()?;
        match lane.take_at_once(&mut |slot| copy::load_over(&slot[FIRST_WORD..], into)) {
            AtOnce::Is(taken) => Some(taken.map(|taken| received(0, taken, ()))),
            AtOnce::NeedsCare => None,
        }
    }
}

/// Where the payload begins, for every alignment that a described message can have: that of the largest number.
pub(super) const FIRST_WORD: usize = payload_word(align_of::<u128>());

#[inline(always)]
pub(super) fn check(given: usize, payload: Payload) {
    debug_assert!(payload.align <= align_of::<u128>(), "no layout describes more");
    if given != payload.bytes {
        wrong(given, payload.bytes);
    }
}

#[cold]
#[inline(never)]
fn wrong(given: usize, bytes: usize) -> ! {
    panic!("{given} bytes are no message of this topic, which has {bytes}");
}
