//! `horus report compare A B`: whether the tail changed between two sets of runs, by ranks, and which change this much data
//! would have shown.
//!
//! Boots are the unit where both sides have several: seconds of one boot are alike, so that many of them prove less than they
//! seem to. With a single boot on a side the seconds of the runs are compared, and the sentence says so.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use horus_measure::rank::{self, ALPHA, Compared, POWER};
use thiserror::Error;

use crate::record::history::{self, History, Run, RunPhase};
use crate::record::identity::Identity;
use crate::view::text::microseconds;

/// The phases that are compared: the first that both sides have, of a boot's run before those of other sets.
const PHASES: [&str; 2] = ["node-load", "node-quiet"];

/// More values of a side are thinned out evenly: the search for the smallest change stays within a second or two.
const MOST_VALUES: usize = 600;

/// Two sets cannot be compared.
#[derive(Debug, Error)]
pub enum CompareError {
    /// Nothing to read.
    #[error("{0} holds no whole report; name a report file or a folder of them")]
    Unreadable(PathBuf),
    /// No common phase.
    #[error("no phase with a deadline was measured on both sides, so there is nothing to compare")]
    PhaseMissing,
    /// One boot a side, and reports of version 1, which have no maxima a second.
    #[error(
        "one boot a side is compared by its maxima a second, which these reports do not have; name folders with several boots"
    )]
    SecondsMissing,
}

/// What two sets are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// One figure a boot, the median of its runs: this one.
    Boot(&'static str),
    /// The longest response of each interval.
    Seconds,
}

/// The outcome.
#[derive(Clone, Debug)]
pub struct Comparison {
    phase: String,
    unit: Unit,
    values: [Vec<f64>; 2],
    compared: Compared,
    /// The smallest factor that would have been seen.
    smallest: Option<f64>,
    differences: Vec<&'static str>,
}

/// Reads a report file, or all of a folder.
///
/// # Errors
/// When there is not one whole report.
pub fn read(path: &Path) -> Result<Vec<Run>, CompareError> {
    let runs =
        if path.is_dir() { History::read(&[path], "").runs } else { history::read_run(path).into_iter().collect() };
    if runs.is_empty() { Err(CompareError::Unreadable(path.to_owned())) } else { Ok(runs) }
}

/// Compares two sets of runs.
///
/// # Errors
/// When they have nothing in common that could be compared.
pub fn compare(a: &[Run], b: &[Run]) -> Result<Comparison, CompareError> {
    let has = |runs: &[Run], name: &str| runs.iter().any(|run| phase(run, name).is_some());
    let of_a = a.iter().flat_map(|run| run.judged().map(|(phase, _)| phase.name.as_str()));
    let name = PHASES.into_iter().chain(of_a).find(|name| has(a, name) && has(b, name));
    let name = name.ok_or(CompareError::PhaseMissing)?;
    let (unit, values) = if boots(a, name).len() > 1 && boots(b, name).len() > 1 {
        let p999 = |phase: &RunPhase| phase.p999_ns;
        let sides = [a, b].map(|runs| runs.iter().filter_map(|run| phase(run, name)));
        let all_have_p999 = sides.into_iter().flatten().all(|phase| p999(phase).is_some());
        let (statistic, figure): (_, fn(&RunPhase) -> Option<u64>) =
            if all_have_p999 { ("p99.9", |phase| phase.p999_ns) } else { ("maximum", |phase| phase.max_ns) };
        (Unit::Boot(statistic), [a, b].map(|runs| of_boots(runs, name, figure)))
    } else {
        (Unit::Seconds, [a, b].map(|runs| of_seconds(runs, name)))
    };
    let values = values.map(thinned);
    let compared = rank::compare(&values[0], &values[1]).ok_or(CompareError::SecondsMissing)?;
    let smallest = rank::smallest_factor(&values[0], values[1].len());
    Ok(Comparison { phase: name.to_owned(), unit, values, compared, smallest, differences: differences(a, b) })
}

fn phase<'a>(run: &'a Run, name: &str) -> Option<&'a RunPhase> {
    run.judged().map(|(phase, _)| phase).find(|phase| phase.name == name)
}

/// The phases called `name`, boot by boot.
fn boots<'a>(runs: &'a [Run], name: &str) -> BTreeMap<&'a str, Vec<&'a RunPhase>> {
    let mut boots: BTreeMap<&str, Vec<&RunPhase>> = BTreeMap::new();
    let phases = runs.iter().filter_map(|run| Some((run.boot_id.as_str(), phase(run, name)?)));
    phases.for_each(|(boot, phase)| boots.entry(boot).or_default().push(phase));
    boots
}

/// One figure a boot. The median of its runs, because the largest would grow with their number.
fn of_boots(runs: &[Run], name: &str, figure: fn(&RunPhase) -> Option<u64>) -> Vec<f64> {
    let of_boot =
        |phases: &Vec<&RunPhase>| median(phases.iter().filter_map(|phase| figure(phase)).map(|ns| ns as f64).collect());
    boots(runs, name).values().filter_map(of_boot).collect()
}

fn of_seconds(runs: &[Run], name: &str) -> Vec<f64> {
    let intervals = runs.iter().filter_map(|run| phase(run, name)?.intervals.as_ref());
    intervals.flat_map(|intervals| intervals.maxima()).map(|ns| ns as f64).collect()
}

fn thinned(values: Vec<f64>) -> Vec<f64> {
    let step = values.len().div_ceil(MOST_VALUES).max(1);
    values.into_iter().step_by(step).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some((low + high) / 2.0)
}

/// In what the systems of both sides differ.
fn differences(a: &[Run], b: &[Run]) -> Vec<&'static str> {
    let identities = |runs: &[Run]| -> Vec<Identity> { runs.iter().filter_map(|run| run.identity.clone()).collect() };
    let (a, b) = (identities(a), identities(b));
    let mut all: Vec<_> = a.iter().flat_map(|one| b.iter().flat_map(|other| one.differences(other))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Comparison {
    /// Whether the tail changed.
    pub fn is_changed(&self) -> bool {
        self.compared.probability < ALPHA
    }

    /// What changed, in one sentence with the figures behind it.
    pub fn sentence(&self) -> String {
        let Compared { share_above, probability } = self.compared;
        let [n, m] = self.values.each_ref().map(Vec::len);
        let rarest = rank::rarest(n, m);
        let what = match (self.is_changed(), share_above > 0.5) {
            _ if rarest > ALPHA => {
                return format!(
                    "Nothing can be said: {} cannot show any change (even with no overlap p would be {rarest:.2}).",
                    self.data()
                );
            }
            (true, true) => "The tail is longer in B",
            (true, false) => "The tail is shorter in B",
            (false, _) => "No change of the tail is shown",
        };
        let power = match self.smallest {
            Some(factor) => {
                format!("a change by a factor of {factor} would be seen in {:.0} % of cases", 100.0 * POWER)
            }
            None => "no change that was tried would be seen reliably with so little data".to_owned(),
        };
        format!(
            "{what}: B is above A in {:.0} % of pairs ({}; Mann-Whitney, p {}); {power}.",
            100.0 * share_above,
            self.data(),
            if probability < 0.001 { "< 0.001".to_owned() } else { format!("= {probability:.3}") },
        )
    }

    /// What was compared: how many of which.
    fn data(&self) -> String {
        let [n, m] = self.values.each_ref().map(Vec::len);
        match self.unit {
            Unit::Boot(statistic) => format!("{} response, {statistic} of {n} boots against {m}", self.phase),
            Unit::Seconds => format!("{} response, worst of {n} seconds against {m}, taken as independent", self.phase),
        }
    }

    /// Everything, for a terminal.
    pub fn render(&self) -> String {
        let figure = |values: &Vec<f64>| {
            let largest = values.iter().copied().fold(0.0, f64::max);
            let us = |ns: f64| microseconds(Some(ns as u64));
            format!("median {} us, largest {} us", us(median(values.clone()).unwrap_or(0.0)), us(largest))
        };
        let mut text = format!(
            "{}\n A          {}\n B          {}",
            self.sentence(),
            figure(&self.values[0]),
            figure(&self.values[1])
        );
        if !self.differences.is_empty() {
            text += &format!("\n differs    {}", self.differences.join(", "));
        }
        text
    }
}

#[cfg(test)]
mod tests;
