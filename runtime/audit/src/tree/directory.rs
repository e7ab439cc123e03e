//! A file system in a directory: the live machine at `/`, or a copy below another directory.
//!
//! A copy may come from anybody, so nothing in it can make the audit read a file outside it (a symbolic link that leaves it
//! is an error), wait (every open is non-blocking) or use memory without bound. On a live machine links are followed:
//! `/sys` is made of them.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{MAX_BYTES, MAX_NAMES, Unread, missing};

/// The directory that stands for `/`.
pub struct Directory {
    root: PathBuf,
}

impl Directory {
    /// The directory `root`.
    ///
    /// # Errors
    /// When it is not one that can be entered.
    pub fn open(root: &Path) -> Result<Self, Unread> {
        let unread = |error| Unread(format!("{}: {error}", root.display()));
        let canonical = root.canonicalize().map_err(unread)?;
        fs::read_dir(&canonical).map_err(unread)?;
        Ok(Self { root: canonical })
    }

    /// The bytes of a file.
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

    /// Whether a file has a write permission.
    pub fn is_writable(&self, path: &str) -> bool {
        let mode = self.inside(path).ok().and_then(|path| Some(fs::metadata(path).ok()?.permissions().mode()));
        mode.is_some_and(|mode| mode & 0o200 != 0)
    }

    /// The names in a directory, in any order.
    pub fn names(&self, path: &str) -> Result<Vec<String>, Unread> {
        let entries = fs::read_dir(self.inside(path)?).map_err(|error| Unread(sentence(path, &error)))?;
        Ok(entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).take(MAX_NAMES).collect())
    }

    /// Whether there is a file or directory at `path`.
    pub fn exists(&self, path: &str) -> bool {
        self.inside(path).is_ok()
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
        ErrorKind::NotFound => missing(path).0,
        ErrorKind::PermissionDenied => format!("{path} may not be read by this user: run as root"),
        _ => format!("{path} cannot be read: {error}"),
    }
}
