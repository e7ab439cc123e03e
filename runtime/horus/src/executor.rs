//! The loop of a thread: its nodes, in the order of their releases, on the machine's clock.
//!
//! - Periodic nodes run on the absolute grid `r_k = r_0 + k T`. An overrun does not move it: a release that passes while the thread
//!   is busy is skipped and counted, as [`crate::deadline`] says. Running it late would turn one late cycle into many.
//! - Event-driven nodes run when a message came, at most once in their gap.
//! - Order is deterministic: by release, and of the same release by declaration. All nodes of a thread have its priority.
//!
//! The loop allocates, locks, logs and blocks nowhere, except for the one wait for the next release. Tests count allocations, with
//! inputs, outputs, events, logical time and misses. What
//! there is to tell leaves through rings of our own (`miss`, [`crate::stale`], `change`).

pub(crate) mod change;
mod queue;
mod runner;
mod solo;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use arrayvec::ArrayVec;
use horus_shm::ends::Subscription;

pub(crate) use change::ChangeCollector;
use queue::Queue;
pub(crate) use runner::{Observer, Parts, Port, Runner};
pub use solo::Solo;

use crate::time::{Clock, MonotonicTime};

/// A request to stop is noticed within this time, however long the period is.
const LOOK_FOR_STOP: Duration = Duration::from_millis(100);

/// The most event-driven nodes of a thread.
pub(crate) const MAX_EVENT_NODES: usize = 32;

/// The nodes of one thread.
pub(crate) struct Executor<'a, C> {
    runners: Vec<Runner<'a>>,
    queue: Queue,
    clock: C,
    /// The node whose cycle began last.
    running: usize,
    /// The CPU at the last wake-up or completion.
    cpu: u32,
}

impl<'a, C: Clock> Executor<'a, C> {
    pub fn new(runners: Vec<Runner<'a>>, clock: C) -> Self {
        Self { queue: Queue::with_capacity(runners.len()), runners, clock, running: 0, cpu: 0 }
    }

    /// Runs the nodes until `stop` is set, or until all of them have used up their releases. The first releases lie behind
    /// `from`.
    pub fn run(&mut self, from: MonotonicTime, stop: &AtomicBool) {
        for (index, runner) in self.runners.iter_mut().enumerate() {
            if let Some(release) = runner.first_release(from) {
                self.queue.insert(release, index);
            }
        }
        self.run_released(stop);
    }

    /// Runs what is in the queue.
    fn run_released(&mut self, stop: &AtomicBool) {
        let mut has_events = self.runners.iter().any(Runner::is_event_driven);
        let mut now = self.look_at_clock();
        // Relaxed: the flag carries no data, and a store becomes visible in finite time.
        while !stop.load(Ordering::Relaxed) {
            if has_events {
                self.take_events(now);
            }
            match self.queue.next() {
                Some((release, index)) if release <= now => {
                    self.queue.pop();
                    let is_last;
                    (now, is_last) = self.cycle(index, release, now);
                    if is_last {
                        has_events = self.runners.iter().any(Runner::is_event_driven);
                        if self.runners[index].has_stopped() {
                            stop.store(true, Ordering::Relaxed);
                        }
                    }
                }
                None if !has_events => return,
                next => {
                    let soon = now.plus(LOOK_FOR_STOP);
                    let until = next.map_or(soon, |(release, _)| release.min(soon));
                    match has_events {
                        true => self.wait_for_events(until),
                        false => self.clock.sleep_until(until),
                    }
                    now = self.look_at_clock();
                }
            }
        }
    }

    /// What time it is, and on which CPU, where cycles follow.
    fn look_at_clock(&mut self) -> MonotonicTime {
        let now = self.clock.now();
        self.cpu = self.clock.cpu();
        now
    }

    /// Runs one cycle; returns when it was over, and whether it was its node's last one. A cycle that follows at once woke when and where this one was completed.
    #[inline]
    fn cycle(&mut self, index: usize, release: MonotonicTime, wake: MonotonicTime) -> (MonotonicTime, bool) {
        self.running = index;
        let runner = &mut self.runners[index];
        if runner.has_ended() {
            return (wake, true); // its last release was one by an event, and the grid had one more for it
        }
        let wake_cpu = self.cpu;
        let cpu_time = if runner.has_budget() { self.clock.cpu_time() } else { 0 };
        runner.step(release, wake, cpu_time);
        let mut completion = self.clock.now();
        if runner.publish(completion) {
            completion = self.clock.now();
        }
        let cpu_time = if runner.has_budget() { self.clock.cpu_time() } else { 0 };
        self.cpu = self.clock.cpu();
        if let Some(next) = runner.finish(completion, wake_cpu, self.cpu, cpu_time) {
            self.queue.insert(next, index);
        }
        (completion, runner.has_ended() || runner.has_stopped())
    }

    fn take_events(&mut self, now: MonotonicTime) {
        for (index, runner) in self.runners.iter_mut().enumerate() {
            if let Some(release) = runner.take_event(now) {
                self.queue.insert(release, index);
            }
        }
    }

    /// Waits until `until`, or until an event comes.
    fn wait_for_events(&mut self, until: MonotonicTime) {
        let mut waiting: ArrayVec<&mut Subscription, MAX_EVENT_NODES> = ArrayVec::new();
        for runner in &mut self.runners {
            if let Some(subscription) = runner.awaited()
                && !waiting.is_full()
            {
                waiting.push(subscription);
            }
        }
        match waiting.is_empty() {
            true => self.clock.sleep_until(until),
            false => drop(Subscription::wait_any(&mut waiting, until.since(self.clock.now()))),
        }
    }

    /// The node whose cycle began last.
    pub fn running(&self) -> usize {
        self.running
    }

    /// Publishes what is safe for every node that has a safe state: nothing comes after that.
    pub fn end(&mut self) {
        let now = self.clock.now();
        for runner in &mut self.runners {
            runner.publish_safe(now);
            runner.end();
        }
    }

    /// The nodes, when the loop has ended.
    pub fn runners(&mut self) -> &mut [Runner<'a>] {
        &mut self.runners
    }
}

#[cfg(test)]
mod tests;
