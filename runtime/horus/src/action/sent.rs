//! A goal that was sent, from the side of its client.

use std::sync::Arc;

use super::status::GoalStatus;
use super::tracks::Track;
use super::wire::{Carried, OutcomeHead};
use super::{ActionClient, ActionError, Cause, GoalId, Reason};
use crate::service::{Part, Pending};
use crate::time::MonotonicTime;

/// How a goal ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome<T> {
    /// [`Succeeded`](GoalStatus::Succeeded), [`Canceled`](GoalStatus::Canceled) or [`Aborted`](GoalStatus::Aborted).
    pub status: GoalStatus,
    /// The result; none where the goal ended without the server's program, or the program gave none.
    pub result: Option<T>,
    /// What ended it.
    pub cause: Cause,
    /// What ended it, for people.
    pub reason: Reason,
}

/// What there is to tell of a goal.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress<F, R> {
    /// Nothing new yet.
    Nothing,
    /// The server has taken the goal.
    Accepted,
    /// How far it is.
    Feedback(F),
    /// It has ended.
    Ended(Outcome<R>),
}

/// A goal that was sent. If it is dropped, the goal goes on, and its outcome is dropped; [`ActionClient::cancel`] cancels it.
#[must_use = "dropped, it tells nothing of the goal"]
pub struct SentGoal<R: Carried + ?Sized> {
    id: GoalId,
    pending: Pending,
    track: Track,
    accepted: Option<MonotonicTime>,
    /// What ends the goal, while there are feedbacks before it.
    end: Option<Result<Outcome<R::Body>, ActionError>>,
    is_over: bool,
}

impl<R: Carried + ?Sized> SentGoal<R> {
    pub(super) fn new(id: GoalId, pending: Pending, track: Track) -> Self {
        Self { id, pending, track, accepted: None, end: None, is_over: false }
    }

    /// What the goal is known by.
    pub fn id(&self) -> GoalId {
        self.id
    }

    /// When the server accepted it, on CLOCK_MONOTONIC; `None` as long as that is not known.
    pub fn accepted(&self) -> Option<MonotonicTime> {
        self.accepted
    }

    /// Whether its end was told.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// What there is to tell of the goal, and does not wait: first that it was accepted, then its feedbacks in order, at last its outcome.
    ///
    /// Allocates nothing for messages, takes no lock, makes no system call. So it does not notice by itself that a server was killed:
    /// [`ActionClient::check_server`] does.
    ///
    /// # Errors
    /// [`ActionError::Rejected`], and why no outcome will come. The goal is over then.
    pub fn look<G, F>(&mut self, client: &mut ActionClient<G, F, R>) -> Result<Progress<F::Body, R::Body>, ActionError>
    where
        G: Carried + ?Sized,
        F: Carried + ?Sized,
    {
        if self.is_over {
            return Err(ActionError::Over { action: Arc::clone(client.name()) });
        }
        if self.end.is_none() {
            match self.pending.try_part(&mut client.goals) {
                Ok(Part::Nothing) => {}
                Ok(Part::Next((head, body))) => {
                    let was_known = self.accepted.is_some();
                    self.take(&head, body, client.name());
                    if !was_known && self.accepted.is_some() {
                        return Ok(Progress::Accepted);
                    }
                }
                Ok(Part::End) => self.end = Some(Err(ActionError::Over { action: Arc::clone(client.name()) })),
                Err(error) => self.end = Some(Err(ActionError::of_call(error, client.name()))),
            }
        }
        // Behind the look at the outcome: the server tells feedbacks before it.
        client.take_feedbacks()?;
        if self.accepted.is_some()
            && let Some(feedback) = client.tracks.next(&self.track)
        {
            return Ok(Progress::Feedback(feedback));
        }
        let Some(end) = self.end.take() else { return Ok(Progress::Nothing) };
        self.is_over = true;
        end.map(Progress::Ended)
    }

    /// Takes what the server says.
    fn take(&mut self, head: &OutcomeHead, body: Result<R::Body, postcard::Error>, action: &Arc<str>) {
        let (cause, reason) = (Cause::of_code(head.cause.into()), Reason::of_field(&head.reason_text));
        let Some(status) = GoalStatus::of_code(head.status.into()) else {
            self.end = Some(Err(ActionError::Rejected { action: Arc::clone(action), cause, reason }));
            return;
        };
        // If the news of that had no room, the outcome tells it.
        self.accepted = Some(MonotonicTime::from_nanos(u64::from_le_bytes(head.accepted_ns)));
        if !status.is_over() {
            return;
        }
        let result = if head.has_result == 0 { Ok(None) } else { body.map(Some) };
        let unreadable = |source| ActionError::Unreadable { action: Arc::clone(action), source };
        self.end = Some(result.map(|result| Outcome { status, result, cause, reason }).map_err(unreadable));
    }
}
