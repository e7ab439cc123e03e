//! All runs that are kept, and what those of one system say together: the same image build, rules, board and configuration.
//!
//! Runs are added up whatever their results are. A run that is not valid adds no releases, because it is not known what its meter
//! saw, but its misses count: to measure under conditions that make a run invalid must not hide them.

mod run;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use horus_measure::bound::binomial_upper_95;
use horus_measure::cluster::chance_of_spread;
use horus_measure::merge::{Releases, sum, weakest};

use super::identity::Identity;
use super::marker::Started;
use super::name::{self, REPORT, STARTED};
use super::schema::Report;
use super::store::LATEST;

pub use run::{Run, RunPhase, read_bytes};
pub(crate) use run::{read_as, read_run};

/// Misses that chance spreads over boots as unevenly as this rarely are said to cluster.
pub(crate) const UNLIKELY: f64 = 0.05;

/// What is kept in some directories.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Runs that left a report, in the order in which they began.
    pub runs: Vec<Run>,
    /// Runs that left only their start marker.
    pub unfinished: Vec<Started>,
    /// Files that are no whole report.
    pub unreadable: usize,
}

impl History {
    /// Reads all reports and markers in `directories`. A run that goes on now, in the boot `boot_id`, is none yet.
    pub fn read(directories: &[&Path], boot_id: &str) -> Self {
        let mut history = Self::default();
        for directory in directories {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            let mut files: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            files.retain(|file| file != LATEST);
            files.sort_by_key(|file| (name::order(file), file.clone()));
            for file in files {
                let path = directory.join(&file);
                if file.ends_with(REPORT) {
                    match read_run(&path) {
                        Some(run) => history.runs.push(run),
                        None => history.unreadable += 1,
                    }
                } else if file.ends_with(STARTED) {
                    match read_bytes(&path).and_then(|bytes| serde_json::from_slice::<Started>(&bytes).ok()) {
                        Some(started) if started.goes_on(boot_id) => {}
                        Some(started) => history.unfinished.push(started),
                        None => history.unreadable += 1,
                    }
                }
            }
        }
        let History { runs, unfinished, .. } = &mut history;
        unfinished.retain(|started| !runs.iter().any(|run| run.run_id == started.run_id));
        history
    }

    /// What all runs of the system of `report` say together; `None` for a report without identity.
    pub fn of_report(&self, report: &Report) -> Option<Merged> {
        report.identity.as_ref().map(|identity| self.of(identity, report.is_traced))
    }

    /// What all runs of one system say together.
    pub fn of(&self, identity: &Identity, is_traced: Option<bool>) -> Merged {
        let is_same = |run: &&Run| run.identity.as_ref() == Some(identity) && run.is_traced == is_traced;
        let unfinished = |started: &&Started| started.identity == *identity && started.is_traced == is_traced;
        let unfinished: Vec<&Started> = self.unfinished.iter().filter(unfinished).collect();
        let mut merged = Merged {
            unfinished: unfinished.len(),
            unreadable: self.unreadable,
            others: self.runs.len() - self.runs.iter().filter(is_same).count(),
            ..Merged::default()
        };
        let mut boots: BTreeMap<&str, bool> = BTreeMap::new();
        let mut phases: BTreeMap<&str, OfBoots> = BTreeMap::new();
        for run in self.runs.iter().filter(is_same) {
            merged.runs += usize::from(run.valid);
            merged.not_valid += usize::from(!run.valid);
            if !run.valid && run.misses() == 0 {
                continue;
            }
            *boots.entry(&run.boot_id).or_default() |= run.misses() > 0;
            for (phase, releases) in run.judged() {
                let judged = if run.valid { releases.judged } else { 0 };
                let of_boot = phases.entry(&phase.name).or_default().entry(&run.boot_id).or_default();
                of_boot.push((phase, Releases { judged, ..releases }));
            }
        }
        boots.extend(unfinished.iter().map(|started| (started.boot_id.as_str(), true)));
        merged.boots = boots.len() as u64;
        merged.boots_with_miss = boots.values().filter(|missed| **missed).count() as u64;
        merged.phases = phases.into_iter().map(|(name, boots)| MergedPhase::of(name, boots)).collect();
        merged
    }
}

/// The runs of one phase with what counts of them, boot by boot.
type OfBoots<'a> = BTreeMap<&'a str, Vec<(&'a RunPhase, Releases)>>;

/// What all runs of one system say together.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// Valid runs.
    pub runs: usize,
    /// Boots that say something: with a valid run, with a miss, or with a run that did not end.
    pub boots: u64,
    /// Boots with a miss; one whose run did not end counts as one.
    pub boots_with_miss: u64,
    /// Runs that are not valid.
    pub not_valid: usize,
    /// Runs that began and left no report.
    pub unfinished: usize,
    /// Files that are no whole report, of whatever system.
    pub unreadable: usize,
    /// Runs of another system.
    pub others: usize,
    /// The node phases.
    pub phases: Vec<MergedPhase>,
}

/// One phase in all runs.
#[derive(Clone, Debug, Default)]
pub struct MergedPhase {
    /// Its name.
    pub name: String,
    /// All counts.
    pub releases: Releases,
    /// The longest response time.
    pub max_ns: Option<u64>,
    /// The most misses in any 100 consecutive releases, as far as the runs tell.
    pub max_misses_in_100: Option<u64>,
    /// How probable it is that chance spreads the misses over boots as they are; `None` where there is nothing to spread.
    pub chance_of_spread: Option<f64>,
}

impl MergedPhase {
    fn of(name: &str, boots: OfBoots) -> Self {
        let phases = || boots.values().flatten();
        let of_boot = |runs: &Vec<(&RunPhase, Releases)>| sum(runs.iter().map(|run| run.1));
        let of_boots: Vec<Releases> = boots.values().filter_map(of_boot).collect();
        Self {
            name: name.to_owned(),
            releases: sum(of_boots.iter().copied()).unwrap_or_default(),
            max_ns: phases().filter_map(|(phase, _)| phase.max_ns).max(),
            max_misses_in_100: phases().filter_map(|(phase, _)| phase.max_misses_in_100).max(),
            chance_of_spread: chance_of_spread(&of_boots),
        }
    }

    /// Whether misses come in bursts: a longer run of them than independent ones would have, or boots with more than their share.
    /// Then a bound a release says too much, and boots are the unit.
    pub(crate) fn is_clustered(&self) -> bool {
        let Releases { judged, misses, longest_run } = self.releases;
        let p = misses as f64 / judged.max(1) as f64;
        let expected_runs = judged as f64 * p.powi(longest_run.min(1_000) as i32);
        longest_run > 1 && expected_runs < UNLIKELY || self.chance_of_spread.is_some_and(|chance| chance < UNLIKELY)
    }
}

impl Merged {
    /// The phase that supports the weakest claim.
    pub(crate) fn weakest(&self) -> Option<&MergedPhase> {
        weakest(&self.phases, |phase| phase.releases)
    }

    /// The upper 95 % confidence bound on the probability that a boot has a miss. It takes boots as independent, and nothing
    /// about misses within one.
    pub(crate) fn boot_bound_95(&self) -> f64 {
        binomial_upper_95(self.boots_with_miss, self.boots)
    }
}

#[cfg(test)]
mod tests;
