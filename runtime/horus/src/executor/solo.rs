//! One periodic work on the executor's loop, without topics and journal: for meters, and for tests of the loop itself.

use std::sync::atomic::AtomicBool;

use super::{Executor, Observer, Parts, Runner, change};
use crate::deadline::{CycleRecord, Tally, Timing, Verdict};
use crate::figures::Sheet;
use crate::log::Log;
use crate::miss;
use crate::node::{Cycle, OnMiss};
use crate::time::{Clock, SystemClock};

/// A periodic work; see the module documentation.
///
/// ```
/// # use std::{sync::atomic::AtomicBool, time::Duration};
/// # use horus::{deadline::Timing, executor::Solo};
/// let timing = Timing::new(Duration::from_millis(2), Duration::from_millis(1))?;
/// let mut numbers = Vec::with_capacity(3);
/// let tally = Solo::new(timing).releases(3).run(&AtomicBool::new(false), |cycle| numbers.push(cycle.number));
/// assert_eq!(numbers.len() as u64, tally.cycles); // 3, or fewer where the machine was busy
/// # Ok::<(), horus::deadline::TimingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solo<C = SystemClock> {
    timing: Timing,
    clock: C,
    releases: u64,
}

impl Solo {
    /// On the machine's monotonic clock, until it is stopped.
    pub fn new(timing: Timing) -> Self {
        Self::with_clock(timing, SystemClock)
    }
}

impl<C: Clock> Solo<C> {
    /// On a clock of the caller's.
    pub(crate) fn with_clock(timing: Timing, clock: C) -> Self {
        Self { timing, clock, releases: u64::MAX }
    }

    /// Ends the run after the releases `0 .. releases`, served or skipped, so that [`Tally::releases`] is exactly this
    /// number.
    #[must_use]
    pub fn releases(mut self, releases: u64) -> Self {
        self.releases = releases;
        self
    }

    /// Calls `step` once a period until `stop` is set or the releases are used up, and returns the account.
    pub fn run(&self, stop: &AtomicBool, step: impl FnMut(&Cycle) + Send) -> Tally {
        self.run_with(stop, step, None)
    }

    /// As [`run`](Self::run), and calls `observe` in the loop after each cycle, with what is known of it and the verdict.
    ///
    /// The observer's own time is not part of that cycle's response time, but it delays the next one.
    pub fn run_observed(
        &self,
        stop: &AtomicBool,
        step: impl FnMut(&Cycle) + Send,
        observe: impl FnMut(&CycleRecord, &Verdict) + Send,
    ) -> Tally {
        self.run_with(stop, step, Some(Box::new(observe)))
    }

    fn run_with(&self, stop: &AtomicBool, step: impl FnMut(&Cycle) + Send, observer: Option<Observer<'_>>) -> Tally {
        let mut executor = self.executor(step, observer);
        executor.run_released(stop);
        *executor.runners()[0].tally()
    }

    /// Everything that the loop needs, which allocates no more.
    pub(super) fn executor<'a>(
        &'a self,
        step: impl FnMut(&Cycle) + Send + 'a,
        observer: Option<Observer<'a>>,
    ) -> Executor<'a, &'a C> {
        let (recorder, _) = miss::channel("", self.timing, miss::RING_CAPACITY).expect("a power of two");
        let (changes, _) = change::channel("", OnMiss::count(), None);
        let parts = Parts {
            node: Box::new(step),
            observer,
            timing: self.timing,
            phase_ns: Some(0),
            trigger: None,
            min_inter_arrival_ns: 0,
            is_logical: false,
            budget_ns: None,
            on_miss: OnMiss::count(),
            releases: self.releases,
            inputs: Vec::new(),
            outlets: Vec::new(),
            params: None,
            recorder,
            changes,
            log: Log::default(),
        };
        let mut runner = Runner::new(parts, Sheet::own(1, "").of(0));
        let period = self.timing.period_nanos();
        let first = runner.begin_at(self.clock.now().plus_nanos(period));
        let mut executor = Executor::new(vec![runner], &self.clock);
        if let Some(release) = first {
            executor.queue.insert(release, 0);
        }
        executor
    }
}
