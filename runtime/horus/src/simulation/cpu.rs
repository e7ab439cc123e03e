//! One CPU with its queue of ready threads, as SCHED_FIFO has it, and what a thread is busy with.

use std::time::Duration;

use super::{Job, TaskId, ThreadId};

/// A CPU with its ready threads.
#[derive(Clone, Debug)]
pub(super) struct Cpu {
    pub(super) number: u32,
    pub(super) running: Option<ThreadId>,
    /// In the order in which they will run: the queues of all priorities, one behind the other, the highest first.
    ready: Vec<(u8, ThreadId)>,
}

impl Cpu {
    pub(super) fn new(number: u32) -> Self {
        Self { number, running: None, ready: Vec::new() }
    }

    /// Puts a thread behind all others of its priority, unless it is ready already.
    pub(super) fn enqueue(&mut self, thread: ThreadId, priority: u8) {
        if !self.ready.contains(&(priority, thread)) {
            let behind = self.ready.partition_point(|(other, _)| *other >= priority);
            self.ready.insert(behind, (priority, thread));
        }
    }

    /// The thread that runs has nothing more to do.
    pub(super) fn give_up(&mut self, thread: ThreadId) {
        self.ready.retain(|(_, other)| *other != thread);
        self.running = None;
    }

    /// Gives the CPU to the first in the queue.
    pub(super) fn choose(&mut self) {
        self.running = self.ready.first().map(|(_, thread)| *thread);
    }
}

/// A thread, its tasks, and the job that it has begun.
#[derive(Clone, Debug)]
pub(super) struct Thread {
    /// The place of its CPU in the simulation's list.
    pub(super) cpu: usize,
    pub(super) priority: u8,
    pub(super) tasks: Vec<TaskId>,
    job: Option<(Job, Duration)>,
}

impl Thread {
    pub(super) fn new(cpu: usize, priority: u8) -> Self {
        Self { cpu, priority, tasks: Vec::new(), job: None }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    pub(super) fn begin(&mut self, job: Job, computes: Duration) {
        self.job = Some((job, computes));
    }

    /// How long its job has still to compute.
    pub(super) fn remaining(&self) -> Option<Duration> {
        self.job.map(|(_, remaining)| remaining)
    }

    /// Had the CPU for this long. Time never passes beyond the end of a running job.
    pub(super) fn compute(&mut self, span: Duration) {
        if let Some((_, remaining)) = &mut self.job {
            debug_assert!(span <= *remaining, "a completion was passed over");
            *remaining = remaining.saturating_sub(span);
        }
    }

    /// Takes the job when it is done.
    pub(super) fn finish(&mut self) -> Option<Job> {
        self.job.take_if(|(_, remaining)| remaining.is_zero()).map(|(job, _)| job)
    }
}
