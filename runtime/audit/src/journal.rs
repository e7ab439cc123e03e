//! The audit in the journal: one entry a finding, one for the whole, every number a field of its own.

use horus::journal::{Entry, JournalError, Priority, id};

use crate::outcome::{Outcome, RuleResult, Severity, Status};

/// Writes `outcome` to the journal.
///
/// # Errors
/// When journald cannot be written to; entries before the failure have been written.
pub fn write(outcome: &Outcome) -> Result<(), JournalError> {
    entries(outcome).iter().try_for_each(Entry::send)
}

/// An `AUDIT_RULE` entry for each fatal, high or medium rule that failed, then one `AUDIT_SUMMARY` entry. What was not
/// applicable is named in the summary only: a reader of the journal looks for what to do.
fn entries(outcome: &Outcome) -> Vec<Entry> {
    let findings = outcome.rules.iter().filter(|rule| rule.status == Status::Fail && rule.severity != Severity::Info);
    findings.map(finding).chain([summary(outcome)]).collect()
}

fn finding(rule: &RuleResult) -> Entry {
    let priority = if rule.severity == Severity::Fatal { Priority::Error } else { Priority::Warning };
    let message = format!(
        "audit {} {} ({}) {}: observed {}, expected {}",
        rule.status.word(),
        rule.id,
        rule.severity.word(),
        rule.title,
        rule.observed,
        rule.expected
    );
    about(rule, Entry::new(id::AUDIT_RULE, priority, message))
}

/// The entry with what a rule is and what it found.
pub fn about(rule: &RuleResult, entry: Entry) -> Entry {
    entry
        .field("HORUS_RULE_ID", &rule.id)
        .field("HORUS_RULE_TITLE", &rule.title)
        .field("HORUS_SEVERITY", rule.severity.word())
        .field("HORUS_STATUS", rule.status.word())
        .field("HORUS_OBSERVED", &rule.observed)
        .field("HORUS_EXPECTED", &rule.expected)
        .field("HORUS_WHY", rule.why.as_deref().unwrap_or_default())
        .field("HORUS_FIX", rule.fix.as_deref().unwrap_or_default())
}

fn summary(outcome: &Outcome) -> Entry {
    let priority = match (outcome.passed(), outcome.fatal) {
        (true, _) => Priority::Info,
        (false, 0) => Priority::Warning,
        (false, _) => Priority::Error,
    };
    Entry::new(id::AUDIT_SUMMARY, priority, outcome.sentence())
        .field("HORUS_STATUS", if outcome.passed() { "PASS" } else { "FAIL" })
        .field("HORUS_AUDIT_SCORE", outcome.score)
        .field("HORUS_AUDIT_FATAL", outcome.fatal)
        .field("HORUS_AUDIT_HIGH", outcome.high)
        .field("HORUS_AUDIT_MEDIUM", outcome.medium)
        .field("HORUS_AUDIT_RULES", outcome.rules.len())
        .field("HORUS_AUDIT_PASSED", outcome.count(Status::Pass))
        .field("HORUS_AUDIT_NA", outcome.count(Status::Na))
        .field("HORUS_AUDIT_PROBLEMS", outcome.problems.len())
        .field("HORUS_AUDIT_PROBLEM_TEXT", outcome.problems.join("\n"))
        .field("HORUS_AUDIT_FAILED_IDS", ids(outcome, Status::Fail))
        .field("HORUS_AUDIT_NA_IDS", ids(outcome, Status::Na))
        .field("HORUS_KERNEL", &outcome.machine.kernel)
        .field("HORUS_VIRTUAL", outcome.machine.is_virtual)
        .field("HORUS_ISOLATED_CPUS", &outcome.machine.isolated)
}

/// The rules that ended so, by their identifiers.
fn ids(outcome: &Outcome, status: Status) -> String {
    let rules = outcome.rules.iter().filter(|rule| rule.status == status);
    rules.map(|rule| rule.id.as_str()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Machine;

    fn rule(id: &str, severity: Severity, status: Status) -> RuleResult {
        RuleResult {
            id: id.to_owned(),
            title: "Swap is off".to_owned(),
            severity,
            status,
            observed: "on".to_owned(),
            expected: "off".to_owned(),
            reason: (status == Status::Na).then(|| "/proc/swaps does not exist".to_owned()),
            why: None,
            fix: Some("swapoff".to_owned()),
        }
    }

    #[test]
    fn every_failed_rule_is_an_entry_and_the_summary_comes_last() {
        let rules = vec![
            rule("A", Severity::Fatal, Status::Fail),
            rule("B", Severity::High, Status::Pass),
            rule("C", Severity::Medium, Status::Na),
            rule("D", Severity::Info, Status::Fail),
        ];
        let entries = entries(&Outcome::new(Machine::default(), rules, vec!["x.toml:1: wrong; correct it".to_owned()]));
        let ids: Vec<_> = entries.iter().map(|entry| entry.get("HORUS_RULE_ID")).collect();
        assert_eq!(ids, [Some("A"), None]);
        assert_eq!(entries[0].priority(), Priority::Error);
        assert_eq!(entries[0].message(), "audit FAIL A (fatal) Swap is off: observed on, expected off");
        let summary = |name| entries[1].get(name).unwrap();
        assert_eq!(summary("MESSAGE_ID"), id::AUDIT_SUMMARY);
        assert_eq!((summary("HORUS_AUDIT_SCORE"), summary("HORUS_AUDIT_FATAL")), ("60", "1"));
        assert_eq!((summary("HORUS_AUDIT_RULES"), summary("HORUS_AUDIT_PROBLEMS")), ("4", "1"));
        assert_eq!((summary("HORUS_STATUS"), summary("HORUS_AUDIT_FAILED_IDS")), ("FAIL", "A D"));
        assert_eq!(summary("HORUS_AUDIT_NA_IDS"), "C");
    }
}
