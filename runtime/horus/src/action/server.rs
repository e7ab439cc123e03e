//! The end of an action that works on goals.

mod cancels;

use std::borrow::Borrow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::requests::Requests;
use super::roll::{Looker, Roll};
use super::status::{GoalEvent, GoalStatus};
use super::table::{Owner, Table};
use super::wire::{
    CancelAnswer, CancelGoal, Carried, FeedbackHead, GoalHead, GoalStatusArray, Letter, OutcomeHead, Sealed,
};
use super::{
    Cause, ClientGone, Goal, GoalError, GoalId, MAX_GOALS, Options, Reason, cancels_of, feedback_of, goals_of,
    status_of,
};
use crate::message::Message;
use crate::service::{MAX_CALLS, ServeError, Server, Ticket};
use crate::topic::{IntoTopicName, OpenError, Publisher, wait_any};

/// How often a server that waits asks the kernel which clients live.
const LOOK: Duration = Duration::from_millis(100);

/// What decides on goals.
type Accepts<G> = Box<dyn FnMut(&G) -> Result<(), Reason> + Send>;
/// What decides on requests to cancel.
type Cancels<G> = Box<dyn FnMut(&G) -> bool + Send>;

/// The end of an action that works on goals of the kind `G`, tells feedbacks of the kind `F`, and ends each goal with a result of the kind `R`.
/// There is one at a time.
///
/// In a node it is made by [`App::action`](crate::app::App::action). Its methods allocate nothing then (but what values and bytes have), take no
/// lock, and make no system call but to wake a client that sleeps.
pub struct ActionServer<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> {
    pub(super) name: Arc<str>,
    pub(super) goals: Requests<Letter<GoalHead, G>, Letter<OutcomeHead, R>>,
    pub(super) cancels: Requests<CancelGoal, CancelAnswer>,
    feedback: Publisher<Letter<FeedbackHead, F>>,
    status: Publisher<GoalStatusArray>,
    pub(super) table: Table<Kept<G>>,
    client_gone: ClientGone,
    accepts: Option<Accepts<G::Value>>,
    cancels_if: Option<Cancels<G::Value>>,
    roll: Arc<Roll>,
    /// Outside of nodes, who looks.
    looker: Option<(Looker, Instant)>,
    outcome: Sealed,
    told: Sealed,
}

/// What the server keeps of a goal.
pub(super) struct Kept<G: Carried + ?Sized> {
    pub body: G::Body,
    ticket: Ticket,
}

/// The four ends of which a server is made.
pub(crate) struct Ends<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> {
    pub goals: Requests<Letter<GoalHead, G>, Letter<OutcomeHead, R>>,
    pub cancels: Requests<CancelGoal, CancelAnswer>,
    pub feedback: Publisher<Letter<FeedbackHead, F>>,
    pub status: Publisher<GoalStatusArray>,
}

impl<G: Message, F: Message, R: Message> ActionServer<G, F, R> {
    /// Becomes the server of `action`. It gets the goals that are sent from then on.
    ///
    /// # Errors
    /// [`ServeError`]: another server lives, other types under the same name, no permission.
    pub fn open(action: impl IntoTopicName, options: impl Into<Options>) -> Result<Self, ServeError> {
        Self::open_as(action, (), (), (), options)
    }
}

impl<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> ActionServer<G, F, R> {
    /// As [`open`](ActionServer::open), for every kind: what both ends say of goals, feedbacks and results.
    ///
    /// # Errors
    /// As there.
    pub fn open_as(
        action: impl IntoTopicName,
        goal: G::Shape<'_>,
        feedback: F::Shape<'_>,
        result: R::Shape<'_>,
        options: impl Into<Options>,
    ) -> Result<Self, ServeError> {
        let (name, options) = (action.into_topic_name().map_err(OpenError::from)?, options.into());
        let name = name.as_str();
        let goals = Server::open_as(&goals_of(name), goal, result, options.service())?;
        let file =
            options.topic.open_directory()?.file(&goals_of(name).as_str().into_topic_name().map_err(OpenError::from)?);
        let ends = Ends {
            goals: Requests::Outside(goals),
            cancels: Requests::Outside(Server::open(&cancels_of(name), options.service())?),
            feedback: Publisher::open_as(&feedback_of(name), feedback, options.feedback())?,
            status: Publisher::open(&status_of(name), options.status())?,
        };
        let mut server = Self::assemble(name, ends, &options);
        server.looker = Some((Looker::new(file, server.roll()), Instant::now()));
        Ok(server)
    }

    /// A server of these ends.
    pub(crate) fn assemble(name: &str, ends: Ends<G, F, R>, options: &Options) -> Self {
        let Ends { goals, cancels, feedback, status } = ends;
        let mut server = Self {
            name: name.into(),
            outcome: Sealed::of(goals.answer_bytes()),
            told: Sealed::of(feedback.message_bytes()),
            goals,
            cancels,
            feedback,
            status,
            table: Table::new(options.preemption, options.at_once),
            client_gone: options.client_gone,
            accepts: None,
            cancels_if: None,
            roll: Arc::default(),
            looker: None,
        };
        server.tell_states();
        server
    }

    /// Which clients live, for who looks.
    pub(crate) fn roll(&self) -> Arc<Roll> {
        Arc::clone(&self.roll)
    }

    /// Has `accepts` decide on each goal that comes, before anything else becomes of it: `Err` rejects it with a reason. Without this, every goal
    /// is accepted that the [`Preemption`](super::Preemption) admits.
    pub fn accept_if(&mut self, accepts: impl FnMut(&G::Value) -> Result<(), Reason> + Send + 'static) {
        self.accepts = Some(Box::new(accepts));
    }

    /// Has `cancels` decide whether a goal may be canceled when a client asks. Without this, every goal may.
    pub fn cancel_if(&mut self, cancels: impl FnMut(&G::Value) -> bool + Send + 'static) {
        self.cancels_if = Some(Box::new(cancels));
    }

    /// Takes in what came, and gives the goal that runs; of several, the one that was accepted first. What came are goals, which are accepted or
    /// rejected, and requests to cancel, by which goals become [`Canceling`](GoalStatus::Canceling).
    pub fn goal(&mut self) -> Option<Goal<'_, G, F, R>> {
        self.take_in();
        let id = self.table.running_at(0)?;
        Some(Goal::new(self, id))
    }

    /// Takes in what came, and calls `work` with each goal that runs.
    pub fn each(&mut self, mut work: impl FnMut(Goal<'_, G, F, R>)) {
        self.take_in();
        let mut running = [GoalId::ZERO; MAX_GOALS];
        let count = self.table.running();
        for (place, id) in running.iter_mut().enumerate().take(count) {
            *id = self.table.running_at(place).unwrap_or(GoalId::ZERO);
        }
        for &id in &running[..count] {
            if self.table.find(id).is_some() {
                work(Goal::new(self, id));
            }
        }
    }

    /// The running goal of this number. Takes nothing in.
    pub fn goal_of(&mut self, id: GoalId) -> Option<Goal<'_, G, F, R>> {
        self.table.find(id).filter(|entry| entry.status != GoalStatus::Accepted)?;
        Some(Goal::new(self, id))
    }

    /// Waits, at most `limit`, until a goal runs. Outside of nodes; in a node it is [`goal`](Self::goal).
    pub fn next_goal(&mut self, limit: Duration) -> Option<Goal<'_, G, F, R>> {
        let started = Instant::now();
        loop {
            self.check_clients();
            self.take_in();
            if let Some(id) = self.table.running_at(0) {
                return Some(Goal::new(self, id));
            }
            if !self.wait(limit.saturating_sub(started.elapsed())) {
                return None;
            }
        }
    }

    /// Waits, at most `limit`, until something came: a goal, a request to cancel, or the news that a client is gone; false when the time is up. In
    /// a node it does not wait, and says false.
    ///
    /// Makes system calls: it asks the kernel every 100 ms which clients live.
    pub fn wait(&mut self, limit: Duration) -> bool {
        let started = Instant::now();
        loop {
            let left = limit.saturating_sub(started.elapsed());
            let (Some(goals), Some(cancels)) = (self.goals.waitable(), self.cancels.waitable()) else { return false };
            let came = wait_any(&mut [goals, cancels], left.min(LOOK)).is_some();
            self.check_clients();
            if came || self.orphan().is_some() {
                return true;
            }
            if left.is_zero() {
                return false;
            }
        }
    }

    /// Takes in what came: goals, requests to cancel, clients that are gone; and has a goal run whose turn it is.
    /// [`goal`](Self::goal) and [`each`](Self::each) do that, too.
    pub fn take_in(&mut self) {
        self.take_goals();
        self.take_cancels();
        while let Some(id) = self.orphan() {
            self.cancel(id, Cause::ClientGone);
        }
        self.run_next();
    }

    /// Goals that run.
    pub fn running(&self) -> usize {
        self.table.running()
    }

    /// Goals that were accepted and wait for their turn.
    pub fn waiting(&self) -> usize {
        self.table.len() - self.table.running()
    }

    /// Where a goal stands; `None` if it never came, or ended long ago.
    pub fn status_of(&self, id: GoalId) -> Option<GoalStatus> {
        self.table.find(id).map(|entry| entry.status).or_else(|| self.table.ended_as(id))
    }

    /// Name of the action.
    pub fn action(&self) -> &str {
        &self.name
    }

    /// Messages that had no room, because their client did not look.
    pub fn undelivered(&self) -> u64 {
        self.goals.undelivered() + self.cancels.undelivered()
    }

    /// Asks the kernel which clients live, at most every 100 ms; the goals of those that are gone are canceled as they are taken in. Makes system
    /// calls. For a program outside of nodes that calls neither [`next_goal`](Self::next_goal) nor [`wait`](Self::wait) while it works; in a node the
    /// thread beside the loop does it.
    pub fn check_clients(&mut self) {
        if let Some((looker, last)) = &mut self.looker
            && last.elapsed() >= LOOK
        {
            looker.look();
            *last = Instant::now();
        }
    }

    fn orphan(&self) -> Option<GoalId> {
        if self.client_gone == ClientGone::Continue {
            return None;
        }
        self.table.orphan(|owner| self.roll.is_gone(owner.lane, owner.looks))
    }

    fn take_goals(&mut self) {
        // All that wait, and no more: a client that sends without end must not hold the step.
        for _ in 0..self.goals.clients() * MAX_CALLS {
            let mut came = None;
            self.goals.serve(|letter, answer| came = Some((letter.head, G::get(letter.body), answer.later())));
            let Some((head, body, ticket)) = came else { break };
            let id = GoalId(head.goal_id);
            match self.judge(id, body) {
                Ok(body) => self.accept(id, body, ticket),
                Err((cause, reason)) => self.reject(ticket, cause, &reason),
            }
        }
    }

    fn judge(&mut self, id: GoalId, body: Result<G::Body, postcard::Error>) -> Result<G::Body, (Cause, Reason)> {
        if let Err(cause) = self.table.admits(id) {
            let reason = match self.table.running_at(0) {
                Some(other) if cause == Cause::Busy => {
                    Reason::of(format_args!("goal {other} runs: wait for its outcome, or cancel it"))
                }
                _ => Reason::of(format_args!("goal {id} came before: give each its own number")),
            };
            return Err((cause, reason));
        }
        let unreadable = |error| (Cause::Unreadable, Reason::of(format_args!("it cannot be read: {error}")));
        let body = body.map_err(unreadable)?;
        if let Some(accepts) = &mut self.accepts {
            accepts(G::seen(&body)).map_err(|reason| (Cause::Program, reason))?;
        }
        Ok(body)
    }

    fn accept(&mut self, id: GoalId, body: G::Body, ticket: Ticket) {
        while let Some(other) = self.table.in_the_way() {
            self.replace(other, id);
        }
        let (now, (lane, number)) = (self.goals.now().as_nanos(), ticket.place());
        let head = self.head(GoalStatus::Accepted.code(), Cause::Program, now, false, &Reason::NONE);
        let ticket = self.tell(ticket, &head);
        let owner = Owner { lane, number, looks: self.roll.looks() };
        self.table.accept(id, owner, now, Kept { body, ticket });
        self.tell_states();
        self.run_next();
    }

    fn reject(&mut self, ticket: Ticket, cause: Cause, reason: &Reason) {
        let head = self.head(0, cause, 0, false, reason);
        if let Ok(letter) = self.outcome.seal::<_, R>(&head, None) {
            let _counted = self.goals.answer(ticket).send(letter);
        }
    }

    fn replace(&mut self, old: GoalId, new: GoalId) {
        let is_canceling = self.table.find(old).is_some_and(|entry| entry.status == GoalStatus::Canceling);
        let event = if is_canceling { GoalEvent::Canceled } else { GoalEvent::Abort };
        let reason = Reason::of(format_args!("goal {new} took its place"));
        let _told = self.end(old, event, None, Some(Cause::Replaced), &reason);
    }

    fn run_next(&mut self) {
        while let Some(id) = self.table.next_to_run() {
            if self.table.happen(id, GoalEvent::Execute).is_err() {
                break;
            }
            self.tell_states();
        }
    }

    /// Ends a goal, and tells its client.
    pub(super) fn end(
        &mut self,
        id: GoalId,
        event: GoalEvent,
        result: Option<&R::Value>,
        cause: Option<Cause>,
        reason: &Reason,
    ) -> Result<(), GoalError> {
        let Some(entry) = self.table.find(id) else {
            let status = self.table.ended_as(id).unwrap_or(GoalStatus::Aborted);
            return Err(super::NotAllowed { status, event }.into());
        };
        let (status, cause) = (entry.status.after(event)?, cause.unwrap_or(entry.cause));
        let accepted_ns = entry.accepted_ns;
        let head = self.head(status.code(), cause, accepted_ns, result.is_some(), reason);
        let failed = self.outcome.seal::<_, R>(&head, result).err();
        let event = if failed.is_some() {
            let reason = Reason::from("its result is too long, or cannot be serialized");
            let head = self.head(GoalStatus::Aborted.code(), Cause::NoResult, accepted_ns, false, &reason);
            let _without_a_body = self.outcome.seal::<_, R>(&head, None);
            GoalEvent::Abort
        } else {
            event
        };
        let Some(entry) = self.table.happen(id, event)? else { return Ok(()) };
        let told = self.goals.answer(entry.kept.ticket).send(self.outcome.last());
        self.tell_states();
        self.run_next();
        match (failed, told) {
            (Some(error), _) => Err(error.into()),
            (None, Err(_)) => Err(GoalError::Untold),
            (None, Ok(())) => Ok(()),
        }
    }

    pub(super) fn tell_feedback(&mut self, id: GoalId, feedback: &F::Value) -> Result<(), GoalError> {
        if self.table.find(id).is_none() {
            return Err(GoalError::Over);
        }
        let now = self.goals.now().as_nanos();
        let letter = self.told.seal::<_, F>(&FeedbackHead { goal_id: id.0 }, Some(feedback))?;
        // A `latest` topic has room.
        let _sent = self.feedback.try_send_value_stamped(letter, now);
        Ok(())
    }

    fn tell(&mut self, ticket: Ticket, head: &OutcomeHead) -> Ticket {
        let mut answer = self.goals.answer(ticket);
        if let Ok(letter) = self.outcome.seal::<_, R>(head, None) {
            let _counted = answer.part(letter);
        }
        answer.later()
    }

    fn tell_states(&mut self) {
        let mut states = GoalStatusArray::zeroed();
        for (place, state) in states.goals.iter_mut().zip(self.table.states()) {
            *place = state;
            states.count += 1;
        }
        let now = self.goals.now().as_nanos();
        let _sent = self.status.try_send_value_stamped(states.borrow(), now);
    }

    /// `status` is that of a goal, or 0 for one that was rejected.
    fn head(&self, status: u32, cause: Cause, accepted_ns: u64, has_result: bool, reason: &Reason) -> OutcomeHead {
        OutcomeHead {
            accepted_ns: accepted_ns.to_le_bytes(),
            status: status as u8, // there are seven
            cause: cause as u8,
            has_result: has_result.into(),
            spare: [0; 9],
            reason_text: reason.bytes,
        }
    }
}
