//! Reading a report file: whole or not at all, of every version that there was.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::name::{self, REPORT};
use super::schema::{READ, Report, SCHEMA};
use super::store::LATEST;

/// No report is larger; 100 times the size of an ordinary one.
const MAX_BYTES: u64 = 16 << 20;

/// A file is not a report that can be shown.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The file cannot be read at all.
    #[error("cannot read the report {path}: {cause}; has 'horus determinism' run on this machine?")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is not a report, or only a part of one.
    #[error("{path} is not a whole report: {cause}; run 'horus determinism' again or name another file")]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        cause: String,
    },
    /// The file is a report of a version that this program does not know.
    #[error(
        "{path} has schema '{found}', and this program reads versions up to '{SCHEMA}'; read it with a matching version of horus"
    )]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The schema in the file.
        found: String,
    },
}

/// Reads a report and checks that it is whole.
pub fn load(path: &Path) -> Result<Report, LoadError> {
    let path = path.to_owned();
    let unreadable = |cause| LoadError::Unreadable { path: path.clone(), cause };
    let size = std::fs::metadata(&path).map_err(unreadable)?.len();
    let broken = |cause: String| LoadError::Broken { path: path.clone(), cause };
    if size > MAX_BYTES {
        return Err(broken(format!("{size} bytes are more than any report has")));
    }
    let bytes = std::fs::read(&path).map_err(unreadable)?;
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
    match value.get("schema").and_then(|schema| schema.as_str()) {
        Some(schema) if READ.contains(&schema) => {
            serde_json::from_value(value).map_err(|error| broken(error.to_string()))
        }
        Some(found) => Err(LoadError::OtherSchema { path: path.clone(), found: found.to_owned() }),
        None => Err(broken("it has no key 'schema'".to_owned())),
    }
}

/// The reports of a directory that can be read, the newest first, of no more than so many files.
pub fn newest_first(directory: &Path, most: usize) -> impl Iterator<Item = Report> + use<> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.ends_with(REPORT) && name != LATEST);
    names.sort_by_key(|name| std::cmp::Reverse(name::order(name)));
    names.truncate(most);
    let directory = directory.to_owned();
    names.into_iter().filter_map(move |name| load(&directory.join(name)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{sample, store};

    #[test]
    fn a_report_reads_back_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let report = sample::report("b0075eed");
        let path = store::store(directory.path(), &report).unwrap();
        let read = load(&path).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&report).unwrap());
        let latest = load(&directory.path().join(store::LATEST)).unwrap();
        assert_eq!(latest.boot_id, "b0075eed");
    }

    #[test]
    fn the_file_has_every_key_that_readers_rely_on() {
        let value = serde_json::to_value(sample::report("b0")).unwrap();
        for key in
            ["schema", "boot_id", "image", "kernel", "cmdline", "virtual", "valid", "audit", "phases", "self_test"]
        {
            assert!(value.get(key).is_some(), "missing key {key}");
        }
        for key in ["score", "fatal", "high", "rules"] {
            assert!(value["audit"].get(key).is_some(), "missing key audit.{key}");
        }
        let phase_keys = [
            "name",
            "cpu",
            "period_ns",
            "deadline_ns",
            "samples",
            "misses",
            "max_consecutive",
            "p50_ns",
            "p99_ns",
            "max_ns",
            "miss_bound_95",
        ];
        for phase in value["phases"].as_array().unwrap() {
            phase_keys.iter().for_each(|key| assert!(phase.get(key).is_some(), "missing key {key} in {phase}"));
        }
        assert!(value["self_test"].get("injected_ns").is_some() && value["self_test"].get("found_ns").is_some());
    }

    #[test]
    fn a_broken_file_is_an_error_that_says_where() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        for (content, expected) in [
            ("{\"schema\": \"horus-report/1\",\n", "line 2"),
            ("{}", "no key 'schema'"),
            ("{\"schema\": \"horus-report/9\"}", "horus-report/9"),
            ("{\"schema\": \"horus-report/1\"}", "missing field"),
        ] {
            std::fs::write(&path, content).unwrap();
            let error = load(&path).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("report.json"), "{error}");
        }
        let error = load(&directory.path().join("absent.json")).unwrap_err().to_string();
        assert!(error.contains("horus determinism"), "{error}");
    }
}
