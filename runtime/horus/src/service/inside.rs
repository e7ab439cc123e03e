//! The answering end of a service inside of a node: its requests are an input of the node.

use super::answer::{Answers, Ticket};
use super::figures::ServerFigures;
use super::{Answer, Place};
use crate::port::Input;
use crate::time::MonotonicTime;
use crate::topic::{Payload, Publisher};

/// The answering end of a service in a node, which [`App::server`](crate::app::App::server) makes.
///
/// Requests are an input of the node, so `.on("NAME")` releases it by them, its account counts them, and a virtual world holds them back as any
/// message. An answer leaves when the step sends it, and does not wait for the step's end.
pub struct NodeServer<Q: Payload + ?Sized, A: Payload + ?Sized> {
    // Dropped in this order, as those of a `Server`.
    answers: Answers<A>,
    requests: Input<Q>,
    place: Place,
    taken: u64,
}

impl<Q: Payload + ?Sized, A: Payload + ?Sized> NodeServer<Q, A> {
    pub(crate) fn new(requests: Input<Q>, answers: Answers<A>, place: Place) -> Self {
        Self { answers, requests, place, taken: 0 }
    }

    /// Has `handler` answer the next request; false when there is none. Allocates nothing but what reading and serializing a value does, takes no
    /// lock, and makes no system call but to wake a caller that sleeps.
    pub fn serve(&mut self, handler: impl FnOnce(Q::Message<'_>, Answer<'_, A>)) -> bool {
        self.answers.tell_untold();
        let Some(received) = self.requests.try_recv() else {
            let Answers { ended, undelivered, .. } = self.answers;
            self.place.tell(ServerFigures { taken: self.taken, ended, undelivered });
            return false;
        };
        self.taken += 1;
        self.answers.took(received.publisher);
        let to = Ticket { lane: received.publisher, number: received.sequence };
        handler(received.message, Answer::new(&mut self.answers, to));
        true
    }

    /// What it serves: the service, or its place in a shared one.
    pub(crate) fn service(&self) -> &str {
        &self.place.service
    }

    /// When the cycle woke up whose step this is.
    pub(crate) fn sees_until(&self) -> MonotonicTime {
        self.requests.sees_until()
    }

    /// Answers a request of before: of an earlier cycle, perhaps.
    pub fn answer(&mut self, ticket: Ticket) -> Answer<'_, A> {
        self.answers.tell_untold();
        Answer::new(&mut self.answers, ticket)
    }

    /// The most bytes of an answer.
    pub(crate) fn answer_bytes(&self) -> usize {
        self.answers.lanes.first().map_or(0, Publisher::message_bytes)
    }

    /// Clients that it has room for.
    pub fn clients(&self) -> usize {
        self.answers.lanes.len()
    }

    /// Messages that had no room, because their client did not look, or that could not be sent.
    pub fn undelivered(&self) -> u64 {
        self.answers.undelivered
    }
}
