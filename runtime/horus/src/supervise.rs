//! The thread beside the loop that does what the loop must not: write journal entries, feed the service manager's
//! watchdog.
//!
//! It looks every 100 ms, on the housekeeping CPUs and without a real-time policy. The watchdog is fed only when the
//! loop has accounted for another release since the last time: a process whose loop hangs is killed and restarted by
//! systemd, although this thread is alive and well. `WatchdogSec=` must therefore be longer than the node's period, by
//! 200 ms at least.
//!
//! Threads inherit policy and affinity from their creator, so [`spawn`] comes *before* [`crate::startup::Opened::enter`],
//! and refuses to be called by a real-time thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use libsystemd::daemon::{self, NotifyState};
use thiserror::Error;

use crate::cpus::CpuChoice;
use crate::miss::MissCollector;
use crate::startup::{self, Thread};
use crate::task::SchedulingPolicy;
use crate::time::{Clock, MonotonicTime, SystemClock};

/// The time between two looks at the loop.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// Why no supervising thread was started.
#[derive(Debug, Error)]
pub enum SuperviseError {
    /// The caller is a real-time thread, and the new thread would compete with it at the same priority.
    #[error(
        "a thread under {0} must not start others, which would inherit that: supervise first, then ask for the policy"
    )]
    RealTime(SchedulingPolicy),
    /// The thread or the question about the caller's policy failed.
    #[error("cannot start the supervising thread: {0}")]
    System(#[from] io::Error),
}

/// The running thread; dropping it without [`finish`](Self::finish) ends the thread, too, but does not wait for its
/// last entry.
#[derive(Debug)]
pub struct Supervisor {
    thread: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

/// Flag and counter; neither guards other data, so all accesses are Relaxed.
#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    signs_of_life: AtomicU64,
}

/// Starts the thread. `chores` is called at every look, for what a program wants written down now and then, and a last time
/// with [`MonotonicTime::MAX`] when the thread ends: what waited for its time has no other.
///
/// # Errors
/// When the calling thread has a real-time policy, or the system has no thread to give.
pub fn spawn(
    collector: MissCollector,
    chores: impl FnMut(MonotonicTime) + Send + 'static,
) -> Result<Supervisor, SuperviseError> {
    let (policy, _) = startup::policy_of_this_thread()?;
    if policy.is_real_time() {
        return Err(SuperviseError::RealTime(policy));
    }
    let shared = Arc::new(Shared::default());
    let seen_by_thread = Arc::clone(&shared);
    let thread = thread::Builder::new()
        .name("supervise".to_owned())
        .spawn(move || supervise(collector, chores, &seen_by_thread))?;
    Ok(Supervisor { thread: Some(thread), shared })
}

impl Supervisor {
    /// A sign of life from outside the loop, for the time in which the node waits for something and the loop does not
    /// run yet.
    pub fn alive(&self) {
        self.shared.signs_of_life.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for the thread to write its last entries.
    pub fn finish(mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(Err(_panic)) = self.thread.take().map(JoinHandle::join) {
            eprintln!("warning: the supervising thread had panicked: journal entries may be missing");
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }
}

/// Tells the service manager that the node is in operation, and what it does. Nothing happens where no manager listens.
pub fn notify_ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::Status(status.to_owned())]);
}

fn notify(state: &[NotifyState]) {
    if let Err(error) = daemon::notify(false, state) {
        eprintln!("warning: cannot notify the service manager: {error}");
    }
}

fn supervise(mut collector: MissCollector, mut chores: impl FnMut(MonotonicTime), shared: &Shared) {
    let granted = Thread { cpu: CpuChoice::Housekeeping, ..Thread::default() }.enter();
    granted.refused().for_each(|refused| eprintln!("warning: the supervising thread: {refused}"));
    // A quarter of the time that systemd waits: often enough to survive two late looks, and no burden on PID 1.
    let feeding_interval = daemon::watchdog_enabled(false).map(|timeout| timeout / 4);
    let mut progress_told = 0;
    let mut look = MonotonicTime::now();
    let mut feed_after = look;
    while !shared.stop.load(Ordering::Relaxed) {
        if let Some(entry) = collector.collect(look) {
            entry.send_or_print();
        }
        let progress = collector.releases() + shared.signs_of_life.load(Ordering::Relaxed);
        if let Some(interval) = feeding_interval
            && progress != progress_told
            && look >= feed_after
        {
            notify(&[NotifyState::Watchdog]);
            progress_told = progress;
            feed_after = look.plus(interval);
        }
        chores(look);
        look = look.plus(INTERVAL).max(MonotonicTime::now());
        SystemClock.sleep_until(look);
    }
    if let Some(entry) = collector.finish() {
        entry.send_or_print();
    }
    chores(MonotonicTime::MAX);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::deadline::Timing;
    use crate::miss;

    #[test]
    fn the_thread_looks_until_it_is_finished_and_has_no_real_time_policy() {
        let timing = Timing::new(Duration::from_millis(1), Duration::from_millis(1)).unwrap();
        let (_recorder, collector) = miss::channel("test", timing, 2).unwrap();
        let (sender, looks) = mpsc::channel();
        let supervisor = spawn(collector, move |now| {
            let _ = sender.send((startup::policy_of_this_thread().unwrap().0, now));
        })
        .unwrap();
        for _ in 0..2 {
            assert_eq!(looks.recv().unwrap().0, SchedulingPolicy::Other);
        }
        supervisor.finish();
        let rest: Vec<_> = looks.iter().collect(); // the sender is gone, so the iteration ends
        assert!(rest.len() < 1_000);
        assert_eq!(rest.last().map(|look| look.1), Some(MonotonicTime::MAX), "the last look says that it is the last");
    }
}
