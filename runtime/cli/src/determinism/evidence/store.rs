//! Report files on the data partition: after a power cut at any moment, each file is the old one or the new one.
//!
//! The order that makes it so: the bytes go to a temporary file in the same directory, `fsync` puts them on the medium,
//! `rename` swaps the name in one step, and `fsync` of the directory makes the swap itself durable. A file that was cut
//! short before the swap has a name that no reader looks for; the next run removes it.
//!
//! The tests kill the writer at every step, which proves the order of writing and renaming as other processes see it. A
//! killed process loses nothing that the kernel holds, so they do not prove the order of the two `fsync`s: that rests on
//! the code below and on `fsync(2)`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::schema::Report;

/// How many boots are kept; the oldest files go first.
pub const KEPT_REPORTS: usize = 50;

/// The file that always holds the newest report.
pub const LATEST: &str = "latest.json";

const TEMPORARY_SUFFIX: &str = ".part";

/// A report could not be stored.
#[derive(Debug, Error)]
#[error("cannot store the report in {directory}: {cause}; {remedy}")]
pub struct StoreError {
    directory: PathBuf,
    cause: io::Error,
    remedy: &'static str,
}

impl StoreError {
    fn new(directory: &Path, cause: io::Error) -> Self {
        let remedy = match cause.kind() {
            io::ErrorKind::PermissionDenied => "run as root, or choose a directory with --output",
            io::ErrorKind::ReadOnlyFilesystem => "is the data partition mounted? else choose a directory with --output",
            io::ErrorKind::StorageFull => "free space on the data partition",
            _ => "choose another directory with --output",
        };
        Self { directory: directory.to_owned(), cause, remedy }
    }
}

/// Makes sure that reports can be stored in `directory`, before an hour of measuring is spent.
pub fn prepare(directory: &Path) -> Result<(), StoreError> {
    let probe = directory.join(format!("probe{TEMPORARY_SUFFIX}"));
    fs::create_dir_all(directory)
        .and_then(|()| remove_leftovers(directory))
        .and_then(|()| File::create(&probe))
        .and_then(|_| fs::remove_file(&probe))
        .map_err(|cause| StoreError::new(directory, cause))
}

/// Stores `report` as `<boot-id>.json` and as [`LATEST`], and removes all but the newest [`KEPT_REPORTS`].
///
/// A second run in the same boot replaces the first: one file a boot.
pub fn store(directory: &Path, report: &Report) -> Result<PathBuf, StoreError> {
    let path = directory.join(file_name(&report.boot_id));
    let mut bytes = serde_json::to_vec(report).map_err(|error| StoreError::new(directory, error.into()))?;
    bytes.push(b'\n');
    write_whole(&path, &bytes)
        .and_then(|()| write_whole(&directory.join(LATEST), &bytes))
        .and_then(|()| remove_oldest(directory, &path))
        .map_err(|cause| StoreError::new(directory, cause))?;
    Ok(path)
}

/// The boot identifier comes from a file; whatever it holds, the name stays within the directory.
fn file_name(boot_id: &str) -> String {
    let safe: String = boot_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    if safe.is_empty() { "unknown-boot.json".to_owned() } else { format!("{safe}.json") }
}

/// What [`write_whole_with`] has just done; the tests kill the process at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Created,
    HalfWritten,
    Written,
    Synced,
    Renamed,
    DirectorySynced,
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole_with(path, bytes, |_| {})
}

fn write_whole_with(path: &Path, bytes: &[u8], mut reached: impl FnMut(Step)) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(TEMPORARY_SUFFIX);
    let temporary = directory.join(name);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
    reached(Step::Created);
    let (first, second) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    reached(Step::HalfWritten);
    file.write_all(second)?;
    reached(Step::Written);
    file.sync_all()?;
    reached(Step::Synced);
    fs::rename(&temporary, path)?;
    reached(Step::Renamed);
    File::open(directory)?.sync_all()?;
    reached(Step::DirectorySynced);
    Ok(())
}

fn remove_leftovers(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(TEMPORARY_SUFFIX) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn remove_oldest(directory: &Path, newest: &Path) -> io::Result<()> {
    let mut reports = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let is_report = path.extension().is_some_and(|extension| extension == "json");
        if is_report && path != newest && entry.file_name() != LATEST {
            reports.push((entry.metadata()?.modified()?, path));
        }
    }
    reports.sort();
    let surplus = (reports.len() + 1).saturating_sub(KEPT_REPORTS);
    reports.iter().take(surplus).try_for_each(|(_, path)| fs::remove_file(path))
}

#[cfg(test)]
mod tests;
