//! Why a topic could not be opened: each reason names the file and what to do about it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use thiserror::Error;

use crate::directory::NamespaceError;
use crate::layout::ShapeError;
use crate::rejected::Rejected;

/// Why a segment could not be made or opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// What was asked for cannot exist.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// `HORUS_NAMESPACE` names what cannot be a namespace.
    #[error("HORUS_NAMESPACE: {0}")]
    Namespace(#[from] NamespaceError),
    /// The permissions asked for would let everybody write, or are no file permissions.
    #[error("mode {mode:04o} is not possible for a topic: use 0600, or 0660 with a group that shares it")]
    Mode {
        /// The permissions asked for.
        mode: u32,
    },
    /// The type's name does not fit into the header.
    #[error("the type name {name:?} has {} bytes: 1 to {} are possible", name.len(), crate::layout::TYPE_NAME_BYTES)]
    TypeName {
        /// The name.
        name: String,
    },
    /// Everybody may write to the directory.
    #[error("everybody may write to {}: take that away (chmod o-w), or set HORUS_SHM_DIR to a private \
        directory", path.display())]
    WorldWritable {
        /// The directory.
        path: PathBuf,
    },
    /// Somebody else made the directory.
    #[error("{} belongs to user {owner}: let root make it for a shared group (systemd-tmpfiles), or set \
        HORUS_SHM_DIR", path.display())]
    ForeignDirectory {
        /// The directory.
        path: PathBuf,
        /// Its owner's number.
        owner: u32,
    },
    /// The file is there and is not what was asked for.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// Nobody publishes the topic.
    #[error("nobody publishes {} (waited {waited:?}): start the publisher, or open with a longer wait", path.display())]
    NotFound {
        /// The file that a publisher would have made.
        path: PathBuf,
        /// How long was waited for it.
        waited: Duration,
    },
    /// As many publishers live as the topic was made for.
    #[error("{} has {publishers} living publishers (one of them process {pid}) and room for no more: stop one of them, \
        publish under another name, or make the topic with room for more (`Options::publishers`)", path.display())]
    PublishersFull {
        /// The topic's file.
        path: PathBuf,
        /// How many there are.
        publishers: usize,
        /// The first of them.
        pid: u32,
    },
    /// As many subscribers live as the topic was made for.
    #[error("{} has {subscribers} living subscribers and room for no more: stop one of them", path.display())]
    SubscribersFull {
        /// The topic's file.
        path: PathBuf,
        /// How many there are.
        subscribers: usize,
    },
    /// There is no memory for the segment.
    #[error("no room for {bytes} bytes in {}: free memory, enlarge the file system, or choose a smaller \
        capacity", path.display())]
    NoSpace {
        /// The topic's file.
        path: PathBuf,
        /// How many bytes it needs.
        bytes: usize,
    },
    /// Another process holds the segment's lock and does not let go.
    #[error("{} stayed locked for {waited:?}: a process that was joining or leaving is stopped; see `fuser \
        {}`", path.display(), path.display())]
    Busy {
        /// The topic's file.
        path: PathBuf,
        /// How long was waited.
        waited: Duration,
    },
    /// This user may not open the file.
    #[error("not permitted to open {}: run as its owner, or let the publisher make it with a shared group and mode \
        0660", path.display())]
    NotPermitted {
        /// The topic's file.
        path: PathBuf,
    },
    /// The kernel refused something else.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or directory.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
}

impl OpenError {
    /// The error for an answer of the kernel, with the two that have a better explanation told apart.
    pub(crate) fn io(doing: &'static str, path: &Path, error: Errno) -> Self {
        match error {
            Errno::ACCESS | Errno::PERM => Self::NotPermitted { path: path.to_owned() },
            _ => Self::Io { doing, path: path.to_owned(), source: error.into() },
        }
    }
}
