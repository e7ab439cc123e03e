//! What became of a node's messages: counted in the loop, told once a minute and at the end.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use horus::journal::{self, Entry, Priority};
use horus::time::MonotonicTime;

/// The time between two accounts in the journal.
const ACCOUNT_DISTANCE: Duration = Duration::from_secs(60);

/// Counters that the loop adds to and another thread reads. They guard nothing: all accesses are Relaxed.
#[derive(Default)]
pub struct Account {
    sent: AtomicU64,
    received: AtomicU64,
    lost: AtomicU64,
    mismatched: AtomicU64,
    worst_round_trip_ns: AtomicU64,
}

impl Account {
    /// Whether anything is counted: not where the program only describes itself.
    pub fn is_used(&self) -> bool {
        [&self.sent, &self.received, &self.lost, &self.mismatched]
            .iter()
            .any(|counter| counter.load(Ordering::Relaxed) > 0)
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

    /// Background work that sends the account of `node` to the journal once a minute.
    pub fn every_minute(self: &Arc<Self>, node: &'static str) -> impl FnMut(MonotonicTime) + Send + 'static {
        let (account, mut due) = (Arc::clone(self), None);
        move |now| {
            let at = *due.get_or_insert_with(|| now.plus(ACCOUNT_DISTANCE));
            if now >= at && now < MonotonicTime::MAX {
                due = Some(now.plus(ACCOUNT_DISTANCE));
                account.entry(node).send_or_print();
            }
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
