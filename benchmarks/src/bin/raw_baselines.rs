//! What the machine can do without any messaging: read the clock, move a cache line, copy, wake a thread.

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use horus_benchmarks::cell::{Heading, Measured, Path};
use horus_benchmarks::floor;
use horus_benchmarks::loops::BATCH;
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::bare_ring::BareRing;
use horus_benchmarks::systems::futex::RawFutex;
use horus_benchmarks::transport::{Failure, Small};
use horus_shm::segment::layout::LINE;
use horus_sys::clock::monotonic_ns;

const BARE_RING: &str = "no messaging system: what two CPUs need for a message whose receiver is looking for it";

const LINES_EACH_WAY: &str =
    "no messaging system: a ring of slots of so many cache lines, one word of each written and read";

/// Times `work`, which does something [`BATCH`] times.
fn batches(stage: &Stage, mut work: impl FnMut()) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let mut samples = Samples::new(BATCH);
    let began = monotonic_ns();
    for batch in 0..(stage.effort.warm_up + stage.effort.samples) / 10 {
        let start = monotonic_ns();
        work();
        let end = monotonic_ns();
        if batch >= stage.effort.warm_up / 10 {
            samples.record(end - start);
        }
        if Duration::from_nanos(end - began) > stage.effort.limit {
            break;
        }
    }
    Ok(Measured { samples: Some(samples), ..Measured::default() })
}

fn clock(stage: &Stage) -> Result<Measured, Failure> {
    batches(stage, || (0..BATCH).for_each(|_| _ = black_box(monotonic_ns())))
}

fn copy<const BYTES: usize>(stage: &Stage) -> Result<Measured, Failure> {
    let (from, mut to) = (vec![0x5a_u8; BYTES], vec![0_u8; BYTES]);
    batches(stage, || {
        for _ in 0..BATCH {
            black_box(to.as_mut_slice()).copy_from_slice(black_box(from.as_slice()));
        }
    })
}

fn copy_task<const BYTES: usize>() -> Task {
    Task::new(Heading::new(Path::SameThread, "memcpy", BYTES).unit("copy in cache"), copy::<BYTES>)
}

fn line(stage: &Stage) -> Result<Measured, Failure> {
    let mut samples = Samples::new(1);
    floor::play(stage, stage.effort.samples, |ns| samples.record(ns))?;
    Ok(Measured { samples: Some(samples), ..Measured::default() })
}

/// A message of `LINES` cache lines, one word of each touched: the limit of every queue that copies so many.
fn lines<const LINES: usize>() -> Task {
    let heading = Heading::new(Path::Thread1To1, "lines each way", LINES * LINE).note(LINES_EACH_WAY);
    Task::threads::<BareRing<LINES>, Small>().about(|_| heading)
}

fn tasks() -> Vec<Task> {
    vec![
        Task::new(Heading::new(Path::SameThread, "clock", 0).unit("clock read"), clock),
        Task::new(Heading::new(Path::Thread1To1, "cache line", 8), line),
        Task::threads::<BareRing, Small>().note(BARE_RING),
        lines::<1>(),
        lines::<5>(),
        lines::<24>(),
        lines::<1024>(),
        copy_task::<16>(),
        copy_task::<304>(),
        copy_task::<1480>(),
        copy_task::<8192>(),
        copy_task::<65536>(),
        Task::threads::<RawFutex, Small>().asleep(),
    ]
}

fn main() -> ExitCode {
    Suite { name: "raw_baselines", tasks, summary: |_| Vec::new() }.main()
}
