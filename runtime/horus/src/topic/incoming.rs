//! The messages of a subscriber, one after the other.

use std::ops::Deref;

use super::{Received, Subscriber};
use crate::message::Message;

/// The messages of a subscriber; see [`Subscriber::messages`].
pub struct Messages<'a, M: Message>(pub(super) &'a mut Subscriber<M>);

impl<M: Message> Iterator for Messages<'_, M> {
    type Item = Incoming<M>;

    fn next(&mut self) -> Option<Incoming<M>> {
        let received = self.0.recv();
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
