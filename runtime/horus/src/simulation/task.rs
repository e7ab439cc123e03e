//! One task: when it is released next, and how far its job is. There is at most one job of a task at a time.

use std::cmp::Reverse;
use std::time::Duration;

use super::{Job, TaskId, ThreadId, Trigger};
use crate::time::MonotonicTime;

/// What releases a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// The grid `first_release + k period`.
    Periodic {
        /// `r_0`. A point in the past is served at once, and the points behind it that have passed are skipped.
        first_release: MonotonicTime,
        /// `T`.
        period: Duration,
    },
    /// [`trigger`](super::Simulation::trigger), with releases at least `min_inter_arrival` apart.
    Sporadic {
        /// The shortest distance of two releases.
        min_inter_arrival: Duration,
    },
}

impl Activation {
    pub(super) fn distance_nanos(self) -> u64 {
        let (Self::Periodic { period: distance, .. } | Self::Sporadic { min_inter_arrival: distance }) = self;
        u64::try_from(distance.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// How far a task's job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is none.
    Idle,
    /// Released, and not awake yet.
    Waking { ready: MonotonicTime },
    /// Waits for its thread.
    Ready,
    /// Has begun.
    Started { at: MonotonicTime },
}

#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) thread: ThreadId,
    pub(super) progress: Progress,
    pub(super) skipped: u64,
    pub(super) merged: u64,
    priority: u8,
    activation: Activation,
    /// The next point of the grid, or the point to which a trigger was deferred.
    next: Option<MonotonicTime>,
    /// The number of the next release, served or skipped.
    number: u64,
    /// The job that is or was last.
    job: Option<Job>,
}

impl Task {
    pub(super) fn new(thread: ThreadId, priority: u8, activation: Activation) -> Self {
        let next = match activation {
            Activation::Periodic { first_release, .. } => Some(first_release),
            Activation::Sporadic { .. } => None,
        };
        let progress = Progress::Idle;
        Self { thread, progress, skipped: 0, merged: 0, priority, activation, next, number: 0, job: None }
    }

    pub(super) fn is_sporadic(&self) -> bool {
        matches!(self.activation, Activation::Sporadic { .. })
    }

    /// Who goes first on the thread, the smallest first; of equal ones the task that was added first, because a thread
    /// looks in that order.
    pub(super) fn order(&self) -> (Option<MonotonicTime>, Reverse<u8>) {
        (self.job.map(|job| job.release), Reverse(self.priority))
    }

    pub(super) fn trigger(&mut self, now: MonotonicTime) -> Trigger {
        if !self.is_sporadic() {
            return Trigger::NotSporadic;
        }
        if self.next.is_some() {
            self.merged += 1;
            return Trigger::Merged;
        }
        let gap = self.activation.distance_nanos();
        self.next = Some(self.job.map_or(now, |job| now.max(job.release.plus_nanos(gap))));
        Trigger::Scheduled
    }

    /// When the next release is due. A sporadic task has none while a job of it is under way.
    pub(super) fn next_release(&self) -> Option<MonotonicTime> {
        self.next.filter(|_| !self.is_sporadic() || self.progress == Progress::Idle)
    }

    /// When this task changes by itself.
    pub(super) fn next_instant(&self) -> Option<MonotonicTime> {
        let wakes = match self.progress {
            Progress::Waking { ready } => Some(ready),
            _ => None,
        };
        self.next_release().into_iter().chain(wakes).min()
    }

    /// Releases what is due, and says whether there will be a job; the release is skipped when there is one already.
    pub(super) fn release(&mut self, id: TaskId, now: MonotonicTime) -> (Job, bool) {
        let release = self.next.take().filter(|_| !self.is_sporadic()).unwrap_or(now);
        if !self.is_sporadic() {
            self.next = Some(release.plus_nanos(self.activation.distance_nanos()));
        }
        let job = Job { task: id, number: self.number, release };
        self.number += 1;
        let served = self.progress == Progress::Idle;
        if served {
            self.job = Some(job);
        } else {
            self.skipped += 1;
        }
        (job, served)
    }

    /// Begins the job that was released last, if one was.
    pub(super) fn start(&mut self, now: MonotonicTime) -> Option<Job> {
        self.progress = Progress::Started { at: now };
        self.job
    }

    /// Ends the job, and says when it had begun.
    pub(super) fn complete(&mut self, now: MonotonicTime) -> MonotonicTime {
        match std::mem::replace(&mut self.progress, Progress::Idle) {
            Progress::Started { at } => at,
            _ => now,
        }
    }
}
