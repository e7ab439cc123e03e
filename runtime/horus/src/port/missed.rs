//! What an input missed, on its way to the journal.

use std::sync::Arc;

use super::Sight;
use crate::journal::{self, Entry, Priority};
use crate::miss::MIN_ENTRY_DISTANCE;
use crate::time::MonotonicTime;

/// Tells the journal of messages that were overwritten before an input read them: beside the loop, at most once a second.
pub(crate) struct MissedCollector {
    node: String,
    sight: Arc<Sight>,
    told: u64,
    last_entry: Option<MonotonicTime>,
}

impl MissedCollector {
    pub fn new(node: &str, sight: Arc<Sight>) -> Self {
        Self { node: node.to_owned(), sight, told: 0, last_entry: None }
    }

    /// All that was missed.
    pub fn total(&self) -> u64 {
        self.sight.missed()
    }

    /// An entry, when there is something to tell and [`MIN_ENTRY_DISTANCE`] has passed since the last one. At the end of the loop
    /// `now` is [`MonotonicTime::MAX`].
    pub fn collect(&mut self, now: MonotonicTime) -> Option<Entry> {
        let missed = self.sight.missed();
        if missed <= self.told || self.last_entry.is_some_and(|last| now < last.plus(MIN_ENTRY_DISTANCE)) {
            return None;
        }
        let new = missed - self.told;
        (self.told, self.last_entry) = (missed, Some(now));
        let (node, topic) = (&self.node, self.sight.topic());
        let were = if new == 1 { "message: it was" } else { "messages: they were" };
        let text = format!("node {node} missed {new} {were} overwritten on topic {topic} before it read");
        Some(
            Entry::new(journal::id::INPUT_MISSED, Priority::Info, text)
                .field("HORUS_NODE", node)
                .field("HORUS_TOPIC", topic)
                .field("HORUS_MISSED", new),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_was_missed_is_told_once_and_at_most_once_a_second() {
        let sight = Arc::new(Sight::new("imu", true));
        let mut collector = MissedCollector::new("control", Arc::clone(&sight));
        let at = |ms| MonotonicTime::default().plus(Duration::from_millis(ms));
        assert!(collector.collect(at(0)).is_none());
        sight.note_missed(1);
        let entry = collector.collect(at(0)).unwrap();
        assert_eq!(entry.message(), "node control missed 1 message: it was overwritten on topic imu before it read");
        entry.check().unwrap();
        sight.note_missed(8);
        assert!(collector.collect(at(999)).is_none());
        assert_eq!(collector.collect(MonotonicTime::MAX).unwrap().get("HORUS_MISSED"), Some("7"));
        assert!(collector.collect(MonotonicTime::MAX).is_none());
    }
}
