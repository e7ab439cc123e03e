//! The audited file system: the live one, or a recorded copy of its `/proc`, `/sys` and `/boot`.
//!
//! A recorded tree may come from anybody, so nothing in it can make the audit read a file outside it (a symbolic link
//! that leaves the tree is an error), wait (every open is non-blocking) or use memory without bound. On a live machine
//! links are followed: `/sys` is made of them.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::pattern;

/// More than any file that a rule reads; a kernel configuration has 300 kB, a kernel log at most a few MB.
const MAX_BYTES: usize = 8 << 20;
/// More than the interrupts, tasks or CPUs of any machine that we run on.
const MAX_NAMES: usize = 65_536;

/// A file system to audit, named by the directory that holds its `proc` and `sys`.
pub struct Tree {
    root: PathBuf,
}

/// Why a file could not be read: a sentence that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread(pub String);

impl Tree {
    /// The file system at `root`; `/` is the live machine.
    ///
    /// # Errors
    /// When `root` is not a directory that can be entered.
    pub fn open(root: &Path) -> Result<Self, Unread> {
        let unread = |error| Unread(format!("{}: {error}", root.display()));
        let canonical = root.canonicalize().map_err(unread)?;
        fs::read_dir(&canonical).map_err(unread)?;
        Ok(Self { root: canonical })
    }

    /// The directory that stands for `/`.
    pub fn root(&self) -> &Path {
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
    pub fn bytes(&self, path: &str) -> Result<Vec<u8>, Unread> {
        let unread = |error: std::io::Error| Unread(sentence(path, &error));
        let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut file =
            OpenOptions::new().read(true).custom_flags(nonblocking).open(self.inside(path)?).map_err(unread)?;
        let mut bytes = Vec::new();
        let mut chunk = vec![0; 64 << 10]; // /dev/kmsg hands out one record a read and refuses small buffers
        loop {
            match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break, // the end of /dev/kmsg
                Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::Interrupted) => {}
                Err(error) => return Err(unread(error)),
            }
            if bytes.len() > MAX_BYTES {
                return Err(Unread(format!("{path} is larger than {MAX_BYTES} bytes")));
            }
        }
        Ok(bytes)
    }

    /// Whether the file at `path` has a write permission: the kernel leaves it out where a setting cannot be changed.
    pub fn is_writable(&self, path: &str) -> bool {
        let mode = self.inside(path).ok().and_then(|path| Some(fs::metadata(path).ok()?.permissions().mode()));
        mode.is_some_and(|mode| mode & 0o200 != 0)
    }

    /// The names in the directory at the absolute path `path`, `cpu2` before `cpu10`.
    ///
    /// # Errors
    /// As for [`Tree::text`].
    pub fn names(&self, path: &str) -> Result<Vec<String>, Unread> {
        let entries = fs::read_dir(self.inside(path)?).map_err(|error| Unread(sentence(path, &error)))?;
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(MAX_NAMES).collect();
        names.sort_by(|left, right| pattern::natural_order(left, right));
        Ok(names)
    }

    /// The absolute paths that `glob` matches, `*` and `?` standing for characters of one name.
    ///
    /// # Errors
    /// When nothing matches, or the directory above the first wildcard cannot be read.
    pub fn glob(&self, glob: &str) -> Result<Vec<String>, Unread> {
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
        paths.retain(|path| self.inside(path).is_ok_and(|path| path.exists()));
        if paths.is_empty() { Err(Unread(format!("no file matches {glob}"))) } else { Ok(paths) }
    }

    /// The real path of `path`, which is inside the tree.
    fn inside(&self, path: &str) -> Result<PathBuf, Unread> {
        let joined = self.root.join(path.trim_start_matches('/'));
        let real = joined.canonicalize().map_err(|error| Unread(sentence(path, &error)))?;
        if !real.starts_with(&self.root) {
            return Err(Unread(format!("{path} is a link that leaves {}", self.root.display())));
        }
        let kind = fs::metadata(&real).map_err(|error| Unread(sentence(path, &error)))?;
        if self.root != Path::new("/") && !kind.is_file() && !kind.is_dir() {
            return Err(Unread(format!("{path} is neither a file nor a directory")));
        }
        Ok(real)
    }
}

/// What a person needs to know when `path` could not be read.
fn sentence(path: &str, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("{path} does not exist"),
        ErrorKind::PermissionDenied => format!("{path} may not be read by this user: run as root"),
        _ => format!("{path} cannot be read: {error}"),
    }
}

#[cfg(test)]
mod tests {
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
    fn globs_match_one_level_a_star_and_sort_by_number() {
        let (_directory, tree) =
            tree(&[("sys/cpu10/a", "1"), ("sys/cpu2/a", "2"), ("sys/cpu2/b", "2"), ("sys/x/y", "")]);
        assert_eq!(tree.glob("/sys/cpu*/a").unwrap(), ["/sys/cpu2/a", "/sys/cpu10/a"]);
        assert_eq!(tree.glob("/sys/*/z"), Err(Unread("no file matches /sys/*/z".to_owned())));
    }
}
