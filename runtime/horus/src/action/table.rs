//! The goals of a server, and the rules for them: what is accepted, whose turn it is, what is canceled. No topic is touched here.

use std::collections::VecDeque;

use super::status::{GoalEvent, GoalStatus, NotAllowed};
use super::wire::GoalState;
use super::{Cause, GoalId, MAX_GOALS, MAX_STATES, Preemption};

/// Whose goal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// The client's lane.
    pub lane: usize,
    /// The number of the goal's message in it.
    pub number: u64,
    /// How many looks at the living were over when it came.
    pub looks: u64,
}

/// A goal that is not over.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub id: GoalId,
    pub status: GoalStatus,
    pub accepted_ns: u64,
    pub owner: Owner,
    /// Why it is to be canceled.
    pub cause: Cause,
    /// Whether the server's program has looked at it.
    pub is_seen: bool,
    /// What the server keeps of it.
    pub kept: T,
}

/// Which goals a client wants canceled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub id: GoalId,
    pub until_ns: u64,
}

impl Wanted {
    /// ROS 2's rule.
    fn is<T>(self, entry: &Entry<T>) -> bool {
        match (self.id, self.until_ns) {
            (GoalId::ZERO, 0) => true,
            (GoalId::ZERO, until) => entry.accepted_ns <= until,
            (id, 0) => entry.id == id,
            (id, until) => entry.id == id || entry.accepted_ns <= until,
        }
    }
}

/// All goals of a server.
pub(super) struct Table<T> {
    active: Vec<Entry<T>>,
    ended: VecDeque<GoalState>,
    preemption: Preemption,
    at_once: usize,
}

impl<T> Table<T> {
    pub fn new(preemption: Preemption, at_once: usize) -> Self {
        let ended = VecDeque::with_capacity(MAX_STATES - MAX_GOALS + 1);
        Self { active: Vec::with_capacity(MAX_GOALS), ended, preemption, at_once }
    }

    /// Whether a goal may be accepted. With [`Preemption::Replace`] the server has to end [`in_the_way`](Self::in_the_way) first.
    pub fn admits(&self, id: GoalId) -> Result<(), Cause> {
        if id == GoalId::ZERO || self.find(id).is_some() || self.ended_as(id).is_some() {
            return Err(Cause::Twice);
        }
        match self.preemption {
            Preemption::Refuse if self.running() >= self.at_once => Err(Cause::Busy),
            Preemption::Queue if self.active.len() >= MAX_GOALS => Err(Cause::Busy),
            _ => Ok(()),
        }
    }

    /// The goal that has to end before another may run, if goals replace each other.
    pub fn in_the_way(&self) -> Option<GoalId> {
        let replaces = self.preemption == Preemption::Replace && self.running() >= self.at_once;
        self.active.iter().find(|_| replaces).map(|entry| entry.id)
    }

    /// Takes a goal that is admitted.
    pub fn accept(&mut self, id: GoalId, owner: Owner, accepted_ns: u64, kept: T) {
        debug_assert!(self.active.len() < MAX_GOALS, "it was admitted");
        let (status, cause) = (GoalStatus::Accepted, Cause::Program);
        self.active.push(Entry { id, status, accepted_ns, owner, cause, is_seen: false, kept });
    }

    /// The goal whose turn it is: it waits, and there is room for it to run.
    pub fn next_to_run(&self) -> Option<GoalId> {
        if self.running() >= self.at_once {
            return None;
        }
        self.active.iter().find(|entry| entry.status == GoalStatus::Accepted).map(|entry| entry.id)
    }

    /// What happens to a goal that is not over; the goal itself when it is over by that.
    pub fn happen(&mut self, id: GoalId, event: GoalEvent) -> Result<Option<Entry<T>>, NotAllowed> {
        let Some(place) = self.active.iter().position(|entry| entry.id == id) else {
            let status = self.ended_as(id).unwrap_or(GoalStatus::Aborted);
            return Err(NotAllowed { status, event });
        };
        let status = self.active[place].status.after(event)?;
        self.active[place].status = status;
        if !status.is_over() {
            return Ok(None);
        }
        let entry = self.active.remove(place);
        if self.ended.len() == MAX_STATES - MAX_GOALS {
            self.ended.pop_back();
        }
        self.ended.push_front(state(&entry));
        Ok(Some(entry))
    }

    /// The first goal that a client wants canceled and that can be, behind those of which `done` is true.
    pub fn to_cancel(&self, wanted: Wanted, done: impl Fn(GoalId) -> bool) -> Option<&Entry<T>> {
        let can_be = |entry: &&Entry<T>| matches!(entry.status, GoalStatus::Accepted | GoalStatus::Executing);
        self.active.iter().filter(can_be).find(|entry| wanted.is(entry) && !done(entry.id))
    }

    /// A goal whose client is gone, and which is not canceled for that yet.
    pub fn orphan(&self, is_gone: impl Fn(&Owner) -> bool) -> Option<GoalId> {
        let can_be = |entry: &&Entry<T>| matches!(entry.status, GoalStatus::Accepted | GoalStatus::Executing);
        self.active.iter().filter(can_be).find(|entry| is_gone(&entry.owner)).map(|entry| entry.id)
    }

    /// The goal of this number, unless it is over.
    pub fn find(&self, id: GoalId) -> Option<&Entry<T>> {
        self.active.iter().find(|entry| entry.id == id)
    }

    pub fn find_mut(&mut self, id: GoalId) -> Option<&mut Entry<T>> {
        self.active.iter_mut().find(|entry| entry.id == id)
    }

    /// How a goal ended, if it was one of the last.
    pub fn ended_as(&self, id: GoalId) -> Option<GoalStatus> {
        self.ended.iter().find(|state| state.goal_id == id.0).and_then(|state| GoalStatus::of_code(state.status))
    }

    /// The goal of this place among those that run, which are in the order of their acceptance.
    pub fn running_at(&self, place: usize) -> Option<GoalId> {
        self.active.iter().filter(|entry| entry.status != GoalStatus::Accepted).nth(place).map(|entry| entry.id)
    }

    /// Goals that run: they execute, or are canceling.
    pub fn running(&self) -> usize {
        self.active.iter().filter(|entry| entry.status != GoalStatus::Accepted).count()
    }

    /// Goals that are not over.
    pub fn len(&self) -> usize {
        self.active.len()
    }

    /// All that there is to tell: those that are not over, and the last ones that are.
    pub fn states(&self) -> impl Iterator<Item = GoalState> {
        self.active.iter().map(state).chain(self.ended.iter().copied())
    }
}

fn state<T>(entry: &Entry<T>) -> GoalState {
    GoalState {
        goal_id: entry.id.0,
        accepted_ns: entry.accepted_ns,
        status: entry.status.code(),
        client: entry.owner.lane as u32,
    }
}
