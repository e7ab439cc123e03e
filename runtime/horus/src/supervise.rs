//! The thread beside the loops that does what they must not: write journal entries, feed the service manager's watchdog.
//!
//! It looks every 100 ms, on the housekeeping CPUs and without a real-time policy. The watchdog is fed only while every node lives: a
//! step that takes [`LONGEST_STEP`] or a grid that stands still for as long is a node that hangs. systemd then ends the process and starts it
//! again, although this thread is alive and well. One node that hangs is enough, whatever the others do.
//!
//! Threads inherit policy and affinity from their creator, so `spawn` comes *before* a thread takes its policy, and refuses to be
//! called by a real-time thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use libsystemd::daemon::{self, NotifyState};
use thiserror::Error;

use crate::cpus::CpuChoice;
use crate::executor::ChangeCollector;
use crate::figures::Figures;
use crate::log::LogCollector;
use crate::miss::MissCollector;
use crate::port::{LostCollector, MissedCollector};
use crate::stale::StaleCollector;
use crate::startup::{self, Thread};
use crate::task::KernelPolicy;
use crate::time::{Clock, MonotonicTime, SystemClock};
use crate::witness::beside::Beside;
use crate::witness::client::Client;

/// The time between two looks at the loops.
pub const INTERVAL: Duration = Duration::from_millis(100);

/// A step that takes longer hangs; but ten periods, gaps or deadlines of its node are always allowed.
pub const LONGEST_STEP: Duration = Duration::from_secs(1);

/// Why no supervising thread was started.
#[derive(Debug, Error)]
pub enum SuperviseError {
    /// The caller is a real-time thread, and the new thread would compete with it at the same priority.
    #[error(
        "a thread under {0} must not start others, which would inherit that: supervise first, then ask for the scheduling policy"
    )]
    RealTime(KernelPolicy),
    /// The thread or the question about the caller's policy failed.
    #[error("cannot start the supervising thread: {0}")]
    System(#[from] io::Error),
}

/// What there is to tell of one node, and whether it lives.
pub(crate) struct Watched {
    /// Whether a grid releases it.
    is_grid: bool,
    /// A step that takes longer hangs, and so does a grid that stands still for longer.
    patience: Duration,
    misses: MissCollector,
    changes: ChangeCollector,
    stale_inputs: Vec<StaleCollector>,
    lost: Vec<LostCollector>,
    missed: Vec<MissedCollector>,
    log: Option<LogCollector>,
    figures: Option<Arc<Figures>>,
    progress: (u64, MonotonicTime),
}

impl Watched {
    pub fn new(
        is_grid: bool,
        distance: Duration,
        misses: MissCollector,
        changes: ChangeCollector,
        stale_inputs: Vec<StaleCollector>,
    ) -> Self {
        let progress = (u64::MAX, MonotonicTime::default());
        let patience = (distance * 10).max(LONGEST_STEP);
        let (lost, missed) = (Vec::new(), Vec::new());
        Self { is_grid, patience, misses, changes, stale_inputs, lost, missed, log: None, figures: None, progress }
    }

    /// With what its outputs and inputs lose.
    pub fn with_messages(self, lost: Vec<LostCollector>, missed: Vec<MissedCollector>) -> Self {
        Self { lost, missed, ..self }
    }

    /// With what its steps say.
    pub fn with_log(self, log: LogCollector) -> Self {
        Self { log: Some(log), ..self }
    }

    /// With the figures that say whether it lives.
    pub fn with(self, figures: Arc<Figures>) -> Self {
        Self { figures: Some(figures), ..self }
    }

    /// Sends or returns what there is to tell.
    pub fn collect(&mut self, now: MonotonicTime, mut tell: impl FnMut(crate::journal::Entry)) {
        if let Some(log) = &mut self.log {
            log.collect(now, &mut tell);
        }
        self.misses.collect(now).into_iter().for_each(&mut tell);
        while let Some(entry) = self.changes.collect(now) {
            tell(entry);
        }
        for stale in &mut self.stale_inputs {
            stale.collect(now).into_iter().for_each(&mut tell);
        }
        self.collect_messages(now, tell);
    }

    fn collect_messages(&mut self, now: MonotonicTime, mut tell: impl FnMut(crate::journal::Entry)) {
        let (mut lost, mut missed) = (0, 0);
        for output in &mut self.lost {
            output.collect(now).into_iter().for_each(&mut tell);
            lost += output.total();
        }
        for input in &mut self.missed {
            input.collect(now).into_iter().for_each(&mut tell);
            missed += input.total();
        }
        if let Some(figures) = &self.figures {
            figures.set_messages(lost, missed);
        }
    }

    /// What is left when the loop has ended.
    pub fn finish(mut self, mut tell: impl FnMut(crate::journal::Entry)) {
        if let Some(log) = &mut self.log {
            log.collect(MonotonicTime::MAX, &mut tell);
        }
        self.collect_messages(MonotonicTime::MAX, &mut tell);
        self.misses.finish().into_iter().for_each(&mut tell);
        while let Some(entry) = self.changes.collect(MonotonicTime::MAX) {
            tell(entry);
        }
        for stale in &mut self.stale_inputs {
            stale.collect(MonotonicTime::MAX).into_iter().for_each(&mut tell);
        }
    }

    fn lives(&mut self, now: MonotonicTime) -> bool {
        let Some(figures) = &self.figures else { return true };
        if figures.has_ended() {
            return true;
        }
        if let Some(began) = figures.step_began() {
            return now.since(began) < self.patience;
        }
        let cycle = figures.number();
        if self.progress.0 != cycle {
            self.progress = (cycle, now);
        }
        !self.is_grid || now.since(self.progress.1) < self.patience
    }
}

/// The running thread; it ends when this is dropped, which waits for its last entries.
#[derive(Debug)]
pub(crate) struct Supervisor {
    thread: Option<JoinHandle<()>>,
    /// Guards no data, so accesses are Relaxed.
    stop: Arc<AtomicBool>,
}

/// Starts the thread. `background` is called at every look, for what a program wants written down now and then, and a last time
/// with [`MonotonicTime::MAX`] when the thread ends: what waited for its time has no other. By `witness` comes who is asked about
/// misses, if anybody is.
///
/// # Errors
/// When the calling thread has a real-time policy, or the system has no thread to give.
pub(crate) fn spawn(
    watched: Vec<Watched>,
    witness: Receiver<Client>,
    background: impl FnMut(MonotonicTime) + Send + 'static,
) -> Result<Supervisor, SuperviseError> {
    let (policy, _) = startup::policy_of_this_thread()?;
    if policy.is_real_time() {
        return Err(SuperviseError::RealTime(policy));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let seen_by_thread = Arc::clone(&stop);
    let thread = thread::Builder::new()
        .name("supervise".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || supervise(watched, Beside::new(witness), background, &seen_by_thread))?;
    Ok(Supervisor { thread: Some(thread), stop })
}

/// The stack of the thread: all of it is locked with a real-time process.
const STACK_BYTES: usize = 512 * 1024;

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(Err(_panic)) = self.thread.take().map(JoinHandle::join) {
            eprintln!("warning: the supervising thread had panicked: journal entries may be missing");
        }
    }
}

/// Feeds the service manager's watchdog, where it has one: for programs with a loop of their own.
#[derive(Debug)]
pub struct Feeding {
    /// A quarter of the time that systemd waits: often enough to survive two late looks, and no burden on PID 1.
    interval: Option<Duration>,
    next: MonotonicTime,
}

impl Default for Feeding {
    fn default() -> Self {
        Self::new()
    }
}

impl Feeding {
    /// As the service manager asked for it.
    pub fn new() -> Self {
        let interval = daemon::watchdog_enabled(false).map(|timeout| timeout / 4);
        Self { interval, next: MonotonicTime::default() }
    }

    /// Feeds it, if it is time to.
    pub fn feed(&mut self, now: MonotonicTime) {
        if let Some(interval) = self.interval
            && now >= self.next
        {
            notify(&[NotifyState::Watchdog]);
            self.next = now.plus(interval);
        }
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

fn supervise(
    mut watched: Vec<Watched>,
    mut witness: Beside,
    mut background: impl FnMut(MonotonicTime),
    stop: &AtomicBool,
) {
    let granted = Thread { cpu: CpuChoice::Housekeeping, ..Thread::default() }.enter();
    granted.refused().for_each(|refused| eprintln!("warning: the supervising thread: {refused}"));
    let mut feeding = Feeding::new();
    let mut look = MonotonicTime::now();
    while !stop.load(Ordering::Relaxed) {
        let mut lives = true;
        witness.hear(watched.iter_mut().map(|node| &mut node.misses), look, |entry| entry.send_or_print());
        for node in &mut watched {
            node.collect(look, |entry| entry.send_or_print());
            lives &= node.lives(look);
        }
        if lives {
            feeding.feed(look);
        }
        witness.ask(watched.iter_mut().map(|node| &mut node.misses), look);
        background(look);
        look = look.plus(INTERVAL).max(MonotonicTime::now());
        SystemClock.sleep_until(look);
    }
    let mut misses: Vec<_> = watched.iter_mut().map(|node| &mut node.misses).collect();
    witness.finish(&mut misses, |entry| entry.send_or_print());
    for node in watched {
        node.finish(|entry| entry.send_or_print());
    }
    background(MonotonicTime::MAX);
}
