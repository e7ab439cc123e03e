//! A goal that runs, from the side of the server.

use std::time::Duration;

use super::status::{GoalEvent, GoalStatus};
use super::wire::Carried;
use super::{ActionServer, Cause, GoalError, GoalId, Reason};
use crate::time::MonotonicTime;
use crate::topic::Sendable;

/// A goal that the server's program works on. If it is dropped, the goal goes on: the program finds it again in its next step.
pub struct Goal<'a, G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> {
    server: &'a mut ActionServer<G, F, R>,
    id: GoalId,
    is_new: bool,
}

impl<'a, G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> Goal<'a, G, F, R> {
    pub(super) fn new(server: &'a mut ActionServer<G, F, R>, id: GoalId) -> Self {
        let is_new = server.table.find_mut(id).is_some_and(|entry| !std::mem::replace(&mut entry.is_seen, true));
        Self { server, id, is_new }
    }

    /// What the goal is known by.
    pub fn id(&self) -> GoalId {
        self.id
    }

    /// What is to be reached; `None` when the goal is over, which [`poll`](Self::poll) may bring about.
    pub fn try_value(&self) -> Option<&G::Value> {
        self.server.table.find(self.id).map(|entry| G::seen(&entry.kept.body))
    }

    /// What is to be reached.
    ///
    /// # Panics
    /// When the goal is over, which [`poll`](Self::poll) and [`wait`](Self::wait) alone may bring about.
    pub fn value(&self) -> &G::Value {
        self.try_value().expect("the goal is not over: `poll` and `wait` say so")
    }

    /// Where it stands.
    pub fn status(&self) -> GoalStatus {
        self.server.status_of(self.id).unwrap_or(GoalStatus::Aborted)
    }

    /// Whether it is to be canceled: then end it by [`canceled`](Self::canceled), as soon as what moves stands.
    pub fn is_canceling(&self) -> bool {
        self.status() == GoalStatus::Canceling
    }

    /// Why it is to be canceled: [`Cause::Canceled`] or [`Cause::ClientGone`].
    pub fn cause(&self) -> Cause {
        self.server.table.find(self.id).map_or(Cause::Program, |entry| entry.cause)
    }

    /// Whether the program is handed the goal for the first time.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// When it was accepted.
    pub fn accepted(&self) -> MonotonicTime {
        MonotonicTime::from_nanos(self.server.table.find(self.id).map_or(0, |entry| entry.accepted_ns))
    }

    /// Takes in what came meanwhile, and says where the goal stands: it may be canceling by now, or over, if another one took its place.
    pub fn poll(&mut self) -> GoalStatus {
        self.server.take_in();
        self.status()
    }

    /// Waits, at most `limit`, for something to come, and is [`poll`](Self::poll) then. Outside of nodes.
    pub fn wait(&mut self, limit: Duration) -> GoalStatus {
        self.server.wait(limit);
        self.poll()
    }

    /// Tells how far it is.
    ///
    /// # Errors
    /// When the goal is over, or the feedback is too long or cannot be serialized.
    pub fn feedback(&mut self, feedback: impl Sendable<F>) -> Result<(), GoalError> {
        self.server.tell_feedback(self.id, feedback.value())
    }

    /// Ends the goal: it was reached.
    ///
    /// # Errors
    /// [`GoalError`]: when the goal is over already, the result cannot be sent, or the client does not look. But for the first, the goal has ended.
    pub fn succeed(self, result: impl Sendable<R>) -> Result<(), GoalError> {
        self.end(GoalEvent::Succeed, Some(result.value()), Reason::NONE)
    }

    /// Ends the goal: it was canceled.
    ///
    /// # Errors
    /// As [`succeed`](Self::succeed), and when no client asked for it to be canceled.
    pub fn canceled(self) -> Result<(), GoalError> {
        self.end(GoalEvent::Canceled, None, Reason::NONE)
    }

    /// As [`canceled`](Self::canceled), with what was reached by then.
    ///
    /// # Errors
    /// As there.
    pub fn canceled_with(self, result: impl Sendable<R>) -> Result<(), GoalError> {
        self.end(GoalEvent::Canceled, Some(result.value()), Reason::NONE)
    }

    /// Ends the goal: the program gives it up, for this reason.
    ///
    /// # Errors
    /// As [`succeed`](Self::succeed).
    pub fn abort(self, reason: impl Into<Reason>) -> Result<(), GoalError> {
        self.end(GoalEvent::Abort, None, reason.into())
    }

    /// As [`abort`](Self::abort), with what was reached by then.
    ///
    /// # Errors
    /// As there.
    pub fn abort_with(self, result: impl Sendable<R>, reason: impl Into<Reason>) -> Result<(), GoalError> {
        self.end(GoalEvent::Abort, Some(result.value()), reason.into())
    }

    fn end(self, event: GoalEvent, result: Option<&R::Value>, reason: Reason) -> Result<(), GoalError> {
        self.server.end(self.id, event, result, None, &reason)
    }
}
