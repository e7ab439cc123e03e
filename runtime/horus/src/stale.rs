//! How a stale input leaves the loop: a node says that nothing comes on an input, and says when the input is fresh again.
//!
//! The loop's half ([`InputWatch`]) is told once a cycle whether something came. When nothing came for the limit, and when
//! something comes after that, it puts one fixed-size record into a ring of our own: a few stores, no lock, no system call.
//! The other half ([`StaleCollector`]) belongs to a thread on housekeeping CPUs, usually that of [`crate::supervise`]. It
//! writes one entry when the input becomes stale and one when it is fresh again, with the length of that time, and at most one
//! entry a second: an input that comes and goes faster is summed up.
//!
//! A peer that is stopped, killed or never started looks the same from here: the topic is there, and nothing comes. That is
//! why the node itself has to say it. What came too late or was overwritten makes no input stale; the topic counts that.
//!
//! Before the first message an input counts as never stale, because a peer takes time to start. It is told all the same, once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use horus_shm::ring::local;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::journal::{self, Entry, Priority};
use crate::miss::MIN_ENTRY_DISTANCE;
use crate::time::MonotonicTime;

/// Records that the ring holds: eight stale times between two looks.
const RING_CAPACITY: usize = 16;

/// A stale time that begins or ends, as it crosses the ring. Times are nanoseconds on `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Turn {
    /// When the last message came, or the loop began.
    since_ns: u64,
    /// When the next one came; 0 while the input is stale.
    until_ns: u64,
    /// The number of this stale time; 0 before the first message.
    number: u64,
}

/// The stale times of an input since its node started. They guard nothing: all accesses are Relaxed.
#[derive(Debug, Default)]
pub struct Totals {
    stale_times: AtomicU64,
    longest_ns: AtomicU64,
}

impl Totals {
    /// How often the input became stale after a message had come.
    pub(crate) fn stale_times(&self) -> u64 {
        self.stale_times.load(Ordering::Relaxed)
    }

    /// The longest of these stale times, one that still lasts included.
    pub fn longest(&self) -> Duration {
        Duration::from_nanos(self.longest_ns.load(Ordering::Relaxed))
    }
}

/// The half in the loop; see the module documentation.
pub struct InputWatch {
    limit_ns: u64,
    /// When something came last; before that, the first look.
    last_ns: Option<u64>,
    /// Whether a message ever came.
    came: bool,
    stale_times: u64,
    /// The beginning of the stale time that lasts.
    stale_since_ns: Option<u64>,
    /// The beginning of the stale time that the ring tells of. Into a full ring nothing goes, and the next cycle tries again.
    told_since_ns: Option<u64>,
    ring: local::Writer<Turn>,
    totals: Totals,
}

/// The half beside the loop; see the module documentation.
pub struct StaleCollector {
    node: String,
    topic: String,
    limit: Duration,
    ring: local::Reader<Turn>,
    /// The stale time that lasts.
    open: Option<Turn>,
    /// Whether the journal's last word is that the input is stale.
    told: bool,
    /// The number of the last stale time whose end the journal knows.
    told_number: u64,
    ended: Option<Ended>,
    last_entry: Option<MonotonicTime>,
}

/// Stale times that ended and that no entry has told.
#[derive(Debug)]
struct Ended {
    /// The number of the last one.
    number: u64,
    last_ns: u64,
    longest_ns: u64,
}

/// Makes the two halves for the input `topic` of the node called `node`, which is stale when nothing came for `limit`.
pub fn channel(node: &str, topic: &str, limit: Duration) -> (InputWatch, StaleCollector) {
    let (writer, reader) = local::ring(RING_CAPACITY).expect("the capacity is a power of two");
    let watch = InputWatch {
        limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        last_ns: None,
        came: false,
        stale_times: 0,
        stale_since_ns: None,
        told_since_ns: None,
        ring: writer,
        totals: Totals::default(),
    };
    let collector = StaleCollector {
        node: node.to_owned(),
        topic: topic.to_owned(),
        limit,
        ring: reader,
        open: None,
        told: false,
        told_number: 0,
        ended: None,
        last_entry: None,
    };
    (watch, collector)
}

impl InputWatch {
    /// Takes note of a cycle: whether anything came in it, and its time. Once a cycle, in the loop.
    #[inline]
    pub fn observe(&mut self, came: bool, now: MonotonicTime) {
        let now_ns = now.as_nanos();
        let last_ns = *self.last_ns.get_or_insert(now_ns);
        if came {
            if let Some(since_ns) = self.stale_since_ns.take() {
                self.note(since_ns, now_ns);
            }
            if let Some(since_ns) = self.told_since_ns
                && self.send(since_ns, now_ns)
            {
                self.told_since_ns = None;
            }
            self.came = true;
            self.last_ns = Some(now_ns);
            return;
        }
        if self.stale_since_ns.is_none() && now_ns.saturating_sub(last_ns) >= self.limit_ns {
            self.stale_since_ns = Some(last_ns);
            self.stale_times += u64::from(self.came);
            self.totals.stale_times.store(self.stale_times, Ordering::Relaxed);
        }
        if let Some(since_ns) = self.stale_since_ns {
            self.note(since_ns, now_ns);
            if self.told_since_ns.is_some() || self.send(since_ns, 0) {
                self.told_since_ns = Some(since_ns);
            }
        }
    }

    /// Counts that go on changing while the loop runs.
    pub(crate) fn totals(&self) -> &Totals {
        &self.totals
    }

    fn note(&self, since_ns: u64, now_ns: u64) {
        if self.came {
            self.totals.longest_ns.fetch_max(now_ns.saturating_sub(since_ns), Ordering::Relaxed);
        }
    }

    fn send(&mut self, since_ns: u64, until_ns: u64) -> bool {
        self.ring.try_send(Turn { since_ns, until_ns, number: self.stale_times }).is_ok()
    }
}

impl StaleCollector {
    /// Empties the ring, and returns an entry when there is something to tell and [`MIN_ENTRY_DISTANCE`] has passed since
    /// the last one. At the end of the loop `now` is [`MonotonicTime::MAX`]: nothing waits any more.
    pub fn collect(&mut self, now: MonotonicTime) -> Option<Entry> {
        for _ in 0..RING_CAPACITY {
            let Some(turn) = self.ring.try_recv() else { break };
            match turn.until_ns {
                0 => self.open = Some(turn),
                until_ns => self.end(&turn, until_ns),
            }
        }
        if self.last_entry.is_some_and(|last| now < last.plus(MIN_ENTRY_DISTANCE)) {
            return None;
        }
        let entry = match (self.open, self.ended.take()) {
            (Some(turn), None) if !self.told => self.stale(&turn),
            (None, Some(ended)) => self.fresh(&ended),
            (_, ended) => {
                self.ended = ended; // told when the input is fresh for good
                return None;
            }
        };
        self.last_entry = Some(now);
        self.told = self.open.is_some();
        Some(entry)
    }

    fn end(&mut self, turn: &Turn, until_ns: u64) {
        let last_ns = until_ns.saturating_sub(turn.since_ns);
        let longest_ns = self.ended.as_ref().map_or(last_ns, |ended| ended.longest_ns.max(last_ns));
        self.open = None;
        self.ended = Some(Ended { number: turn.number, last_ns, longest_ns });
    }

    fn stale(&self, turn: &Turn) -> Entry {
        let (node, topic, limit) = (&self.node, &self.topic, self.limit);
        let (priority, text) = match turn.number {
            0 => (
                Priority::Info,
                format!("input {topic} of node {node} has had no message yet, {limit:?} after the node's start"),
            ),
            _ => (Priority::Warning, format!("input {topic} of node {node} is stale: nothing came for {limit:?}")),
        };
        self.of_input(journal::id::INPUT_STALE, priority, text)
            .field("HORUS_STALE_NS", limit.as_nanos())
            .field("HORUS_SINCE_NS", turn.since_ns)
    }

    fn fresh(&mut self, ended: &Ended) -> Entry {
        let (node, topic, length) = (&self.node, &self.topic, Duration::from_nanos(ended.last_ns));
        let longest = Duration::from_nanos(ended.longest_ns);
        let count = ended.number - self.told_number;
        self.told_number = ended.number;
        let text = match count {
            0 => format!("input {topic} of node {node} had its first message {length:?} after the node's start"),
            1 => format!("input {topic} of node {node} is fresh again after {length:?}"),
            _ => format!(
                "input {topic} of node {node} is fresh again after {count} stale times, the longest {longest:?}"
            ),
        };
        self.of_input(journal::id::INPUT_FRESH, Priority::Info, text)
            .field("HORUS_STALE_NS", ended.longest_ns)
            .field("HORUS_STALE_COUNT", count)
    }

    fn of_input(&self, id: &'static str, priority: Priority, text: String) -> Entry {
        Entry::new(id, priority, text).field("HORUS_NODE", &self.node).field("HORUS_TOPIC", &self.topic)
    }
}

#[cfg(test)]
mod tests;
