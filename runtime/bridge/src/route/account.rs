//! What the journal is told, at most so often, and the figures of a topic.

use horus::journal::{Entry, Priority};
use horus_sys::clock::monotonic_ns;

/// Entries a second.
const ENTRIES: u32 = 20;

/// What was done with a topic's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages that went across.
    pub carried: u64,
    /// Messages that were overwritten before they were read.
    pub missed: u64,
    /// Messages that have no counterpart on the other side, or are none.
    pub refused: u64,
    /// Messages that could not be handed over, or were lost on the way, as far as that is known.
    pub lost: u64,
    /// Messages that came after a later one.
    pub reordered: u64,
}

impl Counts {
    /// Messages that did not get across.
    pub fn gone(self) -> u64 {
        self.missed + self.refused + self.lost
    }
}

/// Says things in the journal, at most so many a second, and how many it left out.
#[derive(Debug, Default)]
pub struct Account {
    second: u64,
    said: u32,
    left_out: u64,
}

impl Account {
    /// Says something of a topic.
    pub fn say(&mut self, priority: Priority, topic: &str, text: impl std::fmt::Display) {
        let entry = Entry::plain(priority, format!("bridge: {topic}: {text}")).field("HORUS_TOPIC", topic);
        self.send(entry);
    }

    /// Says the figures of a topic.
    pub fn counts(&mut self, topic: &str, counts: Counts, is_last: bool) {
        let Counts { carried, missed, refused, lost, reordered } = counts;
        let text = format!(
            "bridge: {topic}: {carried} messages carried, {missed} missed, {refused} refused, {lost} lost, {reordered} late"
        );
        let priority = if counts.gone() > 0 { Priority::Warning } else { Priority::Info };
        let entry = Entry::plain(priority, text)
            .field("HORUS_TOPIC", topic)
            .field("HORUS_CARRIED", carried)
            .field("HORUS_MISSED", missed)
            .field("HORUS_REFUSED", refused)
            .field("HORUS_LOST", lost)
            .field("HORUS_REORDERED", reordered);
        if is_last { entry.send_or_print() } else { self.send(entry) }
    }

    /// Says the figures of what is no topic.
    pub fn figures(&mut self, name: &str, text: &str, gone: u64, is_last: bool) {
        let priority = if gone > 0 { Priority::Warning } else { Priority::Info };
        let entry = Entry::plain(priority, format!("bridge: {name}: {text}")).field("HORUS_TOPIC", name);
        if is_last { entry.send_or_print() } else { self.send(entry) }
    }

    fn send(&mut self, entry: Entry) {
        let second = monotonic_ns() / 1_000_000_000;
        if second != self.second {
            (self.second, self.said) = (second, 0);
            if self.left_out > 0 {
                let left_out = std::mem::take(&mut self.left_out);
                let text = format!("bridge: {left_out} entries were left out: more than {ENTRIES} a second");
                Entry::plain(Priority::Warning, text).field("HORUS_LEFT_OUT", left_out).send_or_print();
            }
        }
        if self.said >= ENTRIES {
            self.left_out += 1;
            return;
        }
        self.said += 1;
        entry.send_or_print();
    }
}
