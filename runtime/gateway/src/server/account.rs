//! What the journal is told: who came and went with which figures, what a log was found to be, what goes wrong.
//!
//! Clients can make it say things. So it says at most so many a second, and how many it left out.

use std::io;

use horus::journal::{Entry, Priority};
use horus_shm::directory::TopicName;
use horus_sys::clock::monotonic_ns;

use super::client::{Client, Gone};
use super::topic::Served;
use crate::log::{Log, Recovered};

/// Entries a second.
const ENTRIES: u32 = 20;

/// The gateway's own figures, and when something was said last.
#[derive(Debug, Default)]
pub struct Account {
    second: u64,
    said: u32,
    left_out: u64,
    came: u64,
    turned_away: u64,
    untrusted: u64,
    refused: u64,
}

impl Account {
    fn say(&mut self, entry: Entry) {
        let second = monotonic_ns() / 1_000_000_000;
        if second != self.second {
            (self.second, self.said) = (second, 0);
            self.say_what_was_left_out();
        }
        if self.said >= ENTRIES {
            self.left_out += 1;
            return;
        }
        self.said += 1;
        entry.send_or_print();
    }

    fn say_what_was_left_out(&mut self) {
        let left_out = std::mem::take(&mut self.left_out);
        if left_out > 0 {
            let text = format!("gateway: {left_out} entries were left out: more than {ENTRIES} a second");
            Entry::plain(Priority::Warning, text).field("HORUS_LEFT_OUT", left_out).send_or_print();
        }
    }

    /// A log was opened.
    pub fn recovered(&mut self, name: &TopicName, log: &Log, found: &Recovered) {
        let is_damaged = found.torn || found.damaged_places > 0 || !found.damaged_files.is_empty();
        let mut text = format!(
            "gateway: the log of {name} has messages {} to {} in {} segments",
            log.first_sequence(),
            log.next_sequence() - 1,
            found.segments
        );
        if is_damaged {
            text += &format!(
                "; damaged: {} places in the last segment{}, {} files put aside",
                found.damaged_places,
                if found.torn { " and its end" } else { "" },
                found.damaged_files.len()
            );
        }
        let priority = if is_damaged { Priority::Warning } else { Priority::Info };
        let entry = Entry::plain(priority, text).field("HORUS_TOPIC", name);
        self.say(entry.field("HORUS_NEXT_SEQUENCE", log.next_sequence()));
    }

    /// A client came.
    pub fn came(&mut self, client: &Client) {
        self.came += 1;
        let text = format!("gateway: {} came", client.name);
        self.say(Entry::plain(Priority::Info, text).field("HORUS_CLIENT", &client.name));
    }

    /// A client went.
    pub fn went(&mut self, client: &Client, why: &Gone) {
        let counts = client.counts();
        let damage = client.decoder.damage();
        self.untrusted += u64::from(matches!(why, Gone::Untrusted(_)));
        self.turned_away += u64::from(matches!(why, Gone::Displaced));
        let is_ordinary = matches!(why, Gone::Left | Gone::Ended);
        let text = format!(
            "gateway: {} went: {why}; {} messages to it, {} dropped, {} from it, {} damaged",
            client.name, counts.sent, counts.dropped, counts.taken, counts.damaged
        );
        let priority =
            if is_ordinary && counts.dropped + counts.damaged == 0 { Priority::Info } else { Priority::Warning };
        let entry = Entry::plain(priority, text)
            .field("HORUS_CLIENT", &client.name)
            .field("HORUS_SENT", counts.sent)
            .field("HORUS_DROPPED", counts.dropped)
            .field("HORUS_TAKEN", counts.taken)
            .field("HORUS_DAMAGED", counts.damaged)
            .field("HORUS_GARBAGE_BYTES", damage.garbage_bytes)
            .field("HORUS_UNTRUSTED", self.untrusted);
        self.say(entry);
    }

    /// There is no place for a client.
    pub fn turned_away(&mut self, name: &str, limit: usize) {
        self.turned_away += 1;
        let text = format!("gateway: {name} was turned away: {limit} clients are here (limits.clients)");
        self.say(Entry::plain(Priority::Warning, text).field("HORUS_CLIENT", name));
    }

    /// A client could not be taken.
    pub fn not_accepted(&mut self, error: &io::Error) {
        self.say(Entry::plain(Priority::Warning, format!("gateway: a client could not be accepted: {error}")));
    }

    /// A client asked for what it does not get; it was told why.
    pub fn refused(&mut self) {
        self.refused += 1;
    }

    /// What went wrong with topics.
    pub fn topics(&mut self, topics: &mut [Served]) {
        for topic in topics {
            if let Some(trouble) = topic.trouble.tell() {
                let counts = topic.counts;
                let text = format!(
                    "gateway: topic {}: {trouble}; {} messages lost from the log, {} failures of the disk",
                    topic.name, counts.unlogged, counts.disk_failures
                );
                let entry = Entry::plain(Priority::Error, text).field("HORUS_TOPIC", &topic.name);
                let entry = entry.field("HORUS_UNLOGGED", counts.unlogged).field("HORUS_MISSED", counts.missed);
                self.say(entry.field("HORUS_DISK_FAILURES", counts.disk_failures));
            }
        }
    }

    /// The gateway ended.
    pub fn ended(&mut self, topics: &[Served]) {
        self.say_what_was_left_out();
        let Self { came, turned_away, untrusted, refused, .. } = self;
        let entry = Entry::plain(
            Priority::Info,
            format!(
                "gateway: ended; {came} clients came, {turned_away} were turned away, {untrusted} had no certificate that counts, \
                 {refused} requests were refused"
            ),
        );
        let entry = entry.field("HORUS_CLIENTS", *came).field("HORUS_TURNED_AWAY", *turned_away);
        entry.field("HORUS_UNTRUSTED", *untrusted).send_or_print();
        for topic in topics {
            let counts = topic.counts;
            let text = format!(
                "gateway: topic {}: {} read, {} missed, {} lost from the log, {} failures of its disk, {} published, {} without room",
                topic.name,
                counts.read,
                counts.missed,
                counts.unlogged,
                counts.disk_failures,
                counts.published,
                counts.refused
            );
            let entry = Entry::plain(Priority::Info, text).field("HORUS_TOPIC", &topic.name);
            let entry = entry.field("HORUS_READ", counts.read).field("HORUS_MISSED", counts.missed);
            let entry = entry.field("HORUS_UNLOGGED", counts.unlogged);
            entry.field("HORUS_DISK_FAILURES", counts.disk_failures).send_or_print();
        }
    }
}
