//! How a deadline miss leaves the loop: a record through our own ring, gathered by a thread that has time to write it
//! down.
//!
//! The loop's half ([`MissRecorder`]) hears the verdict on each cycle and, for a miss, puts one fixed-size record into the
//! ring: a few stores, no lock, no system call that waits. The record holds what a search for the culprit starts from: the
//! thread, its CPUs, and when it was released, woke and completed. The other half ([`MissCollector`]) belongs to a thread on
//! housekeeping CPUs. It gathers records into at most one `DEADLINE_MISS` journal entry a second and node, so that a
//! node that misses every cycle cannot flood the journal; counts are added up, nothing is thinned out.
//!
//! When the ring is full the record is dropped, and that is counted: its misses still appear in `HORUS_MISSES` and
//! `HORUS_SKIPPED`, its run in `HORUS_MAX_CONSECUTIVE`; only its details (times, cycle number) are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use horus_shm::ring::{Full, local};
use horus_shm::segment::layout::ShapeError;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::deadline::{CycleRecord, Timing, Verdict};
use crate::journal::{self, Entry, Priority};
use crate::time::MonotonicTime;

/// The shortest time between two entries of one node.
pub const MIN_ENTRY_DISTANCE: Duration = Duration::from_secs(1);

/// Records that the ring holds: at a period of 1 ms a quarter of a second in which every single cycle misses, while the
/// collecting thread looks every 100 ms.
pub const RING_CAPACITY: usize = 256;

/// One cycle that missed, as it crosses the ring. Times are nanoseconds on `CLOCK_MONOTONIC`, as the kernel's traces have
/// them.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct MissRecord {
    cycle: u64,
    release_ns: u64,
    wake_ns: u64,
    completion_ns: u64,
    misses: u64,
    skipped: u64,
    consecutive: u64,
    /// The thread that runs the loop.
    tid: u32,
    wake_cpu: u32,
    completion_cpu: u32,
    /// Fills the record to a multiple of 8 bytes.
    spare: u32,
}

impl MissRecord {
    fn new(cycle: &CycleRecord, verdict: &Verdict, tid: u32) -> Self {
        Self {
            cycle: cycle.number,
            release_ns: cycle.release.as_nanos(),
            wake_ns: cycle.wake.as_nanos(),
            completion_ns: cycle.completion.as_nanos(),
            misses: verdict.misses(),
            skipped: verdict.skipped,
            consecutive: verdict.consecutive,
            tid,
            wake_cpu: cycle.wake_cpu,
            completion_cpu: cycle.completion_cpu,
            spare: 0,
        }
    }

    fn response_ns(&self) -> u64 {
        self.completion_ns.saturating_sub(self.release_ns)
    }
}

/// What both halves see. Counters only: none of them guards other data, so accesses are Relaxed but for the misses of
/// dropped records. These are added last and taken first (SYNC POINT: dropped): who sees the misses sees all that belongs
/// to them. A look in the middle of a drop sees the rest a look early; each count is taken once and none is lost.
#[derive(Debug, Default)]
struct Shared {
    dropped_records: AtomicU64,
    dropped_misses: AtomicU64,
    dropped_skipped: AtomicU64,
    /// The longest run that a dropped record stood in.
    dropped_run: AtomicU64,
}

impl Shared {
    fn drop_record(&self, record: &MissRecord) {
        self.dropped_records.fetch_add(1, Ordering::Relaxed);
        self.dropped_skipped.fetch_add(record.skipped, Ordering::Relaxed);
        self.dropped_run.fetch_max(record.consecutive, Ordering::Relaxed);
        self.dropped_misses.fetch_add(record.misses, Ordering::Release); // SYNC POINT: dropped
    }
}

/// The half in the loop; see the module documentation.
pub struct MissRecorder {
    /// Of the thread that runs the loop, which is known at the first miss.
    tid: Option<u32>,
    ring: local::Writer<MissRecord>,
    shared: Arc<Shared>,
}

/// The half on a housekeeping CPU; see the module documentation.
pub struct MissCollector {
    node: String,
    timing: Timing,
    ring: local::Reader<MissRecord>,
    shared: Arc<Shared>,
    pending: Pending,
    last_entry: Option<MonotonicTime>,
}

/// Makes the two halves for the node called `node`; `capacity` records, a power of two, are allocated here and never
/// again.
///
/// # Errors
/// When `capacity` is not a power of two in the ring's range.
pub fn channel(node: &str, timing: Timing, capacity: usize) -> Result<(MissRecorder, MissCollector), ShapeError> {
    let (writer, reader) = local::ring(capacity)?;
    let shared = Arc::new(Shared::default());
    let recorder = MissRecorder { tid: None, ring: writer, shared: Arc::clone(&shared) };
    let node = node.to_owned();
    Ok((recorder, MissCollector { node, timing, ring: reader, shared, pending: Pending::default(), last_entry: None }))
}

impl MissRecorder {
    /// Takes one finished cycle and the verdict on it: the scheduler's observer, once a cycle and always on the thread of
    /// the loop.
    #[inline]
    pub fn observe(&mut self, cycle: &CycleRecord, verdict: &Verdict) {
        if verdict.misses() > 0 {
            let tid = *self.tid.get_or_insert_with(|| rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned());
            if let Err(Full(record)) = self.ring.try_send(MissRecord::new(cycle, verdict, tid)) {
                self.shared.drop_record(&record);
            }
        }
    }
}

/// Misses that no entry has told yet.
#[derive(Debug, Default)]
struct Pending {
    misses: u64,
    skipped: u64,
    max_consecutive: u64,
    dropped_records: u64,
    worst: Option<MissRecord>,
}

impl Pending {
    fn add(&mut self, record: MissRecord) {
        self.misses += record.misses;
        self.skipped += record.skipped;
        self.max_consecutive = self.max_consecutive.max(record.consecutive);
        if self.worst.is_none_or(|worst| record.response_ns() > worst.response_ns()) {
            self.worst = Some(record);
        }
    }

    fn add_dropped(&mut self, shared: &Shared) {
        self.misses += shared.dropped_misses.swap(0, Ordering::Acquire); // SYNC POINT: dropped
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        self.dropped_records += take(&shared.dropped_records);
        self.skipped += take(&shared.dropped_skipped);
        self.max_consecutive = self.max_consecutive.max(take(&shared.dropped_run));
    }
}

impl MissCollector {
    /// Empties the ring, and returns an entry when there is something to tell and [`MIN_ENTRY_DISTANCE`] has passed
    /// since the last one. Takes at most [`RING_CAPACITY`] records, so a loop that misses faster cannot hold it.
    pub fn collect(&mut self, now: MonotonicTime) -> Option<Entry> {
        for record in std::iter::from_fn(|| self.ring.try_recv()).take(RING_CAPACITY) {
            self.pending.add(record);
        }
        self.pending.add_dropped(&self.shared);
        if self.pending.misses == 0 {
            return None; // nothing to tell; what a drop under way has counted so far stays for the next look
        }
        if self.last_entry.is_some_and(|last| now < last.plus(MIN_ENTRY_DISTANCE)) {
            return None;
        }
        self.last_entry = Some(now);
        Some(self.take_entry())
    }

    /// What is left when the loop has ended, regardless of the distance to the last entry.
    pub fn finish(mut self) -> Option<Entry> {
        while let Some(record) = self.ring.try_recv() {
            self.pending.add(record);
        }
        self.last_entry = None;
        self.collect(MonotonicTime::MAX)
    }

    fn take_entry(&mut self) -> Entry {
        let Pending { misses, skipped, max_consecutive, dropped_records, worst } = std::mem::take(&mut self.pending);
        let details = worst.map_or_else(String::new, |worst| {
            let response = Duration::from_nanos(worst.response_ns());
            format!(": worst response {response:?} in cycle {} on CPU {}", worst.cycle, worst.wake_cpu)
        });
        let skipped_text = if skipped > 0 { format!(", {skipped} of them skipped releases") } else { String::new() };
        let dropped_text = match dropped_records {
            0 => String::new(),
            n => format!("; the details of {n} late cycles were dropped because the ring was full"),
        };
        let (node, deadline, plural) = (&self.node, self.timing.deadline(), if misses == 1 { "" } else { "s" });
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
        .field("HORUS_DEADLINE_NS", self.timing.deadline_nanos())
        .field("HORUS_PERIOD_NS", self.timing.period_nanos());
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

#[cfg(test)]
mod tests;
