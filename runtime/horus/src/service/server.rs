//! The answering end of a service.

use std::borrow::Borrow;
use std::time::{Duration, Instant};

use super::answer::Answers;
use super::figures::ServerFigures;
use super::tag::{Kind, Tag};
use super::{Answer, Options, Place, ServeError, Ticket, answers_of, mismatch, real};
use crate::message::Message;
use crate::topic::{IntoTopicName, OpenError, Payload, Publisher, Subscriber, Waitable};

/// How often a client that had no room is looked at again.
const LOOK: Duration = Duration::from_millis(10);
/// No clock is asked for a limit beyond this.
const FAR: Duration = Duration::from_secs(1 << 30);

/// The answering end of a service. There is one at a time, unless all say [`Options::shared`].
pub struct Server<Q: Payload + ?Sized, A: Payload + ?Sized> {
    service: String,
    // In this order they are dropped. A client that finds its answers published can be sure that its request is received, and a server that
    // has the seat can be sure that no other receives the requests that it receives.
    answers: Answers<A>,
    requests: Subscriber<Q>,
    place: Place,
    taken: u64,
}

impl<Q: Message, A: Message> Server<Q, A> {
    /// Becomes the server of `service`. It gets the requests that are sent from then on.
    ///
    /// # Errors
    /// [`ServeError`]: another server lives, other types under the same name, no permission.
    pub fn open(service: impl IntoTopicName, options: impl Borrow<Options>) -> Result<Self, ServeError> {
        Self::open_as(service, (), (), options)
    }
}

impl<Q: Payload + ?Sized, A: Payload + ?Sized> Server<Q, A> {
    /// As [`open`](Server::open), for every kind: what both ends say of the requests and of the answers.
    ///
    /// # Errors
    /// As there.
    pub fn open_as(
        service: impl IntoTopicName,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: impl Borrow<Options>,
    ) -> Result<Self, ServeError> {
        let name = service.into_topic_name().map_err(OpenError::from)?;
        let options = options.borrow();
        let place = Place::take::<Q, A>(name.as_str(), request, answer, options)?;
        let requests = Subscriber::<Q>::open_as(real(&place.service)?, request, options.requests())
            .map_err(|error| mismatch(name.as_str(), false, error))?;
        let begins: Vec<u64> = (0..requests.publishers()).map(|lane| requests.position_in(lane)).collect();
        let answers = open_answers(&place.service, answer, options, &begins)?;
        Ok(Self { service: name.as_str().to_owned(), answers, requests, place, taken: 0 })
    }

    /// Takes the next request, and has `handler` answer it; waits for one at most `limit`, as [`Options::wait_strategy`] says. False when
    /// the time is up. With a limit of zero it does not wait, and then it makes no system call either.
    pub fn serve(&mut self, limit: Duration, handler: impl FnOnce(Q::Message<'_>, Answer<'_, A>)) -> bool {
        let limit = self.idle(limit);
        let received = match limit.is_zero() {
            true => self.requests.try_recv(),
            false => self.requests.recv_timeout(limit),
        };
        let Some(received) = received else { return false };
        self.taken += 1;
        self.answers.took(received.publisher);
        let to = Ticket { lane: received.publisher, number: received.sequence };
        handler(received.message, Answer::new(&mut self.answers, to));
        true
    }

    /// Before a look for a request: tells what it counts, and clients what they had no room for; what is left of the limit.
    fn idle(&mut self, limit: Duration) -> Duration {
        if !self.requests.is_ready() {
            let Answers { ended, undelivered, .. } = self.answers;
            self.place.tell(ServerFigures { taken: self.taken, ended, undelivered });
        }
        self.tell_untold(limit)
    }

    /// Tells clients what they had no room for before, and waits for room while no request comes; what is left of the limit.
    fn tell_untold(&mut self, limit: Duration) -> Duration {
        if !self.answers.has_untold() {
            return limit;
        }
        let end = Instant::now() + limit.min(FAR);
        loop {
            self.answers.tell_untold();
            let left = end.saturating_duration_since(Instant::now());
            if !self.answers.has_untold() || left.is_zero() || self.requests.wait(left.min(LOOK)) {
                return if limit > FAR { limit } else { left };
            }
        }
    }

    /// Waits for a request, at most `limit`; false when the time is up.
    pub fn wait(&mut self, limit: Duration) -> bool {
        let limit = self.idle(limit);
        self.requests.wait(limit)
    }

    /// For waiting for this and others.
    pub(crate) fn waitable(&mut self) -> Waitable<'_> {
        self.requests.waitable()
    }

    /// Answers a request of before.
    pub fn answer(&mut self, ticket: Ticket) -> Answer<'_, A> {
        self.answers.tell_untold();
        Answer::new(&mut self.answers, ticket)
    }

    /// Name of the service.
    pub fn service(&self) -> &str {
        &self.service
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

/// Takes the lanes of all answers, and tells each client that a server starts here, which has not got the requests before `begins`.
pub(crate) fn open_answers<A: Payload + ?Sized>(
    service: &str,
    shape: A::Shape<'_>,
    options: &Options,
    begins: &[u64],
) -> Result<Answers<A>, ServeError> {
    let mut answers = Answers::with_room_for(begins.len());
    for (lane, number) in begins.iter().enumerate() {
        let mut opened = Publisher::<A>::open_as(&answers_of(service, lane), shape, options.answers())?;
        // A client that does not look has no room for it yet: it is told as soon as it has.
        let started = Tag { kind: Kind::Started, number: *number }.stamp(answers.ahead_ns);
        if !opened.try_send_blank(started) {
            answers.keep(lane, started);
        }
        answers.lanes.push(opened);
    }
    Ok(answers)
}

impl<A: Payload + ?Sized> Drop for Answers<A> {
    fn drop(&mut self) {
        let word = Tag { kind: Kind::Stopped, number: 0 }.stamp(self.ahead_ns);
        for lane in &mut self.lanes {
            // A forked child must not use them, and a topic that was cut off reaches no client.
            if lane.check().is_ok() {
                let _told = lane.try_send_blank(word);
            }
        }
    }
}
