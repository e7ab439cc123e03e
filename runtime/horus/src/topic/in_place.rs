//! Messages where they lie in shared memory: written by a publisher, or read by a subscriber.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use horus_shm::ends::place;

use super::now_if;
use crate::message::Message;

/// The place of a message that is being written, as if it were the message; dropped without
/// [`publish`](Self::publish), it was never sent, but on a full `latest` topic the oldest message is given up for it.
#[must_use = "a loan that is not published sends nothing"]
pub struct Loan<'a, M: Message> {
    pub(super) loan: place::Loan<'a>,
    pub(super) is_stamping: bool,
    pub(super) _message: PhantomData<fn(M)>,
}

impl<M: Message> Loan<'_, M> {
    /// Sends the message.
    pub fn publish(self) {
        self.loan.publish(now_if(self.is_stamping));
    }
}

/// Why bytes of a place are always a message: the topic was opened for messages of this size and alignment.
const IS_A_MESSAGE: &str = "a place has the size and the alignment of its message";

impl<M: Message> Deref for Loan<'_, M> {
    type Target = M;

    fn deref(&self) -> &M {
        M::ref_from_bytes(&self.loan).expect(IS_A_MESSAGE)
    }
}

impl<M: Message> DerefMut for Loan<'_, M> {
    fn deref_mut(&mut self) -> &mut M {
        M::mut_from_bytes(&mut self.loan).expect(IS_A_MESSAGE)
    }
}

/// A received message in its place, as if it were the message; the next one can be received when this one is dropped.
pub struct Sample<'a, M: Message> {
    pub(super) sample: place::Sample<'a>,
    pub(super) _message: PhantomData<fn() -> M>,
}

impl<M: Message> Sample<'_, M> {
    /// Its number in its publisher's lane.
    pub fn sequence(&self) -> u64 {
        self.sample.sequence()
    }

    /// When it was sent, in nanoseconds on this process's CLOCK_MONOTONIC; zero when the sender gave no time.
    pub fn sent_ns(&self) -> u64 {
        self.sample.sent_ns()
    }

    /// Number of the lane that it came by.
    pub fn publisher(&self) -> usize {
        self.sample.publisher()
    }
}

impl<M: Message> Deref for Sample<'_, M> {
    type Target = M;

    fn deref(&self) -> &M {
        M::ref_from_bytes(&self.sample).expect(IS_A_MESSAGE)
    }
}
