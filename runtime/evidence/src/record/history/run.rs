//! Of a run, what several together are made of; the rest of its report is not kept in memory.

use std::fs;
use std::path::Path;

use horus_measure::merge::Releases;
use serde::Deserialize;

use crate::record::identity::Identity;
use crate::record::interval::Intervals;
use crate::record::schema::READ;

/// No file of a run is larger.
const MAX_BYTES: u64 = 16 << 20;

/// Of a report, what several together are made of.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Run {
    schema: String,
    /// Its random identifier; empty in version 1.
    #[serde(default)]
    pub run_id: String,
    /// The boot.
    pub boot_id: String,
    /// Its start, by the clock of the machine.
    pub time: String,
    /// Of which system it speaks.
    #[serde(default)]
    pub identity: Option<Identity>,
    /// Whether the kernel was traced.
    #[serde(default)]
    pub is_traced: Option<bool>,
    /// Whether meter and conditions were sound.
    pub valid: bool,
    /// What was measured.
    pub phases: Vec<RunPhase>,
}

/// Of a phase, what several together are made of.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RunPhase {
    /// Its name.
    pub name: String,
    /// Whether it could run.
    pub measured: bool,
    /// Releases, round trips or cycles.
    pub samples: u64,
    /// Late and skipped releases.
    pub misses: Option<u64>,
    /// The longest run of misses.
    #[serde(default)]
    pub max_consecutive: Option<u64>,
    /// The most misses in any 100 consecutive releases.
    #[serde(default)]
    pub max_misses_in_100: Option<u64>,
    /// 99.9 % of the samples are not above this.
    pub p999_ns: Option<u64>,
    /// The largest sample.
    pub max_ns: Option<u64>,
    /// The worst of each second.
    #[serde(default)]
    pub intervals: Option<Intervals>,
}

impl RunPhase {
    /// Releases and misses, of a phase with a deadline that was measured: no other phase has misses.
    fn releases(&self) -> Option<Releases> {
        let (judged, longest_run) = (self.samples, self.max_consecutive.unwrap_or(0));
        self.misses.filter(|_| self.measured).map(|misses| Releases { judged, misses, longest_run })
    }
}

impl Run {
    /// Its phases with a deadline that were measured.
    pub fn judged(&self) -> impl Iterator<Item = (&RunPhase, Releases)> {
        self.phases.iter().filter_map(|phase| Some((phase, phase.releases()?)))
    }

    /// Misses of all of these.
    pub fn misses(&self) -> u64 {
        self.judged().map(|(_, releases)| releases.misses).sum()
    }
}

/// A file, unless it is larger than any file of a run.
pub fn read_bytes(path: &Path) -> Option<Vec<u8>> {
    let size = fs::metadata(path).ok()?.len();
    (size <= MAX_BYTES).then(|| fs::read(path).ok())?
}

/// Reads of a report what several together are made of; `None` for what is no whole report of a known version.
pub(crate) fn read_run(path: &Path) -> Option<Run> {
    read_as(path, &READ)
}

/// The same of a file in one of the formats `schemas`.
pub(crate) fn read_as(path: &Path, schemas: &[&str]) -> Option<Run> {
    serde_json::from_slice::<Run>(&read_bytes(path)?).ok().filter(|run| schemas.contains(&run.schema.as_str()))
}
