//! What an output did not publish: counted by its cause where it happens, and told beside the loop.
//!
//! The step and its executor count in words of their own ([`Counts`]), in passing and without a lock. Accounts, figures and the journal
//! read them from other threads.

use std::fmt;
use std::iter::Sum;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::journal::{self, Entry, Priority};
use crate::miss::MIN_ENTRY_DISTANCE;
use crate::time::MonotonicTime;

/// What becomes of a message that a step sets.
#[must_use = "a message that is not taken is not published, and only this and a count tell so"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// It will be published when the step returns.
    Taken,
    /// The topic is full: a subscriber of a `reliable` one has yet to read, or subscribers of a `latest` one hold, what stands in its
    /// place.
    Full,
    /// The step has set as many messages as the topic holds.
    Beyond,
    /// It was set while no step could: after the program's end, or from another thread while the executor publishes.
    Outside,
    /// It is no message of the topic: bytes that are more than the topic's maximum, or a value whose bytes are, or that cannot be serialized.
    Invalid,
}

impl Set {
    /// Whether the message will be published.
    pub fn is_taken(self) -> bool {
        self == Self::Taken
    }
}

/// Messages that an output did not publish, by their cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// [`Set::Full`].
    pub full: u64,
    /// [`Set::Beyond`].
    pub beyond: u64,
    /// Set by a step whose outcome was discarded: it panicked, or a monitor took its place.
    pub discarded: u64,
    /// [`Set::Outside`].
    pub outside: u64,
    /// [`Set::Invalid`].
    pub invalid: u64,
}

impl Lost {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.full + self.beyond + self.discarded + self.outside + self.invalid
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            full: self.full - before.full,
            beyond: self.beyond - before.beyond,
            discarded: self.discarded - before.discarded,
            outside: self.outside - before.outside,
            invalid: self.invalid - before.invalid,
        }
    }
}

impl Sum for Lost {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            full: sum.full + one.full,
            beyond: sum.beyond + one.beyond,
            discarded: sum.discarded + one.discarded,
            outside: sum.outside + one.outside,
            invalid: sum.invalid + one.invalid,
        })
    }
}

/// The causes that there are, as in "2 found the topic full, 1 set outside of a step".
impl fmt::Display for Lost {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes = [
            (self.full, "found the topic full"),
            (self.beyond, "beyond what the topic holds in one step"),
            (self.discarded, "of a step that was discarded"),
            (self.outside, "set outside of a step"),
            (self.invalid, "no message of the topic"),
        ];
        let mut before = "";
        for (count, cause) in causes.into_iter().filter(|(count, _)| *count > 0) {
            write!(out, "{before}{count} {cause}")?;
            before = ", ";
        }
        Ok(())
    }
}

/// The counts of an output. They guard nothing: all accesses are Relaxed.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    full: AtomicU64,
    beyond: AtomicU64,
    discarded: AtomicU64,
    outside: AtomicU64,
    invalid: AtomicU64,
}

impl Counts {
    /// Counts a message that was not taken, and says so.
    #[cold]
    pub fn refuse(&self, why: Set) -> Set {
        let count = match why {
            Set::Taken => return why,
            Set::Full => &self.full,
            Set::Beyond => &self.beyond,
            Set::Outside => &self.outside,
            Set::Invalid => &self.invalid,
        };
        count.fetch_add(1, Ordering::Relaxed);
        why
    }

    /// Counts messages that were taken back.
    pub fn discard(&self, messages: u64) {
        self.discarded.fetch_add(messages, Ordering::Relaxed);
    }

    /// What they are now.
    pub fn now(&self) -> Lost {
        let counts = [&self.full, &self.beyond, &self.discarded, &self.outside, &self.invalid];
        let [full, beyond, discarded, outside, invalid] = counts.map(|count| count.load(Ordering::Relaxed));
        Lost { full, beyond, discarded, outside, invalid }
    }
}

/// Tells the journal of what an output lost: beside the loop, at most once a second.
pub(crate) struct LostCollector {
    node: String,
    topic: String,
    counts: Arc<Counts>,
    told: Lost,
    last_entry: Option<MonotonicTime>,
}

impl LostCollector {
    pub fn new(node: &str, topic: &str, counts: Arc<Counts>) -> Self {
        Self { node: node.to_owned(), topic: topic.to_owned(), counts, told: Lost::default(), last_entry: None }
    }

    /// All that was lost.
    pub fn total(&self) -> u64 {
        self.counts.now().total()
    }

    /// An entry, when there is something to tell and [`MIN_ENTRY_DISTANCE`] has passed since the last one. At the end of the loop
    /// `now` is [`MonotonicTime::MAX`].
    pub fn collect(&mut self, now: MonotonicTime) -> Option<Entry> {
        let lost = self.counts.now();
        if lost == self.told || self.last_entry.is_some_and(|last| now < last.plus(MIN_ENTRY_DISTANCE)) {
            return None;
        }
        let new = lost.since(&self.told);
        (self.told, self.last_entry) = (lost, Some(now));
        let (node, topic, total) = (&self.node, &self.topic, new.total());
        let plural = if total == 1 { "message" } else { "messages" };
        let text = format!("node {node} did not publish {total} {plural} on topic {topic}: {new}");
        Some(
            Entry::new(journal::id::OUTPUT_LOST, Priority::Warning, text)
                .field("HORUS_NODE", node)
                .field("HORUS_TOPIC", topic)
                .field("HORUS_LOST", total)
                .field("HORUS_LOST_FULL", new.full)
                .field("HORUS_LOST_BEYOND", new.beyond)
                .field("HORUS_LOST_DISCARDED", new.discarded)
                .field("HORUS_LOST_OUTSIDE", new.outside)
                .field("HORUS_LOST_INVALID", new.invalid),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_loss_is_told_once_with_its_cause_and_at_most_once_a_second() {
        let counts = Arc::new(Counts::default());
        let mut collector = LostCollector::new("control", "base.cmd", Arc::clone(&counts));
        let at = |ms| MonotonicTime::default().plus(Duration::from_millis(ms));
        assert!(collector.collect(at(0)).is_none());
        assert_eq!(counts.refuse(Set::Full), Set::Full);
        counts.discard(2);
        let entry = collector.collect(at(0)).unwrap();
        assert_eq!(
            entry.message(),
            "node control did not publish 3 messages on topic base.cmd: 1 found the topic full, 2 of a step that was discarded"
        );
        entry.check().unwrap();
        for why in [Set::Beyond, Set::Outside, Set::Invalid] {
            assert_eq!(counts.refuse(why), why);
        }
        assert!(collector.collect(at(999)).is_none());
        let entry = collector.collect(at(1000)).unwrap();
        let fields = ["HORUS_LOST", "HORUS_LOST_FULL", "HORUS_LOST_BEYOND", "HORUS_LOST_OUTSIDE", "HORUS_LOST_INVALID"];
        assert_eq!(fields.map(|field| entry.get(field)), ["3", "0", "1", "1", "1"].map(Some));
        assert!(collector.collect(MonotonicTime::MAX).is_none());
        assert_eq!(collector.total(), 6);
    }
}
