//! What a node promises about time, and how one finished cycle is judged against the promise.
//!
//! The words, used everywhere with these meanings (`docs/measuring.md`): cycle `k` is *released* at `r_k = r_0 + k T`;
//! its *release jitter* is wake-up minus `r_k`; its *response time* `R_k` is completion minus `r_k`, so it contains the
//! jitter. A cycle *misses* when `R_k > D` and *overruns* when `R_k > T`. A release that never ran because an earlier
//! cycle was still busy is *skipped*, and a skipped release is a miss as well.

use std::time::Duration;

use thiserror::Error;

use crate::time::MonotonicTime;

/// The shortest period: a sleep and a wake-up cost microseconds, faster work must busy-poll instead.
pub const MIN_PERIOD: Duration = Duration::from_micros(10);
/// The longest period: a stop request is noticed at the next release, and a supervisor does not wait for ever.
pub const MAX_PERIOD: Duration = Duration::from_secs(60);

/// A period `T` and a deadline `D` relative to each release, checked: `0 < D <= T`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    // Both in nanoseconds, which the loop compares: a Duration is two numbers, and making one costs a division.
    period_ns: u64,
    deadline_ns: u64,
}

/// Why a period and a deadline cannot be promised.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TimingError {
    /// The period is outside [`MIN_PERIOD`]`..=`[`MAX_PERIOD`].
    #[error("period {0:?} is out of range: choose {MIN_PERIOD:?} to {MAX_PERIOD:?}")]
    Period(Duration),
    /// The deadline is zero, so every cycle would miss it.
    #[error("the deadline is zero, which every cycle misses: give the time from release to completion, such as 800us")]
    NoDeadline,
    /// The deadline lies behind the next release, where the grid has already judged the cycle an overrun.
    #[error("deadline {deadline:?} is longer than period {period:?}: shorten the deadline or lengthen the period")]
    DeadlineAfterPeriod {
        /// The deadline that was asked for.
        deadline: Duration,
        /// The period that it does not fit.
        period: Duration,
    },
}

impl Timing {
    /// Checks and keeps a period and a deadline.
    ///
    /// # Errors
    /// When the period is out of range, the deadline is zero or it is longer than the period.
    pub const fn new(period: Duration, deadline: Duration) -> Result<Self, TimingError> {
        if period.as_nanos() < MIN_PERIOD.as_nanos() || period.as_nanos() > MAX_PERIOD.as_nanos() {
            return Err(TimingError::Period(period));
        }
        if deadline.is_zero() {
            return Err(TimingError::NoDeadline);
        }
        if deadline.as_nanos() > period.as_nanos() {
            return Err(TimingError::DeadlineAfterPeriod { deadline, period });
        }
        // Both fit, because MAX_PERIOD does.
        Ok(Self { period_ns: period.as_nanos() as u64, deadline_ns: deadline.as_nanos() as u64 })
    }

    /// The distance of two releases.
    pub const fn period(&self) -> Duration {
        Duration::from_nanos(self.period_ns)
    }

    /// The time that a cycle has from its release to its completion.
    pub const fn deadline(&self) -> Duration {
        Duration::from_nanos(self.deadline_ns)
    }

    /// The period in nanoseconds.
    pub const fn period_nanos(&self) -> u64 {
        self.period_ns
    }

    /// The deadline in nanoseconds.
    pub const fn deadline_nanos(&self) -> u64 {
        self.deadline_ns
    }

    /// Whether a cycle of this response time meets its deadline: what a miss is, is said here alone.
    #[inline]
    pub(crate) const fn is_met_by(&self, response_ns: u64) -> bool {
        response_ns <= self.deadline_ns
    }

    /// The first point after `now` that lies `phase` behind a multiple of the period on the clock: processes that
    /// were started at different times share one grid this way, and a phase says who runs when.
    pub(crate) fn next_release(&self, now: MonotonicTime, phase: Duration) -> MonotonicTime {
        let period = self.period_nanos();
        let phase = (phase.as_nanos() % u128::from(period)) as u64; // below the period, so it fits
        let first = now.as_nanos() - now.as_nanos() % period;
        let release = MonotonicTime::from_nanos(first).plus_nanos(phase);
        if release > now { release } else { release.plus_nanos(period) }
    }

    /// How many releases pass unserved while a cycle released at `release` runs until `completion`.
    ///
    /// A cycle that completes exactly on a later release is in time to serve that one.
    pub(crate) const fn releases_skipped(&self, release: MonotonicTime, completion: MonotonicTime) -> u64 {
        completion.nanos_since(release).saturating_sub(1) / self.period_ns
    }
}

/// What the loop knows about one finished cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleRecord {
    /// `k` of `r_k`: releases are numbered from 0, and a skipped release uses up its number.
    pub number: u64,
    /// `r_k`, the point of the grid.
    pub release: MonotonicTime,
    /// When the loop was running again.
    pub wake: MonotonicTime,
    /// When the node had finished.
    pub completion: MonotonicTime,
    /// The CPU at `wake`, read just after it: where the kernel woke the thread.
    pub wake_cpu: u32,
    /// The CPU at `completion`, read just after it; another one than at `wake` means that the thread was moved.
    pub completion_cpu: u32,
    /// How many releases after this one were skipped because this cycle was still running.
    pub skipped: u64,
}

impl CycleRecord {
    /// Release jitter: wake-up minus release.
    pub const fn jitter(&self) -> Duration {
        self.wake.since(self.release)
    }

    /// The same in nanoseconds.
    pub(crate) const fn jitter_nanos(&self) -> u64 {
        self.wake.nanos_since(self.release)
    }

    /// Response time `R_k`: completion minus release.
    pub const fn response(&self) -> Duration {
        self.completion.since(self.release)
    }

    /// The same in nanoseconds.
    pub const fn response_nanos(&self) -> u64 {
        self.completion.nanos_since(self.release)
    }
}

/// The judgement on one cycle.
#[must_use = "a miss that no code looks at is not accounted for"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// `R_k > D`.
    pub missed: bool,
    /// `R_k > T`.
    pub overran: bool,
    /// Releases skipped behind this cycle; each is a miss too.
    pub skipped: u64,
    /// The run of consecutive misses that this cycle belongs to, up to and with its own; 0 when it met its deadline.
    pub consecutive: u64,
}

impl Verdict {
    /// Misses that this cycle causes: its own and one for each release that it made impossible.
    pub const fn misses(&self) -> u64 {
        self.missed as u64 + self.skipped
    }
}

/// The account of a run: fixed size, one addition per cycle, safe to keep inside the loop.
///
/// What a miss is, its [`Timing`] says; the loop asks it too, before it takes its short way. What a miss counts, this account says alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cycles that ran to completion.
    pub cycles: u64,
    /// Misses: cycles that completed late plus skipped releases.
    pub misses: u64,
    /// Skipped releases (contained in `misses`, not in `cycles`).
    pub skipped: u64,
    /// The longest run of consecutive releases that were missed.
    pub max_consecutive: u64,
    /// The longest response time.
    pub max_response: Duration,
    /// The largest release jitter.
    pub max_jitter: Duration,
    // As above, in nanoseconds: what each cycle is compared with.
    max_response_ns: u64,
    max_jitter_ns: u64,
    consecutive: u64,
}

impl Tally {
    /// Judges one finished cycle and adds it.
    pub fn add(&mut self, timing: &Timing, cycle: &CycleRecord) -> Verdict {
        let response_ns = cycle.response_nanos();
        let (missed, overran) = (!timing.is_met_by(response_ns), response_ns > timing.period_ns);
        let before = self.consecutive;
        self.add_in_time(response_ns, cycle.jitter_nanos());
        if missed {
            let misses = 1 + cycle.skipped;
            self.misses += misses;
            self.skipped += cycle.skipped;
            self.consecutive = before + misses;
            self.max_consecutive = self.max_consecutive.max(self.consecutive);
        }
        Verdict { missed, overran, skipped: cycle.skipped, consecutive: self.consecutive }
    }

    /// Adds a cycle of which it is known that it met its deadline.
    #[inline]
    pub(crate) fn add_in_time(&mut self, response_ns: u64, jitter_ns: u64) {
        self.cycles += 1;
        self.consecutive = 0;
        if response_ns > self.max_response_ns {
            (self.max_response_ns, self.max_response) = (response_ns, Duration::from_nanos(response_ns));
        }
        if jitter_ns > self.max_jitter_ns {
            (self.max_jitter_ns, self.max_jitter) = (jitter_ns, Duration::from_nanos(jitter_ns));
        }
    }

    /// Adds releases that were left out on purpose after a miss: skipped ones.
    pub(crate) fn leave_out(&mut self, releases: u64) {
        self.misses += releases;
        self.skipped += releases;
        self.consecutive += releases;
        self.max_consecutive = self.max_consecutive.max(self.consecutive);
    }

    /// Adds what a cycle has missed that has not ended: its own deadline, and releases that have passed.
    pub(crate) fn miss_so_far(&mut self, passed: u64) {
        self.leave_out(passed);
        self.misses += 1;
        self.consecutive += 1;
        self.max_consecutive = self.max_consecutive.max(self.consecutive);
    }

    /// The longest response time and the largest jitter, in nanoseconds.
    pub(crate) fn max_nanos(&self) -> (u64, u64) {
        (self.max_response_ns, self.max_jitter_ns)
    }

    /// Releases judged: completed cycles plus skipped releases. The `n` of every probability.
    pub fn releases(&self) -> u64 {
        self.cycles + self.skipped
    }

    /// The upper 95 % confidence bound on the probability that a release misses; see [`horus_measure::bound`].
    pub fn miss_bound_95(&self) -> f64 {
        horus_measure::bound::miss_bound_95(self.misses, self.releases())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_promise_that_cannot_be_kept_is_refused_with_what_to_change() {
        let error = |period, deadline| Timing::new(period, deadline).unwrap_err();
        assert_eq!(error(ms(0), ms(0)), TimingError::Period(ms(0)));
        assert_eq!(error(Duration::from_nanos(9_999), ms(1)), TimingError::Period(Duration::from_nanos(9_999)));
        assert_eq!(error(ms(60_001), ms(1)), TimingError::Period(ms(60_001)));
        assert_eq!(error(ms(1), ms(0)), TimingError::NoDeadline);
        let too_late = error(ms(1), ms(1) + Duration::from_nanos(1));
        assert!(too_late.to_string().contains("shorten the deadline"), "{too_late}");
        for (period, deadline) in [(MIN_PERIOD, MIN_PERIOD), (MAX_PERIOD, Duration::from_nanos(1)), (ms(1), ms(1))] {
            assert!(Timing::new(period, deadline).is_ok());
        }
    }

    #[test]
    fn one_late_cycle_can_be_several_misses() {
        let timing = Timing::new(ms(10), ms(8)).unwrap();
        let release = MonotonicTime::from_nanos(0);
        let judged = |millis: u64| {
            let completion = release.plus(ms(millis));
            let skipped = timing.releases_skipped(release, completion);
            let wake = release;
            let record = CycleRecord { number: 0, release, wake, completion, wake_cpu: 0, completion_cpu: 0, skipped };
            let verdict = Tally::default().add(&timing, &record);
            (verdict.missed, verdict.overran, verdict.misses())
        };
        assert_eq!(judged(0), (false, false, 0));
        assert_eq!(judged(8), (false, false, 0));
        assert_eq!(judged(9), (true, false, 1));
        assert_eq!(judged(10), (true, false, 1));
        assert_eq!(judged(11), (true, true, 2));
        assert_eq!(judged(20), (true, true, 2));
        assert_eq!(judged(21), (true, true, 3));
    }

    #[test]
    fn a_tally_bounds_the_miss_probability_by_releases_not_by_completed_cycles() {
        let tally = Tally { cycles: 990, skipped: 10, misses: 12, ..Tally::default() };
        assert_eq!(tally.miss_bound_95(), horus_measure::bound::miss_bound_95(12, 1_000));
        assert_eq!(Tally::default().miss_bound_95(), 1.0);
    }

    #[test]
    fn processes_that_ask_at_different_times_get_the_same_grid() {
        let timing = Timing::new(ms(10), ms(8)).unwrap();
        let next = |now_ms: u64, phase| timing.next_release(MonotonicTime::from_nanos(now_ms * 1_000_000), phase);
        for (now, phase, release) in
            [(0, 0, 10), (1, 0, 10), (10, 0, 20), (1, 5, 5), (5, 5, 15), (9, 5, 15), (9, 25, 15)]
        {
            assert_eq!(next(now, ms(phase)).as_nanos(), release * 1_000_000, "now {now} ms, phase {phase} ms");
        }
    }
}
