//! The messages of a subscriber, one after the other.

use std::ops::Deref;

use super::{Payload, Received, Subscriber};

/// The messages of a subscriber; see [`Subscriber::messages`].
pub struct Messages<'a, P: Payload + ?Sized>(pub(super) &'a mut Subscriber<P>);

impl<P: Payload + ?Sized> Iterator for Messages<'_, P> {
    type Item = Incoming<P::Owned>;

    fn next(&mut self) -> Option<Incoming<P::Owned>> {
        let received = P::owned(self.0.recv());
        Some(Incoming { received, missed: self.0.missed() })
    }
}

/// A message that came, as if it were the message, and what else is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming<M> {
    received: Received<M>,
    missed: u64,
}

impl<M> Incoming<M> {
    /// How many messages were overwritten before this subscriber got to them, since it joined.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// When it was sent, by whom and as which.
    pub fn received(&self) -> &Received<M> {
        &self.received
    }
}

impl<M> Deref for Incoming<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.received.message
    }
}
