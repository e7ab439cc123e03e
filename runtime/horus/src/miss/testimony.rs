//! What a witness says of the misses that no entry has told yet: which cycles are asked about, and which verdict is told.
//!
//! Two cycles are worth a question: the one whose miss froze the trace, and the worst one, when that is another. The second is answered
//! from what the trace of its CPU held when it was read, whichever node froze it: that is how two nodes that share a CPU both get
//! an answer.

use std::time::Duration;

use crate::journal::Entry;
use crate::time::MonotonicTime;
use crate::witness::client::{Outcome, PATIENCE};
use crate::witness::protocol::{Confidence, Missed, Verdict};
use crate::witness::words;

/// The shortest time between two questions of a node of one kind: a witness reads the trace of a CPU five times a second and no oftener.
const MIN_QUESTION_DISTANCE: Duration = Duration::from_millis(200);

/// See the module documentation.
#[derive(Debug, Default)]
pub(super) struct Testimony {
    /// At most one that froze, which the loop sees to, and one that did not.
    questions: Vec<Question>,
    /// What the next entry tells.
    kept: Option<(Missed, Outcome)>,
    /// How late the latest cycle was that was asked about for the next entry.
    latest_asked: u64,
    /// When a cycle that did not freeze may be asked about again.
    next_unfrozen: MonotonicTime,
    /// The thread that may freeze again, and from when on.
    answered: Option<(u32, MonotonicTime)>,
    /// Why no witness can be asked; nothing is known before the first look.
    absence: Option<Option<&'static str>>,
    /// Since when an entry waits that could be written.
    waits_since: Option<MonotonicTime>,
}

/// A miss that is asked about.
#[derive(Debug)]
struct Question {
    missed: Missed,
    /// Whether it froze the trace.
    froze: bool,
    /// The half of the last cycles that stands still since then.
    half: Option<u32>,
    asked: Option<MonotonicTime>,
    /// Its entry was written before the witness answered.
    is_told: bool,
}

impl Testimony {
    /// Takes note of a cycle that froze, and of where its last cycles stand still.
    pub fn ask(&mut self, missed: Missed, half: u32) {
        self.push(missed, Some(half));
    }

    /// Takes note of the worst cycle that the next entry tells: it is asked about, too, unless that was done or an entry waits already.
    pub fn consider(&mut self, late_ns: u64, now: MonotonicTime, worst: impl FnOnce() -> Missed) {
        let is_witnessed = self.absence == Some(None);
        let is_free = self.questions.iter().all(|question| question.froze) && now >= self.next_unfrozen;
        if is_witnessed && is_free && late_ns > self.latest_asked && self.waits_since.is_none() {
            self.next_unfrozen = now.plus(MIN_QUESTION_DISTANCE);
            self.push(worst(), None);
        }
    }

    fn push(&mut self, missed: Missed, half: Option<u32>) {
        self.latest_asked = self.latest_asked.max(late(&missed));
        self.questions.push(Question { missed, froze: half.is_some(), half, asked: None, is_told: false });
    }

    /// The next cycle to ask about, once, and where its last cycles stand still.
    pub fn take_question(&mut self, now: MonotonicTime) -> Option<(Missed, Option<u32>)> {
        let question = self.questions.iter_mut().find(|question| question.asked.is_none())?;
        question.asked = Some(now);
        Some((question.missed.clone(), question.half))
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.questions.is_empty()
    }

    /// Whether an entry should wait: for a verdict on a miss that is later than what it could tell now.
    pub fn is_awaited(&mut self, now: MonotonicTime) -> bool {
        let kept = self.kept.as_ref();
        let is_awaited = self.questions.iter().any(|Question { missed, asked, is_told, .. }| {
            let is_later = kept.is_none_or(|(kept, outcome)| outcome.is_err() || late(missed) > late(kept));
            !is_told && is_later && asked.is_none_or(|asked| now < asked.plus(PATIENCE))
        });
        let since = *self.waits_since.get_or_insert(now);
        is_awaited && now < since.plus(PATIENCE) && now < MonotonicTime::MAX
    }

    /// Keeps it if nothing better is kept: a verdict of a later miss, and any rather than none.
    pub fn answer(&mut self, cycle: u64, outcome: Outcome) {
        let is_it = |question: &Question| question.asked.is_some() && question.missed.cycle == cycle;
        let Some(index) = self.questions.iter().position(is_it) else { return };
        let Question { missed, froze, asked, is_told, .. } = self.questions.remove(index);
        if froze {
            self.answered = Some((missed.tid, asked.unwrap_or_default().plus(MIN_QUESTION_DISTANCE)));
        }
        let weight = |missed: &Missed, outcome: &Outcome| (has_seen(outcome), outcome.is_ok(), late(missed));
        let is_better = |(kept, before): &(Missed, Outcome)| weight(&missed, &outcome) > weight(kept, before);
        if !is_told && self.kept.as_ref().is_none_or(is_better) {
            self.kept = Some((missed, outcome));
        }
    }

    /// Whether a witness can be asked now, or why not.
    pub fn absent(&mut self, why: Option<&'static str>) {
        self.absence = Some(why);
    }

    /// The thread whose frozen miss was answered, once.
    pub fn take_answered(&mut self, now: MonotonicTime) -> Option<u32> {
        self.answered.take_if(|(_, again)| *again <= now).map(|(tid, _)| tid)
    }

    /// Adds to an entry what is known of its culprit, or why nothing is.
    pub fn testify(&mut self, entry: Entry) -> Entry {
        (self.latest_asked, self.waits_since) = (0, None);
        let is_late = self.is_waiting();
        self.questions.iter_mut().for_each(|question| question.is_told = true);
        let why = match (self.kept.take(), self.absence) {
            (Some((missed, Ok(verdict))), _) => return name(entry, &verdict, &missed),
            (Some((_, Err(why))), _) => Some(why),
            (None, _) if is_late => Some("the witness did not answer in time"),
            (None, Some(Some(why))) => Some(why),
            (None, Some(None)) => Some("the trace of its CPU was kept for other misses"),
            (None, None) => None,
        };
        match why {
            Some(why) => entry.field("HORUS_CULPRIT_MISSING", why),
            None => entry,
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
