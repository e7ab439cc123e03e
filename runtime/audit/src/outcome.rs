//! What an audit found: one result a rule, and the score over all of them.

use serde::{Deserialize, Serialize};

/// The exit status of a command that could not do some part of the audit.
pub const NOT_AUDITED: u8 = 2;

/// How much a failed rule matters, after the kernel's own real-time configuration guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Nothing measured on such a machine is a real-time figure.
    Fatal,
    /// Costs latency that a control loop notices.
    High,
    /// Costs latency sometimes.
    Medium,
    /// Recorded so that runs can be compared.
    Info,
}

impl Severity {
    /// The word that rule files, reports and the journal use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fatal => "fatal",
            Self::High => "high",
            Self::Medium => "medium",
            Self::Info => "info",
        }
    }

    /// What one failed rule of this severity takes from a score of 100.
    fn cost(self) -> u32 {
        match self {
            Self::Fatal => 40,
            Self::High => 10,
            Self::Medium => 3,
            Self::Info => 0,
        }
    }
}

/// Verdict on one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Read, and as expected.
    Pass,
    /// Read, and not as expected.
    Fail,
    /// Could not be read or does not apply here; [`RuleResult::reason`] says why.
    Na,
}

impl Status {
    /// The word that reports and the journal use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Na => "NA",
        }
    }
}

/// One rule's result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RuleResult {
    /// Stable identifier, for example `C1`.
    pub id: String,
    /// What the rule is about, for people.
    pub title: String,
    /// How much a failure matters.
    pub severity: Severity,
    /// The verdict.
    pub status: Status,
    /// What was read, in short; empty when nothing was.
    pub observed: String,
    /// What should have been read.
    pub expected: String,
    /// Why the status is NA.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// What a failure costs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
    /// What to do about a failure.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fix: Option<String>,
}

/// The machine as the audited tree describes it; empty texts where the tree does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The whole of `/proc/version`: release, builder and preemption model.
    pub kernel: String,
    /// Machine name as `uname -m` prints it, for example `x86_64`.
    pub arch: String,
    /// Whether a hypervisor runs below: its latencies are no verdict on anything.
    #[serde(rename = "virtual")]
    pub is_virtual: bool,
    /// The kernel command line.
    pub cmdline: String,
    /// Isolated CPUs in list notation.
    pub isolated: String,
    /// Online CPUs that are not isolated, in list notation.
    pub housekeeping: String,
}

/// A whole audit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// 100 less 40 for every failed fatal rule, 10 for every high and 3 for every medium one; never below 0.
    pub score: u32,
    /// Failed rules of severity fatal.
    pub fatal: u32,
    /// Failed rules of severity high.
    pub high: u32,
    /// Failed rules of severity medium.
    pub medium: u32,
    /// What was audited.
    #[serde(default)]
    pub machine: Machine,
    /// All rules in the order of their files.
    pub rules: Vec<RuleResult>,
    /// Rule files or records that could not be used: file, line and remedy.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub problems: Vec<String>,
}

impl Outcome {
    /// Counts and scores `rules`.
    pub fn new(machine: Machine, rules: Vec<RuleResult>, problems: Vec<String>) -> Self {
        let failed = |severity| {
            let rules = rules.iter().filter(|rule| rule.status == Status::Fail && rule.severity == severity);
            u32::try_from(rules.count()).unwrap_or(u32::MAX)
        };
        let (fatal, high, medium) = (failed(Severity::Fatal), failed(Severity::High), failed(Severity::Medium));
        let cost = [(fatal, Severity::Fatal), (high, Severity::High), (medium, Severity::Medium)]
            .iter()
            .fold(0u32, |sum, (count, severity)| sum.saturating_add(count.saturating_mul(severity.cost())));
        // Nothing was looked at: that is no machine without a fault.
        let score = if rules.is_empty() { 0 } else { 100u32.saturating_sub(cost) };
        Self { score, fatal, high, medium, machine, rules, problems }
    }

    /// Whether the machine is tuned: no fatal or high rule failed, and every rule file could be used.
    pub fn passed(&self) -> bool {
        self.fatal == 0 && self.high == 0 && self.problems.is_empty()
    }

    /// The exit status of a command that audits: 0 tuned, 1 a fatal or high rule failed, [`NOT_AUDITED`] where a part could not be done.
    pub fn exit_status(&self) -> u8 {
        if self.problems.is_empty() { u8::from(!self.passed()) } else { NOT_AUDITED }
    }

    /// How many rules ended with `status`.
    pub fn count(&self, status: Status) -> usize {
        self.rules.iter().filter(|rule| rule.status == status).count()
    }

    /// The whole audit in one line, for the end of a printed table and for the journal.
    pub fn sentence(&self) -> String {
        let verdict = if self.passed() { "PASS" } else { "FAIL" };
        if self.rules.is_empty() {
            return "audit not done: there are no rules to hold the machine against".to_owned();
        }
        let problems = match self.problems.len() {
            0 => String::new(),
            count => format!(", {count} problems with the rules"),
        };
        format!(
            "audit {verdict} {}/100: {} fatal, {} high, {} medium failed; {} rules, {} passed, {} not applicable or unreadable{problems}",
            self.score,
            self.fatal,
            self.high,
            self.medium,
            self.rules.len(),
            self.count(Status::Pass),
            self.count(Status::Na),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(severity: Severity, status: Status) -> RuleResult {
        let text = String::new;
        RuleResult {
            id: text(),
            title: text(),
            severity,
            status,
            observed: text(),
            expected: text(),
            reason: None,
            why: None,
            fix: None,
        }
    }

    #[test]
    fn every_failure_costs_what_its_severity_says_and_the_score_stops_at_zero() {
        use Severity::{Fatal, High, Info, Medium};
        let score = |severities: &[Severity]| {
            let rules = severities.iter().map(|severity| result(*severity, Status::Fail)).collect();
            Outcome::new(Machine::default(), rules, Vec::new()).score
        };
        assert_eq!((score(&[]), score(&[Info])), (0, 100), "where there is no rule nothing was looked at");
        assert_eq!(score(&[Fatal, High, Medium, Info]), 47);
        assert_eq!(score(&[Fatal, Fatal, Fatal]), 0);
    }

    #[test]
    fn an_audit_with_a_problem_does_not_pass() {
        let rules = vec![result(Severity::High, Status::Pass), result(Severity::Fatal, Status::Na)];
        assert!(Outcome::new(Machine::default(), rules.clone(), Vec::new()).passed());
        assert!(!Outcome::new(Machine::default(), rules, vec!["kernel.toml:3: …".to_owned()]).passed());
    }
}
