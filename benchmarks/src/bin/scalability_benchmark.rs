//! What a send and a receive cost as a topic grows: idle subscribers 1..32, publishers 1..16; with the slope.
//!
//! All ends live in one thread, so that the figures are instructions and caches, not the traffic between CPUs: what
//! grows here grows everywhere.

use std::process::ExitCode;

use horus::topic::{Options, Publisher, Subscriber, WaitStrategy};
use horus_benchmarks::cell::{Cell, Heading, Measured, Path};
use horus_benchmarks::content::{Mark, Prepared, verify};
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::slope::line_through;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::tally::{Counts, Tally};
use horus_benchmarks::transport::{Failure, Payload, Small};
use horus_sys::clock::monotonic_ns;

/// Sends, or receives, that a sample covers.
const BATCH: u32 = 128;
/// Reliable: all of a batch fits, so that no subscriber holds the publisher up while it is timed.
const CAPACITY: usize = 256;

const SUBSCRIBERS: [usize; 6] = [1, 2, 4, 8, 16, 32];
const PUBLISHERS: [usize; 5] = [1, 2, 4, 8, 16];

const SEND: &str = "send, subscribers idle";
const RECEIVE_ONE: &str = "receive, one publisher active";
const RECEIVE_ALL: &str = "receive, all publishers active";

struct Topic {
    publishers: Vec<Publisher<Small>>,
    subscribers: Vec<Subscriber<Small>>,
    /// What each subscriber received, in its own account.
    tallies: Vec<Tally>,
    /// Messages sent by each publisher.
    sent: Vec<u64>,
}

impl Topic {
    fn new(stage: &Stage, publishers: usize, subscribers: usize) -> Result<Self, Failure> {
        let name = &stage.meeting.name;
        let options = Options::reliable(CAPACITY)
            .publishers(publishers)
            .directory(&stage.meeting.directory)
            .wait_strategy(WaitStrategy::Spin);
        let made: Result<_, _> = (0..publishers).map(|_| Publisher::open(name, &options)).collect();
        let joined: Result<_, _> = (0..subscribers).map(|_| Subscriber::open(name, &options)).collect();
        let tallies = (0..subscribers).map(|_| Tally::new(publishers as u64)).collect();
        Ok(Self { publishers: made?, subscribers: joined?, tallies, sent: vec![0; publishers] })
    }

    /// Sends a batch by the first `active` publishers in turns and receives it by all subscribers; returns the time of
    /// the sends and of the first subscriber's receives, in nanoseconds.
    fn batch(&mut self, prepared: &mut Prepared<Small>, active: usize) -> Result<(u64, u64), Failure> {
        let mut outbox = [Payload([0; 2]); BATCH as usize];
        for (i, message) in outbox.iter_mut().enumerate() {
            let publisher = i % active;
            let mark = Mark::Message { publisher: publisher as u64, sequence: self.sent[publisher] };
            self.sent[publisher] += 1;
            *message = *prepared.number(mark);
        }
        let start = monotonic_ns();
        for (i, message) in outbox.iter().enumerate() {
            self.publishers[i % active].try_send(*message).map_err(|_full| "the topic is full")?;
        }
        let send_ns = monotonic_ns() - start;
        let mut receive_ns = 0;
        for (number, subscriber) in self.subscribers.iter_mut().enumerate().rev() {
            let start = monotonic_ns();
            for message in &mut outbox {
                *message = subscriber.try_recv().ok_or("a message is missing")?.message;
            }
            receive_ns = monotonic_ns() - start;
            outbox.iter().for_each(|message| self.tallies[number].note(verify(message)));
        }
        Ok((send_ns, receive_ns))
    }
}

fn measure(
    stage: &Stage,
    publishers: usize,
    active: usize,
    subscribers: usize,
    unit: &str,
) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let mut topic = Topic::new(stage, publishers, subscribers)?;
    let mut prepared = Prepared::default();
    let mut samples = Samples::new(BATCH);
    let limit = monotonic_ns() + stage.effort.limit.as_nanos() as u64 / 2;
    for batch in 0..stage.effort.samples / 10 {
        let (send_ns, receive_ns) = topic.batch(&mut prepared, active)?;
        if batch > 50 {
            samples.record(if unit == SEND { send_ns } else { receive_ns });
        }
        if monotonic_ns() > limit {
            break;
        }
    }
    let mut counts = Counts { sent: topic.sent.iter().sum(), ..Counts::default() };
    topic.tallies.iter().for_each(|tally| counts.add(&tally.counts()));
    let per_second = samples.mean().map(|ns| 1e9 / ns);
    Ok(Measured { samples: Some(samples), counts, per_second, note: None })
}

fn task(path: Path, publishers: usize, active: usize, subscribers: usize, unit: &'static str) -> Task {
    let heading = Heading::new(path, "horus", size_of::<Small>()).ends(publishers, subscribers).unit(unit);
    let heading = heading.note("all ends in one thread: instructions and caches without traffic between CPUs");
    Task::new(heading, move |stage| measure(stage, publishers, active, subscribers, unit))
}

fn tasks() -> Vec<Task> {
    let sends = SUBSCRIBERS.map(|count| task(Path::Thread1ToN, 1, 1, count, SEND));
    let one = PUBLISHERS.map(|count| task(Path::ThreadNTo1, count, 1, 1, RECEIVE_ONE));
    let all = PUBLISHERS.map(|count| task(Path::ThreadNTo1, count, count, 1, RECEIVE_ALL));
    sends.into_iter().chain(one).chain(all).collect()
}

fn summary(cells: &[Cell]) -> Vec<String> {
    [(SEND, "subscriber"), (RECEIVE_ONE, "publisher"), (RECEIVE_ALL, "publisher")]
        .into_iter()
        .filter_map(|(unit, what)| {
            let points = cells.iter().filter(|cell| cell.heading.unit == unit).filter_map(|cell| {
                let count = if what == "subscriber" { cell.heading.subscribers } else { cell.heading.publishers };
                Some((count as f64, cell.p50_ns?))
            });
            let (base, slope) = line_through(&points.collect::<Vec<_>>())?;
            Some(format!(
                "Cost of a {unit}: {base:.1} ns + {slope:.2} ns for each {what} (least squares over medians)."
            ))
        })
        .collect()
}

fn main() -> ExitCode {
    Suite { name: "scalability_benchmark", tasks, summary }.main()
}
