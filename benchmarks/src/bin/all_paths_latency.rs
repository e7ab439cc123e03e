//! Every way that a message can take, with 16 bytes: one thread, threads, processes; one or two ends on either side.
//!
//! One more cell has the original HORUS's own loop, which times `send` alone. With `--count-instructions` the program sends
//! and receives one message ten thousand times, for an instruction counter: `benchmarks/research/instructions.sh`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use horus::message::Stamp;
use horus::topic::{Options, Publisher, Subscriber, WaitStrategy};
use horus_benchmarks::cell::{Heading, Measured, Path};
use horus_benchmarks::content::{Mark, Prepared, verify};
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::{Stage, scratch};
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::tally::{Counts, Tally};
use horus_benchmarks::threads::on_both_cpus;
use horus_benchmarks::transport::{Failure, Payload, Small};
use horus_sys::clock::monotonic_ns;

const SHARED: &str = "N = 2: publishers share one CPU, subscribers the other; an answer waits for all subscribers";
const AS_IT_WAS: &str = "as the original HORUS measures: batches of sends are timed, and it is not looked whether anything \
                         arrives; here the losses are counted. The original also removes outliers";

/// Sends that the original times at once.
const BATCH: u32 = 128;

fn heading<const PUBLISHERS: usize, const SUBSCRIBERS: usize>(path: Path) -> Heading {
    let heading = Heading::new(path, "horus", size_of::<Small>()).ends(PUBLISHERS, SUBSCRIBERS);
    if PUBLISHERS + SUBSCRIBERS > 2 { heading.note(SHARED) } else { heading }
}

fn threads<const PUBLISHERS: usize, const SUBSCRIBERS: usize>(path: Path) -> Task {
    Task::threads::<Horus<PUBLISHERS, SUBSCRIBERS>, Small>().about(|_| heading::<PUBLISHERS, SUBSCRIBERS>(path))
}

fn processes<const PUBLISHERS: usize, const SUBSCRIBERS: usize>(path: Path) -> Task {
    Task::processes::<Horus<PUBLISHERS, SUBSCRIBERS>, Small>().about(|_| heading::<PUBLISHERS, SUBSCRIBERS>(path))
}

/// A topic that overwrites, a subscriber that spins, and the time of sending alone.
fn send_alone(stage: &Stage) -> Result<Measured, Failure> {
    let name = &stage.meeting.name;
    let options = Options::latest(1024).directory(&stage.meeting.directory).wait_strategy(WaitStrategy::Spin);
    let mut publisher = Publisher::<Small>::open(name, &options)?;
    let mut subscriber = Subscriber::<Small>::open(name, &options)?;
    let produce = |stop: &AtomicBool| {
        let timed = time_sends(stage, &mut publisher);
        stop.store(true, Ordering::Release);
        timed
    };
    let consume = |stop: &AtomicBool| {
        let mut tally = Tally::new(1);
        let mut done = false;
        while !done {
            done = stop.load(Ordering::Acquire); // what was sent before is there now
            while let Some(received) = subscriber.try_recv() {
                tally.note(verify(&received.message));
            }
        }
        Ok(tally.counts())
    };
    let ((samples, sent), counts) = on_both_cpus(stage, produce, consume)?;
    let per_second = samples.mean().map(|ns| 1e9 / ns);
    let counts = Counts { sent, lost: sent - counts.received, ..counts };
    Ok(Measured { samples: Some(samples), counts, per_second, note: None })
}

fn time_sends(stage: &Stage, publisher: &mut Publisher<Small>) -> Result<(Samples, u64), Failure> {
    let mut prepared = Prepared::default();
    let mut samples = Samples::new(BATCH);
    let mut outbox = [Payload([0; 2]); BATCH as usize];
    let mut sent = 0;
    while samples.meter.samples() < stage.effort.samples / 10 {
        for message in &mut outbox {
            *message = *prepared.number(Mark::nth(sent, 1));
            sent += 1;
        }
        let start = monotonic_ns();
        for message in &outbox {
            publisher.try_send(*message).map_err(|_full| "a topic that overwrites is never full")?;
        }
        samples.record(monotonic_ns() - start);
    }
    Ok((samples, sent))
}

fn tasks() -> Vec<Task> {
    let original = heading::<1, 1>(Path::Thread1To1).unit("original's loop: send alone").note(AS_IT_WAS);
    vec![
        Task::same_thread::<Horus, Small>(),
        threads::<1, 1>(Path::Thread1To1),
        threads::<1, 2>(Path::Thread1ToN),
        threads::<2, 1>(Path::ThreadNTo1),
        threads::<2, 2>(Path::ThreadNToN),
        processes::<1, 1>(Path::Process1To1),
        processes::<1, 2>(Path::Process1ToN),
        processes::<2, 1>(Path::ProcessNTo1),
        processes::<2, 2>(Path::ProcessNToN),
        Task::new(original, send_alone),
    ]
}

/// Messages for the instruction counter.
const COUNTED: u64 = 10_000;

/// A function of its own, for the counter to find.
#[inline(never)]
fn send(publisher: &mut Publisher<Stamp>, message: Stamp) -> bool {
    publisher.try_send(message).is_ok()
}

/// As [`send`].
#[inline(never)]
fn receive(subscriber: &mut Subscriber<Stamp>) -> Option<u64> {
    subscriber.try_recv().map(|received| received.message.sequence)
}

fn count_instructions() -> Result<(), Failure> {
    let scratch = scratch()?;
    let (name, options) = ("one", Options::reliable(1024).directory(scratch.path()).wait_strategy(WaitStrategy::Spin));
    let mut publisher = Publisher::open(name, &options)?;
    let mut subscriber = Subscriber::open(name, &options)?;
    for sequence in 0..COUNTED {
        assert!(send(&mut publisher, Stamp { sequence, sent_ns: 0 }));
        assert_eq!(receive(&mut subscriber), Some(sequence));
    }
    println!("{COUNTED}");
    Ok(())
}

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == "--count-instructions") {
        return count_instructions().map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    Suite { name: "all_paths_latency", tasks, summary: |_| Vec::new() }.main()
}
