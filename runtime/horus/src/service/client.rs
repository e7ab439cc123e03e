//! The asking end of a service.

use std::borrow::Borrow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::calls::{Calls, Look, Lost};
use super::tag::{Kind, Tag};
use super::{CallError, MAX_CALLS, MAX_PARTS, Options, Part, Pending, answers_of};
use crate::message::Message;
use crate::topic::{IntoTopicName, OpenError, Payload, Publisher, Sendable, Subscriber};

/// How often a caller that waits asks the kernel whether the server lives.
const LOOK: Duration = Duration::from_millis(10);

/// The asking end of a service, whose requests are of the kind `Q` and whose answers are of the kind `A`: see the
/// [table](crate::topic::payload) of kinds.
pub struct Client<Q: Payload + ?Sized, A: Payload + ?Sized> {
    service: Arc<str>,
    // In this order they are dropped: the lane goes last, so that its successor finds the place of its answers free.
    answers: Subscriber<A>,
    requests: Publisher<Q>,
    calls: Calls<A::Owned>,
    is_stamping: bool,
}

impl<Q: Message, A: Message> Client<Q, A> {
    /// Becomes a client of `service`. It may come before its server.
    ///
    /// # Errors
    /// [`OpenError`]: other types under the same name, more clients than the service has room for, no permission.
    pub fn open(service: impl IntoTopicName, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        Self::open_as(service, (), (), options)
    }
}

impl<Q: Payload + ?Sized, A: Payload + ?Sized> Client<Q, A> {
    /// As [`open`](Client::open), for every kind: what both ends say of the requests and of the answers.
    ///
    /// # Errors
    /// As there.
    pub fn open_as(
        service: impl IntoTopicName,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: impl Borrow<Options>,
    ) -> Result<Self, OpenError> {
        let (name, options) = (service.into_topic_name()?, options.borrow());
        let requests = Publisher::<Q>::open_as(&name, request, options.requests())?;
        let answers = answers_of(name.as_str(), requests.lane());
        let answers = Subscriber::<A>::open_as(&answers, answer, options.answers())?;
        let calls = Calls::new(MAX_CALLS, MAX_PARTS);
        Ok(Self { service: name.as_str().into(), answers, requests, calls, is_stamping: true })
    }

    /// Its requests are not stamped with the time.
    pub(crate) fn unstamped(mut self) -> Self {
        self.is_stamping = false;
        self
    }

    /// Asks, and waits for the answer at most `limit`, as [`Options::wait_strategy`] says. Of an answer of several messages it is the first one.
    ///
    /// # Errors
    /// Each of [`CallError`] but `Over`. A service without a server is one at once, and a server that dies is one within about 10 ms.
    pub fn call(&mut self, request: impl Sendable<Q>, limit: Duration) -> Result<A::Owned, CallError> {
        let started = Instant::now();
        if !self.is_served()? {
            return Err(CallError::NotServed { service: self.service.clone() });
        }
        let request = request.value();
        let mut pending = match self.ask_value(request) {
            // What a dead server holds, the living one does not wait for.
            Err(CallError::Full { .. }) if self.requests.reap_dead_subscribers() > 0 => self.ask_value(request),
            asked => asked,
        }?;
        loop {
            if let Some(answer) = pending.try_answer(self)? {
                return Ok(answer);
            }
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(CallError::TimedOut { service: self.service.clone(), limit });
            }
            if !self.answers.wait(left.min(LOOK)) {
                self.check_server()?;
            }
        }
    }

    /// Asks, and does not wait: the handle is asked for the answer later.
    ///
    /// Wait-free; allocates nothing (but what serializing a value allocates), takes no lock, makes no system call unless the server went to
    /// sleep. So it does not know whether there is a server: [`check_server`](Self::check_server) does.
    ///
    /// # Errors
    /// [`CallError::TooMany`], [`CallError::Full`], [`CallError::NotSent`].
    pub fn ask(&mut self, request: impl Sendable<Q>) -> Result<Pending, CallError> {
        self.ask_value(request.value())
    }

    fn ask_value(&mut self, request: &Q::Value) -> Result<Pending, CallError> {
        self.take_in();
        if !self.calls.has_room() {
            return Err(CallError::TooMany { service: self.service.clone(), calls: MAX_CALLS });
        }
        let number = self.requests.position();
        self.requests.try_send_value(request, self.is_stamping).map_err(|error| match Q::is_full(&error) {
            true => CallError::Full { service: self.service.clone(), requests: self.requests.capacity() },
            false => CallError::NotSent(error.to_string().into()),
        })?;
        let handle = self.calls.begin(number).expect("there is room");
        Ok(Pending { handle, is_over: false })
    }

    /// Waits for a message from the server, at most `limit`; false when the time is up. Which call it is for, `try_answer` says.
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.answers.wait(limit)
    }

    /// Asks the kernel whether the server lives; if not, all unanswered calls get their error. For callers of `try_answer`, outside of a
    /// real-time loop: it makes system calls.
    ///
    /// # Errors
    /// When one of the service's topics cannot be used any longer.
    pub fn check_server(&mut self) -> Result<bool, CallError> {
        let is_served = self.is_served()?;
        if !is_served {
            // The answers that it gave before count.
            self.take_in();
            self.calls.lose_before(u64::MAX, Lost::Died);
        }
        Ok(is_served)
    }

    /// Whether a living program serves it. Makes system calls.
    ///
    /// # Errors
    /// When one of the service's topics cannot be used any longer.
    pub fn is_served(&mut self) -> Result<bool, CallError> {
        self.take_in(); // follows a topic that was remade
        Ok(self.answers.is_published()?)
    }

    /// Waits, at most `limit`, until a living program serves it; false when the time is up.
    ///
    /// # Errors
    /// When one of the service's topics cannot be used any longer.
    pub fn wait_until_served(&mut self, limit: Duration) -> Result<bool, CallError> {
        Ok(self.answers.wait_until_published(limit)?)
    }

    /// Name of the service.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Messages for calls that were given up, so far.
    pub fn late(&self) -> u64 {
        self.calls.late()
    }

    /// Calls that are unanswered.
    pub fn unanswered(&self) -> usize {
        self.calls.waiting()
    }

    pub(super) fn look(&mut self, pending: &mut Pending) -> Result<Part<A::Owned>, CallError> {
        self.take_in();
        let service = || self.service.clone();
        if pending.is_over {
            return Err(CallError::Over { service: service() });
        }
        let (part, is_over) = match self.calls.look(&pending.handle) {
            Look::Nothing => (Ok(Part::Nothing), false),
            Look::Message(message, _) => (Ok(Part::Next(message)), false),
            Look::End => (Ok(Part::End), true),
            Look::Over => (Err(CallError::Over { service: service() }), true),
            Look::Lost(Lost::Died) => (Err(CallError::Died { service: service() }), true),
            Look::Lost(Lost::Stopped) => (Err(CallError::Stopped { service: service() }), true),
            Look::Lost(Lost::Unanswered) => (Err(CallError::Unanswered { service: service() }), true),
        };
        pending.is_over = is_over;
        part
    }

    /// Takes what came to the calls that it is for. What has no place yet stays in the topic.
    fn take_in(&mut self) {
        let Self { answers, calls, .. } = self;
        while calls.can_take() {
            let Some(received) = answers.try_recv() else { break };
            let Some(Tag { kind, number }) = Tag::of(received.sent_ns) else {
                calls.count_late();
                continue;
            };
            match kind {
                Kind::Answer => calls.enter(number, A::owned(received).message, true),
                Kind::Part => calls.enter(number, A::owned(received).message, false),
                Kind::End => calls.end(number),
                Kind::Unanswered => calls.lose(number, Lost::Unanswered),
                Kind::Started => calls.lose_before(number, Lost::Died),
                Kind::Stopped => calls.lose_before(u64::MAX, Lost::Stopped),
            }
        }
    }
}
