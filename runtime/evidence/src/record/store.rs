//! Report files on the data partition: after a power cut at any moment, each file is the old one or the new one.
//!
//! The order that makes it so: the bytes go to a temporary file in the same directory, `fsync` puts them on the medium,
//! `rename` swaps the name in one step, and `fsync` of the directory makes the swap itself durable. A file that was cut
//! short before the swap has a name that no reader looks for; the next run removes it.
//!
//! Every run has a file of its own, and none replaces another: who may measure again until the result is a good one has no
//! evidence. The quota takes the oldest first, by the counter in the name, whatever their results are.
//!
//! The tests kill the writer at every step, which proves the order of writing and renaming as other processes see it. A
//! killed process loses nothing that the kernel holds, so they do not prove the order of the two `fsync`s: that rests on
//! the code below and on `fsync(2)`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::marker::Started;
use super::name::{self, REPORT, STARTED};
use super::schema::Report;

/// How many runs are kept, those that did not end included; the oldest files go first, and the newest never.
pub(crate) const KEPT_RUNS: usize = 500;

/// What all reports together may take. A report has as many classes of its histograms as the run has different latencies: on
/// a quiet machine 500 fit, of an emulator about 100.
pub(crate) const KEPT_BYTES: u64 = 32 << 20;

/// What is reserved for a report: more than one of a minute in an emulator has, which are the longest.
const ROOM_BYTES: usize = 512 << 10;

/// The file that always holds the newest report.
pub(crate) const LATEST: &str = "latest.json";

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
    /// What went wrong in `directory`, with what to do about it.
    pub fn new(directory: &Path, cause: io::Error) -> Self {
        let remedy = match cause.kind() {
            io::ErrorKind::PermissionDenied => "run as root, or choose a directory with --output",
            io::ErrorKind::ReadOnlyFilesystem => "is the data partition mounted? else choose a directory with --output",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                "make room: 'journalctl --vacuum-size=64M' frees the oldest journal files, 'du -xh /var | sort -h' shows what is large"
            }
            _ => "choose another directory with --output",
        };
        Self { directory: directory.to_owned(), cause, remedy }
    }
}

/// The room of one report and its copy, taken before the run; what is not used of it is given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Room([PathBuf; 2]);

impl Room {
    /// Takes the room in `directory` for the report of the run `run_id` of the boot `boot_id`, and removes what earlier runs left
    /// unfinished.
    ///
    /// # Errors
    /// When the report could not be stored there now, with what to do.
    pub fn reserve(directory: &Path, boot_id: &str, run_id: &str) -> Result<Self, StoreError> {
        let take = || -> io::Result<Self> {
            fs::create_dir_all(directory)?;
            remove_leftovers(directory)?;
            let own = name::stem(directory, boot_id, run_id) + REPORT;
            let room = Self([own.as_str(), LATEST].map(|name| temporary(&directory.join(name))));
            for path in &room.0 {
                let mut file = File::create(path)?;
                file.write_all(&vec![0; ROOM_BYTES])?;
                file.sync_all()?; // a full disk may be found out only when the bytes go to the medium
            }
            Ok(room)
        };
        take().map_err(|cause| StoreError::new(directory, cause))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path); // gone already when the report was stored
        }
    }
}

/// Writes the marker of a run that begins, and makes it durable.
///
/// # Errors
/// When it cannot be written; the run can then go on, and a crash of it leaves no trace.
pub fn mark(directory: &Path, started: &Started) -> Result<(), StoreError> {
    let path = directory.join(name::stem(directory, &started.boot_id, &started.run_id) + STARTED);
    let bytes = serde_json::to_vec(started).map_err(|error| StoreError::new(directory, error.into()))?;
    write_whole(&path, &bytes).map_err(|cause| StoreError::new(directory, cause))
}

/// Stores `report` under a name of its own and as `LATEST`, removes its marker, and the oldest beyond `KEPT_RUNS` and
/// `KEPT_BYTES`.
pub fn store(directory: &Path, report: &Report) -> Result<PathBuf, StoreError> {
    let stem = name::stem(directory, &report.boot_id, &report.run_id);
    let path = directory.join(format!("{stem}{REPORT}"));
    let mut bytes = serde_json::to_vec(report).map_err(|error| StoreError::new(directory, error.into()))?;
    bytes.push(b'\n');
    write_whole(&path, &bytes)
        .and_then(|()| write_whole(&directory.join(LATEST), &bytes))
        .and_then(|()| match fs::remove_file(directory.join(stem + STARTED)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
        .and_then(|()| remove_oldest(directory, &path, KEPT_RUNS, KEPT_BYTES))
        .map_err(|cause| StoreError::new(directory, cause))?;
    Ok(path)
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

/// Puts `bytes` in the place of the file at `path`: whenever it is read, and whenever the power is cut, it is the old file or the new one.
///
/// # Errors
/// When the directory does not take them; the old file is then as it was.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What could not be finished is no one's: on a full disk it would take the room of others.
    write_whole_with(path, bytes, |_| {}).inspect_err(|_| drop(fs::remove_file(temporary(path))))
}

fn write_whole_with(path: &Path, bytes: &[u8], mut reached: impl FnMut(Step)) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let temporary = temporary(path);
    // Not truncated first: what was reserved stays ours.
    let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&temporary)?;
    reached(Step::Created);
    let (first, second) = bytes.split_at(bytes.len() / 2);
    file.write_all(first)?;
    reached(Step::HalfWritten);
    file.write_all(second)?;
    file.set_len(bytes.len() as u64)?;
    reached(Step::Written);
    file.sync_all()?;
    reached(Step::Synced);
    fs::rename(&temporary, path)?;
    reached(Step::Renamed);
    File::open(directory)?.sync_all()?;
    reached(Step::DirectorySynced);
    Ok(())
}

/// The name that a file has until it is whole.
fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(TEMPORARY_SUFFIX);
    path.with_file_name(name)
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

/// Removes the oldest files in `directory` beyond `kept_files` and `kept_bytes`, and never `newest`.
///
/// # Errors
/// When one cannot be removed.
pub(crate) fn remove_oldest(directory: &Path, newest: &Path, kept_files: usize, kept_bytes: u64) -> io::Result<()> {
    let (mut runs, mut bytes) = (Vec::new(), 0);
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if !name.ends_with(REPORT) && !name.ends_with(STARTED) {
            continue;
        }
        let length = entry.metadata()?.len();
        bytes += length;
        if path != newest && name != LATEST {
            runs.push((name::order(&name), name, length, path));
        }
    }
    runs.sort();
    let mut count = runs.len() + 1;
    for (_, _, length, path) in runs {
        if count <= kept_files && bytes <= kept_bytes {
            break;
        }
        fs::remove_file(path)?;
        count -= 1;
        bytes -= length;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
