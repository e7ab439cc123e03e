//! Messages where they lie in shared memory: written by a publisher, or read by a subscriber.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use horus_shm::ends::place;

use super::{InPlace, now_if};

/// The place of a message that is being written, as if it were the message; dropped without
/// [`publish`](Self::publish), it was never sent, but on a full `latest` topic the oldest message is given up for it.
#[must_use = "a loan that is not published sends nothing"]
pub struct Loan<'a, P: InPlace + ?Sized> {
    pub(super) loan: place::Loan<'a>,
    is_stamping: bool,
    _kind: PhantomData<fn(&P)>,
}

impl<'a, P: InPlace + ?Sized> Loan<'a, P> {
    pub(super) fn new(loan: place::Loan<'a>, is_stamping: bool) -> Self {
        Self { loan, is_stamping, _kind: PhantomData }
    }

    /// Sends the message.
    pub fn publish(self) {
        self.loan.publish(now_if(self.is_stamping));
    }
}

impl<P: InPlace + ?Sized> Deref for Loan<'_, P> {
    type Target = P::Value;

    fn deref(&self) -> &P::Value {
        P::value(&self.loan)
    }
}

impl<P: InPlace + ?Sized> DerefMut for Loan<'_, P> {
    fn deref_mut(&mut self) -> &mut P::Value {
        P::value_mut(&mut self.loan)
    }
}

/// A received message in its place, as if it were the message; the next one can be received when this one is dropped.
pub struct Sample<'a, P: InPlace + ?Sized> {
    sample: place::Sample<'a>,
    _kind: PhantomData<fn(&P)>,
}

impl<'a, P: InPlace + ?Sized> Sample<'a, P> {
    pub(super) fn new(sample: place::Sample<'a>) -> Self {
        Self { sample, _kind: PhantomData }
    }

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

impl<P: InPlace + ?Sized> Deref for Sample<'_, P> {
    type Target = P::Value;

    fn deref(&self) -> &P::Value {
        P::value(&self.sample)
    }
}
