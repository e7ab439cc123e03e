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

/// How many boots are kept; the oldest files go first, and the newest never.
pub const KEPT_REPORTS: usize = 50;

/// What all reports together may take. 50 ordinary ones have a quarter of it; a report has as many classes of its histograms
/// as the run has different latencies.
pub const KEPT_BYTES: u64 = 32 << 20;

/// What is reserved for a report: more than one of a minute in an emulator has, which are the longest.
const ROOM_BYTES: usize = 256 << 10;

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
pub struct Room([PathBuf; 2]);

impl Room {
    /// Takes the room in `directory` for the report of the boot `boot_id`, and removes what earlier runs left unfinished.
    ///
    /// # Errors
    /// When the report could not be stored there now, with what to do.
    pub fn reserve(directory: &Path, boot_id: &str) -> Result<Self, StoreError> {
        let take = || -> io::Result<Self> {
            fs::create_dir_all(directory)?;
            remove_leftovers(directory)?;
            let room = Self([file_name(boot_id).as_str(), LATEST].map(|name| temporary(&directory.join(name))));
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

/// Stores `report` as `<boot-id>.json` and as [`LATEST`], and removes the oldest beyond [`KEPT_REPORTS`] and [`KEPT_BYTES`].
///
/// A second run in the same boot replaces the first: one file a boot.
pub fn store(directory: &Path, report: &Report) -> Result<PathBuf, StoreError> {
    let path = directory.join(file_name(&report.boot_id));
    let mut bytes = serde_json::to_vec(report).map_err(|error| StoreError::new(directory, error.into()))?;
    bytes.push(b'\n');
    write_whole(&path, &bytes)
        .and_then(|()| write_whole(&directory.join(LATEST), &bytes))
        .and_then(|()| remove_oldest(directory, &path, KEPT_BYTES))
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

fn remove_oldest(directory: &Path, newest: &Path, kept_bytes: u64) -> io::Result<()> {
    let (mut reports, mut bytes) = (Vec::new(), 0);
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        if path.extension().is_none_or(|extension| extension != "json") {
            continue;
        }
        let about = entry.metadata()?;
        bytes += about.len();
        if path != newest && entry.file_name() != LATEST {
            reports.push((about.modified()?, about.len(), path));
        }
    }
    reports.sort();
    let mut count = reports.len() + 1;
    for (_, length, path) in reports {
        if count <= KEPT_REPORTS && bytes <= kept_bytes {
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
