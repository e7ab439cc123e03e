//! What a step may see of what comes on an input.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::deadline::MAX_PERIOD;
use crate::time::MonotonicTime;

/// What the executor and an input tell each other. Numbers of one thread after another, which guard nothing: all accesses are
/// Relaxed.
#[derive(Debug)]
pub(crate) struct Sight {
    topic: String,
    /// What is stamped later is not there yet.
    until_ns: AtomicU64,
    /// Whether what is stamped later than that may have come since, by the machine's clock.
    asks_clock: AtomicBool,
    received: AtomicU64,
    missed: AtomicU64,
    /// Messages that a test wants lost.
    to_lose: AtomicU64,
}

/// What becomes of a message that came.
pub(crate) enum Look {
    /// It is there later.
    Early,
    /// A test wants it lost.
    Lost,
    /// It is there.
    Seen,
}

impl Sight {
    pub fn new(topic: &str, asks_clock: bool) -> Self {
        let [until_ns, received, missed, to_lose] = [u64::MAX, 0, 0, 0].map(AtomicU64::new);
        Self { topic: topic.to_owned(), until_ns, asks_clock: AtomicBool::new(asks_clock), received, missed, to_lose }
    }

    /// The topic's name.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Shows what was sent until then.
    pub fn set(&self, until: MonotonicTime) {
        self.until_ns.store(until.as_nanos(), Ordering::Relaxed);
    }

    /// What [`set`](Self::set) said last.
    pub fn until(&self) -> MonotonicTime {
        MonotonicTime::from_nanos(self.until_ns.load(Ordering::Relaxed))
    }

    /// Shows nothing beyond what [`set`](Self::set) says, however late it is by then: for logical execution time.
    pub fn is_logical(&self) {
        self.asks_clock.store(false, Ordering::Relaxed);
    }

    /// Messages received.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Messages that were overwritten before they were read, as far as a message that was read later tells.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Takes note of what was missed by now: where a message does not follow the last one.
    #[cold]
    pub fn note_missed(&self, missed: u64) {
        self.missed.store(missed, Ordering::Relaxed);
    }

    /// Has the next messages never come.
    pub fn lose(&self, messages: u64) {
        self.to_lose.fetch_add(messages, Ordering::Relaxed);
    }

    /// What becomes of a message that came, which is counted if it is seen.
    #[inline]
    pub fn look(&self, sent_ns: u64) -> Look {
        if !self.shows(sent_ns) {
            return Look::Early;
        }
        if self.to_lose.load(Ordering::Relaxed) > 0 {
            self.to_lose.fetch_sub(1, Ordering::Relaxed);
            return Look::Lost;
        }
        // One thread at a time writes it: the one that runs the node.
        self.received.store(self.received() + 1, Ordering::Relaxed);
        Look::Seen
    }

    fn shows(&self, sent_ns: u64) -> bool {
        sent_ns <= self.until_ns.load(Ordering::Relaxed) || self.shows_by_now(sent_ns)
    }

    #[cold]
    fn shows_by_now(&self, sent_ns: u64) -> bool {
        if self.asks_clock.load(Ordering::Relaxed) {
            return sent_ns <= MonotonicTime::now().as_nanos();
        }
        // No stamp of the node's own clock is that far ahead: this is another one's, as that of a test beside its world.
        sent_ns > self.until_ns.load(Ordering::Relaxed).saturating_add(MAX_PERIOD.as_nanos() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_logical_execution_time_nothing_is_seen_that_is_stamped_later_however_late_it_is() {
        let sight = Sight::new("imu", true);
        sight.set(MonotonicTime::from_nanos(10));
        assert!(sight.shows(10) && sight.shows(20), "by the machine's clock it has come");
        assert!(!sight.shows(MonotonicTime::now().as_nanos() + 60_000_000_000));
        sight.is_logical();
        assert!(sight.shows(10) && !sight.shows(20) && !sight.shows(10 + MAX_PERIOD.as_nanos() as u64));
        assert!(sight.shows(MonotonicTime::now().as_nanos() + 60_000_000_000), "a stamp of another clock");
    }
}
