//! What the analysis is told about a task.

use std::fmt;
use std::time::Duration;

use super::span::Span;

/// One task: work that arrives again and again on one thread of one CPU.
///
/// The letters of the literature stand beside the fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name, which no other task of the set has.
    pub name: String,
    /// The CPU that its thread is pinned to.
    pub cpu: u32,
    /// The thread that runs it, by a number that means something on this CPU only. Tasks with the same number share the
    /// thread.
    pub thread: u32,
    /// Scheduling policy and priority. A thread runs at the highest priority of its tasks.
    pub policy: TaskPolicy,
    /// When its jobs are released (`T`).
    pub arrival: Arrival,
    /// Where its first release lies. The analysis ignores it and assumes the worst.
    pub phase: Duration,
    /// The longest time from release to completion that is allowed (`D`), at most `T`.
    pub deadline: Duration,
    /// The CPU time that one job takes at most (`C`). Switching to the job and away from it is part of it.
    pub budget: Duration,
    /// How the budget is known.
    pub budget_source: BudgetSource,
    /// The longest time from release to wake-up on a CPU with nothing else to do (`J`).
    pub jitter: Duration,
    /// How the jitter is known.
    pub jitter_source: JitterSource,
    /// The longest time that work of lower priority holds one job up (`B`), by a lock for example. Holding up another
    /// task that runs before this one counts too. Tasks of the same thread are known to the analysis and do not belong
    /// here.
    pub blocking: Duration,
}

/// The scheduling policy of a task, as the analysis takes it: any priority that the kernel has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPolicy {
    /// `SCHED_FIFO` with a priority of 1 to 99.
    Fifo(u8),
    /// `SCHED_RR` with a priority of 1 to 99.
    RoundRobin(u8),
    /// `SCHED_DEADLINE`: before every FIFO and RR task of the CPU.
    Deadline,
    /// A fair share: nothing is guaranteed.
    Other,
}

/// When jobs are released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// On a grid.
    Periodic {
        /// The distance of two releases.
        period: Duration,
    },
    /// By events, such as messages on a topic.
    Sporadic {
        /// The minimum inter-arrival time: the shortest distance of two releases.
        min_inter_arrival: Duration,
    },
}

/// How a budget is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetSource {
    /// It was promised.
    Declared,
    /// It is a maximum that was measured, which is no worst-case execution time (WCET).
    Observed {
        /// How many jobs were measured.
        runs: u64,
    },
}

/// How a release jitter is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JitterSource {
    /// It was promised.
    Declared,
    /// It was neither promised nor measured.
    Unknown,
    /// It was measured by `horus determinism`.
    Report {
        /// The date of the report, as it shall be printed.
        date: String,
    },
}

impl Task {
    /// A task that has thread 0 of its CPU, a declared budget, no jitter and no blocking. Change the fields where that
    /// is wrong.
    pub fn new(
        name: impl Into<String>,
        cpu: u32,
        policy: TaskPolicy,
        arrival: Arrival,
        budget: Duration,
        deadline: Duration,
    ) -> Self {
        Self {
            name: name.into(),
            cpu,
            thread: 0,
            policy,
            arrival,
            phase: Duration::ZERO,
            deadline,
            budget,
            budget_source: BudgetSource::Declared,
            jitter: Duration::ZERO,
            jitter_source: JitterSource::Declared,
            blocking: Duration::ZERO,
        }
    }

    /// `C / T`: the share of its CPU that the task asks for.
    pub fn utilisation(&self) -> f64 {
        self.budget.as_secs_f64() / self.arrival.distance().as_secs_f64()
    }

    /// Whether this task and another one run on the same thread.
    pub(super) fn shares_thread_with(&self, other: &Self) -> bool {
        (self.cpu, self.thread) == (other.cpu, other.thread)
    }
}

impl TaskPolicy {
    /// The priority, where the policy has one.
    pub fn priority(self) -> Option<u8> {
        match self {
            Self::Fifo(priority) | Self::RoundRobin(priority) => Some(priority),
            Self::Deadline | Self::Other => None,
        }
    }

    /// The same policy with another priority.
    pub(super) fn with_priority(self, priority: u8) -> Self {
        match self {
            Self::Fifo(_) => Self::Fifo(priority),
            Self::RoundRobin(_) => Self::RoundRobin(priority),
            other => other,
        }
    }

    pub(super) fn may_share_thread(self, other: Self) -> bool {
        matches!(
            (self, other),
            (Self::Fifo(_), Self::Fifo(_)) | (Self::RoundRobin(_), Self::RoundRobin(_)) | (Self::Other, Self::Other)
        )
    }
}

impl fmt::Display for TaskPolicy {
    /// As `node.toml` writes it: `fifo:80`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fifo(priority) => write!(out, "fifo:{priority}"),
            Self::RoundRobin(priority) => write!(out, "rr:{priority}"),
            Self::Deadline => out.write_str("deadline"),
            Self::Other => out.write_str("other"),
        }
    }
}

impl Arrival {
    /// `T`: the period or the minimum inter-arrival time.
    pub fn distance(self) -> Duration {
        match self {
            Self::Periodic { period } => period,
            Self::Sporadic { min_inter_arrival } => min_inter_arrival,
        }
    }

    /// The same kind of arrival with another distance.
    pub(super) fn with_distance(self, distance: Duration) -> Self {
        match self {
            Self::Periodic { .. } => Self::Periodic { period: distance },
            Self::Sporadic { .. } => Self::Sporadic { min_inter_arrival: distance },
        }
    }
}

impl fmt::Display for Arrival {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Periodic { period } => write!(out, "every {}", Span(*period)),
            Self::Sporadic { min_inter_arrival } => write!(out, "at most every {}", Span(*min_inter_arrival)),
        }
    }
}
