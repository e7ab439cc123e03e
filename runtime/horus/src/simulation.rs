//! Threads of fixed priority on several CPUs, in a time that only this module's steps let pass.
//!
//! A [`Simulation`] says what happens next: a release, a skipped release, the start or the completion of a job. The
//! caller decides how long each job computes, at its start, and may release other jobs between two steps. So it serves
//! two ends: the analysis ([`admission`](crate::admission)) is tested against it, and a virtual world can run the work
//! of a node at its start and show the results at its completion.
//!
//! ```
//! use std::time::Duration;
//! use horus::simulation::{Activation, Event, Job, Simulation};
//! use horus::time::MonotonicTime;
//!
//! let at = |micros: u64| MonotonicTime::from_nanos(micros * 1_000);
//! let us = Duration::from_micros;
//! let mut simulation = Simulation::new();
//! let thread = simulation.add_thread(3, 80);
//! let grid = Activation::Periodic { first_release: at(10), period: us(100) };
//! simulation.add_task(thread, 80, grid);
//!
//! let mut completions = Vec::new();
//! while let Some(event) = simulation.next_event(at(250), &mut |_: &Job, _| us(30)) {
//!     if let Event::Complete { at, .. } = event {
//!         completions.push(at);
//!     }
//! }
//! assert_eq!(completions, [at(40), at(140), at(240)]);
//! ```
//!
//! # The rules
//! - A CPU runs the ready thread with the highest priority. Of one priority it runs the thread that became ready first
//!   (`SCHED_FIFO`). A thread that is interrupted stays at the head of its queue.
//! - A thread runs one job to its end, and then the ready job with the earliest release; of these the one with the
//!   highest task priority; of these the one of the task that was added first. It gives up the CPU when it has none.
//! - A job becomes ready when its jitter has passed after its release.
//! - Release `k` of a periodic task is at `r_0 + k T`. When the job before is not complete by then, the release is
//!   skipped and counted. A job that completes exactly at the next release is in time.
//! - A sporadic task is released by [`Simulation::trigger`]. A trigger that comes within the gap, or before the job
//!   before is complete, is deferred to the end of both. Further triggers are merged into a deferred one and counted:
//!   the job that comes sees all.
//! - Of what falls on one instant, completions come first, then releases, then starts. So a job that starts sees every
//!   result of its instant.
//!
//! # What it does not do
//! Switching costs nothing, jobs wait for no locks, and there is no `SCHED_DEADLINE`. A step looks at every task, so it
//! suits the tens of tasks of a robot.

mod cpu;
mod event;
mod task;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use self::cpu::{Cpu, Thread};
pub use self::event::{Event, Job, Jobs, TaskId, ThreadId, Trigger};
pub use self::task::Activation;
use self::task::{Progress, Task};
use crate::time::MonotonicTime;

/// See the module documentation.
#[derive(Clone, Debug, Default)]
pub struct Simulation {
    now: MonotonicTime,
    tasks: Vec<Task>,
    threads: Vec<Thread>,
    cpus: Vec<Cpu>,
    /// Triggers that lie ahead, the earliest on top.
    triggers: BinaryHeap<Reverse<(MonotonicTime, TaskId)>>,
}

impl Simulation {
    /// An empty one, at time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty one, at another time.
    pub fn starting_at(now: MonotonicTime) -> Self {
        Self { now, ..Self::default() }
    }

    /// Adds a thread that is pinned to `cpu`. A larger `priority` runs first.
    pub fn add_thread(&mut self, cpu: u32, priority: u8) -> ThreadId {
        let known = self.cpus.iter().position(|known| known.number == cpu);
        let cpu = known.unwrap_or_else(|| {
            self.cpus.push(Cpu::new(cpu));
            self.cpus.len() - 1
        });
        self.threads.push(Thread::new(cpu, priority));
        ThreadId(self.threads.len() - 1)
    }

    /// Adds a task to a thread. `priority` says which of two jobs of the thread goes first when their releases are at
    /// one instant.
    ///
    /// # Panics
    /// When the thread is of another simulation, or the period is zero.
    pub fn add_task(&mut self, thread: ThreadId, priority: u8, activation: Activation) -> TaskId {
        let id = TaskId(self.tasks.len());
        assert!(activation.distance_nanos() > 0, "a period of zero releases for ever: give at least 1 ns");
        self.threads[thread.0].tasks.push(id);
        self.tasks.push(Task::new(thread, priority, activation));
        id
    }

    /// What time it is.
    pub fn now(&self) -> MonotonicTime {
        self.now
    }

    /// How many releases of a periodic task were skipped.
    pub fn skipped(&self, task: TaskId) -> u64 {
        self.tasks[task.0].skipped
    }

    /// How many triggers of a sporadic task were merged into another one.
    pub fn merged(&self, task: TaskId) -> u64 {
        self.tasks[task.0].merged
    }

    /// Releases a sporadic task at `at`, or now where that has passed. What becomes of a trigger that comes too early
    /// stands in the rules above.
    pub fn trigger(&mut self, task: TaskId, at: MonotonicTime) -> Trigger {
        if at > self.now {
            if !self.tasks[task.0].is_sporadic() {
                return Trigger::NotSporadic;
            }
            self.triggers.push(Reverse((at, task)));
            return Trigger::Scheduled;
        }
        self.tasks[task.0].trigger(self.now)
    }

    /// What happens next, up to and with `until`. `None` says that nothing more does; it is then `until`.
    pub fn next_event(&mut self, until: MonotonicTime, jobs: &mut impl Jobs) -> Option<Event> {
        loop {
            let event = self.complete().or_else(|| self.release(jobs)).or_else(|| self.start(jobs));
            if event.is_some() {
                return event;
            }
            let next = self.next_instant().filter(|next| *next <= until);
            self.pass_to(next.unwrap_or(until.max(self.now)));
            next?;
        }
    }

    /// The job that is done by now, if one is.
    fn complete(&mut self) -> Option<Event> {
        let now = self.now;
        for cpu in &mut self.cpus {
            let Some(thread) = cpu.running else { continue };
            let Some(job) = self.threads[thread.0].finish() else { continue };
            let task = &mut self.tasks[job.task.0];
            let start = task.complete(now);
            if !self.threads[thread.0].tasks.iter().any(|task| self.tasks[task.0].progress == Progress::Ready) {
                cpu.give_up(thread);
            }
            return Some(Event::Complete { job, start, at: now });
        }
        None
    }

    /// The release that is due by now, if one is.
    fn release(&mut self, jobs: &mut impl Jobs) -> Option<Event> {
        while let Some(&Reverse((at, task))) = self.triggers.peek()
            && at <= self.now
        {
            self.triggers.pop();
            let _ = self.tasks[task.0].trigger(at); // a merged one is counted there
        }
        let due = self.tasks.iter().position(|task| task.next_release().is_some_and(|release| release <= self.now))?;
        let id = TaskId(due);
        let (job, served) = self.tasks[due].release(id, self.now);
        if !served {
            return Some(Event::Skip { job });
        }
        self.tasks[due].progress = Progress::Waking { ready: job.release.plus(jobs.jitter(&job)) };
        Some(Event::Release { job })
    }

    /// Wakes the threads whose jobs are ready, and starts a job where a CPU has a new one.
    fn start(&mut self, jobs: &mut impl Jobs) -> Option<Event> {
        for task in &mut self.tasks {
            if matches!(task.progress, Progress::Waking { ready } if ready <= self.now) {
                task.progress = Progress::Ready;
                let thread = &self.threads[task.thread.0];
                self.cpus[thread.cpu].enqueue(task.thread, thread.priority);
            }
        }
        for cpu in &mut self.cpus {
            cpu.choose();
            let Some(id) = cpu.running else { continue };
            let thread = &mut self.threads[id.0];
            if thread.is_busy() {
                continue;
            }
            let ready = thread.tasks.iter().filter(|task| self.tasks[task.0].progress == Progress::Ready);
            let Some(next) = ready.min_by_key(|task| self.tasks[task.0].order()).copied() else { continue };
            let Some(job) = self.tasks[next.0].start(self.now) else { continue };
            thread.begin(job, jobs.start(&job, self.now));
            return Some(Event::Start { job, at: self.now });
        }
        None
    }

    /// When something can happen, after all that happens now has.
    pub(crate) fn next_instant(&self) -> Option<MonotonicTime> {
        let triggers = self.triggers.peek().map(|Reverse((at, _))| *at);
        let tasks = self.tasks.iter().filter_map(Task::next_instant);
        let completions =
            self.cpus.iter().filter_map(|cpu| Some(self.now.plus(self.threads[cpu.running?.0].remaining()?)));
        tasks.chain(completions).chain(triggers).min()
    }

    /// Lets time pass; the running jobs compute.
    fn pass_to(&mut self, time: MonotonicTime) {
        let span = time.since(self.now);
        for thread in self.cpus.iter().filter_map(|cpu| cpu.running) {
            self.threads[thread.0].compute(span);
        }
        self.now = time;
    }
}

#[cfg(test)]
mod tests;
