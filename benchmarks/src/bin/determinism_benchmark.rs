//! The executor's loop by hand: a node at 1 kHz, several runs, its misses, and how much the runs differ from each other.
//!
//! It is the loop and the meter of `horus determinism`, under the ordinary policy, on an ordinary CPU, without load: good for seeing how
//! far runs of this machine can be trusted. Whether a machine keeps its deadlines, the appliance measures at every boot.
//! Between two runs a bare sleep on the same grid says what the machine does without any executor.
//!
//! No run is repeated because it was bad.

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use horus::deadline::Timing;
use horus::executor::Solo;
use horus::time::{Clock, MonotonicTime, SystemClock};
use horus_benchmarks::cell::{Cell, Heading, Measured, Path};
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::report::nanoseconds;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::tally::Counts;
use horus_benchmarks::transport::Failure;
use horus_measure::merge::{Releases, sum, weakest};

const PERIOD: Duration = Duration::from_millis(1);
/// That of the appliance's run (`conf/horus/rootfs/usr/lib/horus/determinism.toml`).
const DEADLINE: Duration = Duration::from_micros(800);

const RUNS: usize = 5;

const NODE: &str = "horus";
const SLEEP: &str = "bare sleep";

const COUNTS: &str =
    "a node at 1 kHz with a deadline of 800 us, ordinary policy; `lost` counts misses, skipped releases included";

/// Releases of a run: enough for a p99, and for a p99.9.
const fn releases(stage: &Stage) -> u64 {
    if stage.effort.samples >= 1_000_000 { 20_000 } else { 1_200 }
}

fn timing() -> Timing {
    Timing::new(PERIOD, DEADLINE).expect("a deadline within the period")
}

/// The executor with a node that does nothing. A release that was skipped is a sample, as in `horus determinism`: it waited from
/// its own point of the grid until the cycle before it was over, and longer than a period.
fn node(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let mut samples = Samples::new(1);
    let solo = Solo::new(timing()).releases(releases(stage));
    let tally = solo.run_observed(
        &AtomicBool::new(false),
        |_| {},
        |record, _| {
            samples.record(record.response_nanos());
            let period = timing().period_nanos();
            (1..=record.skipped)
                .for_each(|behind| samples.record((record.response_nanos() - behind * period).max(period)));
        },
    );
    let counts = Counts {
        sent: tally.releases(),
        received: tally.releases() - tally.misses,
        lost: tally.misses,
        ..Counts::default()
    };
    Ok(Measured { samples: Some(samples), counts, ..Measured::default() })
}

/// The same grid without an executor.
fn sleep(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let (mut samples, mut counts) = (Samples::new(1), Counts::default());
    let mut release = MonotonicTime::now().plus(PERIOD);
    for _ in 0..releases(stage) {
        SystemClock.sleep_until(release);
        let late_ns = SystemClock.now().nanos_since(release);
        samples.record(late_ns);
        let missed = u64::from(late_ns > timing().deadline_nanos());
        counts.add(&Counts { sent: 1, received: 1 - missed, lost: missed, ..Counts::default() });
        release = release.plus(PERIOD);
    }
    Ok(Measured { samples: Some(samples), counts, ..Measured::default() })
}

fn heading(system: &str, run: usize) -> Heading {
    let heading = Heading::new(Path::SameThread, system, 0).message(&format!("run {run}")).ends(0, 0);
    heading.unit("release to completion").wait("asleep in the kernel").note(COUNTS)
}

fn tasks() -> Vec<Task> {
    let run = |run| [Task::new(heading(NODE, run), node).once(), Task::new(heading(SLEEP, run), sleep).once()];
    (1..=RUNS).flat_map(run).collect()
}

fn summary(cells: &[Cell]) -> Vec<String> {
    [NODE, SLEEP].into_iter().filter_map(|system| of_system(cells, system)).collect()
}

fn of_system(cells: &[Cell], system: &str) -> Option<String> {
    let cells: Vec<_> = cells.iter().filter(|cell| cell.heading.system == system).collect();
    let range = |name: &str, field: fn(&Cell) -> Option<f64>| {
        let values: Vec<_> = cells.iter().filter_map(|cell| field(cell)).collect();
        let (least, most) =
            values.iter().fold((f64::MAX, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
        (!values.is_empty())
            .then(|| format!("{name} {} to {} ns ({:.1} times)", nanoseconds(least), nanoseconds(most), most / least))
    };
    let parts =
        [range("p50", |cell| cell.p50_ns), range("p99", |cell| cell.p99_ns), range("maximum", |cell| cell.max_ns)];
    let releases = |cell: &&Cell| Releases { judged: cell.counts.sent, misses: cell.counts.lost, longest_run: 0 };
    let total = sum(cells.iter().map(releases))?;
    let worst = releases(&weakest(cells.iter().copied(), releases)?);
    Some(format!(
        "{system}, {} runs: {}; {} of {} releases missed {DEADLINE:?}; the worst run had {} of {}, which supports P(miss) < {:.1e} \
         for it (95 %).",
        cells.len(),
        parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
        total.misses,
        total.judged,
        worst.misses,
        worst.judged,
        worst.bound_95(),
    ))
}

fn main() -> ExitCode {
    Suite { name: "determinism_benchmark", tasks, summary }.main()
}
