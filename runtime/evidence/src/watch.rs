//! The record of the watch in one boot: `horus-watch/1`, a file that is replaced as a whole. It has the keys of a report, as far as it has something to say.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus::deadline::Timing;
use horus::time::utc_now;
use horus_measure::bound::miss_bound_95;
use horus_measure::quantile;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::measure::grants::{not_granted, policy};
use crate::measure::machine::{Facts, run_id};
use crate::measure::metered::{Measured, NEEDED};
use crate::record::history;
use crate::record::identity::Identity;
use crate::record::name::{self, REPORT};
use crate::record::schema::{Latency, Phase};
use crate::record::store::{self, StoreError};

/// Name and version of the format.
pub(crate) const SCHEMA: &str = "horus-watch/1";

/// Below every node (60 to 90) and every interrupt thread (50), above the spinning ends of a determinism run, which never run beside it.
pub const PRIORITY: u8 = 20;

/// The deadline: that of the node of a determinism run.
pub const DEADLINE: Duration = Duration::from_micros(800);

/// What all records together may take, some kilobytes each; the oldest go first.
const KEPT_BYTES: u64 = 8 << 20;

/// Classes of a histogram have two digits: at most 90 a decade, so that a record has a largest size however long the machine is up.
const CLASSES_PER_DIGIT: u64 = 100;

/// What the watch found in one boot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    schema: String,
    run_id: String,
    boot_id: String,
    /// Start of the watch: UTC, RFC 3339.
    time: String,
    /// When the record was written last.
    written: String,
    image: String,
    identity: Identity,
    is_traced: Option<bool>,
    /// Whether conditions were sound all the time; says nothing about the figures.
    valid: bool,
    invalid_reasons: Vec<String>,
    /// Its only phase: all releases of the boot.
    #[serde(rename = "phases", with = "only")]
    pub phase: Phase,
}

/// The phase stands in a list, as in a report, so that one reader reads both.
mod only {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::Phase;

    pub fn serialize<S: Serializer>(phase: &Phase, to: S) -> Result<S::Ok, S::Error> {
        [phase].serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Phase, D::Error> {
        Vec::<Phase>::deserialize(from)?.pop().ok_or_else(|| D::Error::custom("a record has one phase"))
    }
}

impl Record {
    /// The record of this boot and system in `directory`, or a new one: a watch that is started again goes on.
    pub fn of_boot(directory: &Path, facts: &Facts, identity: Identity, is_traced: Option<bool>) -> Self {
        let is_own = |record: &Self| {
            record.schema == SCHEMA
                && record.boot_id == facts.boot_id
                && record.identity == identity
                && record.is_traced == is_traced
        };
        let kept = files(directory).into_iter().rev().filter_map(|path| read(&path)).find(is_own);
        kept.unwrap_or_else(|| Self {
            schema: SCHEMA.to_owned(),
            run_id: run_id(),
            boot_id: facts.boot_id.clone(),
            time: utc_now(),
            written: String::new(),
            image: facts.image.clone(),
            identity,
            is_traced,
            valid: true,
            invalid_reasons: Vec::new(),
            phase: Phase { name: "watch".to_owned(), ..Phase::default() },
        })
    }

    /// What was not as it has to be. It stays so: it is not known what releases of then are worth.
    pub fn refuse(&mut self, reason: &str) {
        self.valid = false;
        if !self.invalid_reasons.iter().any(|known| known == reason) {
            self.invalid_reasons.push(reason.to_owned());
        }
    }

    /// Whether the kernel traced when the record was begun, as it does now.
    pub fn was_traced_as(&self, is_traced: Option<bool>) -> bool {
        self.is_traced == is_traced
    }

    /// Adds what was measured.
    pub fn add(&mut self, measured: &Measured, timing: Timing, priority: u8) {
        for refused in measured.granted.refused().filter(|refused| NEEDED.contains(&refused.name)) {
            self.refuse(&not_granted(refused));
        }
        let phase = &mut self.phase;
        let tally = &measured.tally;
        let more = |sum: &mut Option<u64>, count: u64| *sum = Some(sum.unwrap_or(0).saturating_add(count));
        let most = |most: &mut Option<u64>, count: u64| *most = Some(most.unwrap_or(0).max(count));
        phase.measured = true;
        phase.policy = Some(policy(&measured.granted, priority));
        (phase.period_ns, phase.deadline_ns) = (Some(timing.period_nanos()), Some(timing.deadline_nanos()));
        phase.samples = phase.samples.saturating_add(tally.releases());
        more(&mut phase.misses, tally.misses);
        more(&mut phase.skipped, tally.skipped);
        more(&mut phase.overruns, measured.overruns);
        most(&mut phase.max_consecutive, tally.max_consecutive);
        most(&mut phase.max_misses_in_100, measured.most_in_100);
        phase.miss_bound_95 = Some(miss_bound_95(phase.misses.unwrap_or(0), phase.samples));
        add_classes(&mut phase.histogram, measured.response.classes());
        add_classes(&mut phase.jitter_histogram, measured.jitter.classes());
        phase.latency = latency(&phase.histogram, phase.latency.max_ns.max(measured.response.max_ns()));
        let largest = phase.release_jitter.and_then(|jitter| jitter.max_ns).max(measured.jitter.max_ns());
        phase.release_jitter = Some(latency(&phase.jitter_histogram, largest));
        more(&mut phase.release_jitter_samples, measured.jitter.samples());
    }

    /// Writes the record, and removes the oldest beyond the quota.
    ///
    /// # Errors
    /// When the directory does not take it; what was there before is whole.
    pub fn keep(&mut self, directory: &Path) -> Result<(), StoreError> {
        self.written = utc_now();
        let mut bytes = serde_json::to_vec(self).map_err(|error| StoreError::new(directory, error.into()))?;
        bytes.push(b'\n');
        let write = || {
            fs::create_dir_all(directory)?;
            let path = directory.join(name::stem(directory, &self.boot_id, &self.run_id) + REPORT);
            store::write_whole(&path, &bytes)?;
            store::remove_oldest(directory, &path, usize::MAX, KEPT_BYTES)
        };
        write().map_err(|cause| StoreError::new(directory, cause))
    }
}

/// Quantiles of coarse classes, and the exact maximum.
fn latency(classes: &[(u64, u64)], max_ns: Option<u64>) -> Latency {
    let samples = classes.iter().map(|class| class.1).sum();
    Latency::from_quantiles(|share| quantile::of_classes(classes, samples, share), max_ns)
}

fn add_classes(sum: &mut Vec<(u64, u64)>, more: Vec<(u64, u64)>) {
    let mut classes: BTreeMap<u64, u64> = BTreeMap::new();
    for (value, count) in sum.drain(..).chain(more.into_iter().map(|(value, count)| (coarse(value), count))) {
        let class = classes.entry(value).or_default();
        *class = class.saturating_add(count);
    }
    sum.extend(classes);
}

/// The value with two digits, rounded up.
fn coarse(value: u64) -> u64 {
    let mut unit = 1;
    while value / unit >= CLASSES_PER_DIGIT {
        unit *= 10;
    }
    value.div_ceil(unit).saturating_mul(unit)
}

/// The records in `directory`, oldest first.
pub fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = entries.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(REPORT));
    names.sort_by_key(|name| name::order(name));
    names.into_iter().map(|name| directory.join(name)).collect()
}

fn read(path: &Path) -> Option<Record> {
    serde_json::from_slice(&history::read_bytes(path)?).ok()
}

/// The configuration that stands in the identity of a record: no load and no phases.
pub fn config(timing: Timing) -> Config {
    Config { timing, priority: PRIORITY, phases: Vec::new(), ..Config::default() }
}

/// Of which system the watch of a machine speaks, on which the run of `identity` was made.
pub(crate) fn identity_beside(identity: &Identity) -> Identity {
    let mut identity = identity.clone();
    let configuration = &mut identity.configuration;
    (configuration.period_ns, configuration.deadline_ns) = (100_000_000, DEADLINE.as_nanos() as u64);
    configuration.priority = PRIORITY;
    configuration.load.clear();
    configuration.phases.clear();
    identity
}

#[cfg(test)]
mod tests {
    use crate::measure::machine;
    use crate::measure::metered::{self, Place};

    use super::*;

    fn timing() -> Timing {
        Timing::new(Duration::from_millis(1), Duration::from_micros(800)).unwrap()
    }

    fn measured(releases: u64) -> Measured {
        let place = Place { cpu: None, priority: None, longest_computation: Duration::from_secs(1) };
        metered::run(timing(), releases, place, |_| true)
    }

    fn record(directory: &Path, boot_id: &str) -> Record {
        let facts = Facts { boot_id: boot_id.to_owned(), ..Facts::default() };
        Record::of_boot(directory, &facts, Identity::default(), Some(false))
    }

    #[test]
    fn a_watch_that_is_started_again_goes_on_with_the_record_of_its_boot() {
        let directory = tempfile::tempdir().unwrap();
        let mut first = record(directory.path(), "b0");
        first.add(&measured(20), timing(), 20);
        first.keep(directory.path()).unwrap();
        let mut again = record(directory.path(), "b0");
        again.add(&measured(30), timing(), 20);
        again.keep(directory.path()).unwrap();
        let phase = &again.phase;
        assert_eq!(phase.samples, 50);
        assert_eq!(phase.histogram.iter().map(|class| class.1).sum::<u64>(), 50);
        assert!(phase.latency.max_ns >= first.phase.latency.max_ns && phase.misses >= first.phase.misses);
        let mut other = record(directory.path(), "b1");
        assert_eq!(other.phase.samples, 0, "another boot has a record of its own");
        other.keep(directory.path()).unwrap();
        assert_eq!(files(directory.path()).len(), 2);
    }

    #[test]
    fn what_was_once_wrong_stays_wrong() {
        let directory = tempfile::tempdir().unwrap();
        let mut first = record(directory.path(), "b0");
        first.refuse("the kernel is not PREEMPT_RT");
        first.keep(directory.path()).unwrap();
        assert!(!record(directory.path(), "b0").valid);
    }

    #[test]
    fn a_directory_that_takes_nothing_is_an_error_with_a_remedy_and_the_record_stays_whole_in_memory() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("watch");
        fs::write(&file, "no directory").unwrap();
        let mut record = record(&file, "b0");
        record.add(&measured(20), timing(), 20);
        assert!(record.keep(&file).unwrap_err().to_string().contains("cannot store"));
        fs::remove_file(&file).unwrap();
        record.keep(&file).unwrap();
        assert_eq!(read(&files(&file)[0]).unwrap().phase.samples, 20);
    }

    #[test]
    fn a_histogram_of_two_digits_is_never_better_than_what_was_measured_and_has_a_largest_size() {
        assert_eq!([7, 99, 100, 101, 1_999, 99_901].map(coarse), [7, 99, 100, 110, 2_000, 100_000]);
        assert!(coarse(u64::MAX) == u64::MAX);
        let mut classes = Vec::new();
        add_classes(&mut classes, (1..100_000).map(|value| (value * 600_000, 1)).collect());
        assert!(classes.len() < 900 && classes.iter().map(|class| class.1).sum::<u64>() == 99_999, "{}", classes.len());
    }

    #[test]
    fn a_record_and_a_run_of_the_same_system_have_the_same_identity_beside_what_they_measure() {
        let root = tempfile::tempdir().unwrap();
        let timing = Timing::new(Duration::from_millis(100), DEADLINE).unwrap();
        let [of_run, of_watch] = [Config::default(), config(timing)]
            .map(|config| machine::identity::read(root.path(), root.path(), &config));
        assert_ne!(of_run, of_watch, "their releases are never added up");
        assert_eq!(identity_beside(&of_run), of_watch);
    }
}
