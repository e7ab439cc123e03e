//! Answers, from the side of the server.

use horus_sys::clock::ahead_of_machine_ns;

use super::MAX_CALLS;
use super::tag::{Kind, Tag};
use crate::topic::{Full, Payload, Publisher, Sendable};

/// Who asked what: for a server that answers later ([`Server::answer`](super::Server::answer)).
///
/// If it is dropped, its client waits until its limit.
#[must_use = "its client waits for an answer"]
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub(super) lane: usize,
    pub(super) number: u64,
}

impl Ticket {
    /// The client's lane, and the number of its request there.
    pub(crate) fn place(&self) -> (usize, u64) {
        (self.lane, self.number)
    }

    /// Lane and number, for a language that keeps them.
    #[doc(hidden)]
    pub fn words(&self) -> [u64; 2] {
        [self.lane as u64, self.number]
    }

    /// The ticket that has these words. An answer to one that no server gave goes nowhere.
    #[doc(hidden)]
    pub fn of_words([lane, number]: [u64; 2]) -> Self {
        Self { lane: usize::try_from(lane).unwrap_or(usize::MAX), number }
    }
}

/// Most that is kept of what a client had no room for: an end of each call that it may have, and that a server started.
const UNTOLD: usize = MAX_CALLS + 1;

/// The server's ends of the topics of answers, by the lanes of the clients.
pub(crate) struct Answers<A: Payload + ?Sized> {
    pub(super) lanes: Vec<Publisher<A>>,
    pub(super) undelivered: u64,
    /// What says that an answer ended or will not come, and had no room yet: lanes and stamps. A client must not wait for it without an end.
    untold: Vec<(usize, u64)>,
    /// How far this process's clock is ahead of the machine's.
    pub(super) ahead_ns: i64,
    /// Requests that have their answer, or were told that there is none.
    pub(super) ended: u64,
    /// Of each client, the requests that have neither: their ends need room.
    open: Vec<usize>,
}

impl<A: Payload + ?Sized> Answers<A> {
    /// None yet, of so many clients.
    pub(super) fn with_room_for(clients: usize) -> Self {
        let untold = Vec::with_capacity(clients * UNTOLD);
        Self {
            lanes: Vec::with_capacity(clients),
            undelivered: 0,
            untold,
            ahead_ns: ahead_of_machine_ns(),
            ended: 0,
            open: vec![0; clients],
        }
    }

    /// A request of a client was taken.
    pub(super) fn took(&mut self, lane: usize) {
        if let Some(open) = self.open.get_mut(lane) {
            *open = (*open + 1).min(MAX_CALLS); // of a ticket that was dropped no end is told
        }
    }

    /// One of them has its end.
    fn end(&mut self, lane: usize) {
        self.ended += 1;
        if let Some(open) = self.open.get_mut(lane) {
            *open = open.saturating_sub(1);
        }
    }

    /// Keeps what a client has no room for, to be told later. Beyond the most that a client which looks can leave, it is dropped and counted.
    pub(super) fn keep(&mut self, lane: usize, stamp: u64) {
        let of_client = self.untold.iter().filter(|(other, _)| *other == lane).count();
        if of_client < UNTOLD {
            self.untold.push((lane, stamp));
        } else {
            self.undelivered += 1;
        }
    }

    pub(super) fn has_untold(&self) -> bool {
        !self.untold.is_empty()
    }

    /// Tells what has room by now.
    pub(super) fn tell_untold(&mut self) {
        let lanes = &mut self.lanes;
        self.untold.retain(|&(lane, stamp)| !lanes[lane].try_send_blank(stamp));
    }

    fn send(&mut self, to: &Ticket, kind: Kind, value: &A::Value) -> Result<(), A::NotSent> {
        let tag = Tag { kind, number: to.number };
        // Of the requests that are open, and of the server.
        let ends = self.open.get(to.lane).map_or(0, |open| open + 1);
        let sent = match self.lanes.get_mut(to.lane) {
            // Ends have room where parts have none: a node's server would tell them with the next request only.
            Some(lane) => match kind != Kind::Part || lane.has_room_for(1 + ends) {
                true => lane.try_send_value_stamped(value, tag.stamp(self.ahead_ns)),
                false => Err(Full(()).into()),
            },
            None => Ok(()), // a monitor's message: it waits for no answer
        };
        self.undelivered += u64::from(sent.is_err());
        if kind == Kind::Answer && sent.is_ok() {
            self.end(to.lane);
        }
        sent
    }

    fn tell(&mut self, to: &Ticket, kind: Kind) {
        self.end(to.lane);
        let Some(lane) = self.lanes.get_mut(to.lane) else { return };
        let stamp = Tag { kind, number: to.number }.stamp(self.ahead_ns);
        if !lane.try_send_blank(stamp) {
            self.keep(to.lane, stamp);
        }
    }
}

/// Where the answer to one request goes. If it is dropped without an answer, the caller is told that there is none
/// ([`CallError::Unanswered`](super::CallError::Unanswered)).
///
/// Sending never waits: wait-free, no allocation (but what serializing allocates), no lock, no system call unless the caller sleeps. What a caller
/// has no room for, because it does not look, is dropped and counted ([`Server::undelivered`](super::Server::undelivered)).
#[must_use = "dropping it tells the caller that there is no answer"]
pub struct Answer<'a, A: Payload + ?Sized> {
    answers: &'a mut Answers<A>,
    to: Ticket,
    is_over: bool,
}

impl<'a, A: Payload + ?Sized> Answer<'a, A> {
    pub(super) fn new(answers: &'a mut Answers<A>, to: Ticket) -> Self {
        Self { answers, to, is_over: false }
    }

    /// Answers, and is over.
    ///
    /// # Errors
    /// When the caller does not look at the answers that it has, or the answer is too long or cannot be serialized. The caller is told that there
    /// is no answer, if that has room.
    pub fn send(mut self, answer: impl Sendable<A>) -> Result<(), A::NotSent> {
        self.answers.send(&self.to, Kind::Answer, answer.value())?;
        self.is_over = true;
        Ok(())
    }

    /// Sends a part of the answer, and more may follow. [`end`](Self::end) ends it, or [`send`](Self::send) with the last part.
    ///
    /// # Errors
    /// As [`send`](Self::send). There is room for 15 messages at least that the caller has not looked at. When there is none, the part may be sent again
    /// later.
    pub fn part(&mut self, part: impl Sendable<A>) -> Result<(), A::NotSent> {
        self.answers.send(&self.to, Kind::Part, part.value())
    }

    /// Says that all parts were sent.
    pub fn end(mut self) {
        self.is_over = true;
        self.answers.tell(&self.to, Kind::End);
    }

    /// Done: who asked waits for no answer.
    pub(crate) fn unasked(mut self) {
        self.is_over = true;
        self.answers.end(self.to.lane);
    }

    /// Answers later, with the ticket.
    pub fn later(mut self) -> Ticket {
        self.is_over = true;
        let Ticket { lane, number } = self.to;
        Ticket { lane, number }
    }
}

impl<A: Payload + ?Sized> Drop for Answer<'_, A> {
    fn drop(&mut self) {
        if !self.is_over {
            self.answers.tell(&self.to, Kind::Unanswered);
        }
    }
}
