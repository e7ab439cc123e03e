//! Why a log cannot be opened, written or read: each reason names the file and what to do about it.

use std::io;
use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

/// Why something was not done to a log.
#[derive(Debug, Error)]
pub enum LogError {
    /// The kernel refused.
    #[error("cannot {doing} {}: {source}{}", path.display(), remedy(source))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// With which file or directory.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The disk is full, and there is no older segment to write over.
    #[error("no room for {bytes} bytes at {}: free some, or give the log fewer bytes in the gateway's settings", path.display())]
    NoSpace {
        /// The segment's file.
        path: PathBuf,
        /// Bytes of a segment.
        bytes: usize,
    },
    /// The disk did not take what was written.
    #[error(
        "the disk did not take what was written to {}: {source}; what was sent since it took something last may be lost in a power \
         cut: look at the disk (dmesg)",
        path.display()
    )]
    Disk {
        /// With which file or directory.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// A segment could not be begun a moment ago, and it is not tried for every message.
    #[error("{why}")]
    Paused {
        /// What was in the way.
        why: String,
    },
    /// Another process writes this log.
    #[error("another process writes the log in {}: stop it, or give this one a directory of its own", path.display())]
    InUse {
        /// The log's directory.
        path: PathBuf,
    },
    /// The message does not fit into a segment.
    #[error(
        "a message of {bytes} bytes does not fit into a segment, which holds at most {maximum}: make segments larger"
    )]
    TooLong {
        /// Bytes of the message.
        bytes: usize,
        /// Bytes of the longest message.
        maximum: usize,
    },
    /// Settings that cannot be.
    #[error("a log cannot have {what}: {remedy}")]
    Settings {
        /// What was asked for.
        what: String,
        /// What to do.
        remedy: String,
    },
    /// A segment cannot be mapped.
    #[error(transparent)]
    Map(#[from] horus_shm::error::OpenError),
}

/// What to do about the reasons that a person can do something about.
fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::ReadOnlyFilesystem => {
            "; a log needs a disk that can be written: name one by log_directory in the gateway's settings"
        }
        io::ErrorKind::PermissionDenied => "; let the gateway's user write there, or name another log_directory",
        io::ErrorKind::NotFound => "; the log's directory was taken away: bring it back, or start the gateway anew",
        _ => "",
    }
}

impl LogError {
    /// Whether the disk is in the way, and no setting: it is full, read-only or broken.
    pub fn is_of_the_disk(&self) -> bool {
        match self {
            Self::Io { source, .. } => {
                matches!(Errno::from_io_error(source), Some(Errno::ROFS | Errno::NOSPC | Errno::DQUOT | Errno::IO))
            }
            Self::NoSpace { .. } | Self::Disk { .. } | Self::Paused { .. } => true,
            Self::InUse { .. } | Self::TooLong { .. } | Self::Settings { .. } | Self::Map(_) => false,
        }
    }

    pub(super) fn disk(path: impl Into<PathBuf>, source: Errno) -> Self {
        Self::Disk { path: path.into(), source: source.into() }
    }

    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self::Io { doing, path: path.into(), source: source.into() }
    }
}
