//! The run in the journal: one entry a phase, one for the whole; every number is a field of its own.

use std::path::Path;
use std::time::Duration;

use horus::journal::{Entry, JournalError, Priority, id};
use horus_audit::Outcome;

use crate::child;
use crate::record::history::Merged;
use crate::record::schema::{Latency, Phase, Report, SCHEMA, SelfTest, Verdict};

use super::{history, text};

/// journald writes to its medium only every few minutes; this is how long it may take when it is asked to.
const SYNC: Duration = Duration::from_secs(30);

/// Where entries go. A machine without journald is told so once, and the run goes on.
#[derive(Debug, Default)]
pub struct Journal {
    complained: bool,
}

impl Journal {
    /// Sends one entry.
    pub fn write(&mut self, entry: &Entry) {
        self.sent(entry.send());
    }

    /// Sends the entries of an audit.
    pub(crate) fn write_audit(&mut self, outcome: &Outcome) {
        self.sent(horus_audit::journal::write(outcome));
    }

    fn sent(&mut self, result: Result<(), JournalError>) {
        match result {
            Ok(()) => {}
            Err(error) if !self.complained => {
                self.complained = true;
                eprintln!("horus determinism: {error} The run goes on without journal entries.");
            }
            Err(_) => {}
        }
    }

    /// Makes journald put everything on its medium, so that a power cut does not take the summary.
    pub fn sync(&self) {
        if !self.complained
            && let Err(error) = child::output("journalctl", &["--sync"], SYNC)
        {
            eprintln!("horus determinism: the journal may not be on its medium yet: {error}");
        }
    }
}

/// The entry of a measured phase, or of one that could not be measured.
pub fn phase(phase: &Phase) -> Entry {
    let clean = phase.measured
        && phase.misses.unwrap_or(0) == 0
        && phase.lost.unwrap_or(0) == 0
        && phase.invalid_reasons.is_empty();
    let priority = if clean { Priority::Info } else { Priority::Warning };
    let entry = of_phase(&phase.name, priority, text::phase_sentence(phase)).field("HORUS_SAMPLES", phase.samples);
    let entry = latency(entry, &phase.latency, &QUANTILE_FIELDS);
    let entry = latency(entry, &phase.release_jitter.unwrap_or_default(), &JITTER_FIELDS);
    let entry = optional(entry, "HORUS_JITTER_SAMPLES", phase.release_jitter_samples);
    let numbers = [
        ("HORUS_PERIOD_NS", phase.period_ns),
        ("HORUS_DEADLINE_NS", phase.deadline_ns),
        ("HORUS_MISSES", phase.misses),
        ("HORUS_MAX_CONSECUTIVE", phase.max_consecutive),
        ("HORUS_MAX_IN_100", phase.max_misses_in_100),
        ("HORUS_SKIPPED", phase.skipped),
        ("HORUS_OVERRUNS", phase.overruns),
        ("HORUS_LOST", phase.lost),
        ("HORUS_FLOOR_P50_NS", phase.floor_p50_ns),
        ("HORUS_WARM_UP_TRIPS", phase.warm_up_trips),
        ("HORUS_WARM_UP_MAX_NS", phase.warm_up_max_ns),
    ];
    let entry = numbers.into_iter().fold(entry, |entry, (name, value)| optional(entry, name, value));
    let entry = optional(entry, "HORUS_CPU", phase.cpu);
    let entry = optional(entry, "HORUS_PEER_CPU", phase.peer_cpu);
    let entry = optional(entry, "HORUS_SCHEDULING_POLICY", phase.policy.as_deref());
    let entry = optional(entry, "HORUS_BUSY_PERCENT", phase.busy_percent);
    let entry = optional(entry, "HORUS_FLOOR_RATIO", phase.floor_ratio);
    let entry = optional(entry, "HORUS_MISS_BOUND_95", phase.miss_bound_95);
    let entry = optional(entry, "HORUS_REASON", phase.reason.as_deref());
    let reasons = &phase.invalid_reasons;
    let entry = optional(entry, "HORUS_INVALID_REASONS", (!reasons.is_empty()).then(|| reasons.join("\n")));
    optional(entry, "HORUS_NOTES", (!phase.notes.is_empty()).then(|| phase.notes.join("\n")))
}

/// The entry of the self-test.
pub(crate) fn self_test(test: &SelfTest) -> Entry {
    let priority = if test.passed { Priority::Info } else { Priority::Error };
    let entry = of_phase("self-test", priority, format!("self-test: {}", text::self_test_sentence(test)))
        .field("HORUS_PASSED", test.passed)
        .field("HORUS_INJECTED_NS", test.injected_ns)
        .field("HORUS_FOUND_NS", test.found_ns)
        .field("HORUS_INJECTED_CYCLE", test.injected_cycle)
        .field("HORUS_FOUND_CYCLE", test.found_cycle)
        .field("HORUS_ATTEMPTS", test.attempts.len());
    let earlier: Vec<_> = test.retried().iter().map(text::attempt_sentence).collect();
    let entry = optional(entry, "HORUS_NOTES", (!earlier.is_empty()).then(|| earlier.join("\n")));
    optional(entry, "HORUS_REASON", test.reason.as_deref())
}

/// The entry of a configuration problem.
pub fn problem(problem: &str) -> Entry {
    of_phase("config", Priority::Error, problem.to_owned()).field("HORUS_REASON", problem)
}

/// The entry of a report that cannot be stored where it belongs, written before the run measures.
pub(crate) fn stored_elsewhere(trouble: &str) -> Entry {
    Entry::new(id::REPORT_ELSEWHERE, Priority::Warning, trouble)
        .field("HORUS_SCHEMA", SCHEMA)
        .field("HORUS_PHASE", "store")
        .field("HORUS_REASON", trouble)
}

/// The entry of the whole run; its message is the screen that `horus report` prints.
pub fn summary(report: &Report, together: Option<&Merged>, file: Option<&Path>) -> Entry {
    let quiet = report.restarted_units.is_empty()
        && report.memory_kills.count() == 0
        && report.boot.lines().is_empty()
        && report.stored_in_ram.is_none();
    let priority = match (report.verdict, report.valid && quiet) {
        (Verdict::Fail, _) => Priority::Error,
        (_, false) => Priority::Warning,
        _ => Priority::Info,
    };
    let total = &report.total;
    let entry = Entry::new(id::DETERMINISM_SUMMARY, priority, history::screen(report, together))
        .field("HORUS_SCHEMA", SCHEMA)
        .field("HORUS_PHASE", "summary")
        .field("HORUS_RUN_ID", &report.run_id)
        .field("HORUS_VALID", report.valid)
        .field("HORUS_INVALID_REASONS", report.invalid_reasons.join("\n"))
        .field("HORUS_VERDICT", report.verdict.as_str())
        .field("HORUS_VERDICT_REASON", &report.verdict_reason)
        .field("HORUS_VIRTUAL", report.hypervisor.as_deref().unwrap_or("none"))
        .field("HORUS_IMAGE", &report.image)
        .field("HORUS_KERNEL", &report.kernel)
        .field("HORUS_AUDIT_SCORE", report.audit.score)
        .field("HORUS_AUDIT_FATAL", report.audit.fatal)
        .field("HORUS_AUDIT_HIGH", report.audit.high)
        .field("HORUS_SAMPLES", total.samples)
        .field("HORUS_INJECTED_NS", report.self_test.injected_ns)
        .field("HORUS_FOUND_NS", report.self_test.found_ns)
        .field("HORUS_FAILED_UNITS", report.failed_units.len())
        .field("HORUS_FAILED_UNIT_NAMES", names(report.failed_units.iter().map(|failed| failed.unit.as_str())))
        .field("HORUS_RESTARTED_UNITS", report.restarted_units.len())
        .field("HORUS_RESTARTED_UNIT_NAMES", names(report.restarted_units.iter().map(|unit| unit.unit.as_str())))
        .field("HORUS_MEMORY_KILLS", report.memory_kills.count())
        .field("HORUS_MEMORY_KILL_NAMES", report.memory_kills.names())
        .field("HORUS_OTHER_DISKS", report.boot.other_disks.join("\n"))
        .field("HORUS_CUT_BOOTS", report.boot.cut_boots.len())
        .field("HORUS_EMERGENCIES", report.boot.emergencies)
        .field("HORUS_ATTEMPTS", report.self_test.attempts.len())
        .field("HORUS_PROBLEMS", report.problems.len() + report.audit.problems.len());
    let data = report.boot.data.as_ref();
    let entry = optional(entry, "HORUS_DATA_STATE", data.map(|data| &data.state));
    let entry = optional(entry, "HORUS_DATA_REASON", data.map(|data| &data.reason).filter(|reason| !reason.is_empty()));
    let entry = optional(entry, "HORUS_STORED_IN_RAM", report.stored_in_ram.as_deref());
    let entry = optional(entry, "HORUS_MAX_NS", total.max_ns);
    let entry = optional(entry, "HORUS_MISSES", total.misses);
    let entry = optional(entry, "HORUS_MAX_CONSECUTIVE", total.max_consecutive);
    let entry = optional(entry, "HORUS_MISS_BOUND_95", total.miss_bound_95);
    let entry = optional(entry, "HORUS_MISS_BOUND_PHASE", total.miss_bound_phase.as_deref());
    let entry = together.into_iter().fold(entry, of_all_runs);
    let identity = report.identity.as_ref();
    let entry = optional(entry, "HORUS_BUILD_ID", identity.map(|identity| &identity.build_id));
    let entry = optional(entry, "HORUS_BOARD", identity.map(|identity| &identity.board));
    let entry = optional(entry, "HORUS_TRACED", report.is_traced);
    let node = report.phases.iter().find(|phase| phase.is_node() && phase.measured);
    let entry = optional(entry, "HORUS_PERIOD_NS", node.and_then(|node| node.period_ns));
    let entry = optional(entry, "HORUS_DEADLINE_NS", node.and_then(|node| node.deadline_ns));
    let entry = optional(entry, "HORUS_CPU", node.and_then(|node| node.cpu));
    optional(entry, "HORUS_REPORT", file.map(|file| file.display().to_string()))
}

/// What all kept runs of this system say together.
fn of_all_runs(entry: Entry, merged: &Merged) -> Entry {
    let entry = entry
        .field("HORUS_ALL_RUNS", merged.runs)
        .field("HORUS_ALL_BOOTS", merged.boots)
        .field("HORUS_ALL_BOOTS_WITH_MISS", merged.boots_with_miss)
        .field("HORUS_ALL_UNFINISHED", merged.unfinished)
        .field("HORUS_ALL_BOOT_BOUND_95", merged.boot_bound_95());
    let Some(phase) = merged.weakest() else { return entry };
    let entry = entry
        .field("HORUS_ALL_PHASE", &phase.name)
        .field("HORUS_ALL_SAMPLES", phase.releases.judged)
        .field("HORUS_ALL_MISSES", phase.releases.misses)
        .field("HORUS_ALL_CLUSTERED", phase.is_clustered())
        .field("HORUS_ALL_MISS_BOUND_95", phase.releases.bound_95());
    optional(entry, "HORUS_ALL_MAX_NS", phase.max_ns)
}

/// The entry of a run that did not take place.
pub fn refused(reason: &str) -> Entry {
    Entry::new(id::DETERMINISM_REFUSED, Priority::Error, format!("determinism run refused: {reason}"))
        .field("HORUS_SCHEMA", SCHEMA)
        .field("HORUS_PHASE", "refused")
        .field("HORUS_REASON", reason)
}

type LatencyFields = [&'static str; 6];

const QUANTILE_FIELDS: LatencyFields =
    ["HORUS_P50_NS", "HORUS_P90_NS", "HORUS_P99_NS", "HORUS_P999_NS", "HORUS_P9999_NS", "HORUS_MAX_NS"];

const JITTER_FIELDS: LatencyFields = [
    "HORUS_JITTER_P50_NS",
    "HORUS_JITTER_P90_NS",
    "HORUS_JITTER_P99_NS",
    "HORUS_JITTER_P999_NS",
    "HORUS_JITTER_P9999_NS",
    "HORUS_JITTER_MAX_NS",
];

fn of_phase(name: &str, priority: Priority, message: String) -> Entry {
    Entry::new(id::DETERMINISM_PHASE, priority, message).field("HORUS_SCHEMA", SCHEMA).field("HORUS_PHASE", name)
}

fn latency(entry: Entry, latency: &Latency, fields: &LatencyFields) -> Entry {
    let Latency { p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns, max_ns } = *latency;
    let values = [p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns, max_ns];
    fields.iter().zip(values).fold(entry, |entry, (name, value)| optional(entry, name, value))
}

/// A field that is left out when there is no value: an absent figure is never a 0.
fn optional(entry: Entry, name: &'static str, value: Option<impl ToString>) -> Entry {
    match value {
        Some(value) => entry.field(name, value),
        None => entry,
    }
}

fn names<'a>(units: impl Iterator<Item = &'a str>) -> String {
    units.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
