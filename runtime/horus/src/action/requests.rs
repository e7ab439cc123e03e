//! Where the server of an action gets requests from: a service of its own, or one that is an input of a node.

use std::time::Duration;

use crate::service::{Answer, NodeServer, Server, Ticket};
use crate::time::MonotonicTime;
use crate::topic::{Payload, Waitable};

/// The answering end of a service, outside of nodes or in one.
pub(crate) enum Requests<Q: Payload + ?Sized, A: Payload + ?Sized> {
    Outside(Server<Q, A>),
    InNode(NodeServer<Q, A>),
}

impl<Q: Payload + ?Sized, A: Payload + ?Sized> Requests<Q, A> {
    /// Has `handler` answer the next request; false when there is none.
    pub fn serve(&mut self, handler: impl FnOnce(Q::Message<'_>, Answer<'_, A>)) -> bool {
        match self {
            Self::Outside(server) => server.serve(Duration::ZERO, handler),
            Self::InNode(server) => server.serve(handler),
        }
    }

    pub fn answer(&mut self, ticket: Ticket) -> Answer<'_, A> {
        match self {
            Self::Outside(server) => server.answer(ticket),
            Self::InNode(server) => server.answer(ticket),
        }
    }

    pub fn clients(&self) -> usize {
        match self {
            Self::Outside(server) => server.clients(),
            Self::InNode(server) => server.clients(),
        }
    }

    /// The most bytes of an answer.
    pub fn answer_bytes(&self) -> usize {
        match self {
            Self::Outside(server) => server.answer_bytes(),
            Self::InNode(server) => server.answer_bytes(),
        }
    }

    pub fn undelivered(&self) -> u64 {
        match self {
            Self::Outside(server) => server.undelivered(),
            Self::InNode(server) => server.undelivered(),
        }
    }

    /// What it is: in a node when its cycle woke up, so that a virtual world tells its own time.
    pub fn now(&self) -> MonotonicTime {
        match self {
            Self::Outside(_) => MonotonicTime::now(),
            Self::InNode(server) => server.sees_until(),
        }
    }

    /// For waiting; nothing in a node, which does not wait.
    pub fn waitable(&mut self) -> Option<Waitable<'_>> {
        match self {
            Self::Outside(server) => Some(server.waitable()),
            Self::InNode(_) => None,
        }
    }
}
