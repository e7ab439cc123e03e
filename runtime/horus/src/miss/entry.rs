//! What is told of misses: their sums and maxima, and who kept the latest that a witness saw.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{MissRecord, Shared};
use crate::deadline::Timing;
use crate::journal::{self, Entry, Priority};
use crate::time::MonotonicTime;
use crate::witness::client::{Outcome, PATIENCE};
use crate::witness::protocol::{Confidence, Missed, Verdict};
use crate::witness::words;

/// Misses that no entry has told yet.
#[derive(Debug, Default)]
pub(super) struct Pending {
    pub misses: u64,
    skipped: u64,
    max_consecutive: u64,
    dropped_records: u64,
    worst: Option<MissRecord>,
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

    pub fn add_dropped(&mut self, shared: &Shared) {
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

/// The shortest time between two questions of a node: a witness reads the trace of a CPU five times a second and no oftener.
const MIN_QUESTION_DISTANCE: Duration = Duration::from_millis(200);

/// What a witness says of the misses that no entry has told yet: the verdict on the latest of those that were asked about.
#[derive(Debug, Default)]
pub(super) struct Testimony {
    frozen: Option<Frozen>,
    /// What the next entry tells.
    kept: Option<(Missed, Outcome)>,
    /// The thread that may freeze again, and from when on.
    answered: Option<(u32, MonotonicTime)>,
    unwitnessed: Option<&'static str>,
}

/// A miss that froze, and is asked about.
#[derive(Debug)]
struct Frozen {
    missed: Missed,
    asked: Option<MonotonicTime>,
    /// Its entry was written before the witness answered.
    is_told: bool,
}

impl Testimony {
    /// Takes note of a cycle that froze.
    pub fn ask(&mut self, missed: Missed) {
        self.frozen = Some(Frozen { missed, asked: None, is_told: false });
    }

    pub fn take_question(&mut self, now: MonotonicTime) -> Option<Missed> {
        let frozen = self.frozen.as_mut().filter(|frozen| frozen.asked.is_none())?;
        frozen.asked = Some(now);
        Some(frozen.missed.clone())
    }

    pub fn is_waiting(&self) -> bool {
        self.frozen.is_some()
    }

    /// Whether an entry should wait: for a verdict on a miss that is later than what it could tell now.
    pub fn is_awaited(&self, now: MonotonicTime) -> bool {
        let Some(Frozen { missed, asked, is_told }) = &self.frozen else { return false };
        let is_later = self.kept.as_ref().is_none_or(|(kept, outcome)| outcome.is_err() || late(missed) > late(kept));
        let is_in_time = asked.is_none_or(|asked| now < asked.plus(PATIENCE));
        !is_told && is_later && is_in_time && now < MonotonicTime::MAX
    }

    /// Keeps it if nothing better is kept: a verdict of a later miss, and any rather than none.
    pub fn answer(&mut self, outcome: Outcome) {
        let Some(Frozen { missed, asked, is_told }) = self.frozen.take() else { return };
        let again = asked.unwrap_or_default().plus(MIN_QUESTION_DISTANCE);
        self.answered = Some((missed.tid, again));
        let weight = |missed: &Missed, outcome: &Outcome| (has_seen(outcome), outcome.is_ok(), late(missed));
        let is_better = |(kept, before): &(Missed, Outcome)| weight(&missed, &outcome) > weight(kept, before);
        if !is_told && self.kept.as_ref().is_none_or(is_better) {
            self.kept = Some((missed, outcome));
        }
    }

    pub fn unwitnessed(&mut self, why: &'static str) {
        self.unwitnessed = Some(why);
    }

    /// The thread whose frozen miss was answered, once.
    pub fn take_answered(&mut self, now: MonotonicTime) -> Option<u32> {
        self.answered.take_if(|(_, again)| *again <= now).map(|(tid, _)| tid)
    }

    /// Adds to an entry what is known of its culprit, or why nothing is.
    pub fn testify(&mut self, entry: Entry) -> Entry {
        let is_late = self.frozen.as_mut().map(|frozen| frozen.is_told = true).is_some();
        match self.kept.take() {
            Some((missed, Ok(verdict))) => name(entry, &verdict, &missed),
            Some((_, Err(why))) => entry.field("HORUS_CULPRIT_MISSING", why),
            None if is_late => entry.field("HORUS_CULPRIT_MISSING", "the witness did not answer in time"),
            None => match self.unwitnessed {
                Some(why) => entry.field("HORUS_CULPRIT_MISSING", why),
                None => entry,
            },
        }
    }
}

/// How late a cycle was, in nanoseconds.
fn late(missed: &Missed) -> u64 {
    missed.completion_ns.saturating_sub(missed.deadline_ns)
}

/// Whether the witness saw any of it.
fn has_seen(outcome: &Outcome) -> bool {
    outcome.as_ref().is_ok_and(|verdict| verdict.confidence != Confidence::None)
}

/// Names the culprit of a cycle: in the text all that matter, in fields the first.
fn name(entry: Entry, verdict: &Verdict, missed: &Missed) -> Entry {
    let is_worst = entry.get("HORUS_CYCLE").is_some_and(|cycle| cycle == missed.cycle.to_string());
    let about = if is_worst { ": ".to_owned() } else { format!("; cycle {} ", missed.cycle) };
    let entry = entry
        .text(&format!("{about}{}", words::sentence(verdict, missed)))
        .field("HORUS_CULPRIT_CYCLE", missed.cycle)
        .field("HORUS_CULPRIT_CPU", missed.cpu)
        .field("HORUS_CULPRIT_LATE_NS", late(missed))
        .field("HORUS_CULPRIT_CONFIDENCE", word(&verdict.confidence));
    let entry = match &verdict.trace {
        Some(trace) => entry.field("HORUS_TRACE", trace),
        None => entry,
    };
    let Some(culprit) = words::culprits(verdict, missed).first().copied() else {
        return entry.field("HORUS_CULPRIT_MISSING", "the witness saw nothing");
    };
    let share = u128::from(culprit.ns) * 100 / u128::from(verdict.window_ns.max(1));
    let entry = match &culprit.detail {
        Some(detail) => entry.field("HORUS_CULPRIT_DETAIL", detail),
        None => entry,
    };
    entry
        .field("HORUS_CULPRIT", &culprit.name)
        .field("HORUS_CULPRIT_KIND", word(&culprit.kind))
        .field("HORUS_CULPRIT_NS", culprit.ns)
        .field("HORUS_CULPRIT_SHARE", share)
        .field("HORUS_CULPRIT_REMEDY", words::remedy(culprit.kind))
}

/// A value's name, as the protocol writes it.
fn word(value: &impl serde::Serialize) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}
