//! What a transform costs: sent, and looked up over 1 and 10 moving frames, beside the same arithmetic without frames, and beside scipy's rotations.
//!
//! Broadcasters and the reader live in one thread: what is measured are instructions and caches. Another program that sends meanwhile costs a cache line
//! for each transform that is new. scipy's row is there where `HORUS_SCIPY` names a Python that has scipy (`languages/scipy_transforms.py`).

use std::hint::black_box;
use std::path::Path as FilePath;
use std::process::{Command, ExitCode};

use horus::time::MonotonicTime;
use horus::topic::Options;
use horus::transform::{Broadcaster, Frames, HELD, StaticBroadcaster, Transform};
use horus_benchmarks::cell::{Cell, Heading, Measured, Path};
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::tally::Counts;
use horus_benchmarks::transport::Failure;
use horus_sys::clock::monotonic_ns;

/// Look-ups, or sends, that a sample covers.
const BATCH: u32 = 64;
const STEP_NS: u64 = 1_000_000;
/// Transforms that each moving frame has.
const SENT: u64 = HELD as u64;

const SEND: &str = "send of a moving frame";
const NEWEST: &str = "look-up at the newest transform";
const BETWEEN: &str = "look-up between the last two transforms";
const DEEP: &str = "look-up between two transforms, 200 back";
const STATIC: &str = "look-up, static frames";

/// A chain `f0` to `fN`, of which every link is the same.
struct Chain {
    frames: Frames,
    moving: Vec<Broadcaster>,
    _mounted: StaticBroadcaster,
    last: String,
}

fn link(number: u64) -> Transform {
    Transform::planar(1.0, 0.0, 0.0) * Transform::planar(0.0, 0.0, 1e-3 * number as f64)
}

impl Chain {
    fn new(stage: &Stage, links: usize, is_moving: bool) -> Result<Self, Failure> {
        let options = Options::default().directory(&stage.meeting.directory);
        let mut mounted = StaticBroadcaster::open(&options)?;
        let mut moving = Vec::new();
        for number in 1..=links {
            let (parent, child) = (format!("f{}", number - 1), format!("f{number}"));
            if is_moving {
                moving.push(Broadcaster::open(&parent, &child, &options)?);
            } else {
                mounted.add(&parent, &child, &link(0))?;
            }
        }
        for number in 1..=SENT {
            for frame in &mut moving {
                frame.send(MonotonicTime::from_nanos(number * STEP_NS), &link(number))?;
            }
        }
        Ok(Self { frames: Frames::open(&options)?, moving, _mounted: mounted, last: format!("f{links}") })
    }
}

/// Times `work` in batches, until there are samples enough. `sent` is how much of it was done and verified.
fn batches(stage: &Stage, mut work: impl FnMut() -> Result<(), Failure>) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let mut samples = Samples::new(BATCH);
    let limit = monotonic_ns() + stage.effort.limit.as_nanos() as u64;
    let mut counts = Counts::default();
    for batch in 0..stage.effort.samples / 10 {
        let start = monotonic_ns();
        for _ in 0..BATCH {
            work()?;
        }
        let end = monotonic_ns();
        counts.sent += u64::from(BATCH);
        if batch > 50 {
            samples.record(end - start);
        }
        if end > limit {
            break;
        }
    }
    let per_second = samples.mean().map(|ns| 1e9 / ns);
    Ok(Measured { samples: Some(samples), counts, per_second, note: None })
}

fn look_up(stage: &Stage, links: usize, unit: &str) -> Result<Measured, Failure> {
    let chain = Chain::new(stage, links, unit != STATIC)?;
    let time = MonotonicTime::from_nanos(match unit {
        NEWEST | STATIC => SENT * STEP_NS,
        BETWEEN => SENT * STEP_NS - STEP_NS / 3,
        _ => (SENT - 200) * STEP_NS - STEP_NS / 3,
    });
    let expected = chain.frames.at("f0", &chain.last, time)?;
    batches(stage, || {
        let found = black_box(chain.frames.at(black_box("f0"), &chain.last, time)?);
        if found == expected { Ok(()) } else { Err("another transform than before".into()) }
    })
}

fn send(stage: &Stage) -> Result<Measured, Failure> {
    let mut chain = Chain::new(stage, 1, true)?;
    let (mut number, frame) = (SENT, &mut chain.moving[0]);
    let transform = link(1);
    batches(stage, || {
        number += 1;
        // A thousandth of a step apart, so that no time is in the future.
        let time = MonotonicTime::from_nanos(SENT * STEP_NS + (number - SENT) * STEP_NS / 1000);
        Ok(frame.send(time, black_box(&transform))?)
    })
}

/// The same ten interpolations and products, of transforms in this thread's own memory: what no look-up can be below.
fn arithmetic(stage: &Stage) -> Result<Measured, Failure> {
    let (before, after) = (link(SENT - 1), link(SENT));
    batches(stage, || {
        let links = (0..10).map(|_| black_box(&before).interpolate(black_box(&after), black_box(2.0 / 3.0)));
        let _ = black_box(links.fold(Transform::IDENTITY, |whole, link| whole * link));
        Ok(())
    })
}

/// scipy's rotations over the same chain, timed by Python itself: a line a batch, in nanoseconds.
fn scipy(stage: &Stage, python: &FilePath) -> Result<Measured, Failure> {
    let script = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("languages/scipy_transforms.py");
    let batches = (stage.effort.samples / 1000).max(100);
    let output = Command::new(python).arg(script).args([batches.to_string(), BATCH.to_string()]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    let mut samples = Samples::new(BATCH);
    for line in String::from_utf8(output.stdout)?.lines() {
        samples.record(line.parse()?);
    }
    let per_second = samples.mean().map(|ns| 1e9 / ns);
    Ok(Measured { samples: Some(samples), counts: Counts::default(), per_second, note: None })
}

fn heading(system: &str, links: usize, unit: &str) -> Heading {
    let message = if links == 1 { "1 frame".to_owned() } else { format!("{links} frames") };
    Heading::new(Path::SameThread, system, size_of::<Transform>()).unit(unit).message(&message)
}

fn tasks() -> Vec<Task> {
    let looked_up = [(1, NEWEST), (10, NEWEST), (1, BETWEEN), (10, BETWEEN), (10, DEEP), (10, STATIC)];
    let mut tasks = vec![Task::new(heading("horus", 1, SEND), send)];
    tasks.extend(
        looked_up
            .map(|(links, unit)| Task::new(heading("horus", links, unit), move |stage| look_up(stage, links, unit))),
    );
    tasks.push(Task::new(heading("arithmetic alone", 10, BETWEEN), arithmetic));
    if let Some(python) = std::env::var_os("HORUS_SCIPY") {
        tasks.push(Task::new(heading("scipy", 10, BETWEEN), move |stage| scipy(stage, FilePath::new(&python))));
    }
    tasks
}

fn summary(cells: &[Cell]) -> Vec<String> {
    let of = |system: &str| {
        let is_it = |cell: &&Cell| {
            cell.heading.system == system
                && cell.heading.unit == BETWEEN
                && cell.heading.message.as_deref() == Some("10 frames")
        };
        cells.iter().find(is_it).and_then(|cell| cell.p50_ns)
    };
    let (ours, alone) = (of("horus"), of("arithmetic alone"));
    let told = ours.zip(alone).map(|(ours, alone)| {
        format!("A look-up over 10 moving frames takes {ours:.0} ns (median), of which the arithmetic alone takes {alone:.0} ns.")
    });
    told.into_iter().collect()
}

fn main() -> ExitCode {
    Suite { name: "transform_benchmark", tasks, summary }.main()
}
