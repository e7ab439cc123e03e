//! The trial of a version as a file: what the gate decides by, kept over restarts and power cuts.
//!
//! ```text
//! /var/lib/horus/update/trial.json     {"schema": "horus-trial/1", "trial": {…}, "sha256": "…"}
//! ```
//!
//! The old version's tails are in the file from the trial's start: what becomes of old reports meanwhile changes no decision. A new file is written
//! beside the old one, is on the disk, and then takes its name, so a power cut leaves one of the two. A file is believed only when it is byte for
//! byte what [`Store::write`] would write again, its checksum too. A damaged one is an error, and never a decision.
//!
//! # What it does not do
//! It takes no lock: its writer is the updater, which has one for all that it does. Where there is no file, no trial is known, which does not make a
//! version good: which version is only being tried is for the boot loader to say.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::boot::{Boot, Fault, Report};
use crate::gate::{REPORTS, Standing, decide};

/// Name and version of the format.
pub const SCHEMA: &str = "horus-trial/1";
/// Where the file is, below the root.
const PLACE: &str = "var/lib/horus/update/trial.json";
/// No file of ours is longer, with as much in it as the next three limits let in, and no other is read.
const MAX_BYTES: u64 = 1 << 20;
/// Of more boots, the oldest ones that count neither way are forgotten.
const MOST_BOOTS: usize = 50;
/// Of more faults in a boot, excused ones are not kept.
const MOST_FAULTS: usize = 20;
/// Names and reasons are cut to so many characters.
const MOST_CHARACTERS: usize = 200;

/// A version on trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The version that comes back.
    old: String,
    /// The version on trial.
    new: String,
    /// The p99.9 of the old version's last reports in nanoseconds, the newest last.
    old_p999_ns: Vec<u64>,
    /// The boots of the version on trial, in their order.
    boots: Vec<Boot>,
}

impl Trial {
    /// The trial of version `new` begins. `reports` is the p99.9 of `node-load` in nanoseconds of valid reports of version `old`, one a boot, the
    /// newest last.
    pub fn new(old: &str, new: &str, reports: &[u64]) -> Self {
        let newest = reports[reports.len().saturating_sub(REPORTS)..].to_vec();
        Self { old: line(old), new: line(new), old_p999_ns: newest, boots: Vec::new() }
    }

    /// The version that comes back.
    pub fn old_version(&self) -> &str {
        &self.old
    }

    /// The version on trial.
    pub fn new_version(&self) -> &str {
        &self.new
    }

    /// A boot of `version` begins; the same boot may say so again. Says whether the version is the one on trial: otherwise the machine has gone back
    /// by itself, and nothing changes. A boot before it that left no report has ended before its report.
    pub fn begin(&mut self, version: &str, boot_id: &str) -> bool {
        let (is_on_trial, id) = (line(version) == self.new, line(boot_id));
        if !is_on_trial || self.is_decided() || self.boots.iter().any(|boot| boot.id == id) {
            return is_on_trial;
        }
        if let Some(before) = self.boots.last_mut().filter(|boot| boot.report == Report::Awaited) {
            before.report = Report::Cut;
        }
        if self.boots.len() >= MOST_BOOTS {
            let counts = |boot: &Boot| matches!(boot.report, Report::Valid { .. });
            self.boots.iter().position(|boot| !counts(boot)).map(|oldest| self.boots.remove(oldest));
        }
        self.boots.push(Boot::new(id));
        true
    }

    /// Something was not as it should be in the boot that goes on. What is known of it replaces what was known before.
    pub fn fault(&mut self, fault: Fault) {
        let Some(boot) = self.current() else { return };
        let fault = Fault { name: line(&fault.name), ..fault };
        boot.faults.retain(|known| (known.kind, &known.name) != (fault.kind, &fault.name));
        if fault.excuse.is_none() || boot.faults.len() < MOST_FAULTS {
            boot.faults.push(fault);
        }
    }

    /// The boot that goes on has a report. A valid one stays: no run is replaced by a better one.
    pub fn report(&mut self, report: Report) {
        let Some(boot) = self.current() else { return };
        match (&boot.report, report) {
            (Report::Valid { .. }, _) => {}
            (_, Report::Invalid { reason }) => boot.report = Report::Invalid { reason: line(&reason) },
            (_, report) => boot.report = report,
        }
    }

    /// The boot that goes on, unless the trial is decided: then nothing is added to it.
    fn current(&mut self) -> Option<&mut Boot> {
        if self.is_decided() { None } else { self.boots.last_mut() }
    }

    /// What becomes of the version.
    pub fn standing(&self) -> Standing {
        decide(&self.old_p999_ns, &self.boots)
    }

    fn is_decided(&self) -> bool {
        matches!(self.standing(), Standing::Good { .. } | Standing::Back { .. })
    }
}

/// A text as a part of one sentence.
fn line(text: &str) -> String {
    text.chars().take(MOST_CHARACTERS).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// What the file says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    schema: String,
    trial: Trial,
    /// Of `trial`, in JSON without spaces.
    sha256: String,
}

impl Whole {
    /// The bytes of the file of a trial.
    fn bytes(trial: Trial) -> Result<Vec<u8>, serde_json::Error> {
        let sha256 = format!("{:x}", Sha256::digest(serde_json::to_vec(&trial)?));
        let mut bytes = serde_json::to_vec_pretty(&Self { schema: SCHEMA.to_owned(), trial, sha256 })?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// What went wrong with the file. Nothing is decided then.
#[derive(Debug, Error)]
pub enum TrialError {
    /// It may be there, and cannot be read.
    #[error(
        "cannot read {path}: {cause}; until it can be read, the version that runs is neither called good nor taken back"
    )]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It is not what was written.
    #[error(
        "{path} is damaged ({cause}): it decides nothing, and the version that runs is not called good. Say yourself whether it stays, and remove the file"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// It is of a version of this program that this one does not know.
    #[error(
        "{path} has schema '{found}', and this program reads '{SCHEMA}': the version of horus that wrote it can end the trial"
    )]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The schema in the file.
        found: String,
    },
    /// It cannot be written or removed.
    #[error("cannot write {path}: {cause}; what was there before stays. `df -h /var` shows whether the disk is full")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// The place of the file.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
}

impl Store {
    /// That of the machine whose files are below `root`.
    pub fn at(root: &Path) -> Self {
        Self { path: root.join(PLACE) }
    }

    /// The trial that goes on; `None` where there is no file.
    ///
    /// # Errors
    /// When there is one that cannot be believed.
    pub fn read(&self) -> Result<Option<Trial>, TrialError> {
        let path = || self.path.clone();
        let damaged = |cause: String| TrialError::Damaged { path: path(), cause };
        match fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(TrialError::Unreadable { path: path(), cause }),
            Ok(about) if about.len() > MAX_BYTES => {
                return Err(damaged(format!("{} bytes are more than any trial has", about.len())));
            }
            Ok(_) => {}
        }
        let bytes = fs::read(&self.path).map_err(|cause| TrialError::Unreadable { path: path(), cause })?;
        let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        match value.get("schema").and_then(|schema| schema.as_str()) {
            None => return Err(damaged("it has no key 'schema'".to_owned())),
            Some(SCHEMA) => {}
            Some(found) => return Err(TrialError::OtherSchema { path: path(), found: found.to_owned() }),
        }
        let whole: Whole = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        match Whole::bytes(whole.trial.clone()) {
            Ok(written) if written == bytes => Ok(Some(whole.trial)),
            _ => Err(damaged("its checksum is another one".to_owned())),
        }
    }

    /// Keeps the trial: it is on the disk when this returns.
    ///
    /// # Errors
    /// When the disk does not take it; the file is then as it was.
    pub fn write(&self, trial: &Trial) -> Result<(), TrialError> {
        self.try_write(trial).map_err(|cause| TrialError::Unwritable { path: self.path.clone(), cause })
    }

    fn try_write(&self, trial: &Trial) -> io::Result<()> {
        let bytes = Whole::bytes(trial.clone())?;
        fs::create_dir_all(self.folder())?;
        let new = self.path.with_extension("json.new");
        let mut file = File::create(&new)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        self.sync()
    }

    /// The trial is over.
    ///
    /// # Errors
    /// When the file cannot be removed.
    pub fn remove(&self) -> Result<(), TrialError> {
        let removed = match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            removed => removed.and_then(|()| self.sync()),
        };
        removed.map_err(|cause| TrialError::Unwritable { path: self.path.clone(), cause })
    }

    /// Makes a new name last.
    fn sync(&self) -> io::Result<()> {
        File::open(self.folder())?.sync_all()
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }
}

#[cfg(test)]
mod tests;
