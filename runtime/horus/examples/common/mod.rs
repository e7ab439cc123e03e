//! What `ping` and `pong` share: the options of a node, waiting for a topic, and the account that leaves the loop.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::Args;
use horus::cpus::CpuChoice;
use horus::deadline::{Tally, Timing, TimingError};
use horus::journal::{self, Entry, Priority};
use horus::message::Stamp;
use horus::scheduler::{Node, Scheduler};
use horus::startup::{Mode, Request};
use horus::supervise;
use horus::time::{MonotonicTime, parse_duration};
use horus::topic::{Options, Publisher, Subscriber, TopicName};
use horus::{miss, stop};

/// Messages that a topic holds: more than either side sends while the other is a few periods late.
pub const CAPACITY: usize = 64;

/// The longest that the loop may compute without sleeping before the kernel ends the process.
const RT_TIME_LIMIT: Duration = Duration::from_secs(1);

/// The time between two accounts in the journal.
const ACCOUNT_DISTANCE: Duration = Duration::from_secs(60);

/// Options that every node has.
#[derive(Args)]
pub struct NodeOptions {
    /// Time between two releases
    #[arg(long, default_value = "10ms", value_parser = parse_duration)]
    period: Duration,
    /// Time from release to completion that counts as in time
    #[arg(long, default_value = "8ms", value_parser = parse_duration)]
    deadline: Duration,
    /// CPU to run on: any, isolated, isolated-last, housekeeping or a number
    #[arg(long, default_value = "any")]
    cpu: CpuChoice,
    /// SCHED_FIFO priority, usually 60 to 90; also locks memory and holds CPUs out of idle states
    #[arg(long)]
    priority: Option<u8>,
    /// Do not start unless the system grants CPU, priority and memory; otherwise start and say what is missing
    #[arg(long)]
    strict: bool,
    /// End after this many releases instead of on SIGTERM
    #[arg(long)]
    releases: Option<u64>,
}

impl NodeOptions {
    /// Period and deadline, checked.
    fn timing(&self) -> Result<Timing, TimingError> {
        Timing::new(self.period, self.deadline)
    }

    /// Asks the system for what the options say, and writes the answer to the journal.
    fn start(&self, node: &str, timing: &Timing) -> Result<(), Box<dyn Error>> {
        let real_time = self.priority.is_some();
        let request = Request {
            cpu: self.cpu,
            fifo_priority: self.priority,
            lock_memory: real_time,
            hold_cpu_dma_latency: real_time,
            rt_time_limit: real_time.then_some(RT_TIME_LIMIT),
        };
        let mode = if self.strict { Mode::Strict } else { Mode::Report };
        request.apply(mode)?.entry(node, timing).send_or_print();
        Ok(())
    }

    /// The loop, `phase` behind the grid that all nodes with this period share.
    fn scheduler(&self, timing: Timing, phase: Duration) -> Scheduler {
        let scheduler = Scheduler::new(timing).first_release(timing.next_release(MonotonicTime::now(), phase));
        match self.releases {
            Some(releases) => scheduler.releases(releases),
            None => scheduler,
        }
    }
}

/// The life of a node from its options to its last account: asks the system, opens both topics,
/// then runs what `make` makes of both topics, `phase` behind the grid, until it is stopped.
pub fn run<N: Node>(
    node: &'static str,
    options: &NodeOptions,
    (publish, subscribe): (&TopicName, &TopicName),
    phase: impl FnOnce(&Timing) -> Duration,
    make: impl FnOnce(Publisher<Stamp>, Subscriber<Stamp>, Arc<Account>) -> N,
) -> Result<(), Box<dyn Error>> {
    let timing = options.timing()?;
    let stop = stop::on_termination()?;
    let account = Arc::new(Account::default());
    let (mut recorder, collector) = miss::channel(node, timing, miss::RING_CAPACITY)?;
    let (told, mut due) = (Arc::clone(&account), None);
    let supervisor = supervise::spawn(collector, move |now| told.send_every_minute(node, &mut due, now))?;

    options.start(node, &timing)?;

    let topic = Options::latest(CAPACITY);
    let publisher = Publisher::open(publish, &topic)?;
    let subscriber = Subscriber::open(subscribe, &topic)?;
    let mut made = make(publisher, subscriber, Arc::clone(&account));
    supervise::notify_ready("publishes and receives");
    let scheduler = options.scheduler(timing, phase(&timing));
    let tally = scheduler.run(&stop, &mut made, |cycle| recorder.observe(cycle));
    account.print(node, &tally);
    supervisor.finish();
    if stop.load(Ordering::Relaxed) {
        eprintln!("{node}: stopped by a signal");
    }
    Ok(())
}

/// What became of the messages, counted in the loop and read beside it. Counters guard nothing: all accesses are
/// Relaxed.
#[derive(Default)]
pub struct Account {
    sent: AtomicU64,
    received: AtomicU64,
    lost: AtomicU64,
    mismatched: AtomicU64,
    worst_round_trip_ns: AtomicU64,
}

impl Account {
    /// A message was sent.
    pub fn count_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    /// A message was received.
    pub fn count_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    /// This many messages never arrived.
    pub fn count_lost(&self, messages: u64) {
        self.lost.fetch_add(messages, Ordering::Relaxed);
    }

    /// A message was not what it had to be.
    #[allow(dead_code, reason = "only ping knows what a message has to be")]
    pub fn count_mismatched(&self) {
        self.mismatched.fetch_add(1, Ordering::Relaxed);
    }

    /// A message came back after this time.
    #[allow(dead_code, reason = "only ping sees messages come back")]
    pub fn note_round_trip(&self, nanos: u64) {
        self.worst_round_trip_ns.fetch_max(nanos, Ordering::Relaxed);
    }

    /// A chore for the supervising thread: sends the account to the journal once a minute.
    fn send_every_minute(&self, node: &str, due: &mut Option<MonotonicTime>, now: MonotonicTime) {
        let at = *due.get_or_insert_with(|| now.plus(ACCOUNT_DISTANCE));
        if now >= at {
            *due = Some(now.plus(ACCOUNT_DISTANCE));
            self.entry(node).send_or_print();
        }
    }

    fn entry(&self, node: &str) -> Entry {
        let [sent, received, lost, mismatched, worst_round_trip_ns] =
            [&self.sent, &self.received, &self.lost, &self.mismatched, &self.worst_round_trip_ns]
                .map(|counter| counter.load(Ordering::Relaxed));
        let priority = if lost + mismatched == 0 { Priority::Info } else { Priority::Warning };
        Entry::new(journal::id::NODE_SUMMARY, priority, format!("node {node}: {self}"))
            .field("HORUS_NODE", node)
            .field("HORUS_SENT", sent)
            .field("HORUS_RECEIVED", received)
            .field("HORUS_LOST", lost)
            .field("HORUS_MISMATCHED", mismatched)
            .field("HORUS_WORST_ROUND_TRIP_NS", worst_round_trip_ns)
    }

    /// Prints the last account and the deadlines of the whole run.
    fn print(&self, node: &str, tally: &Tally) {
        println!(
            "{node}: {self}; {} releases, {} deadline misses, {} of them skipped releases, longest run {}; \
             max response {:?}, max jitter {:?}; P(miss) < {} (95 %)",
            tally.releases(),
            tally.misses,
            tally.skipped,
            tally.max_consecutive,
            tally.max_response,
            tally.max_jitter,
            rounded_up(tally.miss_bound_95()),
        );
    }
}

/// Two digits that are not below `bound`: a bound that is rounded down claims more than was measured.
fn rounded_up(bound: f64) -> String {
    let digits = 10_f64.powi(1 - bound.log10().floor() as i32);
    // Less than a rounding error of the division: 0.5 stays 5.0e-1.
    let rounded = (bound * digits * (1.0 - 1e-12)).ceil() / digits;
    format!("{:.1e}", rounded.min(1.0))
}

impl fmt::Display for Account {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        write!(
            out,
            "{} sent, {} received, {} lost, {} mismatched",
            read(&self.sent),
            read(&self.received),
            read(&self.lost),
            read(&self.mismatched)
        )?;
        match read(&self.worst_round_trip_ns) {
            0 => Ok(()),
            nanos => write!(out, ", longest round trip {:?}", Duration::from_nanos(nanos)),
        }
    }
}
