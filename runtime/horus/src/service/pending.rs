//! A call that was asked and not answered yet: its handle.

use super::calls::Handle;
use super::{CallError, Client};
use crate::topic::Payload;

/// A call that is on its way. Dropping it gives the call up: what comes of its answer is dropped and counted ([`Client::late`]).
#[must_use = "dropping it gives the call up"]
#[derive(Debug)]
pub struct Pending {
    pub(super) handle: Handle,
    /// Which of the client's servers was asked.
    pub(super) server: usize,
    pub(super) is_over: bool,
}

/// What there is of an answer that has several messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<T> {
    /// Nothing new yet.
    Nothing,
    /// The next message.
    Next(T),
    /// All of them were told.
    End,
}

impl Pending {
    /// Looks for the answer, and does not wait. `None` means: not yet. Of an answer of several messages it gives one after the other, and
    /// cannot tell which one is the last; see [`try_part`](Self::try_part).
    ///
    /// Allocates nothing for an answer that is a message, takes no lock, makes no system call. That a server was killed a client of a node is
    /// told within about 0.3 s, by the thread beside the loops. One outside of nodes asks by [`Client::check_server`].
    ///
    /// # Errors
    /// Those of [`CallError`] that say why no answer will come.
    pub fn try_answer<Q, A>(&mut self, client: &mut Client<Q, A>) -> Result<Option<A::Owned>, CallError>
    where
        Q: Payload + ?Sized,
        A: Payload + ?Sized,
    {
        match self.try_part(client)? {
            Part::Next(message) => Ok(Some(message)),
            Part::Nothing => Ok(None),
            Part::End => Err(CallError::Over { service: client.service().into() }),
        }
    }

    /// As [`try_answer`](Self::try_answer), for answers of several messages.
    ///
    /// # Errors
    /// As there. An answer that breaks off ends with the reason, after the messages that came.
    pub fn try_part<Q, A>(&mut self, client: &mut Client<Q, A>) -> Result<Part<A::Owned>, CallError>
    where
        Q: Payload + ?Sized,
        A: Payload + ?Sized,
    {
        client.look(self)
    }
}
