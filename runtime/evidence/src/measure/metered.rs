//! Meters every release of a scheduler loop, and makes a phase of the report of it: the same for a node's work and for messages with a
//! deadline.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use horus::cpus::CpuChoice;
use horus::deadline::{Tally, Timing};
use horus::executor::Solo;
use horus::node::Cycle;
use horus::startup::{Granted, Process, RtPriority, SchedulingPolicy, Thread};
use horus_measure::meter::Meter;

use crate::record::interval::{Intervals, Window};
use crate::record::schema::{Latency, Phase};

use super::grants::{not_granted, policy};
use super::machine::watch;

/// The guarantees without which a phase with a deadline measures something else than a real-time node.
pub(crate) const NEEDED: [&str; 3] = ["cpu", "scheduling-policy", "memory"];

/// Where and how a measuring thread runs.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its CPU; `None` leaves it to the kernel.
    pub cpu: Option<u32>,
    /// Its `SCHED_FIFO` priority; `None` keeps the ordinary policy.
    pub priority: Option<u8>,
    /// The longest that the thread computes without sleeping, which the kernel enforces for a real-time one.
    pub longest_computation: Duration,
}

/// What a loop gave.
pub struct Measured {
    /// The scheduler's account.
    pub tally: Tally,
    /// Response times, one for each release: a skipped one counts from its own release to just after the next one served.
    pub response: Meter,
    /// Release jitter of the cycles that ran.
    pub jitter: Meter,
    /// Responses beyond the period.
    pub overruns: u64,
    /// The worst of each second.
    pub intervals: Intervals,
    /// The most misses in any 100 consecutive releases.
    pub most_in_100: u64,
    /// What the system granted.
    pub granted: Granted,
}

impl Place {
    /// Asks for CPU, policy and locked memory for the calling thread; a refusal is part of the answer, not an error.
    pub fn take(&self) -> Granted {
        let process = Process {
            lock_memory: true,
            hold_cpu_dma_latency: false, // the run holds it for the whole process
            rt_time_limit: self.priority.map(|_| self.longest_computation),
        };
        let checked = |priority| RtPriority::new(priority).expect("the configuration holds checked priorities only");
        let thread = Thread {
            cpu: self.cpu.map_or(CpuChoice::Any, CpuChoice::Number),
            policy: self
                .priority
                .map_or(SchedulingPolicy::Inherited, |priority| SchedulingPolicy::Fifo(checked(priority))),
            ..Thread::default()
        };
        process.prepare().and(thread.enter())
    }
}

/// Runs `step` for `releases` releases in a thread of its own, so that its policy ends with it; sooner when `step` answers that there is
/// nothing left to do.
pub fn run(timing: Timing, releases: u64, place: Place, step: impl FnMut(&Cycle) -> bool + Send) -> Measured {
    thread::scope(|scope| {
        let run = scope.spawn(move || run_here(timing, releases, place, step));
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run_here(timing: Timing, releases: u64, place: Place, mut step: impl FnMut(&Cycle) -> bool + Send) -> Measured {
    let (mut response, mut jitter) = (Meter::new(), Meter::new());
    let mut overruns = 0;
    let (period, deadline) = (timing.period_nanos(), timing.deadline_nanos());
    let (mut intervals, mut window) = (Intervals::over(releases.saturating_mul(period)), Window::default());
    let granted = place.take();
    let stop = AtomicBool::new(false);
    let node = |cycle: &Cycle| {
        if !step(cycle) {
            stop.store(true, Ordering::Relaxed); // read by the same thread
        }
    };
    let tally = Solo::new(timing).releases(releases).run_observed(&stop, node, |record, _| {
        let nanoseconds = record.response().as_nanos() as u64;
        let late = record.jitter().as_nanos() as u64;
        jitter.record(late, record.number);
        overruns += u64::from(nanoseconds > period);
        let mut add = |response_ns, release: u64, jitter_ns| {
            let missed = response_ns > deadline;
            response.record(response_ns, release);
            intervals.at(release.saturating_mul(period)).add(response_ns, jitter_ns, missed);
            window.add(missed);
        };
        add(nanoseconds, record.number, Some(late));
        skipped_responses(record.number, record.skipped, period).for_each(|(ns, release)| add(ns, release, None));
    });
    Measured { tally, response, jitter, overruns, intervals, most_in_100: window.most(), granted }
}

/// The response times of the releases that cycle `number` hid, with their numbers.
///
/// Leaving them out would count a long stall as one sample. Nothing ever completes for a skipped release; the soonest
/// that its work could be done is by the next release that is served, so it counts as not done until just after that
/// one, and longer than a period. Counting to the completion of the cycle that hid it would make the last of them look
/// quick, and the quantiles better the longer the stalls.
fn skipped_responses(number: u64, skipped: u64, period: u64) -> impl Iterator<Item = (u64, u64)> {
    (1..=skipped).map(move |hidden| ((skipped + 1 - hidden) * period + 1, number + hidden))
}

/// A phase, and what a node needs and it was refused.
pub(crate) struct Judged {
    /// The phase.
    pub phase: Phase,
    /// What was refused, in the words of the report.
    pub refused: Vec<String>,
}

/// What a phase with a deadline is told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    /// The name of the phase.
    pub name: &'a str,
    /// Period and deadline.
    pub timing: Timing,
    /// How long it takes.
    pub time: Duration,
    /// Where and how it runs.
    pub place: Place,
    /// Where the machine's temperature and clock are read.
    pub root: &'a Path,
}

impl Task<'_> {
    /// Measures with `step`, while the machine's temperature and clock are read beside it.
    pub(crate) fn judge(&self, step: impl FnMut(&Cycle) -> bool + Send) -> Judged {
        let Self { timing, place, .. } = *self;
        let releases = (self.time.as_nanos() / timing.period().as_nanos()).max(1) as u64;
        let mut intervals = Intervals::over(releases.saturating_mul(timing.period_nanos()));
        let (measured, states) =
            watch::during(self.root, place.cpu, intervals.width_ns, || run(timing, releases, place, step));
        intervals.rows.clone_from(&measured.intervals.rows);
        watch::fill(&mut intervals, &states);
        let needed = measured.granted.refused().filter(|refused| NEEDED.contains(&refused.name));
        let refused = needed.map(|refused| format!("the node was {}", not_granted(refused))).collect();
        let phase = Phase {
            name: self.name.to_owned(),
            measured: true,
            notes: measured.granted.refused().map(not_granted).collect(),
            cpu: place.cpu,
            policy: Some(policy(&measured.granted, place.priority.unwrap_or(0))),
            period_ns: Some(timing.period_nanos()),
            deadline_ns: Some(timing.deadline_nanos()),
            samples: measured.tally.releases(),
            misses: Some(measured.tally.misses),
            max_consecutive: Some(measured.tally.max_consecutive),
            skipped: Some(measured.tally.skipped),
            overruns: Some(measured.overruns),
            latency: Latency::of(&measured.response),
            release_jitter: Some(Latency::of(&measured.jitter)),
            release_jitter_samples: Some(measured.jitter.samples()),
            miss_bound_95: Some(measured.tally.miss_bound_95()),
            histogram: measured.response.classes(),
            jitter_histogram: measured.jitter.classes(),
            max_misses_in_100: Some(measured.most_in_100),
            intervals: Some(intervals),
            ..Phase::default()
        };
        Judged { phase, refused }
    }
}

#[cfg(test)]
mod tests {
    use horus::time::{Clock, SystemClock};

    use super::*;

    #[test]
    fn a_skipped_release_is_a_miss_in_the_histogram_too() {
        for (period, deadline) in [(2_000, 2_000), (2_000, 1_000)] {
            let timing = Timing::new(Duration::from_micros(period), Duration::from_micros(deadline)).unwrap();
            let mut responses = Vec::new();
            let node = |cycle: &Cycle| {
                if cycle.number % 10 == 3 {
                    // Ends shortly after a release, where counting to the completion would find almost nothing.
                    let end = cycle.release.plus(timing.period() * 4 + Duration::from_micros(50));
                    while SystemClock.now() < end {}
                }
            };
            let tally = Solo::new(timing).releases(60).run_observed(&AtomicBool::new(false), node, |record, _| {
                responses.push((record.response().as_nanos() as u64, record.number));
                responses.extend(skipped_responses(record.number, record.skipped, timing.period_nanos()));
            });
            let late = responses.iter().filter(|(ns, _)| *ns > timing.deadline_nanos()).count() as u64;
            assert!(tally.skipped >= 4, "{tally:?}");
            assert_eq!((late, responses.len() as u64), (tally.misses, tally.releases()));
            let worst = responses.iter().map(|response| response.0).max().unwrap();
            assert_eq!(worst, tally.max_response.as_nanos() as u64, "a skipped release is never the worst");
        }
    }

    #[test]
    fn a_step_that_has_nothing_left_to_do_ends_the_loop() {
        let timing = Timing::new(Duration::from_millis(1), Duration::from_millis(1)).unwrap();
        let place = Place { cpu: None, priority: None, longest_computation: Duration::from_secs(1) };
        let mut steps = 0;
        let measured = run(timing, 1_000_000, place, |_| {
            steps += 1;
            steps < 5
        });
        assert_eq!((measured.tally.cycles, measured.response.samples()), (5, measured.tally.releases()));
    }
}
