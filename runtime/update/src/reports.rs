//! What the kept determinism reports say of a version: its tails, and what failed under it.

use std::collections::BTreeSet;
use std::path::Path;

use horus_audit::Status;
use horus_evidence::record::destination::{DEFAULT_DIRECTORY, RAM_DIRECTORY};
use horus_evidence::record::load::newest_first;
use horus_evidence::record::schema::Report;

use crate::boot::{self, Kind};
use crate::gate::REPORTS;
use crate::machine::version_of;

/// The phase that versions are compared by.
const PHASE: &str = "node-load";
/// Of more files, the oldest are not looked at.
const MOST_FILES: usize = 10 * REPORTS;
/// What the units of nodes begin with: those that a user installed, and those of the image.
const NODES: [&str; 3] = ["horus-node@", "horus-ping", "horus-pong"];

/// What kept reports say of a version.
#[derive(Debug, Default)]
pub struct Known {
    /// The p99.9 of the phase `node-load` in nanoseconds of its valid reports, one a boot, the newest last.
    pub tails: Vec<u64>,
    /// What failed under it.
    pub failed: BTreeSet<(Kind, String)>,
    /// The rules of the audit that passed under it.
    pub passed: BTreeSet<String>,
}

impl Known {
    /// What the reports below `root` say of `version`: of its last boots, and of those only that measured the same as the newest.
    pub fn of(root: &Path, version: &str) -> Self {
        let mut known = Self::default();
        let mut boots = BTreeSet::new();
        let mut newest = None;
        let is_of_version = |report: &Report| version_of(&report.cmdline) == Some(version);
        for report in all(root).filter(is_of_version) {
            known.failed.extend(failures(&report));
            let passed = report.audit.rules.iter().filter(|rule| rule.status == Status::Pass);
            known.passed.extend(passed.map(|rule| rule.id.clone()));
            let of_report = measured(&report);
            let tail = tail(&report).filter(|_| *newest.get_or_insert_with(|| of_report.clone()) == of_report);
            match tail {
                // Several runs of a boot are one report, the first: none is replaced by a better one.
                Some(tail) if boots.contains(&report.boot_id) => {
                    *known.tails.last_mut().expect("its boot has one") = tail
                }
                Some(_) if boots.len() == REPORTS => break,
                Some(tail) => {
                    boots.insert(report.boot_id);
                    known.tails.push(tail);
                }
                None => {}
            }
        }
        known.tails.reverse();
        known
    }
}

/// The report of a boot: its first valid one, else its newest.
pub fn of_boot(root: &Path, boot_id: &str) -> Option<Report> {
    let mut best: Option<Report> = None;
    for report in all(root).filter(|report| report.boot_id == boot_id) {
        if report.valid || best.is_none() {
            best = Some(report);
        }
    }
    best
}

/// What becomes of a boot by its report.
pub fn outcome(report: &Report) -> boot::Report {
    match tail(report) {
        Some(p999_ns) => boot::Report::Valid { p999_ns },
        None if report.valid => {
            boot::Report::Invalid { reason: format!("its phase {PHASE} has too few releases for a p99.9") }
        }
        None => boot::Report::Invalid { reason: report.invalid_reasons.join("; ") },
    }
}

/// What failed, as a report has it.
pub fn failures(report: &Report) -> impl Iterator<Item = (Kind, String)> {
    let units = report.failed_units.iter().map(|unit| of_unit(&unit.unit));
    let failed = report.audit.rules.iter().filter(|rule| rule.status == Status::Fail);
    units.chain(failed.map(|rule| (Kind::Rule, rule.id.clone())))
}

/// A failed unit: a node's, or another.
pub fn of_unit(unit: &str) -> (Kind, String) {
    let stem = unit.trim_end_matches(".service");
    match NODES.iter().any(|node| stem.starts_with(node)) {
        true => (Kind::Node, stem.trim_start_matches("horus-").trim_start_matches("node@").to_owned()),
        false => (Kind::Unit, unit.to_owned()),
    }
}

/// The tail of a valid report.
fn tail(report: &Report) -> Option<u64> {
    let phase = report.phases.iter().find(|phase| phase.name == PHASE && phase.measured);
    phase.filter(|_| report.valid)?.latency.p999_ns
}

/// What was measured, as far as figures of two versions have to agree on it.
fn measured(report: &Report) -> Option<(u64, u64, u8, String, String, String)> {
    let own = report.identity.as_ref()?.configuration.clone();
    Some((own.period_ns, own.deadline_ns, own.priority, own.isolated, own.load, own.phases))
}

/// All reports that can be read, those in RAM first, which a boot writes whose data partition takes none.
fn all(root: &Path) -> impl Iterator<Item = Report> {
    let folders = [RAM_DIRECTORY, DEFAULT_DIRECTORY].map(|path| root.join(path.trim_start_matches('/')));
    folders.into_iter().flat_map(|folder| newest_first(&folder, MOST_FILES))
}
