//! The end of an action that sends goals.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::sent::{Progress, SentGoal};
use super::tracks::Tracks;
use super::wire::{CancelAnswer, CancelGoal, Carried, FeedbackHead, GONE, GoalHead, Letter, OutcomeHead, Sealed};
use super::{ActionError, GoalId, MAX_FEEDBACKS, Options, Outcome, cancels_of, feedback_of, goals_of};
use crate::message::Message;
use crate::service::{Client, MAX_CALLS, Pending};
use crate::time::MonotonicTime;
use crate::topic::{IntoTopicName, OpenError, Sendable, Subscriber, wait_any};

/// How often a caller that waits asks the kernel whether the server lives.
const LOOK: Duration = Duration::from_millis(10);
/// Feedbacks that one look takes in: a server that is faster must not hold it.
const MOST: usize = 4096;

/// The end of an action that sends goals of the kind `G`, and hears feedbacks of the kind `F` and results of the kind `R`.
///
/// In a node it is made by [`App::action_client`](crate::app::App::action_client). What does not wait allocates nothing (but what values and bytes
/// have), takes no lock, and makes no system call but to wake a server that sleeps.
///
/// When it is dropped, its goals that are not over have no client any more: the server's [`ClientGone`](super::ClientGone) says what becomes of
/// them.
pub struct ActionClient<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> {
    name: Arc<str>,
    pub(super) goals: Goals<G, R>,
    cancels: Client<CancelGoal, CancelAnswer>,
    feedback: Subscriber<Letter<FeedbackHead, F>>,
    pub(super) tracks: Tracks<F::Body>,
    /// What its goals' numbers begin with.
    number: u64,
    room: Sealed,
}

/// Who sends goals, and hears of their outcomes.
pub(super) type Goals<G, R> = Client<Letter<GoalHead, G>, Letter<OutcomeHead, R>>;

/// The three ends of which a client is made.
pub(crate) struct Ends<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> {
    pub goals: Goals<G, R>,
    pub cancels: Client<CancelGoal, CancelAnswer>,
    pub feedback: Subscriber<Letter<FeedbackHead, F>>,
}

/// A request to cancel; [`look`](Self::look) asks for its answer. It may be dropped: the goal's outcome says what became of it.
#[derive(Debug)]
pub struct CancelRequest(Pending);

impl CancelRequest {
    /// Looks for the answer, and does not wait. `None` means: not yet.
    ///
    /// # Errors
    /// Those of [`ActionError`] that say why no answer will come.
    pub fn look<G, F, R>(&mut self, client: &mut ActionClient<G, F, R>) -> Result<Option<CancelAnswer>, ActionError>
    where
        G: Carried + ?Sized,
        F: Carried + ?Sized,
        R: Carried + ?Sized,
    {
        self.0.try_answer(&mut client.cancels).map_err(|error| ActionError::of_call(error, &client.name))
    }
}

impl<G: Message, F: Message, R: Message> ActionClient<G, F, R> {
    /// Becomes a client of `action`. It may come before its server.
    ///
    /// # Errors
    /// [`OpenError`]: other types under the same name, more clients than the action has room for, no permission.
    pub fn open(action: impl IntoTopicName, options: impl Into<Options>) -> Result<Self, OpenError> {
        Self::open_as(action, (), (), (), options)
    }
}

impl<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> ActionClient<G, F, R> {
    /// As [`open`](ActionClient::open), for every kind: what both ends say of goals, feedbacks and results.
    ///
    /// # Errors
    /// As there.
    pub fn open_as(
        action: impl IntoTopicName,
        goal: G::Shape<'_>,
        feedback: F::Shape<'_>,
        result: R::Shape<'_>,
        options: impl Into<Options>,
    ) -> Result<Self, OpenError> {
        let (name, options) = (action.into_topic_name()?, options.into());
        let name = name.as_str();
        let ends = Ends {
            goals: Client::open_as(&goals_of(name), goal, result, options.service())?,
            cancels: Client::open(&cancels_of(name), options.service())?,
            feedback: Subscriber::open_as(&feedback_of(name), feedback, options.feedback())?,
        };
        // The same number twice among the clients of a machine is as likely as the same UUID.
        Ok(Self::assemble(name, ends, RandomState::new().hash_one((std::process::id(), MonotonicTime::now()))))
    }

    /// A client of these ends.
    pub(crate) fn assemble(name: &str, ends: Ends<G, F, R>, number: u64) -> Self {
        let Ends { goals, cancels, feedback } = ends;
        let (room, tracks) = (Sealed::of(goals.request_bytes()), Tracks::new(MAX_CALLS, MAX_FEEDBACKS));
        let mut client = Self { name: name.into(), goals, cancels, feedback, tracks, number, room };
        client.say_that_those_before_are_gone();
        client
    }

    /// Sends a goal, and does not wait: the handle is asked what becomes of it.
    ///
    /// It does not know whether there is a server: [`check_server`](Self::check_server) does.
    ///
    /// # Errors
    /// [`ActionError::TooMany`], [`ActionError::Full`], [`ActionError::NotSent`].
    pub fn send(&mut self, goal: impl Sendable<G>) -> Result<SentGoal<R>, ActionError> {
        self.send_value(goal.value())
    }

    /// As [`send`](Self::send), with a number of the caller's choice: for bridges.
    ///
    /// # Errors
    /// As there. A number that the server has seen is rejected.
    pub fn send_as(&mut self, id: GoalId, goal: impl Sendable<G>) -> Result<SentGoal<R>, ActionError> {
        self.send_value_as(id, goal.value())
    }

    fn send_value(&mut self, goal: &G::Value) -> Result<SentGoal<R>, ActionError> {
        let (_, number) = self.goals.next_place();
        self.send_value_as(GoalId::of(self.number, number), goal)
    }

    fn send_value_as(&mut self, id: GoalId, goal: &G::Value) -> Result<SentGoal<R>, ActionError> {
        let sealed = self.room.seal::<_, G>(&GoalHead { goal_id: id.0 }, Some(goal));
        let letter = sealed.map_err(|error| ActionError::NotSent(error.into()))?;
        let track = self.tracks.begin(id);
        let track = track.ok_or_else(|| ActionError::TooMany { action: Arc::clone(&self.name), goals: MAX_CALLS })?;
        let pending = self.goals.ask(letter).map_err(|error| ActionError::of_call(error, &self.name))?;
        Ok(SentGoal::new(id, pending, track))
    }

    /// Sends a goal and waits for its outcome, at most `limit`; calls `told` with each feedback. When the time is up, the goal is to be canceled.
    ///
    /// # Errors
    /// Each of [`ActionError`] but `Over`. An action without a server is one at once, and a server that dies is one within about 10 ms.
    pub fn act(
        &mut self,
        goal: impl Sendable<G>,
        limit: Duration,
        mut told: impl FnMut(F::Body),
    ) -> Result<Outcome<R::Body>, ActionError> {
        let started = Instant::now();
        if !self.is_served()? {
            return Err(ActionError::NotServed { action: Arc::clone(&self.name) });
        }
        let goal = goal.value();
        let mut sent = match self.send_value(goal) {
            // What a dead server holds, the living one does not wait for.
            Err(ActionError::Full { .. }) if self.goals.reap_dead_servers() => self.send_value(goal),
            sent => sent,
        }?;
        loop {
            let news = sent.look(self);
            let mut is_idle = false;
            match news.map_err(|error| self.given_up(&sent, error))? {
                Progress::Ended(outcome) => return Ok(outcome),
                Progress::Feedback(feedback) => told(feedback),
                Progress::Accepted => {}
                Progress::Nothing => is_idle = true,
            }
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                let _asked = self.cancel(sent.id());
                return Err(ActionError::TimedOut { action: Arc::clone(&self.name), limit });
            }
            if is_idle
                && !self.wait(left.min(LOOK))
                && let Err(error) = self.check_server()
            {
                return Err(self.given_up(&sent, error));
            }
        }
    }

    /// A goal that goes on, and that no caller looks at any more, is to be canceled.
    fn given_up(&mut self, sent: &SentGoal<R>, error: ActionError) -> ActionError {
        if !sent.is_over() {
            let _asked = self.cancel(sent.id());
        }
        error
    }

    /// Asks for a goal to be canceled, any client's, and does not wait.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn cancel(&mut self, id: GoalId) -> Result<CancelRequest, ActionError> {
        self.ask_to_cancel(CancelGoal { goal_id: id.0, ..CancelGoal::default() })
    }

    /// Asks for all goals to be canceled, and does not wait.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn cancel_all(&mut self) -> Result<CancelRequest, ActionError> {
        self.ask_to_cancel(CancelGoal::default())
    }

    /// Asks for all goals to be canceled that were accepted by `time`, and, if it is said, for another one; and does not wait.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn cancel_until(&mut self, time: MonotonicTime, id: Option<GoalId>) -> Result<CancelRequest, ActionError> {
        let goal_id = id.unwrap_or(GoalId::ZERO).0;
        self.ask_to_cancel(CancelGoal { goal_id, until_ns: time.as_nanos(), ..CancelGoal::default() })
    }

    fn ask_to_cancel(&mut self, request: CancelGoal) -> Result<CancelRequest, ActionError> {
        self.cancels.ask(request).map(CancelRequest).map_err(|error| ActionError::of_call(error, &self.name))
    }

    /// Waits for the answer to a request to cancel, at most `limit`.
    ///
    /// # Errors
    /// Those of [`ActionError`] that say why there is none.
    pub fn await_cancel(&mut self, mut asked: CancelRequest, limit: Duration) -> Result<CancelAnswer, ActionError> {
        let started = Instant::now();
        loop {
            if let Some(answer) = asked.look(self)? {
                return Ok(answer);
            }
            let left = limit.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(ActionError::CancelUnanswered { action: Arc::clone(&self.name), limit });
            }
            if !self.cancels.wait(left.min(LOOK)) {
                self.check_server()?;
            }
        }
    }

    /// Waits for news of goals from the server, at most `limit`; false when the time is up.
    pub fn wait(&mut self, limit: Duration) -> bool {
        wait_any(&mut [self.goals.waitable(), self.feedback.waitable()], limit).is_some()
    }

    /// Asks the kernel whether the server lives; if not, all goals that are not over get their error. Outside of a real-time loop: it makes system
    /// calls.
    ///
    /// # Errors
    /// When one of the action's topics cannot be used any longer.
    pub fn check_server(&mut self) -> Result<bool, ActionError> {
        let is_served = self.goals.check_server().map_err(|error| ActionError::of_call(error, &self.name))?;
        self.cancels.check_server().map_err(|error| ActionError::of_call(error, &self.name))?;
        Ok(is_served)
    }

    /// Whether a living program serves it. Makes system calls.
    ///
    /// # Errors
    /// When one of the action's topics cannot be used any longer.
    pub fn is_served(&mut self) -> Result<bool, ActionError> {
        let of_call = |error| ActionError::of_call(error, &self.name);
        Ok(self.goals.is_served().map_err(of_call)? && self.cancels.is_served().map_err(of_call)?)
    }

    /// Waits, at most `limit`, until a living program serves it; false when the time is up.
    ///
    /// # Errors
    /// When one of the action's topics cannot be used any longer.
    pub fn wait_until_served(&mut self, limit: Duration) -> Result<bool, ActionError> {
        let started = Instant::now();
        let of_call = |error| ActionError::of_call(error, &self.name);
        // A server opens goals first, and what it needs for them next.
        Ok(self.goals.wait_until_served(limit).map_err(of_call)?
            && self.cancels.wait_until_served(limit.saturating_sub(started.elapsed())).map_err(of_call)?)
    }

    /// Name of the action.
    pub fn action(&self) -> &str {
        &self.name
    }

    /// Goals that have no outcome yet.
    pub fn unended(&self) -> usize {
        self.goals.unanswered()
    }

    /// Messages of goals whose handle was dropped, so far.
    pub fn late(&self) -> u64 {
        self.goals.late()
    }

    /// Feedbacks that were overwritten before they were looked at: in the topic, which holds 64 of all goals, or here, where 16 of a goal wait.
    pub fn missed(&self) -> u64 {
        self.feedback.missed() + self.tracks.missed()
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Takes the feedbacks that came to the goals that they are of.
    pub(super) fn take_feedbacks(&mut self) -> Result<(), ActionError> {
        for _ in 0..MOST {
            let Some(received) = self.feedback.try_recv() else { break };
            let letter = received.message;
            let Some(place) = self.tracks.place_of(GoalId(letter.head.goal_id)) else { continue };
            let unreadable = |source| ActionError::Unreadable { action: Arc::clone(&self.name), source };
            self.tracks.enter(place, F::get(letter.body).map_err(unreadable)?);
        }
        Ok(())
    }

    /// Goals of this lane with lower numbers have no client any more: those of one that was killed, or, at its own end, its own.
    fn say_that_those_before_are_gone(&mut self) {
        // Not in a child that `fork` made, and not where no program serves.
        if !self.is_served().is_ok_and(|is_served| is_served) {
            return;
        }
        let (lane, before) = self.goals.next_place();
        let request = CancelGoal { before, lane: lane as u32, what: GONE, ..CancelGoal::default() };
        let _no_answer = self.cancels.ask(request);
    }
}

impl<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> Drop for ActionClient<G, F, R> {
    fn drop(&mut self) {
        self.say_that_those_before_are_gone();
    }
}
