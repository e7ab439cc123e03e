//! What became of a node's messages: counted in the loop, told once a minute and at the end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use horus::deadline::Tally;
use horus::journal::{self, Entry, Priority};
use horus::silence::Totals;
use horus::time::MonotonicTime;

/// The time between two accounts in the journal.
const ACCOUNT_DISTANCE: Duration = Duration::from_secs(60);

/// Counters that the loop adds to and another thread reads. They guard nothing: all accesses are Relaxed.
pub struct Account {
    sent: AtomicU64,
    received: AtomicU64,
    lost: AtomicU64,
    mismatched: AtomicU64,
    worst_round_trip_ns: AtomicU64,
    silences: Arc<Totals>,
}

impl Account {
    /// An account of nothing yet; the silences of the node's input are counted by its watch.
    pub(crate) fn new(silences: Arc<Totals>) -> Self {
        let [sent, received, lost, mismatched, worst_round_trip_ns] = std::array::from_fn(|_| AtomicU64::new(0));
        Self { sent, received, lost, mismatched, worst_round_trip_ns, silences }
    }

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
    pub fn count_mismatched(&self) {
        self.mismatched.fetch_add(1, Ordering::Relaxed);
    }

    /// A message came back after this time.
    pub fn note_round_trip(&self, nanos: u64) {
        self.worst_round_trip_ns.fetch_max(nanos, Ordering::Relaxed);
    }

    /// A chore for the supervising thread: sends the account to the journal once a minute.
    pub(crate) fn send_every_minute(&self, node: &str, due: &mut Option<MonotonicTime>, now: MonotonicTime) {
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
            .field("HORUS_SILENCES", self.silences.silences())
            .field("HORUS_LONGEST_SILENCE_NS", self.silences.longest().as_nanos())
            .field("HORUS_WORST_ROUND_TRIP_NS", worst_round_trip_ns)
    }

    /// Prints the last account and the deadlines of the whole run.
    pub(crate) fn print(&self, node: &str, tally: &Tally) {
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
        match self.silences.silences() {
            0 => {}
            count => write!(out, ", {count} silences, longest {:?}", self.silences.longest())?,
        }
        match read(&self.worst_round_trip_ns) {
            0 => Ok(()),
            nanos => write!(out, ", longest round trip {:?}", Duration::from_nanos(nanos)),
        }
    }
}
