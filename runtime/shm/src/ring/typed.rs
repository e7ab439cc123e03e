//! Plain data in and out of a lane, by copy.

use std::mem::MaybeUninit;

use super::{Consumer, Full, Memory, Plain, Producer, Received, Taken, copy, payload_word};
use crate::sync::AtomicU64;

impl<M: Memory> Producer<M> {
    /// Sends a message and returns its sequence number; gives it back when there is no room.
    ///
    /// # Panics
    /// When the lane's slots are too small for `T`: the caller chose both.
    #[inline(always)]
    pub fn try_send<T: Plain>(&mut self, message: T, sent_ns: u64) -> Result<u64, Full<T>> {
        self.try_send_from(&message, sent_ns).map_err(|Full(())| Full(message))
    }

    /// As [`try_send`](Self::try_send), from where the message stands: spares large ones a move.
    #[inline(always)]
    pub(crate) fn try_send_from<T: Plain>(&mut self, message: &T, sent_ns: u64) -> Result<u64, Full<()>> {
        let fill = |slot: &[AtomicU64]| copy::store(&slot[payload_word(align_of::<T>())..], message.as_bytes());
        self.send_with(sent_ns, fill).ok_or(Full(()))
    }
}

impl<M: Memory> Consumer<M> {
    /// The next message, or `None` when it has not been sent yet; see [`take`](Self::take).
    ///
    /// # Panics
    /// When the lane's slots are too small for `T`: the caller chose both.
    #[inline(always)]
    pub fn try_recv<T: Plain>(&mut self) -> Option<Received<T>> {
        let mut message = MaybeUninit::<T>::uninit();
        let taken = self.take_into(&mut message)?;
        // SAFETY: `take` returned a message, so it called the function, which initialized all bytes, and every pattern of
        // bytes is a `T`.
        let message = unsafe { message.assume_init() };
        Some(Received { message, sequence: taken.sequence, sent_ns: taken.sent_ns, publisher: 0 })
    }

    /// Copies the next message to `message`, which is initialized when this returns `Some`.
    #[inline(always)]
    pub(crate) fn take_into<T: Plain>(&mut self, message: &mut MaybeUninit<T>) -> Option<Taken> {
        self.take(|slot| copy::load(&slot[payload_word(align_of::<T>())..], copy::bytes_of(message)))
    }
}
