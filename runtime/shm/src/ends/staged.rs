//! Messages that are written in the topic before they may be seen, and released together: what a node's outputs are built on.
//!
//! See [`NotStaged`] and the ring's `stage` for what a staged message is. While some are staged, the publication sends nothing else:
//! a debug build says so.

use super::whole::{FIRST_WORD, check};
use super::{Payload, Publication};
use crate::ring::{NotStaged, Plain, copy, payload_word};

impl Publication {
    /// Writes a message of the topic's size in its place, behind those that are staged. No reader sees it yet.
    ///
    /// Wait-free; no allocation and no system call.
    ///
    /// # Errors
    /// When there is no room for it.
    ///
    /// # Panics
    /// When messages of the topic have fewer bytes. That they have as many is the caller's to see to.
    #[inline(always)]
    pub fn stage<T: Plain>(&mut self, message: &T) -> Result<(), NotStaged> {
        self.producer().stage_with(|slot| copy::store(&slot[payload_word(align_of::<T>())..], message.as_bytes()))
    }

    /// As [`stage`](Self::stage), for who knows a message's type only as bytes.
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// When there are more or fewer than [`payload`](Self::payload) says.
    #[inline]
    pub fn stage_whole(&mut self, message: &[u8]) -> Result<(), NotStaged> {
        check(message.len(), self.payload());
        self.producer().stage_with(|slot| copy::sized::store(&slot[FIRST_WORD..], message))
    }

    /// As [`stage_whole`](Self::stage_whole), for messages of any alignment; of a message of bytes, its length and what is behind it
    /// ([`whole`](super::bytes::whole)).
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// As there.
    pub fn stage_payload(&mut self, message: &[u8]) -> Result<(), NotStaged> {
        let Payload { bytes, align } = self.payload();
        assert_eq!(message.len(), bytes, "bytes of a message of this topic");
        self.producer().stage_with(|slot| copy::store(&slot[payload_word(align)..], message))
    }

    /// Makes what is staged visible, each message stamped `sent_ns`, and wakes who sleeps; returns how many there were.
    #[inline]
    pub fn release_staged(&mut self, sent_ns: u64) -> u64 {
        let released = self.producer().release(sent_ns);
        if released > 0 {
            self.wake_sleepers();
        }
        released
    }

    /// Forgets what is staged; returns how many messages that was. No reader has seen them.
    pub fn take_back_staged(&mut self) -> u64 {
        self.producer().take_back()
    }
}
