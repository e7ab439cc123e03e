//! Runs loops that others published their figures from, as they were, beside ours; marks every result as such.
//!
//! These loops are here to show where published figures come from, not to compare systems: what each leaves out stands
//! in its note. Nothing is pinned, as nothing was there. The comparison like for like is in the other two programs.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use horus_benchmarks::cell::{Cell, Heading, Measured};
use horus_benchmarks::files;
use horus_benchmarks::floor::{between_floors, measure};
use horus_benchmarks::host::Host;
use horus_benchmarks::options::{Effort, Options};
use horus_benchmarks::pinning::Cpus;
use horus_benchmarks::report::{Report, SCHEMA};
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::{Scratch, Stage};
use horus_benchmarks::transport::{Failure, Meeting};

use crate::helpers::with_free_threads;

const NAME: &str = "seed_loops";

/// A loop: becomes one cell.
pub struct Loop {
    heading: Heading,
    run: Run,
}

type Run = Box<dyn Fn(&Stage) -> Result<Measured, Failure>>;

impl Loop {
    /// A loop with a note that says what it leaves out.
    pub fn new(heading: Heading, note: &str, run: impl Fn(&Stage) -> Result<Measured, Failure> + 'static) -> Self {
        Self { heading: heading.note(note), run: Box::new(run) }
    }
}

#[derive(Parser)]
#[command(about = "Loops that others published figures from, as they were", long_about = None)]
struct CommandLine {
    #[command(flatten)]
    options: Options,
}

/// The whole program.
pub fn main(loops: &[Loop]) -> ExitCode {
    match run(loops, &CommandLine::parse().options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{NAME}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(loops: &[Loop], options: &Options) -> Result<bool, Failure> {
    let cpus = options.cpus.unwrap_or_else(Cpus::default_pair);
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        benchmark: NAME.to_owned(),
        host: Host::look(cpus, options.quick),
        cells: Vec::new(),
        summary: vec!["Every line is a loop that others published figures from, as it was.".to_owned()],
        failed: Vec::new(),
    };
    let scratch = Scratch::new()?;
    let mut samples = Vec::new();
    for (number, each) in loops.iter().enumerate() {
        let Heading { system, bytes, unit, .. } = &each.heading;
        let what = format!("{system}, {bytes} bytes, {unit}");
        if options.only.as_ref().is_some_and(|text| !what.contains(text)) {
            continue;
        }
        eprintln!("{NAME}: {what}");
        let meeting = Meeting { name: format!("s{number}"), directory: scratch.path().to_owned() };
        let stage = Stage { cpus, effort: Effort::of(options.quick), meeting, task: number };
        let floor = || measure(&stage.meeting.directory, cpus, stage.effort.floor_rounds);
        let measured = between_floors(floor, |attempt| {
            let meeting = stage.meeting.of(&format!("a{attempt}"));
            with_free_threads(|| (each.run)(&Stage { meeting, ..stage.clone() }))
        });
        match measured {
            Ok((measured, floors, attempts)) => {
                report.cells.push(Cell::new(&each.heading, &measured, floors, attempts));
                samples.push(measured.samples);
            }
            Err(error) => report.failed.push(format!("{what}: {error}")),
        }
    }
    if let Some(directory) = &options.out {
        files::write(&report, &samples, directory)?;
        let file = directory.join(format!("{NAME}.json"));
        std::fs::write(file, serde_json::to_string_pretty(&marked(&report)?)? + "\n")?;
    }
    if options.json {
        println!("{:#}", marked(&report)?);
    } else {
        print!("{}", report.table());
    }
    Ok(report.failed.is_empty())
}

/// The report with `"loop": "seed"` in every cell.
fn marked(report: &Report) -> Result<serde_json::Value, Failure> {
    let mut report = serde_json::to_value(report)?;
    for cell in report["cells"].as_array_mut().into_iter().flatten() {
        cell["loop"] = "seed".into();
    }
    Ok(report)
}

/// How long a loop runs: 10 s, as the seeds ran, or 0.3 s in a quick run.
pub fn duration(stage: &Stage) -> Duration {
    if is_quick(stage) { Duration::from_millis(300) } else { Duration::from_secs(10) }
}

/// Whether `--quick` was given.
pub fn is_quick(stage: &Stage) -> bool {
    stage.effort.samples <= Effort::QUICK.samples
}

/// Times every call by itself, two clock reads included.
pub fn each_call(stage: &Stage, mut call: impl FnMut()) -> Measured {
    let mut samples = Samples::new(1);
    let began = Instant::now();
    for number in 0..stage.effort.warm_up + stage.effort.samples {
        let start = Instant::now();
        call();
        let end = Instant::now();
        if number >= stage.effort.warm_up {
            samples.record((end - start).as_nanos() as u64);
        }
        if end - began > duration(stage) {
            break;
        }
    }
    Measured { samples: Some(samples), ..Measured::default() }
}

/// Calls a second.
pub fn calls_per_second(stage: &Stage, mut call: impl FnMut()) -> Measured {
    const BATCH: u64 = 1000;
    let began = Instant::now();
    let mut calls = 0;
    while began.elapsed() < duration(stage) {
        (0..BATCH).for_each(|_| call());
        calls += BATCH;
    }
    Measured { per_second: Some(calls as f64 / began.elapsed().as_secs_f64()), ..Measured::default() }
}
