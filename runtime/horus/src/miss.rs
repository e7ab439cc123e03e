//! How a deadline miss leaves the loop: a record through our own ring, gathered by a thread that has time to write it
//! down.
//!
//! The loop's half ([`MissRecorder`]) judges each cycle and, for a miss, puts one fixed-size record into the ring: a
//! few stores, no lock, no system call that waits. The other half ([`MissCollector`]) belongs to a thread on
//! housekeeping CPUs. It gathers records into at most one `DEADLINE_MISS` journal entry a second and node, so that a
//! node that misses every cycle cannot flood the journal; counts are added up, nothing is thinned out.
//!
//! When the ring is full the record is dropped, and that is counted: its misses still appear in `HORUS_MISSES` and
//! `HORUS_SKIPPED`, its run in `HORUS_MAX_CONSECUTIVE`; only its details (response time, cycle number) are lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use horus_shm::ring::{Full, local};
use horus_shm::segment::layout::ShapeError;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::deadline::{CycleRecord, Tally, Timing};
use crate::journal::{self, Entry, Priority};
use crate::time::MonotonicTime;

/// The shortest time between two entries of one node.
pub const MIN_ENTRY_DISTANCE: Duration = Duration::from_secs(1);

/// Records that the ring holds: at a period of 1 ms a quarter of a second in which every single cycle misses, while the
/// collecting thread looks every 100 ms.
pub const RING_CAPACITY: usize = 256;

/// One cycle that missed, as it crosses the ring.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct MissRecord {
    cycle: u64,
    response_ns: u64,
    misses: u64,
    skipped: u64,
    consecutive: u64,
    cpu: u64,
}

/// What both halves see. Counters only: none of them guards other data, so accesses are Relaxed but for the misses of
/// dropped records. These are added last and taken first (SYNC POINT: dropped): who sees the misses sees all that belongs
/// to them. A look in the middle of a drop sees the rest a look early; each count is taken once and none is lost.
#[derive(Debug, Default)]
struct Shared {
    releases: AtomicU64,
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
    timing: Timing,
    tally: Tally,
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
    let recorder = MissRecorder { timing, tally: Tally::default(), ring: writer, shared: Arc::clone(&shared) };
    let node = node.to_owned();
    Ok((recorder, MissCollector { node, timing, ring: reader, shared, pending: Pending::default(), last_entry: None }))
}

impl MissRecorder {
    /// Judges one finished cycle; to be called from the scheduler's observer, once a cycle.
    #[inline]
    pub fn observe(&mut self, cycle: &CycleRecord) {
        let verdict = self.tally.add(&self.timing, cycle);
        if verdict.misses() > 0 {
            let record = MissRecord {
                cycle: cycle.number,
                response_ns: u64::try_from(cycle.response().as_nanos()).unwrap_or(u64::MAX),
                misses: verdict.misses(),
                skipped: verdict.skipped,
                consecutive: self.tally.consecutive(),
                cpu: rustix::thread::sched_getcpu() as u64,
            };
            if let Err(Full(record)) = self.ring.try_send(record) {
                self.shared.drop_record(&record);
            }
        }
        self.shared.releases.store(self.tally.releases(), Ordering::Relaxed);
    }

    /// The account so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
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
        if self.worst.is_none_or(|worst| record.response_ns > worst.response_ns) {
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
    /// Releases that the loop has accounted for: the sign of life that a watchdog wants.
    pub fn releases(&self) -> u64 {
        self.shared.releases.load(Ordering::Relaxed)
    }

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
        let details = worst.map_or_else(String::new, |MissRecord { cycle, response_ns, cpu, .. }| {
            let response = Duration::from_nanos(response_ns);
            format!(": worst response {response:?} in cycle {cycle} on CPU {cpu}")
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
        match worst {
            Some(MissRecord { cycle, response_ns, cpu, .. }) => {
                entry.field("HORUS_WORST_RESPONSE_NS", response_ns).field("HORUS_CYCLE", cycle).field("HORUS_CPU", cpu)
            }
            None => entry, // every record was dropped: there is no worst cycle to name
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn timing() -> Timing {
        Timing::new(Duration::from_millis(10), Duration::from_millis(8)).unwrap()
    }

    /// Cycle `number` of the grid `10 ms * k`, on time except that it answers after `response_ms`.
    fn cycle(number: u64, response_ms: u64) -> CycleRecord {
        let release = MonotonicTime::from_nanos(number * 10 * MS);
        let completion = release.plus_nanos(response_ms * MS);
        CycleRecord {
            number,
            release,
            wake: release,
            completion,
            skipped: timing().releases_skipped(release, completion),
        }
    }

    fn at(millis: u64) -> MonotonicTime {
        MonotonicTime::from_nanos(millis * MS)
    }

    fn fields<'a, const N: usize>(entry: &'a Entry, names: [&str; N]) -> [&'a str; N] {
        names.map(|name| entry.get(name).unwrap_or_else(|| panic!("no field {name}")))
    }

    #[test]
    fn a_cycle_in_time_leaves_no_record() {
        let (mut recorder, mut collector) = channel("ping", timing(), 4).unwrap();
        recorder.observe(&cycle(0, 8));
        assert!(collector.collect(at(100)).is_none());
        assert_eq!(collector.releases(), 1);
    }

    #[test]
    fn misses_of_one_second_become_one_entry_with_their_sums_and_maxima() {
        let (mut recorder, mut collector) = channel("ping", timing(), 16).unwrap();
        recorder.observe(&cycle(0, 9));
        let first = collector.collect(at(100)).expect("the first miss is told at once");
        assert_eq!(fields(&first, ["HORUS_MISSES", "HORUS_CYCLE"]), ["1", "0"]);

        recorder.observe(&cycle(1, 25)); // releases 2 and 3 are skipped
        recorder.observe(&cycle(4, 9));
        recorder.observe(&cycle(5, 1));
        recorder.observe(&cycle(6, 10));
        assert!(collector.collect(at(1_099)).is_none(), "a second has not passed yet");
        let second = collector.collect(at(1_100)).unwrap();
        let names =
            ["HORUS_MISSES", "HORUS_SKIPPED", "HORUS_MAX_CONSECUTIVE", "HORUS_WORST_RESPONSE_NS", "HORUS_CYCLE"];
        // Cycle 0 missed as well, so the run is 0, 1, 2, 3, 4.
        assert_eq!(fields(&second, names), ["5", "2", "5", "25000000", "1"]);
        let names = ["HORUS_NODE", "HORUS_DEADLINE_NS", "HORUS_PERIOD_NS", "HORUS_DROPPED_RECORDS", "MESSAGE_ID"];
        assert_eq!(fields(&second, names), ["ping", "8000000", "10000000", "0", journal::id::DEADLINE_MISS]);
        assert!(second.get("HORUS_CPU").is_some());
        assert!(collector.collect(at(9_000)).is_none(), "nothing is told twice");
        assert_eq!(collector.releases(), 7);
    }

    #[test]
    fn a_full_ring_drops_details_but_no_count() {
        let (mut recorder, mut collector) = channel("ping", timing(), 2).unwrap();
        for number in 0..5 {
            recorder.observe(&cycle(number, 9));
        }
        let entry = collector.collect(at(100)).unwrap();
        assert_eq!(fields(&entry, ["HORUS_MISSES", "HORUS_DROPPED_RECORDS"]), ["5", "3"]);
        assert!(entry.message().contains("3 late cycles"), "{}", entry.message());
        recorder.observe(&cycle(5, 9));
        let entry = collector.finish().unwrap();
        assert_eq!(fields(&entry, ["HORUS_MISSES", "HORUS_DROPPED_RECORDS"]), ["1", "0"]);
    }

    #[test]
    fn dropped_records_count_their_skipped_releases_and_their_run() {
        let (mut recorder, mut collector) = channel("ping", timing(), 2).unwrap();
        recorder.observe(&cycle(0, 9));
        recorder.observe(&cycle(1, 9)); // the ring is full
        recorder.observe(&cycle(2, 25)); // releases 3 and 4 are skipped
        recorder.observe(&cycle(5, 1));
        recorder.observe(&cycle(6, 9)); // a short run after the long one
        let entry = collector.collect(at(100)).unwrap();
        let names = ["HORUS_MISSES", "HORUS_SKIPPED", "HORUS_MAX_CONSECUTIVE", "HORUS_DROPPED_RECORDS"];
        assert_eq!(fields(&entry, names), ["6", "2", "5", "2"]);
        assert!(entry.message().contains("longest run 5"), "{}", entry.message());
        assert!(collector.collect(at(9_000)).is_none(), "nothing is told twice");
    }

    #[test]
    fn a_look_in_the_middle_of_a_drop_loses_none_of_its_counters() {
        let (_recorder, mut collector) = channel("ping", timing(), 2).unwrap();
        // What the loop has done when it is interrupted before the last of its counters.
        collector.shared.dropped_records.fetch_add(1, Ordering::Relaxed);
        collector.shared.dropped_skipped.fetch_add(2, Ordering::Relaxed);
        collector.shared.dropped_run.fetch_max(7, Ordering::Relaxed);
        assert!(collector.collect(at(100)).is_none());
        collector.shared.dropped_misses.fetch_add(3, Ordering::Relaxed);
        let entry = collector.collect(at(101)).expect("nothing was told before, so a second need not pass");
        let names = ["HORUS_MISSES", "HORUS_SKIPPED", "HORUS_MAX_CONSECUTIVE", "HORUS_DROPPED_RECORDS"];
        assert_eq!(fields(&entry, names), ["3", "2", "7", "1"]);
    }

    #[test]
    fn the_end_of_the_loop_tells_the_rest_without_waiting_for_the_second() {
        let (mut recorder, mut collector) = channel("ping", timing(), 4).unwrap();
        recorder.observe(&cycle(0, 9));
        assert!(collector.collect(at(100)).is_some());
        recorder.observe(&cycle(1, 9));
        drop(recorder);
        let last = collector.finish().unwrap();
        assert_eq!(fields(&last, ["HORUS_MISSES", "HORUS_CYCLE"]), ["1", "1"]);
    }

    #[test]
    fn one_collection_is_bounded_and_the_next_goes_on() {
        let capacity = 4 * RING_CAPACITY;
        let (mut recorder, mut collector) = channel("ping", timing(), capacity).unwrap();
        for number in 0..capacity as u64 {
            recorder.observe(&cycle(number, 9));
        }
        let first = collector.collect(at(0)).unwrap();
        assert_eq!(fields(&first, ["HORUS_MISSES"]), [RING_CAPACITY.to_string()]);
        let rest = collector.finish().unwrap();
        assert_eq!(fields(&rest, ["HORUS_MISSES"]), [(capacity - RING_CAPACITY).to_string()]);
    }
}
