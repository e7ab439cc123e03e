//! What a server does with requests to cancel, and with goals whose client is gone.

use super::{ActionServer, Owner};
use crate::action::status::{GoalEvent, GoalStatus};
use crate::action::table::Wanted;
use crate::action::wire::{CancelAnswer, Carried, GONE};
use crate::action::{Cause, ClientGone, GoalId, MAX_GOALS, Reason};
use crate::service::MAX_CALLS;

/// How often a step takes in goals to find one that is to be canceled. A client that cancels unknown goals without end must not hold the step.
const MOST_LOOKS: usize = 4;

impl<G: Carried + ?Sized, F: Carried + ?Sized, R: Carried + ?Sized> ActionServer<G, F, R> {
    /// Takes requests to cancel.
    pub(super) fn take_cancels(&mut self) {
        let mut looks = 0;
        for _ in 0..self.cancels.clients() * MAX_CALLS {
            if looks == MOST_LOOKS {
                break; // the rest waits for the next step
            }
            let mut came = None;
            self.cancels.serve(|request, answer| came = Some((request, answer.later())));
            let Some((request, ticket)) = came else { break };
            if request.what == GONE {
                self.abandon(request.lane as usize, request.before);
                self.cancels.answer(ticket).unasked();
                continue;
            }
            let wanted = Wanted { id: GoalId(request.goal_id), until_ns: request.until_ns };
            if wanted.id != GoalId::ZERO && self.status_of(wanted.id).is_none() {
                // It was sent before the request, by another way, and may have come after the look at the goals.
                self.take_goals();
                looks += 1;
            }
            let answer = self.cancel_all(wanted);
            let _counted = self.cancels.answer(ticket).send(answer);
        }
    }

    /// Cancels what a client of this lane has left.
    fn abandon(&mut self, lane: usize, before: u64) {
        if self.client_gone == ClientGone::Continue {
            return;
        }
        let is_gone = |owner: &Owner| owner.lane == lane && owner.number < before;
        while let Some(id) = self.table.orphan(is_gone) {
            self.cancel(id, Cause::ClientGone);
        }
    }

    fn cancel_all(&mut self, wanted: Wanted) -> CancelAnswer {
        let is_known = |server: &Self| server.status_of(wanted.id).is_some();
        let mut answer = CancelAnswer::zeroed();
        let (mut refused, mut count) = ([GoalId::ZERO; MAX_GOALS], 0);
        while let Some(entry) = self.table.to_cancel(wanted, |id| refused.contains(&id)) {
            let id = entry.id;
            let body = G::seen(&entry.kept.body);
            if self.cancels_if.as_mut().is_none_or(|cancels| cancels(body)) {
                self.cancel(id, Cause::Canceled);
                answer.goals[answer.count as usize] = id.0;
                answer.count += 1;
            } else {
                refused[count] = id;
                count += 1;
            }
        }
        let is_canceling = self.status_of(wanted.id) == Some(GoalStatus::Canceling);
        answer.return_code = match wanted.id {
            _ if answer.count > 0 => CancelAnswer::NONE,
            _ if count > 0 => CancelAnswer::REJECTED,
            GoalId::ZERO => CancelAnswer::NONE,
            _ if is_canceling => CancelAnswer::NONE,
            _ if is_known(self) => CancelAnswer::GOAL_TERMINATED,
            _ => CancelAnswer::UNKNOWN_GOAL_ID,
        };
        answer
    }

    /// Has a goal be canceled. One that waits for its turn is over by that: no program works on it.
    pub(super) fn cancel(&mut self, id: GoalId, cause: Cause) {
        let Some(entry) = self.table.find_mut(id) else { return };
        let was_waiting = entry.status == GoalStatus::Accepted;
        entry.cause = cause;
        if self.table.happen(id, GoalEvent::CancelGoal).is_err() {
            return;
        }
        self.tell_states();
        if was_waiting {
            let _told = self.end(id, GoalEvent::Canceled, None, None, &Reason::from("its turn had not come"));
        }
    }
}
