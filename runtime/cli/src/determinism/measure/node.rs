//! The measured node: horus's own scheduler loop with a small fixed work, metered in every cycle.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use horus::cpus::CpuChoice;
use horus::deadline::{Tally, Timing};
use horus::executor::Solo;
use horus::node::Cycle;
use horus::startup::{Granted, Policy, Process, RtPriority, Thread};
use horus::time::{Clock, SystemClock};
use horus_measure::meter::Meter;

use crate::determinism::evidence::interval::{Intervals, Window};

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

/// A stall that is put into one cycle to see whether the meter finds it.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    /// The cycle; the next one that runs when the machine, by a stall of its own, skips this one.
    pub cycle: u64,
    /// How long the node computes in vain.
    pub length: Duration,
}

impl Stall {
    /// Whether it belongs into cycle `number`, if it has not happened yet.
    fn is_due(&self, number: u64) -> bool {
        number >= self.cycle
    }
}

/// What a run of the node gave.
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
    /// The cycle that the stall was put into, if one was.
    pub stalled: Option<u64>,
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
            policy: self.priority.map_or(Policy::Inherited, |priority| Policy::Fifo(checked(priority))),
            ..Thread::default()
        };
        process.prepare().and(thread.enter())
    }
}

/// Runs the node for `releases` releases in a thread of its own, so that its policy ends with it.
pub fn measure(timing: Timing, releases: u64, place: Place, stall: Option<Stall>) -> Measured {
    thread::scope(|scope| {
        let run = scope.spawn(move || run_here(timing, releases, place, stall));
        run.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn run_here(timing: Timing, releases: u64, place: Place, stall: Option<Stall>) -> Measured {
    let (mut response, mut jitter) = (Meter::new(), Meter::new());
    let (mut overruns, mut stalled) = (0, None);
    let mut work = Work::new();
    let (period, deadline) = (timing.period_nanos(), timing.deadline_nanos());
    let (mut intervals, mut window) = (Intervals::over(releases.saturating_mul(period)), Window::default());
    let granted = place.take();
    let node = |cycle: &Cycle| {
        work.step();
        if let Some(stall) = stall.filter(|stall| stalled.is_none() && stall.is_due(cycle.number)) {
            stalled = Some(cycle.number);
            let end = SystemClock.now().plus(stall.length);
            while SystemClock.now() < end {}
        }
    };
    let tally = Solo::new(timing).releases(releases).run_observed(&AtomicBool::new(false), node, |record, _| {
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
    Measured { tally, response, jitter, overruns, intervals, most_in_100: window.most(), stalled, granted }
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

/// What the node computes: one 16 x 16 matrix product, the covariance step of an estimator with 16 states.
///
/// Some microseconds on a small board, so that response time is more than jitter and the caches are really used.
struct Work {
    state: [[f64; SIZE]; SIZE],
    step: [[f64; SIZE]; SIZE],
}

const SIZE: usize = 16;

impl Work {
    fn new() -> Self {
        // A rotation in each pair of states keeps all values bounded for ever: no infinities, no slow subnormals.
        let (sine, cosine) = 0.01_f64.sin_cos();
        let mut step = [[0.0; SIZE]; SIZE];
        for pair in (0..SIZE).step_by(2) {
            (step[pair][pair], step[pair][pair + 1]) = (cosine, -sine);
            (step[pair + 1][pair], step[pair + 1][pair + 1]) = (sine, cosine);
        }
        Self { state: [[1.0; SIZE]; SIZE], step }
    }

    fn step(&mut self) {
        let mut next = [[0.0; SIZE]; SIZE];
        for (row, out) in self.step.iter().zip(&mut next) {
            for (factor, state) in row.iter().zip(&self.state) {
                out.iter_mut().zip(state).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        self.state = std::hint::black_box(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { cpu: None, priority: None, longest_computation: Duration::from_secs(1) };

    fn timing() -> Timing {
        Timing::new(Duration::from_millis(2), Duration::from_millis(2)).unwrap()
    }

    #[test]
    fn every_release_is_one_sample_even_when_it_was_skipped() {
        let stall = Stall { cycle: 0, length: Duration::from_millis(9) }; // the only cycle that no other stall can skip
        let measured = measure(timing(), 50, PLACE, Some(stall));
        assert_eq!(measured.tally.releases(), 50);
        assert_eq!(measured.response.samples(), 50);
        assert_eq!(measured.jitter.samples(), measured.tally.cycles);
        assert!(measured.tally.skipped >= 4 && measured.overruns >= 1);
        assert_eq!(measured.response.max().0, measured.tally.max_response.as_nanos() as u64);
        assert_eq!(measured.intervals.maxima(), [measured.response.max().0], "100 ms are one interval");
        assert_eq!(measured.intervals.rows[0].misses, measured.tally.misses);
        assert_eq!(measured.most_in_100, measured.tally.misses, "50 releases are within one window");
    }

    #[test]
    fn a_stall_whose_cycle_the_machine_skipped_happens_once_in_the_next_one() {
        let stall = Stall { cycle: 3, length: Duration::from_millis(5) };
        assert_eq!([2, 3, 7].map(|number| stall.is_due(number)), [false, true, true]);
        let measured = measure(timing(), 200, PLACE, Some(stall));
        let skipped_before = measured.stalled.unwrap() - stall.cycle;
        assert!(measured.tally.skipped >= 2 + skipped_before, "{:?}", measured.tally);
        assert_eq!(measure(timing(), 2, PLACE, Some(stall)).stalled, None);
    }

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
    fn the_work_stays_bounded() {
        let mut work = Work::new();
        (0..100_000).for_each(|_| work.step());
        assert!(work.state.iter().flatten().all(|value| value.abs() < 2.0));
    }
}
