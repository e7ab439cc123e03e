//! What is told of misses: their sums and maxima.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{MissRecord, Shared};
use crate::deadline::Timing;
use crate::journal::{self, Entry, Priority};

/// Misses that no entry has told yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub misses: u64,
    skipped: u64,
    max_consecutive: u64,
    dropped_records: u64,
    pub worst: Option<MissRecord>,
}

impl Pending {
    pub fn add(&mut self, record: MissRecord) {
        self.misses += record.misses;
        self.skipped += record.skipped;
        self.max_consecutive = self.max_consecutive.max(record.consecutive);
        if self.worst.is_none_or(|worst| record.response_ns() > worst.response_ns()) {
            self.worst = Some(record);
        }
    }

    pub(crate) fn add_dropped(&mut self, shared: &Shared) {
        self.misses += shared.dropped_misses.swap(0, Ordering::Acquire); // SYNC POINT: dropped
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        self.dropped_records += take(&shared.dropped_records);
        self.skipped += take(&shared.dropped_skipped);
        self.max_consecutive = self.max_consecutive.max(take(&shared.dropped_run));
    }

    /// The entry that tells them.
    pub fn entry(self, node: &str, timing: &Timing) -> Entry {
        let Self { misses, skipped, max_consecutive, dropped_records, worst } = self;
        let details = worst.map_or_else(String::new, |worst| {
            let response = Duration::from_nanos(worst.response_ns());
            format!(": worst response {response:?} in cycle {} on CPU {}", worst.cycle, worst.wake_cpu)
        });
        let skipped_text = if skipped > 0 { format!(", {skipped} of them skipped releases") } else { String::new() };
        let dropped_text = match dropped_records {
            0 => String::new(),
            n => format!("; the details of {n} late cycles were dropped because the ring was full"),
        };
        let (deadline, plural) = (timing.deadline(), if misses == 1 { "" } else { "s" });
        let entry = Entry::new(
            journal::id::DEADLINE_MISS,
            Priority::Warning,
            format!(
                "node {node} missed {misses} deadline{plural} of {deadline:?}{skipped_text}, longest run {max_consecutive}{details}{dropped_text}"
            ),
        )
        .field("HORUS_NODE", node)
        .field("HORUS_MISSES", misses)
        .field("HORUS_SKIPPED", skipped)
        .field("HORUS_MAX_CONSECUTIVE", max_consecutive)
        .field("HORUS_DROPPED_RECORDS", dropped_records)
        .field("HORUS_DEADLINE_NS", timing.deadline_nanos())
        .field("HORUS_PERIOD_NS", timing.period_nanos());
        let Some(worst) = worst else {
            return entry; // every record was dropped: there is no worst cycle to name
        };
        entry
            .field("HORUS_CYCLE", worst.cycle)
            .field("HORUS_WORST_RESPONSE_NS", worst.response_ns())
            .field("HORUS_RELEASE_NS", worst.release_ns)
            .field("HORUS_WAKE_NS", worst.wake_ns)
            .field("HORUS_COMPLETION_NS", worst.completion_ns)
            .field("HORUS_TID", worst.tid)
            .field("HORUS_CPU", worst.wake_cpu)
            .field("HORUS_COMPLETION_CPU", worst.completion_cpu)
    }
}
