//! Which tasks and sets make no sense, and what to do about it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use thiserror::Error;

use super::task::{Task, TaskPolicy};
use crate::deadline::{Timing, TimingError};

/// The most tasks in one analysis, whose time grows with the square of their number.
pub const MAX_TASKS: usize = 256;

/// Why a set of tasks cannot be analysed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TaskError {
    /// Two tasks have one name.
    #[error("two tasks are called {0}: rename one of them")]
    DuplicateName(String),
    /// The set is larger than [`MAX_TASKS`].
    #[error("{0} tasks are too many for one analysis: give it those of one machine, at most {MAX_TASKS}")]
    TooMany(usize),
    /// Period (or minimum inter-arrival time) and deadline do not go together.
    #[error("task {task}: {error}")]
    Timing {
        /// The task.
        task: String,
        /// What is wrong.
        error: TimingError,
    },
    /// The budget is zero.
    #[error("task {0} has no budget: give the CPU time that one job takes at most, such as 150us")]
    NoBudget(String),
    /// One job alone misses the deadline.
    #[error("task {task}: budget {budget:?} is longer than deadline {deadline:?}: do less work or allow more time")]
    BudgetAfterDeadline {
        /// The task.
        task: String,
        /// Its budget.
        budget: Duration,
        /// Its deadline.
        deadline: Duration,
    },
    /// The jitter or the blocking is longer than the period, so no deadline could be met.
    #[error("task {task}: {what} {time:?} is longer than its period: measure it again or lengthen the period")]
    LongerThanPeriod {
        /// The task.
        task: String,
        /// "jitter" or "blocking".
        what: &'static str,
        /// The time given.
        time: Duration,
    },
    /// Linux has no such real-time priority.
    #[error("task {task}: there is no priority {priority}: choose 1 to 99, a larger number runs first")]
    Priority {
        /// The task.
        task: String,
        /// The priority given.
        priority: u8,
    },
    /// A thread has one policy, and a DEADLINE thread one task.
    #[error(
        "tasks {first} and {second} share thread {thread} of CPU {cpu} but cannot: give both the policy fifo or both rr, or two threads"
    )]
    SharedThread {
        /// The task that was declared first.
        first: String,
        /// The other task.
        second: String,
        /// The CPU of both.
        cpu: u32,
        /// Their thread.
        thread: u32,
    },
}

/// Checks a set. Tasks of the policy `other` may leave out their times.
pub(super) fn check(tasks: &[Task]) -> Result<(), TaskError> {
    if tasks.len() > MAX_TASKS {
        return Err(TaskError::TooMany(tasks.len()));
    }
    let mut names = HashSet::new();
    let mut threads: HashMap<(u32, u32), &Task> = HashMap::new();
    for task in tasks {
        if !names.insert(&task.name) {
            return Err(TaskError::DuplicateName(task.name.clone()));
        }
        if task.policy != TaskPolicy::Other {
            task.check()?;
        }
        let (cpu, thread) = (task.cpu, task.thread);
        let first = *threads.entry((cpu, thread)).or_insert(task);
        if !std::ptr::eq(first, task) && !first.policy.may_share_thread(task.policy) {
            let (first, second) = (first.name.clone(), task.name.clone());
            return Err(TaskError::SharedThread { first, second, cpu, thread });
        }
    }
    Ok(())
}

impl Task {
    fn check(&self) -> Result<(), TaskError> {
        let task = || self.name.clone();
        let Self { budget, deadline, .. } = *self;
        let timing = Timing::new(self.arrival.distance(), deadline);
        let timing = timing.map_err(|error| TaskError::Timing { task: task(), error })?;
        if budget.is_zero() {
            return Err(TaskError::NoBudget(task()));
        }
        if budget > deadline {
            return Err(TaskError::BudgetAfterDeadline { task: task(), budget, deadline });
        }
        for (what, time) in [("jitter", self.jitter), ("blocking", self.blocking)] {
            if time > timing.period() {
                return Err(TaskError::LongerThanPeriod { task: task(), what, time });
            }
        }
        match self.policy.priority() {
            Some(priority) if !(1..=99).contains(&priority) => Err(TaskError::Priority { task: task(), priority }),
            _ => Ok(()),
        }
    }
}
