//! The asking end of a service.

mod end;
mod watch;

use std::borrow::Borrow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::end::End;
pub(crate) use self::watch::Watch;
use super::figures::{self, ClientFigures, Telling};
use super::{CallError, MAX_CALLS, Options, Part, Pending, SERVERS, clients_of, real, shared};
use crate::message::Message;
use crate::topic::{IntoTopicName, OpenError, Payload, Publisher, Sendable, Waitable, wait_any};

/// How often a caller that waits asks the kernel whether the server lives.
const LOOK: Duration = Duration::from_millis(10);

/// The asking end of a service, whose requests are of the kind `Q` and whose answers are of the kind `A`: see the
/// [table](crate::topic::payload) of kinds.
pub struct Client<Q: Payload + ?Sized, A: Payload + ?Sized> {
    service: Arc<str>,
    /// One towards each server that there may be.
    ends: Box<[End<Q, A>]>,
    /// Tells observers what it counts. Of a service that servers share it says so to those who open it otherwise.
    telling: Telling,
    /// The server that is asked next, of those that have as little to do.
    next: usize,
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
        let name = name.as_str();
        let open = |service: &str| End::open(service, request, answer, options);
        let telling = |topic: &str, shape| Publisher::<[u8]>::open_as(real(topic)?, shape, options.figures());
        let (telling, ends): (_, Box<[_]>) = match options.is_shared() {
            false => {
                let end = open(name)?;
                (telling(&clients_of(name), figures::CLIENT)?, [end].into())
            }
            true => {
                let telling = telling(name, figures::SHARED)?;
                let ends = (0..SERVERS).map(|server| open(&shared::service_of(name, server)));
                (telling, ends.collect::<Result<_, _>>()?)
            }
        };
        Ok(Self { service: name.into(), ends, telling: Telling::begin(telling), next: 0 })
    }

    /// Its requests are not stamped with the time.
    pub(crate) fn unstamped(mut self) -> Self {
        self.ends.iter_mut().for_each(|end| end.is_stamping = false);
        self
    }

    /// For a thread beside the loop that looks whether its servers live.
    pub(crate) fn watches(&mut self) -> Vec<Watch> {
        self.ends.iter_mut().map(End::watch).collect()
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
            Err(CallError::Full { .. }) if self.reap() > 0 => self.ask_value(request),
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
            let end = &mut self.ends[pending.server];
            if end.is_blocked() {
                // What is there wakes at once, and has no place until another call of this client is looked at.
                std::thread::park_timeout(left.min(LOOK));
                if !end.check_server()? {
                    return Err(CallError::Died { service: self.service.clone() });
                }
            } else if !end.answers.wait(left.min(LOOK)) {
                end.check_server()?;
            }
        }
    }

    /// Asks, and does not wait: the handle is asked for the answer later.
    ///
    /// Wait-free; allocates nothing (but what serializing a value allocates), takes no lock, makes no system call unless the server went to
    /// sleep. So it does not know whether there is a server. In a node the handle tells within about 0.3 s that there is none; elsewhere
    /// [`check_server`](Self::check_server) does.
    ///
    /// # Errors
    /// [`CallError::TooMany`], [`CallError::Full`], [`CallError::NotSent`]. [`CallError::NotServed`] where servers share the service, and where it is
    /// known that no server lives and the last one left requests that fill the room.
    pub fn ask(&mut self, request: impl Sendable<Q>) -> Result<Pending, CallError> {
        self.ask_value(request.value())
    }

    fn ask_value(&mut self, request: &Q::Value) -> Result<Pending, CallError> {
        self.ends.iter_mut().for_each(|end| _ = end.take_in());
        self.tell();
        let Self { service, ends, next, .. } = self;
        if let [end] = &mut **ends {
            return end.ask(service, 0, request);
        }
        let mut error = CallError::NotServed { service: service.clone() };
        // At most once each: the one that has the fewest calls first, and of several the next one in turn.
        let mut tried = [false; SERVERS];
        while let Some(server) = shared::choose(*next, |server| {
            let end = ends.get(server).filter(|end| end.is_served && !tried[server])?;
            Some(end.waiting())
        }) {
            tried[server] = true;
            match ends[server].ask(service, server, request) {
                Ok(pending) => {
                    *next = (server + 1) % SERVERS;
                    return Ok(pending);
                }
                Err(CallError::TooMany { .. }) => {
                    error = CallError::TooMany { service: service.clone(), calls: MAX_CALLS };
                }
                Err(full @ CallError::Full { .. }) => error = full,
                Err(other) => return Err(other),
            }
        }
        Err(error)
    }

    fn reap(&mut self) -> usize {
        self.ends.iter_mut().map(|end| end.requests.reap_dead_subscribers()).sum()
    }

    /// Waits for a message from a server, at most `limit`; false when the time is up. Which call it is for, `try_answer` says.
    pub fn wait(&mut self, limit: Duration) -> bool {
        match &mut *self.ends {
            [end] => end.answers.wait(limit),
            ends => {
                wait_any(&mut ends.iter_mut().map(|end| end.answers.waitable()).collect::<Vec<_>>(), limit).is_some()
            }
        }
    }

    /// For waiting for this and others, where one server alone serves it.
    pub(crate) fn waitable(&mut self) -> Waitable<'_> {
        self.ends[0].answers.waitable()
    }

    /// The most bytes of a request.
    pub(crate) fn request_bytes(&self) -> usize {
        self.ends[0].requests.message_bytes()
    }

    /// Takes servers that died off the topic of requests; whether there was one. Makes system calls.
    pub(crate) fn reap_dead_servers(&mut self) -> bool {
        self.reap() > 0
    }

    /// Its lane among the clients, and the number that its next request has there, where one server alone serves it.
    pub(crate) fn next_place(&self) -> (usize, u64) {
        (self.ends[0].requests.lane(), self.ends[0].requests.position())
    }

    /// Asks the kernel whether a server lives; the unanswered calls of one that does not get their error. For callers of `try_answer` outside
    /// of a node: it makes system calls. A client in a node needs it not.
    ///
    /// # Errors
    /// When one of the service's topics cannot be used any longer.
    pub fn check_server(&mut self) -> Result<bool, CallError> {
        let mut is_served = false;
        for end in &mut self.ends {
            is_served |= end.check_server()?;
        }
        Ok(is_served)
    }

    /// Whether a living program serves it. Makes system calls.
    ///
    /// # Errors
    /// When one of the service's topics cannot be used any longer.
    pub fn is_served(&mut self) -> Result<bool, CallError> {
        let mut is_served = false;
        for end in &mut self.ends {
            is_served |= end.ask_kernel()?;
        }
        Ok(is_served)
    }

    /// Waits, at most `limit`, until a living program serves it; false when the time is up.
    ///
    /// # Errors
    /// When one of the service's topics cannot be used any longer.
    pub fn wait_until_served(&mut self, limit: Duration) -> Result<bool, CallError> {
        let started = Instant::now();
        loop {
            if self.is_served()? {
                return Ok(true);
            }
            if started.elapsed() >= limit {
                return Ok(false);
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// Takes an answer that is not needed any more: a later one uses its memory. So answers that are bytes allocate nothing, either.
    pub fn give_back(&mut self, answer: A::Owned) {
        let fewest = self.ends.iter_mut().min_by_key(|end| end.spare.len());
        if let Some(end) = fewest.filter(|end| end.spare.len() < MAX_CALLS) {
            end.spare.push(answer);
        }
    }

    /// Name of the service.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Whether several servers may share it: what [`Options::shared`] said.
    pub fn is_shared(&self) -> bool {
        self.ends.len() > 1
    }

    /// Messages for calls that were given up, so far.
    pub fn late(&self) -> u64 {
        self.ends.iter().map(End::late).sum()
    }

    /// Calls that are unanswered.
    pub fn unanswered(&self) -> usize {
        self.ends.iter().map(End::waiting).sum()
    }

    pub(super) fn look(&mut self, pending: &mut Pending) -> Result<Part<A::Owned>, CallError> {
        let over = || Err(CallError::Over { service: self.service.clone() });
        if pending.is_over {
            return over();
        }
        let Some(end) = self.ends.get_mut(pending.server) else { return over() };
        let (part, is_over) = end.look(&self.service, pending);
        pending.is_over = is_over;
        self.tell();
        part
    }

    #[inline]
    fn tell(&mut self) {
        self.telling.tell(ClientFigures { late: self.late() }.words());
    }
}
