//! 100 000 messages of 2 to 256 random bytes to 1, 2, 4 and 8 receivers, after the benchmark `bench_ipc` of libipc:
//! route and channel 1-N, channel N-1 and N-N; every byte compared, nothing lost, timed until the last receiver has it.
//!
//! The original times the loop that sends, whose messages mostly never arrive. That loop is here too, as it was, and
//! its cells say so.

use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{ScopedJoinHandle, scope};

use horus::topic::{Bytes, Options, Publisher, Subscriber, WaitStrategy};
use horus_benchmarks::cell::{Cell, Heading, Measured, Path};
use horus_benchmarks::patience::{PATIENCE, Patience, Stuck};
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::random_bytes::{LONGEST, RandomBytes};
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::tally::Counts;
use horus_benchmarks::transport::Failure;
use horus_sys::clock::monotonic_ns;

/// In all, from all senders together; the original's number.
const MESSAGES: u64 = 100_000;
/// As many slots as the original's ring has.
const CAPACITY: usize = 256;
const COUNTS: [usize; 4] = [1, 2, 4, 8];
/// Publishers that a channel is made for.
const CHANNEL: usize = 8;

const AS_IT_WAS: &str = "as libipc's bench_ipc for Rust measures: the time of the loop that sends, which drops what \
                         finds no room; receivers check nothing";

/// What one run of threads shares.
struct Run {
    random: RandomBytes,
    /// How many messages each sender sends.
    shares: Vec<u64>,
    /// Whether senders try again until there is room.
    lossless: bool,
    start: Barrier,
    stop: AtomicBool,
}

/// What one thread did.
#[derive(Default)]
struct Part {
    began_ns: u64,
    ended_ns: u64,
    counts: Counts,
}

impl Run {
    /// Sends this sender's share. Lossless, a full topic is tried again; otherwise the message is gone.
    fn send(&self, sender: usize, publisher: &mut Publisher<[u8]>, patience: &Patience) -> Result<Part, Stuck> {
        self.start.wait();
        let began_ns = monotonic_ns();
        for number in 0..self.shares[sender] {
            while publisher.try_send(self.random.message(sender as u64, number)).is_err() && self.lossless {
                patience.turn()?;
            }
            patience.progress();
        }
        let counts = Counts { sent: self.shares[sender], ..Counts::default() };
        Ok(Part { began_ns, ended_ns: monotonic_ns(), counts })
    }

    /// Receives everything and compares every byte with what it must be.
    fn receive(&self, subscriber: &mut Subscriber<[u8]>, patience: &Patience) -> Result<Part, Stuck> {
        let mut next = vec![0; self.shares.len()];
        let mut counts = Counts::default();
        self.start.wait();
        while next != self.shares {
            let Some(received) = subscriber.try_recv() else {
                patience.turn()?;
                continue;
            };
            patience.progress();
            // Publishers take lanes in the order in which they were made; another order would be found corrupt. Of each
            // sender, the next message must be this one, because none may be missing.
            let sender = received.publisher;
            if next[sender] < self.shares[sender]
                && *received.message == *self.random.message(sender as u64, next[sender])
            {
                counts.received += 1;
            } else {
                counts.corrupt += 1;
            }
            next[sender] += 1;
        }
        Ok(Part { ended_ns: monotonic_ns(), counts, ..Part::default() })
    }

    /// Takes what comes until the senders are done, and looks at nothing; as the original's receivers.
    fn take(&self, subscriber: &mut Subscriber<[u8]>, patience: &Patience) -> Result<Part, Stuck> {
        let mut received = 0;
        self.start.wait();
        loop {
            let done = self.stop.load(Ordering::Acquire);
            while subscriber.try_recv().is_some() {
                received += 1;
            }
            if done {
                return Ok(Part { counts: Counts { received, ..Counts::default() }, ..Part::default() });
            }
            let _ = patience.turn(); // `done` ends this
        }
    }
}

fn measure(stage: &Stage, lanes: usize, senders: usize, receivers: usize, lossless: bool) -> Result<Measured, Failure> {
    let name = &stage.meeting.name;
    let options = Options::reliable(CAPACITY)
        .publishers(lanes)
        .directory(&stage.meeting.directory)
        .wait_strategy(WaitStrategy::Spin);
    let publishers = (0..senders).map(|_| Publisher::<[u8]>::open_as(name, Bytes::up_to(LONGEST), &options));
    let publishers: Vec<_> = publishers.collect::<Result<_, _>>()?;
    let subscribers = (0..receivers).map(|_| Subscriber::<[u8]>::open_as(name, Bytes::up_to(LONGEST), &options));
    let subscribers: Vec<_> = subscribers.collect::<Result<_, _>>()?;
    let run = Run {
        random: RandomBytes::default(),
        shares: (0..senders as u64).map(|sender| (MESSAGES + sender) / senders as u64).collect(),
        lossless,
        start: Barrier::new(senders + receivers),
        stop: AtomicBool::new(false),
    };

    // Ends that share a CPU let each other run when they have nothing to do.
    let patience = |ends: usize| Patience::new(PATIENCE, &run.stop).sharing(ends > 1 || stage.cpus.shared());
    let done = |cpu: usize, part: &mut dyn FnMut() -> Result<Part, Stuck>| -> Result<Part, Failure> {
        pin_to(cpu)?;
        part().inspect_err(|_| run.stop.store(true, Ordering::Release)).map_err(Failure::from)
    };
    let (sent, received) = scope(|scope| {
        let (run, done, patience) = (&run, &done, &patience);
        let receiving = subscribers.into_iter().map(|mut subscriber| {
            let take = if lossless { Run::receive } else { Run::take };
            scope.spawn(move || done(stage.cpus.second, &mut || take(run, &mut subscriber, &patience(receivers))))
        });
        let receiving: Vec<_> = receiving.collect();
        let sending = publishers.into_iter().enumerate().map(|(sender, mut publisher)| {
            scope.spawn(move || done(stage.cpus.first, &mut || run.send(sender, &mut publisher, &patience(senders))))
        });
        let sent = join(sending.collect());
        if !lossless {
            run.stop.store(true, Ordering::Release);
        }
        (sent, join(receiving))
    });
    Ok(sum_up(&sent?, &received?, lossless))
}

fn join(threads: Vec<ScopedJoinHandle<'_, Result<Part, Failure>>>) -> Result<Vec<Part>, Failure> {
    let joined: Vec<_> = threads.into_iter().map(ScopedJoinHandle::join).collect();
    joined.into_iter().map(|part| part.unwrap_or_else(|_| Err("a thread panicked".into()))).collect()
}

/// From the first send to the last byte compared; of the original's loop, the time that sending took.
fn sum_up(sent: &[Part], received: &[Part], lossless: bool) -> Measured {
    let mut counts = Counts::default();
    sent.iter().chain(received).for_each(|part| counts.add(&part.counts));
    counts.lost = (counts.sent * received.len() as u64).saturating_sub(counts.received);
    let began = sent.iter().map(|part| part.began_ns).min().unwrap_or_default();
    let last = if lossless { received } else { sent };
    let ended = last.iter().map(|part| part.ended_ns).max().unwrap_or_default();
    let elapsed = ended.saturating_sub(began).max(1);
    Measured { counts, per_second: Some(MESSAGES as f64 * 1e9 / elapsed as f64), ..Measured::default() }
}

fn task(kind: &str, lanes: usize, senders: usize, receivers: usize, lossless: bool) -> Task {
    let path = match (senders, receivers) {
        (1, 1) => Path::Thread1To1,
        (1, _) => Path::Thread1ToN,
        (_, 1) => Path::ThreadNTo1,
        _ => Path::ThreadNToN,
    };
    let (unit, note) = if lossless {
        ("all verified", "2 to 256 bytes; senders share one CPU, receivers the other")
    } else {
        ("original's loop", AS_IT_WAS)
    };
    let heading = Heading::new(path, "horus", LONGEST).message(kind).ends(senders, receivers).unit(unit).note(note);
    Task::new(heading, move |stage| measure(stage, lanes, senders, receivers, lossless))
}

fn tasks() -> Vec<Task> {
    let route = COUNTS.map(|count| task("route", 1, 1, count, true));
    let one_to_many = COUNTS.map(|count| task("channel 1-N", CHANNEL, 1, count, true));
    let many_to_one = COUNTS.map(|count| task("channel N-1", CHANNEL, count, 1, true));
    let many_to_many = COUNTS.map(|count| task("channel N-N", CHANNEL, count, count, true));
    let original = COUNTS.map(|count| task("route", 1, 1, count, false));
    [route, one_to_many, many_to_one, many_to_many, original].into_iter().flatten().collect()
}

/// Milliseconds for all messages, as the original prints.
fn summary(cells: &[Cell]) -> Vec<String> {
    let line = |cell: &Cell| {
        let Heading { message, unit, publishers, subscribers, .. } = &cell.heading;
        let ms = MESSAGES as f64 * 1e3 / cell.per_second?;
        let delivered = cell.counts.received as f64 / (cell.counts.sent as f64 * *subscribers as f64) * 100.0;
        let kind = message.as_deref().unwrap_or_default();
        Some(format!("{kind}, {publishers} to {subscribers}, {unit}: {ms:.2} ms, {delivered:.1} % delivered."))
    };
    cells.iter().filter_map(line).collect()
}

fn main() -> ExitCode {
    Suite { name: "bench_ipc", tasks, summary }.main()
}
