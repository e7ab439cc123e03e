//! The traces that are kept: the last misses' frozen pages as files, within a quota.
//!
//! A file is named `000042-balance-control-BOOT-CYCLE.dat`: a number that grows, since clocks jump; the node; the boot; the cycle. Beside
//! it, with the suffix `.json`, stands what the node recorded of its last cycles and messages. Both go together.
//! A file appears whole or not at all. It is not forced to the disk, so that no program waits for one: a power cut may cost the
//! newest.

pub(crate) mod trace_dat;

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use horus::witness::protocol::Missed;

/// The most files that are kept, however small they are.
const MOST_FILES: usize = 200;
/// The longest part of a node's name in a file's.
const LONGEST_NAME: usize = 64;
/// What stands beside a trace has this suffix.
pub const RECORDING: &str = "json";

/// The number that the name of a kept file begins with.
pub fn number(name: &str) -> Option<u64> {
    name.split_once('-')?.0.parse().ok()
}

/// Keeps traces in one folder.
#[derive(Debug)]
pub struct Flight {
    folder: PathBuf,
    quota_bytes: u64,
    boot: String,
}

/// A file of ours.
struct Kept {
    number: u64,
    name: OsString,
    bytes: u64,
}

impl Flight {
    /// In this folder, which is made when it is missing.
    ///
    /// # Errors
    /// When there is no such folder and it cannot be made.
    pub fn new(folder: PathBuf, quota_bytes: u64) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let boot = boot.chars().filter(char::is_ascii_hexdigit).take(8).collect();
        Ok(Self { folder, quota_bytes, boot })
    }

    /// Writes a trace, and removes the oldest ones that are then too many. Returns where it is.
    ///
    /// # Errors
    /// When it is larger than all that may be kept, or cannot be written. Then nothing of it is left.
    pub fn keep(&self, missed: &Missed, trace: &[u8], recording: Option<&[u8]>) -> io::Result<PathBuf> {
        let size = trace.len() as u64 + recording.map_or(0, |recording| recording.len() as u64);
        if size > self.quota_bytes {
            return Err(io::Error::other(format!(
                "a trace of {size} bytes is above the quota of {}",
                self.quota_bytes
            )));
        }
        let mut kept = self.kept()?;
        let mut bytes: u64 = kept.iter().map(|file| file.bytes).sum();
        let number = kept.last().map_or(1, |file| file.number.saturating_add(1));
        let mut oldest = kept.drain(..);
        while oldest.len() + 1 > MOST_FILES || bytes.saturating_add(size) > self.quota_bytes {
            let Some(file) = oldest.next() else { break };
            let path = self.folder.join(&file.name);
            fs::remove_file(&path)?;
            let _ = fs::remove_file(path.with_extension(RECORDING)); // which not every trace has
            bytes = bytes.saturating_sub(file.bytes);
        }
        let path = self.folder.join(format!("{number:06}-{}-{}-{}.dat", word(&missed.node), self.boot, missed.cycle));
        if let Some(recording) = recording {
            self.write(&path.with_extension(RECORDING), recording)?;
        }
        let written = self.write(&path, trace);
        if written.is_err() {
            let _ = fs::remove_file(path.with_extension(RECORDING));
        }
        written.map(|()| path)
    }

    /// Writes what was recorded beside a trace that is kept, unless something stands there.
    ///
    /// # Errors
    /// When it cannot be written. Then the trace stays without.
    pub fn add(&self, trace: &Path, recording: &[u8]) -> io::Result<()> {
        let path = trace.with_extension(RECORDING);
        if path.exists() || !trace.exists() { Ok(()) } else { self.write(&path, recording) }
    }

    /// Writes a file that appears whole or not at all. A trace holds addresses of the kernel, which are not for everybody.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let unfinished = self.folder.join("unfinished.part");
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o640).open(&unfinished);
        let written = file.and_then(|mut file| file.write_all(bytes)).and_then(|()| fs::rename(&unfinished, path));
        if written.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        written
    }

    /// Our files, the oldest first. Others in the folder are none of our business.
    fn kept(&self) -> io::Result<Vec<Kept>> {
        let mut files: Vec<Kept> = Vec::new();
        for entry in fs::read_dir(&self.folder)?.flatten() {
            let name = entry.file_name();
            let number = name.to_str().filter(|name| name.ends_with(".dat")).and_then(number);
            if let (Some(number), Ok(metadata)) = (number, entry.metadata())
                && metadata.is_file()
            {
                let beside = fs::metadata(entry.path().with_extension(RECORDING)).map_or(0, |beside| beside.len());
                files.push(Kept { number, name, bytes: metadata.len() + beside });
            }
        }
        files.sort_by(|one, other| (one.number, &one.name).cmp(&(other.number, &other.name)));
        Ok(files)
    }
}

/// A node's name as a part of a file's: a program may call a node what it likes.
fn word(node: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    node.chars().take(LONGEST_NAME).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(node: &str, cycle: u64) -> Missed {
        let node = node.to_owned();
        let (release_ns, wake_ns, completion_ns, deadline_ns) = (0, 0, 0, 0);
        Missed { node, tid: 1, cpu: 1, cycle, release_ns, wake_ns, completion_ns, deadline_ns, budget_ns: None }
    }

    fn names(flight: &Flight) -> Vec<String> {
        flight.kept().unwrap().into_iter().map(|file| file.name.into_string().unwrap()).collect()
    }

    #[test]
    fn the_oldest_traces_make_room_for_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let mut flight = Flight::new(folder.path().join("flight"), 250).unwrap();
        flight.boot = "b007".to_owned();
        std::fs::write(folder.path().join("flight/notes.txt"), [0; 500]).unwrap();
        for cycle in 7..11 {
            let path = flight.keep(&missed("balance/control", cycle), &[0; 60], Some(&[b'x'; 40])).unwrap();
            assert!(path.exists() && path.with_extension(RECORDING).exists());
        }
        assert_eq!(names(&flight), ["000003-balance-control-b007-9.dat", "000004-balance-control-b007-10.dat"]);
        assert!(
            flight
                .keep(&missed("balance/control", 11), &[0; 250], Some(b"x"))
                .unwrap_err()
                .to_string()
                .contains("quota")
        );
        assert_eq!(names(&flight).len(), 2, "what is too large costs nothing else");
        let all = std::fs::read_dir(folder.path().join("flight")).unwrap().count();
        assert_eq!(all, 2 * 2 + 1, "each with what was recorded, which goes with it");
        assert!(folder.path().join("flight/notes.txt").exists());
    }

    #[test]
    fn the_first_recording_stays_beside_its_trace_and_none_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let flight = Flight::new(folder.path().to_owned(), 1000).unwrap();
        let trace = flight.keep(&missed("a", 1), b"x", None).unwrap();
        flight.add(&trace, b"first").unwrap();
        flight.add(&trace, b"second").unwrap();
        assert_eq!(fs::read(trace.with_extension(RECORDING)).unwrap(), b"first");
        fs::remove_file(&trace).unwrap();
        fs::remove_file(trace.with_extension(RECORDING)).unwrap();
        flight.add(&trace, b"late").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_node_of_any_name_stays_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let flight = Flight::new(folder.path().to_owned(), 1000).unwrap();
        let path = flight.keep(&missed(&format!("../../etc/{}\0", "x".repeat(300)), 1), b"x", None).unwrap();
        assert_eq!(path.parent(), Some(folder.path()));
        assert_eq!(names(&flight).len(), 1);
    }

    #[test]
    fn no_more_files_are_kept_than_two_hundred() {
        let folder = tempfile::tempdir().unwrap();
        let flight = Flight::new(folder.path().to_owned(), 1 << 30).unwrap();
        (0..203).for_each(|cycle| drop(flight.keep(&missed("a", cycle), b"x", None).unwrap()));
        assert_eq!(names(&flight).len(), MOST_FILES);
    }
}
