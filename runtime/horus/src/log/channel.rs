//! The way of a line from the loop to the journal: a ring, of which the thread beside the loop makes entries.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::ring::local;

use super::record::Record;
use super::{Line, MAX_WAITING};
use crate::journal::{self, Entry, Priority};
use crate::miss::MIN_ENTRY_DISTANCE;
use crate::time::MonotonicTime;

/// The end in the loop; one of no node takes nothing.
#[derive(Default)]
pub(crate) struct Log(Option<Box<RefCell<Writer>>>);

struct Writer {
    ring: local::Writer<Record>,
    /// Guards no data, so accesses are Relaxed.
    lost: Arc<AtomicU64>,
}

impl Log {
    /// Copies a line, or counts it where there is no room.
    #[inline]
    pub fn put(&self, cycle: u64, release: MonotonicTime, line: &Line<'_>) {
        let Some(mut writer) = self.0.as_ref().and_then(|writer| writer.try_borrow_mut().ok()) else { return };
        if writer.ring.try_send(Record::new(cycle, release.as_nanos(), line)).is_err() {
            writer.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_some() { "Log" } else { "Log of no node" })
    }
}

/// Makes the two ends for a node of a program.
pub(crate) fn channel(program: &str, node: &str) -> (Log, LogCollector) {
    let (writer, ring) = local::ring(MAX_WAITING).expect("a power of two");
    let lost = Arc::new(AtomicU64::new(0));
    let log = Log(Some(Box::new(RefCell::new(Writer { ring: writer, lost: Arc::clone(&lost) }))));
    let (program, node) = (program.to_owned(), node.to_owned());
    (log, LogCollector { program, node, ring, lost, told_lost: 0, last_told: None })
}

/// The end beside the loop.
pub(crate) struct LogCollector {
    program: String,
    node: String,
    ring: local::Reader<Record>,
    lost: Arc<AtomicU64>,
    told_lost: u64,
    last_told: Option<MonotonicTime>,
}

impl LogCollector {
    /// Tells the lines that wait, and no more than had room: a node that logs without end must not hold it. That lines were lost is told once a second
    /// at most.
    pub fn collect(&mut self, now: MonotonicTime, mut tell: impl FnMut(Entry)) {
        for _ in 0..MAX_WAITING {
            let Some(record) = self.ring.try_recv() else { break };
            tell(self.entry(&record));
        }
        let lost = self.lost.load(Ordering::Relaxed);
        let may_tell = self.last_told.is_none_or(|last| now >= last.plus(MIN_ENTRY_DISTANCE));
        if lost > self.told_lost && may_tell {
            let new = lost - self.told_lost;
            (self.told_lost, self.last_told) = (lost, Some(now));
            tell(self.lost_entry(new));
        }
    }

    fn entry(&self, record: &Record) -> Entry {
        let level = record.level();
        let text = format!("node {}, cycle {}: {}", self.node, record.cycle, record.line());
        Entry::new(journal::id::NODE_LOG, level.priority(), text)
            .field("HORUS_PROGRAM", &self.program)
            .field("HORUS_NODE", &self.node)
            .field("HORUS_CYCLE", record.cycle)
            .field("HORUS_RELEASE_NS", record.release_ns)
            .field("HORUS_LEVEL", level.name())
    }

    fn lost_entry(&self, lost: u64) -> Entry {
        let (node, plural) = (&self.node, if lost == 1 { " was" } else { "s were" });
        let text =
            format!("{lost} line{plural} lost of the log of node {node}: {MAX_WAITING} wait at most; log less often");
        Entry::new(journal::id::NODE_LOG_LOST, Priority::Warning, text)
            .field("HORUS_PROGRAM", &self.program)
            .field("HORUS_NODE", node)
            .field("HORUS_LOST", lost)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(millis: u64) -> MonotonicTime {
        MonotonicTime::from_nanos(1).plus(Duration::from_millis(millis))
    }

    #[test]
    fn lines_that_find_no_room_are_counted_and_told_once_a_second() {
        let (log, mut collector) = channel("base", "drive");
        let mut look = |millis| {
            let mut told = Vec::new();
            collector.collect(at(millis), |entry| told.push(entry));
            told
        };
        let say = |lines: usize| (0..lines).for_each(|n| log.put(n as u64, at(0), &crate::info!("line {}", n)));
        say(MAX_WAITING + 3);
        let told = look(0);
        assert_eq!(told.len(), MAX_WAITING + 1);
        assert_eq!(told[1].message(), "node drive, cycle 1: line 1");
        assert_eq!(told[MAX_WAITING].get("HORUS_LOST"), Some("3"));
        say(MAX_WAITING + 1);
        assert_eq!(look(500).len(), MAX_WAITING, "that another is lost is told later");
        let told = look(1000);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].message(), "1 line was lost of the log of node drive: 64 wait at most; log less often");
        assert!(look(5000).is_empty());
    }

    #[test]
    fn a_log_of_no_node_takes_nothing() {
        Log::default().put(1, at(0), &crate::error!("it goes nowhere"));
    }
}
