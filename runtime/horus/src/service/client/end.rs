//! A client's ends of the topics of one server: its lane of requests, its answers, and its calls.

use std::sync::Arc;

use horus_sys::clock::ahead_of_machine_ns;

use super::watch::{Found, Seen, Watch};
use crate::service::calls::{Calls, Look, Lost};
use crate::service::pending::Pending;
use crate::service::tag::{Kind, Tag};
use crate::service::{CallError, MAX_CALLS, MAX_PARTS, Options, Part, answers_of, real};
use crate::topic::{OpenError, Payload, Publisher, Subscriber};

/// A client's ends towards one server.
pub(super) struct End<Q: Payload + ?Sized, A: Payload + ?Sized> {
    // In this order they are dropped: the lane goes last, so that its successor finds the place of its answers free.
    pub answers: Subscriber<A>,
    pub requests: Publisher<Q>,
    calls: Calls<A::Owned>,
    /// Answers that are not needed any more, whose memory is used again.
    pub spare: Vec<A::Owned>,
    pub is_stamping: bool,
    /// How far this process's clock is ahead of the machine's.
    ahead_ns: i64,
    /// Whether a server lives, as far as is known without asking the kernel: what it said, and what was found beside the loop.
    pub is_served: bool,
    /// What a thread beside the loop finds.
    beside: Option<Arc<Found>>,
    /// What of that is known here.
    known: Known,
}

/// What was taken of what a thread beside the loop found, and of what servers said.
#[derive(Default)]
struct Known {
    seen: Seen,
    /// How many servers have started.
    starts: u64,
    /// Whether one lived when this was opened, or started since calls were lost, or a server stopped, the last time.
    has_started: bool,
    /// The number of the next request when the last server stopped; none once another one started.
    stopped_at: Option<u64>,
}

impl<Q: Payload + ?Sized, A: Payload + ?Sized> End<Q, A> {
    /// The ends of the topics of `service`, by its real name.
    pub fn open(
        service: &str,
        request: Q::Shape<'_>,
        answer: A::Shape<'_>,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let name = real(service)?;
        let requests = Publisher::<Q>::open_as(&name, request, options.requests())?;
        let answers = answers_of(name.as_str(), requests.lane());
        let answers = Subscriber::<A>::open_as(&answers, answer, options.answers())?;
        let is_served = answers.is_published()?;
        let (calls, known) = (Calls::new(MAX_CALLS, MAX_PARTS), Known { has_started: is_served, ..Known::default() });
        let spare = Vec::with_capacity(MAX_CALLS);
        let (is_stamping, ahead_ns) = (true, ahead_of_machine_ns());
        Ok(Self { answers, requests, calls, spare, is_stamping, ahead_ns, is_served, beside: None, known })
    }

    /// For a thread beside the loop that looks whether the server lives.
    pub fn watch(&mut self) -> Watch {
        let found = Arc::new(Found::default());
        found.sent_all_before(self.requests.position());
        self.beside = Some(Arc::clone(&found));
        Watch::new(self.answers.path().to_owned(), found)
    }

    /// Whether messages may be there that have no place, since another call has not looked at what it has.
    pub fn is_blocked(&self) -> bool {
        !self.calls.can_take()
    }

    /// Calls that are unanswered.
    pub fn waiting(&self) -> usize {
        self.calls.waiting()
    }

    /// Messages for calls that were given up.
    pub fn late(&self) -> u64 {
        self.calls.late()
    }

    /// Sends a request. What came before was taken in.
    pub fn ask(&mut self, service: &Arc<str>, server: usize, request: &Q::Value) -> Result<Pending, CallError> {
        if !self.calls.has_room() {
            return Err(CallError::TooMany { service: service.clone(), calls: MAX_CALLS });
        }
        let number = self.requests.position();
        self.requests.try_send_value(request, self.is_stamping).map_err(|error| match Q::is_full(&error) {
            true if self.is_served => CallError::Full { service: service.clone(), requests: self.requests.capacity() },
            // What a dead server has not taken stands there until another one comes.
            true => CallError::NotServed { service: service.clone() },
            false => CallError::NotSent(error.to_string().into()),
        })?;
        if let Some(found) = &self.beside {
            found.sent_all_before(number + 1);
        }
        let handle = self.calls.begin(number).expect("there is room");
        Ok(Pending { handle, server, is_over: false })
    }

    /// Asks the kernel whether the server lives; if not, its unanswered calls get their error.
    pub fn check_server(&mut self) -> Result<bool, OpenError> {
        let is_served = self.ask_kernel()?;
        // The answers that it gave before count: those that have no place yet are looked at first.
        if !is_served && self.take_in() {
            let without = if self.known.has_started { Lost::Died } else { Lost::NotServed };
            self.calls.lose_before(u64::MAX, without);
            self.known.has_started = false;
        }
        Ok(is_served)
    }

    /// Asks the kernel whether the server lives.
    pub fn ask_kernel(&mut self) -> Result<bool, OpenError> {
        self.take_in(); // follows a topic that was remade
        self.is_served = self.answers.is_published()?;
        self.known.has_started |= self.is_served;
        Ok(self.is_served)
    }

    /// What there is of the answer to a call, and whether that is all of it.
    pub fn look(&mut self, service: &Arc<str>, pending: &Pending) -> (Result<Part<A::Owned>, CallError>, bool) {
        self.take_in();
        let service = || service.clone();
        match self.calls.look(&pending.handle) {
            Look::Nothing => (Ok(Part::Nothing), false),
            Look::Message(message, _) => (Ok(Part::Next(message)), false),
            Look::End => (Ok(Part::End), true),
            Look::Over => (Err(CallError::Over { service: service() }), true),
            Look::Lost(Lost::Died) => (Err(CallError::Died { service: service() }), true),
            Look::Lost(Lost::Stopped) => (Err(CallError::Stopped { service: service() }), true),
            Look::Lost(Lost::Unanswered) => (Err(CallError::Unanswered { service: service() }), true),
            Look::Lost(Lost::NotServed) => (Err(CallError::NotServed { service: service() }), true),
        }
    }

    /// Takes what came to the calls that it is for; whether that is all. What has no place yet stays in the topic.
    pub fn take_in(&mut self) -> bool {
        // What was found is looked at before the messages: a dead server has sent all that it will send.
        let seen = self.beside.as_ref().map(|found| found.seen());
        let starts = self.known.starts;
        let is_all = self.take_messages();
        if let Some(seen) = seen.filter(|seen| is_all && *seen != self.known.seen) {
            self.take_found(seen, self.known.starts > starts);
        }
        is_all
    }

    fn take_messages(&mut self) -> bool {
        while self.calls.can_take() {
            let Some(received) = self.answers.try_recv() else { return true };
            let Some(Tag { kind, number }) = Tag::of_stamp(received.sent_ns, self.ahead_ns) else {
                self.calls.count_late();
                continue;
            };
            match kind {
                Kind::Answer => self.calls.enter(number, A::owned_in(received, self.spare.pop()).message, true),
                Kind::Part => self.calls.enter(number, A::owned_in(received, self.spare.pop()).message, false),
                Kind::End => self.calls.end(number),
                Kind::Unanswered => self.calls.lose(number, Lost::Unanswered),
                Kind::Started => {
                    self.calls.lose_before(number, Lost::Died);
                    self.known.starts += 1;
                    (self.known.has_started, self.known.stopped_at, self.is_served) = (true, None, true);
                }
                Kind::Stopped => {
                    self.calls.lose_before(u64::MAX, Lost::Stopped);
                    self.known.stopped_at = Some(self.requests.position());
                    (self.known.has_started, self.is_served) = (false, false);
                }
            }
        }
        false
    }

    /// A thread beside the loop found that a server died, that none came, or that one is there.
    #[cold]
    fn take_found(&mut self, seen: Seen, has_just_started: bool) {
        let before = std::mem::replace(&mut self.known.seen, seen);
        if seen.deaths > before.deaths || seen.unserved > before.unserved {
            // What was sent after a server said that it stops, it has not got.
            self.calls.lose_before(seen.died.min(self.known.stopped_at.unwrap_or(u64::MAX)), Lost::Died);
            let without = if self.known.has_started { Lost::Died } else { Lost::NotServed };
            self.calls.lose_before(seen.died.max(seen.unserved), without);
            (self.known.has_started, self.is_served) = (false, has_just_started);
        }
        self.is_served |= seen.appeared > before.appeared;
    }
}
