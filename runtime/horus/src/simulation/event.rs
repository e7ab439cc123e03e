//! What the caller of a simulation sees of it, and what it asks the caller.

use std::time::Duration;

use crate::time::MonotonicTime;

/// A task of one simulation, numbered from 0 in the order in which they were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub(super) usize);

impl TaskId {
    /// Its number.
    pub fn index(self) -> usize {
        self.0
    }
}

/// A thread of one simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId(pub(super) usize);

/// One release of a task and the work that belongs to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Whose work.
    pub task: TaskId,
    /// Releases are numbered from 0, and a skipped release uses up its number.
    pub number: u64,
    /// When it was released, without its jitter.
    pub release: MonotonicTime,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job was released. It is ready when its jitter has passed.
    Release {
        /// The job.
        job: Job,
    },
    /// A release of a periodic task passed while the job before was not complete.
    Skip {
        /// The job that will not be.
        job: Job,
    },
    /// A job got the CPU for the first time.
    Start {
        /// The job.
        job: Job,
        /// When.
        at: MonotonicTime,
    },
    /// A job is done.
    Complete {
        /// The job.
        job: Job,
        /// When it had got the CPU for the first time.
        start: MonotonicTime,
        /// When it was done.
        at: MonotonicTime,
    },
}

impl Event {
    /// When it happened.
    pub fn at(&self) -> MonotonicTime {
        match self {
            Self::Release { job } | Self::Skip { job } => job.release,
            Self::Start { at, .. } | Self::Complete { at, .. } => *at,
        }
    }

    /// The response of a job that is complete: completion minus release, so it contains the jitter.
    pub fn response(&self) -> Option<Duration> {
        match self {
            Self::Complete { job, at, .. } => Some(at.since(job.release)),
            _ => None,
        }
    }
}

/// What the caller knows about jobs. A closure that returns the computing time is the simplest form.
pub trait Jobs {
    /// Called at the release: how long the wake-up takes.
    fn jitter(&mut self, job: &Job) -> Duration {
        let _ = job;
        Duration::ZERO
    }

    /// Called at `at`, when the job gets the CPU for the first time: how long it computes.
    fn start(&mut self, job: &Job, at: MonotonicTime) -> Duration;
}

impl<F: FnMut(&Job, MonotonicTime) -> Duration> Jobs for F {
    fn start(&mut self, job: &Job, at: MonotonicTime) -> Duration {
        self(job, at)
    }
}

/// What became of a trigger.
#[must_use = "a trigger that was merged gets no job of its own"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// It will be handed to its task at its time.
    Scheduled,
    /// Another trigger waits already; the job that it releases serves both.
    Merged,
    /// The task is periodic: its grid releases it.
    NotSporadic,
}
