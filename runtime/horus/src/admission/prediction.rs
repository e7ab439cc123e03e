//! What the analysis finds out about one task: its worst response, and what that is made of.

use std::time::Duration;

use super::remedy::Remedy;
use super::task::{Arrival, BudgetSource, Task, TaskPolicy};

/// One task with what is predicted for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// The task as it was given.
    pub task: Task,
    /// What is predicted.
    pub prediction: Prediction,
    /// For a refused task: single changes that would make it fit, each tried by a new analysis.
    pub remedies: Vec<Remedy>,
}

/// What can be said about the responses of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum Prediction {
    /// FIFO and RR: no job takes longer from its release to its completion.
    Response {
        /// The bound.
        worst: Duration,
        /// What it is made of. The sum is the bound.
        parts: Vec<Part>,
    },
    /// FIFO and RR: the work on the CPU may pile up without an end.
    NoBound {
        /// The share of the CPU that the task and all that runs before it ask for; 1 is the whole CPU.
        utilisation: f64,
        /// Who asks for it, with one job each.
        parts: Vec<Part>,
    },
    /// DEADLINE: the test judges all such tasks of a CPU together.
    Demand {
        /// Why they do not fit, or nothing when each meets its deadline.
        overload: Option<Overload>,
        /// The tasks of this policy on the CPU, with what each needs in the stretch that is too short, or one job each.
        parts: Vec<Part>,
    },
    /// The policy `other` promises nothing.
    NoGuarantee,
}

/// Why the DEADLINE tasks of a CPU do not fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Overload {
    /// They ask for more of the CPU than [`MAX_DEADLINE_UTILISATION`](super::MAX_DEADLINE_UTILISATION).
    Utilisation(f64),
    /// A stretch of time holds more work that is due in it than time.
    Interval {
        /// The stretch.
        length: Duration,
        /// The work.
        demand: Duration,
    },
    /// The test was not finished within its bound of steps.
    Undecided,
}

/// One summand of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// How long.
    pub time: Duration,
    /// What for.
    pub cause: Cause,
}

/// What time is spent on before a job is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The job itself.
    OwnBudget,
    /// Jobs of the task that were released before and are not complete. Only where the response is longer than the
    /// period.
    OwnEarlierJobs,
    /// From release to wake-up.
    Jitter,
    /// Work of lower priority holds up the task, or one of the same priority that goes before it: the largest such
    /// time.
    Blocking {
        /// The task that is held up.
        of: String,
    },
    /// Another task.
    Interference(Interference),
}

/// Another task that uses the CPU while a job waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interference {
    /// Its name.
    pub task: String,
    /// Its policy.
    pub policy: TaskPolicy,
    /// Its budget.
    pub budget: Duration,
    /// How the budget is known.
    pub budget_source: BudgetSource,
    /// Its period or minimum inter-arrival time.
    pub arrival: Arrival,
    /// How many of its jobs are counted.
    pub jobs: u64,
    /// Why it goes before.
    pub relation: Relation,
}

/// Why another task can go before a job that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Its thread has a higher priority, or it is a DEADLINE task.
    Above,
    /// Its thread has the same priority and may have been there first, or take its turn.
    Equal,
    /// It runs on the same thread, which interrupts no job for another, whatever their priorities.
    SameThread,
}

impl Assessment {
    /// The bound on the response, where there is one. For an admitted DEADLINE task it is the deadline.
    pub fn worst_response(&self) -> Option<Duration> {
        match &self.prediction {
            Prediction::Response { worst, .. } => Some(*worst),
            Prediction::Demand { overload: None, .. } => Some(self.task.deadline),
            _ => None,
        }
    }

    /// Whether the deadline is always met, as far as the task's figures are true.
    pub fn is_admitted(&self) -> bool {
        self.worst_response().is_some_and(|worst| worst <= self.task.deadline)
    }

    /// Whether a deadline was asked for and cannot be promised. Tasks of the policy `other` are neither admitted nor
    /// refused.
    pub fn is_refused(&self) -> bool {
        self.prediction != Prediction::NoGuarantee && !self.is_admitted()
    }

    /// The other tasks that take part in the response, the largest part first.
    pub(crate) fn interference(&self) -> impl Iterator<Item = &Interference> {
        self.parts().iter().filter_map(|part| match &part.cause {
            Cause::Interference(interference) if interference.task != self.task.name => Some(interference),
            _ => None,
        })
    }

    pub(super) fn parts(&self) -> &[Part] {
        match &self.prediction {
            Prediction::Response { parts, .. }
            | Prediction::NoBound { parts, .. }
            | Prediction::Demand { parts, .. } => parts,
            Prediction::NoGuarantee => &[],
        }
    }
}
