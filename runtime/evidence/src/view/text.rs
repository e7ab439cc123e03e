//! A report as one screen of text: what `journalctl -u horus-determinism` and `horus report` both show.

mod table;
pub(crate) mod worst;

use std::fmt::Write;
use std::time::Duration;

use horus_audit::{Severity, Status};

use crate::record::merge::weakest_phase;
use crate::record::schema::{Attempt, Phase, Report, SelfTest, Verdict};

/// How many failed rules, units or problems are named before the rest is only counted.
const NAMED: usize = 8;

/// The report as text, without a trailing newline.
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    headline(&mut out, report);
    for reason in &report.invalid_reasons {
        line(&mut out, "not valid", reason);
    }
    if let Some(hypervisor) = &report.hypervisor {
        line(&mut out, "virtual", &format!("running on '{hypervisor}': these latencies are no verdict on any machine"));
    }
    let run = format!("{}, {} s, boot {}", report.time, report.duration_s, report.boot_id);
    line(&mut out, "run", &run);
    line(&mut out, "image", &report.image);
    line(&mut out, "kernel", &report.kernel);
    if report.is_traced == Some(true) {
        line(&mut out, "traced", "the kernel was traced during this run, which costs every cycle something");
    }
    audit(&mut out, report);
    line(&mut out, "load", &report.load_command);
    busy(&mut out, report);
    node(&mut out, report);
    table::table(&mut out, report);
    line(&mut out, "deadline", &claim_sentence(report));
    if let Some(sentence) = worst::worst_sentence(report) {
        line(&mut out, "worst", &sentence);
    }
    line(&mut out, "self-test", &self_test_sentence(&report.self_test));
    failed_units(&mut out, report);
    restarted_units(&mut out, report);
    if report.memory_kills.count() > 0 {
        let text =
            format!("{} killed for want of memory: {}", report.memory_kills.count(), report.memory_kills.names());
        line(&mut out, "memory", &text);
    }
    for (label, sentence) in report.boot.lines() {
        line(&mut out, label, &sentence);
    }
    if let Some(why) = &report.stored_in_ram {
        line(&mut out, "stored", &format!("this report is in RAM and gone after a restart: {why}"));
    }
    for problem in &report.problems {
        line(&mut out, "problem", problem);
    }
    out.truncate(out.trim_end().len());
    out
}

fn headline(out: &mut String, report: &Report) {
    let _ = writeln!(out, "HORUS {}", verdict_sentence(report));
}

/// The verdict and its reason.
pub fn verdict_sentence(report: &Report) -> String {
    let word = match (report.verdict, report.valid) {
        (Verdict::Pass, _) => "PASS",
        (Verdict::Fail, _) => "FAIL",
        (Verdict::None, true) => "MEASURED, no verdict",
        (Verdict::None, false) => "NOT VALID, no verdict",
    };
    format!("{word}: {}", report.verdict_reason)
}

fn audit(out: &mut String, report: &Report) {
    let audit = &report.audit;
    if audit.rules.is_empty() {
        line(out, "audit", "no rule was checked");
        return;
    }
    let mut text = format!("{}/100: {} fatal, {} high, {} medium", audit.score, audit.fatal, audit.high, audit.medium);
    let failed = audit.rules.iter().filter(|rule| rule.status == Status::Fail && rule.severity != Severity::Info);
    let mut failed: Vec<_> = failed.collect();
    failed.sort_by_key(|rule| rule.severity);
    if !failed.is_empty() {
        let named = failed.iter().take(NAMED).map(|rule| match rule.severity {
            Severity::Fatal => format!("{} FATAL: {}", rule.id, rule.title),
            _ => rule.id.clone(),
        });
        let _ = write!(text, " ({}{})", named.collect::<Vec<_>>().join(", "), and_more(failed.len()));
    }
    line(out, "audit", &text);
}

fn busy(out: &mut String, report: &Report) {
    // One phase speaks for its load.
    let is_first = |phase: &&Phase| {
        let same = report.phases.iter().filter(|other| other.is_node()).find(|other| other.load == phase.load);
        phase.load.is_none() || same.is_some_and(|first| first.name == phase.name)
    };
    let nodes = report.phases.iter().filter(|phase| phase.is_node()).filter(is_first);
    let shares = nodes.filter_map(|phase| Some(format!("{:.0} % in {}", phase.busy_percent?, phase.name)));
    let shares: Vec<_> = shares.collect();
    if !shares.is_empty() {
        line(out, "busy", &format!("housekeeping CPUs {}", shares.join(", ")));
    }
}

fn node(out: &mut String, report: &Report) {
    if let Some(phase) = report.phases.iter().find(|phase| phase.is_node() && phase.measured) {
        let text = format!(
            "period {} us, deadline {} us, CPU {}, {}",
            microseconds(phase.period_ns),
            microseconds(phase.deadline_ns),
            phase.cpu.map_or_else(|| "any".to_owned(), |cpu| cpu.to_string()),
            phase.policy.as_deref().unwrap_or("unknown policy"),
        );
        line(out, "node", &text);
    }
}

/// What the run supports about misses: counts and bound of the phase that supports the least, and of that one alone.
pub(crate) fn claim_sentence(report: &Report) -> String {
    let weakest = weakest_phase(&report.phases);
    let Some((phase, releases)) = weakest.and_then(|phase| Some((phase, phase.releases()?))) else {
        return "no node phase was measured: nothing can be said about deadlines".to_owned();
    };
    let most = phase.max_misses_in_100.filter(|most| *most > 0);
    let in_any_100 = most.map(|most| format!(", at most {most} in any 100")).unwrap_or_default();
    format!(
        "misses {}/{} in {}, longest run {}{in_any_100} => {}",
        releases.misses,
        releases.judged,
        phase.name,
        releases.longest_run,
        bound_sentence(releases.bound_95()),
    )
}

/// The claim that counts support: `P(miss) < 1.9e-4 (95 %)`.
pub fn bound_sentence(bound: f64) -> String {
    format!("P(miss) < {} (95 %)", rounded_up(bound))
}

/// A probability with two digits, rounded up: an upper bound that is rounded down claims more than was measured.
pub(crate) fn rounded_up(bound: f64) -> String {
    let digits = 10_f64.powi(1 - bound.log10().floor() as i32);
    // Less than a rounding error of the division: 0.5 stays 5.0e-1.
    let rounded = (bound * digits * (1.0 - 1e-12)).ceil() / digits;
    format!("{:.1e}", rounded.min(1.0))
}

/// What the self-test found.
pub(crate) fn self_test_sentence(test: &SelfTest) -> String {
    let found = format!(
        "injected {} us in cycle {}, found {} us in cycle {}",
        microseconds(Some(test.injected_ns)),
        test.injected_cycle,
        microseconds(Some(test.found_ns)),
        test.found_cycle
    );
    match &test.reason {
        None if test.retried().is_empty() => found,
        None => {
            let earlier: Vec<_> = test.retried().iter().map(|attempt| microseconds(Some(attempt.found_ns))).collect();
            format!("{found}; {} earlier, the machine stalled by itself: {} us", earlier.len(), earlier.join(", "))
        }
        Some(reason) => format!("FAILED: {reason} ({found}; attempt {})", test.attempts.len()),
    }
}

/// One attempt of the self-test in one line.
pub(crate) fn attempt_sentence(attempt: &Attempt) -> String {
    format!(
        "injected {} us, found {} us: {}",
        microseconds(Some(attempt.injected_ns)),
        microseconds(Some(attempt.found_ns)),
        attempt.reason.as_deref().unwrap_or("found")
    )
}

/// What of a machine's tail cyclictest's own tuning takes away: `p99.9 45.0 us here and 12.0 us in cyclictest-cpu, …`.
pub(crate) fn difference_sentence(phase: &Phase, tuned: &Phase) -> Option<String> {
    let figures =
        [("p99.9", phase.latency.p999_ns, tuned.latency.p999_ns), ("max", phase.latency.max_ns, tuned.latency.max_ns)];
    let told = figures.into_iter().filter_map(|(figure, here, there)| {
        let (ratio, name) = (here? as f64 / there.filter(|ns| *ns > 0)? as f64, &tuned.name);
        Some(format!(
            "{figure} {} us here and {} us in {name} ({ratio:.1} times)",
            microseconds(here),
            microseconds(there)
        ))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("power management left alone: {}", told.join(", ")))
}

/// A length of time for a person who waits: `7 h 29 min`, `3 min`, `40 s`.
pub(crate) fn time_left(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// One phase in one line, for its journal entry.
pub(crate) fn phase_sentence(phase: &Phase) -> String {
    if !phase.measured {
        return format!("{}: not measured: {}", phase.name, phase.reason.as_deref().unwrap_or("no reason recorded"));
    }
    let mut text = format!(
        "{}: {} p50 {} p99 {} max {} us in {} samples",
        phase.name,
        phase.figure(),
        microseconds(phase.latency.p50_ns),
        microseconds(phase.latency.p99_ns),
        microseconds(phase.latency.max_ns),
        phase.samples
    );
    if let Some(jitter) = &phase.release_jitter {
        let _ = write!(text, ", jitter max {} us", microseconds(jitter.max_ns));
    }
    if let Some(misses) = phase.misses {
        let _ = write!(text, ", misses {misses}");
    }
    if let Some(lost) = phase.lost {
        let _ = write!(text, ", lost {lost}");
    }
    if let Some(floor) = phase.floor_p50_ns {
        let _ = write!(text, ", floor p50 {} us", microseconds(Some(floor)));
    }
    text
}

fn failed_units(out: &mut String, report: &Report) {
    for failed in report.failed_units.iter().take(NAMED) {
        line(out, "FAILED", &failed.unit);
        for text in &failed.log {
            let _ = writeln!(out, "{:12}| {text}", "");
        }
    }
    if report.failed_units.len() > NAMED {
        line(out, "FAILED", and_more(report.failed_units.len()).trim_start_matches(", "));
    }
}

fn restarted_units(out: &mut String, report: &Report) {
    for unit in report.restarted_units.iter().take(NAMED) {
        line(out, "RESTARTED", &format!("{}: failed {} times, now {}", unit.unit, unit.failures, unit.state));
        for text in &unit.log {
            let _ = writeln!(out, "{:12}| {text}", "");
        }
    }
    if report.restarted_units.len() > NAMED {
        line(out, "RESTARTED", and_more(report.restarted_units.len()).trim_start_matches(", "));
    }
}

/// Adds a line with its label.
pub fn line(out: &mut String, label: &str, text: &str) {
    let _ = writeln!(out, " {label:<10} {text}");
}

fn and_more(count: usize) -> String {
    if count > NAMED { format!(", and {} more", count - NAMED) } else { String::new() }
}

/// Three significant digits are what a measurement is worth: `0.082`, `2.10`, `18.4`, `800`.
pub fn microseconds(nanoseconds: Option<u64>) -> String {
    let Some(nanoseconds) = nanoseconds else { return "n/a".to_owned() };
    let value = nanoseconds as f64 / 1000.0;
    match nanoseconds {
        0..1_000 => format!("{value:.3}"),
        1_000..10_000 => format!("{value:.2}"),
        10_000..100_000 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

#[cfg(test)]
mod tests;
