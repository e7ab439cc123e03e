//! The audited file system: that of the live machine, or a recorded copy of its `/proc`, `/sys` and `/boot`, which is a
//! directory or one text file.

mod directory;
mod recording;

use std::path::{Path, PathBuf};

use directory::Directory;
use recording::Recording;

use crate::pattern;

/// More than any file that a rule reads; a kernel configuration has 300 kB, a kernel log at most a few MB.
const MAX_BYTES: usize = 8 << 20;
/// More than the interrupts, tasks or CPUs of any machine that we run on.
const MAX_NAMES: usize = 65_536;

/// A file system to audit.
pub struct Tree {
    root: PathBuf,
    files: Files,
}

enum Files {
    Directory(Directory),
    Recording(Recording),
}

/// Why a file could not be read: a sentence that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread(pub String);

/// For a file that is not there.
fn missing(path: &str) -> Unread {
    Unread(format!("{path} does not exist"))
}

impl Tree {
    /// The file system at `root`: a directory, of which `/` is the live machine, or the file of a recording.
    ///
    /// # Errors
    /// When `root` is a directory that cannot be entered, or no recording.
    pub fn open(root: &Path) -> Result<Self, Unread> {
        let files = match root.is_file() {
            true => Files::Recording(Recording::open(root)?),
            false => Files::Directory(Directory::open(root)?),
        };
        Ok(Self { root: root.to_owned(), files })
    }

    /// What stands for `/`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The text of the file at the absolute path `path`, without white space at its ends.
    ///
    /// # Errors
    /// When it is missing, not permitted, not a file, or outside the tree.
    pub fn text(&self, path: &str) -> Result<String, Unread> {
        Ok(String::from_utf8_lossy(&self.bytes(path)?).trim().to_owned())
    }

    /// The bytes of the file at the absolute path `path`.
    ///
    /// # Errors
    /// As for [`Tree::text`], and when the file is larger than 8 MiB.
    pub(crate) fn bytes(&self, path: &str) -> Result<Vec<u8>, Unread> {
        match &self.files {
            Files::Directory(directory) => directory.bytes(path),
            Files::Recording(recording) => recording.bytes(path),
        }
    }

    /// Whether the file at `path` has a write permission: the kernel leaves it out where a setting cannot be changed.
    pub(crate) fn is_writable(&self, path: &str) -> bool {
        match &self.files {
            Files::Directory(directory) => directory.is_writable(path),
            Files::Recording(recording) => recording.is_writable(path),
        }
    }

    /// The names in the directory at the absolute path `path`, `cpu2` before `cpu10`.
    ///
    /// # Errors
    /// As for [`Tree::text`].
    pub(crate) fn names(&self, path: &str) -> Result<Vec<String>, Unread> {
        let mut names = match &self.files {
            Files::Directory(directory) => directory.names(path)?,
            Files::Recording(recording) => recording.names(path)?,
        };
        names.sort_by(|left, right| pattern::natural_order(left, right));
        Ok(names)
    }

    fn exists(&self, path: &str) -> bool {
        match &self.files {
            Files::Directory(directory) => directory.exists(path),
            Files::Recording(recording) => recording.exists(path),
        }
    }

    /// The absolute paths that `glob` matches, `*` and `?` standing for characters of one name.
    ///
    /// # Errors
    /// When nothing matches, or the directory above the first wildcard cannot be read.
    pub(crate) fn glob(&self, glob: &str) -> Result<Vec<String>, Unread> {
        let mut paths = vec![String::new()];
        for (depth, part) in glob.trim_start_matches('/').split('/').enumerate() {
            if !pattern::is_pattern(part) {
                paths.iter_mut().for_each(|path| *path = format!("{path}/{part}"));
                continue;
            }
            let mut next = Vec::new();
            for path in &paths {
                let directory = if depth == 0 { "/" } else { path };
                match self.names(directory) {
                    Ok(names) => {
                        let names = names.iter().filter(|name| pattern::matches(part, name));
                        next.extend(names.map(|name| format!("{path}/{name}")));
                    }
                    Err(unread) if paths.len() == 1 => return Err(unread),
                    Err(_) => {} // one of several directories lacks this level
                }
            }
            next.truncate(MAX_NAMES);
            paths = next;
        }
        paths.retain(|path| self.exists(path));
        if paths.is_empty() { Err(Unread(format!("no file matches {glob}"))) } else { Ok(paths) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let tree = Tree::open(directory.path()).unwrap();
        (directory, tree)
    }

    #[test]
    fn a_missing_file_is_named() {
        let (_directory, tree) = tree(&[]);
        assert_eq!(tree.text("/proc/version"), Err(Unread("/proc/version does not exist".to_owned())));
        assert_eq!(tree.glob("/sys/*/x"), Err(Unread("/sys does not exist".to_owned())));
    }

    #[test]
    fn a_recorded_tree_cannot_point_outside_itself() {
        let (directory, tree) = tree(&[("proc/version", "Linux")]);
        std::os::unix::fs::symlink("/etc/hostname", directory.path().join("proc/link")).unwrap();
        assert!(tree.text("/proc/link").is_err());
        assert!(tree.text("/../../../../etc/hostname").is_err());
    }

    #[test]
    fn a_pipe_in_a_recorded_tree_does_not_make_the_audit_wait() {
        let (directory, tree) = tree(&[]);
        let pipe = directory.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0).unwrap();
        assert!(tree.text("/pipe").is_err());
    }

    #[test]
    fn a_recording_is_read_like_a_directory_and_any_other_file_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("machine.tree");
        let text =
            "# A machine recorded for `horus doctor`, version 1.\n/sys/cpu10/a\n\t1\n/sys/cpu2/a\n\t2\n/sys/x/y\n";
        fs::write(&file, text).unwrap();
        let tree = Tree::open(&file).unwrap();
        assert_eq!(tree.glob("/sys/cpu*/a").unwrap(), ["/sys/cpu2/a", "/sys/cpu10/a"]);
        assert_eq!(tree.text("/sys/cpu2/a").unwrap(), "2");
        assert_eq!(tree.text("/proc/version"), Err(Unread("/proc/version does not exist".to_owned())));
        fs::write(&file, "Linux version 6.12").unwrap();
        let Unread(reason) = Tree::open(&file).err().unwrap();
        assert!(reason.contains("machine.tree:1: ") && reason.contains("scripts/record-tree"), "{reason}");
    }

    #[test]
    fn globs_match_one_level_a_star_and_sort_by_number() {
        let (_directory, tree) =
            tree(&[("sys/cpu10/a", "1"), ("sys/cpu2/a", "2"), ("sys/cpu2/b", "2"), ("sys/x/y", "")]);
        assert_eq!(tree.glob("/sys/cpu*/a").unwrap(), ["/sys/cpu2/a", "/sys/cpu10/a"]);
        assert_eq!(tree.glob("/sys/*/z"), Err(Unread("no file matches /sys/*/z".to_owned())));
    }
}
