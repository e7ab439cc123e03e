//! Loops that others published figures from, as they were, beside ours; each marked as such.
//!
//! These loops are here to show where published figures come from, not to compare systems: what each leaves out stands
//! in its note. Nothing is pinned, as nothing was there. The comparison like for like is in the other two programs.

use std::time::{Duration, Instant};

use horus_benchmarks::cell::{Heading, Measured};
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::Task;
use horus_benchmarks::transport::Failure;

use crate::helpers::with_free_threads;

/// A loop with a note that says what it leaves out.
pub fn task(heading: Heading, note: &str, run: impl Fn(&Stage) -> Result<Measured, Failure> + 'static) -> Task {
    let heading = Heading { loop_of: Some("seed".to_owned()), ..heading.note(note) };
    Task::new(heading, move |stage| with_free_threads(|| run(stage)))
}

/// How long a loop runs: 10 s, as the seeds ran, or 0.3 s in a quick run.
pub fn duration(stage: &Stage) -> Duration {
    if stage.effort.is_quick() { Duration::from_millis(300) } else { Duration::from_secs(10) }
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
