//! How a deadline miss leaves the loop: a record through our own ring, gathered by a thread that has time to write it
//! down.
//!
//! The loop's half ([`MissRecorder`]) hears the verdict on each cycle and, for a miss, puts one fixed-size record into the
//! ring: a few stores, no lock, no system call that waits. The record holds what a search for the culprit starts from: the
//! thread, its CPUs, and when it was released, woke and completed. The other half ([`MissCollector`]) belongs to a thread on
//! housekeeping CPUs. It gathers records into at most one `DEADLINE_MISS` journal entry a second and node, so that a
//! node that misses every cycle cannot flood the journal; counts are added up, nothing is thinned out.
//!
//! Where a witness traces the loop's CPU, the loop freezes that trace before it puts the record into the ring ([`crate::witness`]).
//! The entry then waits for the witness's verdict on that cycle and on the entry's worst one, and names who kept the worst that was seen.
//! With the trace the node's last cycles stand still (`cycles`), and go to the witness, too.
//!
//! When the ring is full the record is dropped, and that is counted: its misses still appear in `HORUS_MISSES` and
//! `HORUS_SKIPPED`, its run in `HORUS_MAX_CONSECUTIVE`; only its details (times, cycle number) are lost.

mod cycles;
mod entry;
mod testimony;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use horus_shm::ring::{Full, local};
use horus_shm::segment::layout::ShapeError;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::deadline::{CycleRecord, Timing, Verdict};
use crate::journal::Entry;
use crate::time::MonotonicTime;
use crate::witness::client::Outcome;
use crate::witness::freeze::Trace;
use crate::witness::protocol::{Missed, Recording};
use crate::witness::recording;
use entry::Pending;
use testimony::Testimony;

/// The shortest time between two entries of one node.
pub const MIN_ENTRY_DISTANCE: Duration = Duration::from_secs(1);

/// Records that the ring holds: at a period of 1 ms a quarter of a second in which every single cycle misses, while the
/// collecting thread looks every 100 ms.
pub const RING_CAPACITY: usize = 256;

/// Of the records that froze there is one until it was told; the ring is as small as rings are.
const FROZEN_CAPACITY: usize = 2;

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
    /// Where its miss froze the trace: the half of the last cycles that stands still since then.
    half: u32,
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
            half: 0,
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
    /// For the record whose miss froze the trace, once more.
    frozen: local::Writer<MissRecord>,
    trace: Option<Arc<Trace>>,
    cycles: cycles::Writer,
    shared: Arc<Shared>,
}

/// The half on a housekeeping CPU; see the module documentation.
pub struct MissCollector {
    node: String,
    program: Option<String>,
    timing: Timing,
    budget_ns: Option<u64>,
    /// The topics that its node reads, and those that it writes.
    topics: [Vec<String>; 2],
    ring: local::Reader<MissRecord>,
    frozen: local::Reader<MissRecord>,
    cycles: cycles::Reader,
    shared: Arc<Shared>,
    pending: Pending,
    testimony: Testimony,
    last_entry: Option<MonotonicTime>,
}

/// Makes the two halves for the node called `node`; `capacity` records, a power of two, are allocated here and never
/// again.
///
/// # Errors
/// When `capacity` is not a power of two in the ring's range.
pub fn channel(node: &str, timing: Timing, capacity: usize) -> Result<(MissRecorder, MissCollector), ShapeError> {
    let (writer, reader) = local::ring(capacity)?;
    let (frozen_writer, frozen) = local::ring(FROZEN_CAPACITY)?;
    let (cycles_writer, cycles) = cycles::pair();
    let shared = Arc::new(Shared::default());
    let recorder = MissRecorder {
        tid: None,
        ring: writer,
        frozen: frozen_writer,
        trace: None,
        cycles: cycles_writer,
        shared: Arc::clone(&shared),
    };
    let collector = MissCollector {
        node: node.to_owned(),
        program: None,
        timing,
        budget_ns: None,
        topics: Default::default(),
        ring: reader,
        frozen,
        cycles,
        shared,
        pending: Pending::default(),
        testimony: Testimony::default(),
        last_entry: None,
    };
    Ok((recorder, collector))
}

impl MissRecorder {
    /// Takes note of a cycle that is over, late or not: for the flight recorder.
    #[inline(always)] // four stores, in every cycle
    pub(crate) fn note(&self, cycle: &CycleRecord) {
        self.cycles.note(cycle);
    }

    /// Takes one finished cycle and the verdict on it: the scheduler's observer, once a cycle and always on the thread of
    /// the loop.
    #[inline]
    pub fn observe(&mut self, cycle: &CycleRecord, verdict: &Verdict) {
        if verdict.misses() > 0 {
            // First: every event after this overwrites one of the missed cycle.
            let has_frozen = self.trace.as_ref().is_some_and(|trace| trace.freeze());
            let tid = *self.tid.get_or_insert_with(|| rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned());
            let mut record = MissRecord::new(cycle, verdict, tid);
            if has_frozen {
                record.half = self.cycles.turn();
                let _ = self.frozen.try_send(record); // of which there are no two
            }
            if let Err(Full(record)) = self.ring.try_send(record) {
                self.shared.drop_record(&record);
            }
        }
    }

    /// What to freeze after a miss, from now on.
    pub(crate) fn freeze_by(&mut self, trace: Option<Arc<Trace>>) {
        self.trace = trace;
    }
}

impl MissCollector {
    /// As a node of that program, and with the budget of its cycles, which a witness judges own code by.
    pub(crate) fn of(self, program: &str, budget_ns: Option<u64>) -> Self {
        Self { program: Some(program.to_owned()), budget_ns, ..self }
    }

    /// With the topics that its node reads, and those that it writes, for the flight recorder.
    pub(crate) fn with_topics(self, read: Vec<String>, written: Vec<String>) -> Self {
        Self { topics: [read, written], ..self }
    }

    /// Empties the ring, and returns an entry when there is something to tell and [`MIN_ENTRY_DISTANCE`] has passed
    /// since the last one; while a witness is asked, it waits for it. Takes at most [`RING_CAPACITY`] records, so a loop that misses
    /// faster cannot hold it.
    pub fn collect(&mut self, now: MonotonicTime) -> Option<Entry> {
        self.gather();
        if self.pending.misses == 0 {
            return None; // nothing to tell; what a drop under way has counted so far stays for the next look
        }
        if let Some(worst) = self.pending.worst {
            let late_ns = worst.response_ns().saturating_sub(self.timing.deadline_nanos());
            self.testimony.consider(late_ns, now, || missed(&self.node, &self.timing, self.budget_ns, &worst));
        }
        if self.last_entry.is_some_and(|last| now < last.plus(MIN_ENTRY_DISTANCE)) {
            return None;
        }
        if self.testimony.is_awaited(now) {
            return None;
        }
        self.last_entry = Some(now);
        Some(self.take_entry())
    }

    /// Empties the ring, and tells nothing.
    pub(crate) fn gather(&mut self) {
        for record in std::iter::from_fn(|| self.ring.try_recv()).take(RING_CAPACITY) {
            self.pending.add(record);
        }
        self.pending.add_dropped(&self.shared);
        // Behind the ring: of a node that is seen there and has frozen, it is seen here that it has.
        if let Some(record) = self.frozen.try_recv() {
            self.testimony.ask(self.missed(&record), record.half);
        }
    }

    /// What is left when the loop has ended, regardless of the distance to the last entry.
    pub fn finish(mut self) -> Option<Entry> {
        while let Some(record) = self.ring.try_recv() {
            self.pending.add(record);
        }
        self.last_entry = None;
        self.collect(MonotonicTime::MAX)
    }

    /// The next cycle to ask a witness about, once; and what the flight recorder keeps of it, where its miss froze.
    pub(crate) fn take_question(&mut self, now: MonotonicTime) -> Option<(Missed, Option<Recording>)> {
        let (missed, half) = self.testimony.take_question(now)?;
        let recorded = half.map(|half| {
            let [read, written] = &self.topics;
            recording::of(&missed, self.cycles.of_half(half, missed.cycle), read, written)
        });
        Some((missed, recorded))
    }

    /// Whether a witness has still to answer.
    pub(crate) fn is_waiting(&self) -> bool {
        self.testimony.is_waiting()
    }

    /// What came of the question about a cycle.
    pub(crate) fn answer(&mut self, cycle: u64, outcome: Outcome) {
        self.testimony.answer(cycle, outcome);
    }

    /// Whether a witness can be asked now, or why not.
    pub(crate) fn absent(&mut self, why: Option<&'static str>) {
        self.testimony.absent(why);
    }

    /// The thread whose frozen miss was answered, once, and not before it may ask again.
    pub(crate) fn take_answered(&mut self, now: MonotonicTime) -> Option<u32> {
        self.testimony.take_answered(now)
    }

    fn take_entry(&mut self) -> Entry {
        let entry = std::mem::take(&mut self.pending).entry(&self.node, &self.timing);
        let entry = match &self.program {
            Some(program) => entry.field("HORUS_PROGRAM", program),
            None => entry,
        };
        self.testimony.testify(entry)
    }

    fn missed(&self, record: &MissRecord) -> Missed {
        missed(&self.node, &self.timing, self.budget_ns, record)
    }
}

/// A record, as a witness is asked about it.
fn missed(node: &str, timing: &Timing, budget_ns: Option<u64>, record: &MissRecord) -> Missed {
    Missed {
        node: node.to_owned(),
        tid: record.tid,
        cpu: record.wake_cpu,
        cycle: record.cycle,
        release_ns: record.release_ns,
        wake_ns: record.wake_ns,
        completion_ns: record.completion_ns,
        deadline_ns: record.release_ns.saturating_add(timing.deadline_nanos()),
        budget_ns,
    }
}

#[cfg(test)]
mod tests;
