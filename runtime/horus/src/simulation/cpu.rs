//! One CPU with its queues of ready threads, as SCHED_FIFO has them, and what a thread is busy with.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::{Job, TaskId, ThreadId};

/// A CPU: for each priority the ready threads, the one that runs or was interrupted at the head.
#[derive(Clone, Debug)]
pub(super) struct Cpu {
    pub(super) number: u32,
    pub(super) running: Option<ThreadId>,
    queues: BTreeMap<u8, VecDeque<ThreadId>>,
}

impl Cpu {
    pub(super) fn new(number: u32) -> Self {
        Self { number, running: None, queues: BTreeMap::new() }
    }

    /// Puts a thread behind all others of its priority, unless it is ready already.
    pub(super) fn enqueue(&mut self, thread: ThreadId, priority: u8) {
        let queue = self.queues.entry(priority).or_default();
        if !queue.contains(&thread) {
            queue.push_back(thread);
        }
    }

    /// The thread that runs has nothing more to do.
    pub(super) fn give_up(&mut self, thread: ThreadId, priority: u8) {
        let head = self.queues.get_mut(&priority).and_then(VecDeque::pop_front);
        debug_assert_eq!(head, Some(thread), "only the head of a queue runs");
        self.running = None;
    }

    /// Gives the CPU to the head of the highest queue.
    pub(super) fn choose(&mut self) {
        self.running = self.queues.values().rev().find_map(VecDeque::front).copied();
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
