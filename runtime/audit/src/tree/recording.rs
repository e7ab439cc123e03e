//! A recorded machine in one text file, as `scripts/record-tree` writes it.
//!
//! ```text
//! # A machine recorded for `horus doctor`, version 1.
//! /proc/version
//! <tab>Linux version 6.12.48 …
//! /proc/irq/24/smp_affinity_list read-only
//! <tab>1
//! /proc/device-tree/hypervisor/
//! ```
//!
//! A line that starts with `/` names a file, or a directory by a `/` at its end; files imply their directories.
//! `read-only` says that the file had no write permission, which rules about interrupts ask for. The lines of a file follow
//! with a tab before each; a file without lines is empty. Other lines start with `#` and are for people.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{MAX_BYTES, MAX_NAMES, Unread, missing};

/// How the first line of every recording starts.
const FIRST_LINE: &str = "# A machine recorded for `horus doctor`, version 1";
/// What follows the name of a file that no user may write.
const READ_ONLY: &str = " read-only";
/// More than a machine with thousands of tasks and interrupts has.
const MAX_RECORDING_BYTES: u64 = 64 << 20;

/// All files of a recorded machine by their absolute paths; a directory ends with `/`.
pub struct Recording {
    files: BTreeMap<String, Recorded>,
}

#[derive(Default)]
struct Recorded {
    text: String,
    is_read_only: bool,
}

impl Recording {
    /// Reads the recording in `file`.
    ///
    /// # Errors
    /// When it cannot be read or is none; the sentence names the line.
    pub fn open(file: &Path) -> Result<Self, Unread> {
        let unread = |error| Unread(format!("{}: {error}", file.display()));
        let mut bytes = Vec::new();
        File::open(file).and_then(|open| open.take(MAX_RECORDING_BYTES + 1).read_to_end(&mut bytes)).map_err(unread)?;
        if bytes.len() as u64 > MAX_RECORDING_BYTES {
            return Err(Unread(format!("{} is larger than {MAX_RECORDING_BYTES} bytes", file.display())));
        }
        Self::parse(&String::from_utf8_lossy(&bytes)).map_err(|(line, what)| {
            Unread(format!("{}:{line}: {what}; scripts/record-tree records a machine", file.display()))
        })
    }

    /// Reads the text of a recording, or says which line is wrong.
    fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        if !text.starts_with(FIRST_LINE) {
            return Err((1, "this is no recording: its first line is another"));
        }
        let mut files = BTreeMap::new();
        let mut last: Option<&mut Recorded> = None;
        for (line, number) in text.lines().zip(1..) {
            if let Some(content) = line.strip_prefix('\t') {
                let file = last.as_mut().ok_or((number, "these contents follow no name of a file"))?;
                file.text.push_str(content);
                file.text.push('\n');
            } else if line.starts_with('/') {
                let (path, is_read_only) = match line.strip_suffix(READ_ONLY) {
                    Some(path) => (path, true),
                    None => (line, false),
                };
                let file = files.entry(path.to_owned()).or_insert_with(Recorded::default);
                *file = Recorded { text: String::new(), is_read_only };
                last = (!path.ends_with('/')).then_some(file);
            } else if !line.is_empty() && !line.starts_with('#') {
                return Err((number, "a line starts with '/', a tab or '#'"));
            }
        }
        Ok(Self { files })
    }

    /// The bytes of a file.
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Unread> {
        match self.files.get(path) {
            Some(file) if file.text.len() > MAX_BYTES => {
                Err(Unread(format!("{path} is larger than {MAX_BYTES} bytes")))
            }
            Some(file) => Ok(file.text.clone().into_bytes()),
            None if self.exists(path) => Err(Unread(format!("{path} cannot be read: it is a directory"))),
            None => Err(missing(path)),
        }
    }

    /// Whether a file has a write permission.
    pub fn is_writable(&self, path: &str) -> bool {
        self.files.get(path).is_some_and(|file| !file.is_read_only)
    }

    /// The names in a directory, in any order.
    pub fn names(&self, path: &str) -> Result<Vec<String>, Unread> {
        let mut names: Vec<String> = Vec::new();
        for rest in self.below(path) {
            let name = rest.split('/').next().unwrap_or_default();
            // What is below one name follows each other in the order of paths, but `a-b` may come between `a` and `a/b`.
            if !name.is_empty() && names.last().is_none_or(|last| last != name) {
                names.push(name.to_owned());
            }
        }
        if names.is_empty() && !self.exists(path) {
            return Err(missing(path));
        }
        names.sort();
        names.dedup();
        names.truncate(MAX_NAMES);
        Ok(names)
    }

    /// Whether there is a file or directory at `path`.
    pub fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.below(path).next().is_some()
    }

    /// The paths below a directory, from the directory on; an empty one for the directory itself.
    fn below(&self, path: &str) -> impl Iterator<Item = &str> {
        let directory = format!("{}/", path.trim_end_matches('/'));
        let length = directory.len();
        let from_here = self.files.range(directory.clone()..).map(|(path, _)| path.as_str());
        from_here.take_while(move |path| path.starts_with(&directory)).map(move |path| &path[length..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(lines: &str) -> Result<Recording, (usize, &'static str)> {
        Recording::parse(&format!("{FIRST_LINE}.\n{lines}"))
    }

    #[test]
    fn what_was_recorded_is_read_back_with_its_permissions_and_directories() {
        let text = "/proc/version\n\tLinux\n\t# more\n/proc/swaps\n/proc/irq/24/smp_affinity_list read-only\n\t1\n\
                    # for people\n\n/proc/device-tree/hypervisor/\n";
        let recording = recording(text).unwrap();
        assert_eq!(recording.bytes("/proc/version").unwrap(), b"Linux\n# more\n");
        assert_eq!(recording.bytes("/proc/swaps").unwrap(), b"");
        let writable = |path| recording.is_writable(path);
        assert_eq!((writable("/proc/swaps"), writable("/proc/irq/24/smp_affinity_list")), (true, false));
        assert_eq!(recording.names("/proc/irq").unwrap(), ["24"]);
        assert_eq!(recording.names("/").unwrap(), ["proc"]);
        assert_eq!(recording.names("/proc/device-tree/hypervisor").unwrap(), Vec::<String>::new());
        assert_eq!(recording.names("/proc/irq/25"), Err(missing("/proc/irq/25")));
        assert_eq!(recording.bytes("/proc/nothing"), Err(missing("/proc/nothing")));
        assert!(recording.bytes("/proc/irq").is_err() && recording.exists("/proc/irq"));
    }

    #[test]
    fn names_that_stand_between_those_of_a_directory_hide_none_of_it() {
        let recording = recording("/a\n/a-b\n/a/c\n/a.d\n").unwrap();
        assert_eq!(recording.names("/").unwrap(), ["a", "a-b", "a.d"]);
    }

    #[test]
    fn what_is_no_recording_is_refused_with_its_line() {
        assert_eq!(Recording::parse("").err().unwrap().0, 1);
        assert_eq!(Recording::parse("/proc/version\n").err().unwrap().0, 1);
        for (lines, line) in [("\tLinux\n", 2), ("/a\nb\n", 3), ("/a/\n\tb\n", 3), ("a/\n", 2)] {
            assert_eq!(recording(lines).err().map(|(line, _)| line), Some(line), "{lines:?}");
        }
    }
}
