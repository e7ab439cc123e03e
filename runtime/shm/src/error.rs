//! Why a topic could not be opened: each reason names the file and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use thiserror::Error;

use crate::counted::counted;
use crate::directory::{NameError, NamespaceError};
use crate::peers::identity::Identity;
use crate::segment::header::Needs;
use crate::segment::layout::{ShapeError, TYPE_NAME_BYTES};
use crate::segment::rejected::Rejected;

/// Why a segment could not be made or opened, or is no longer worth using.
#[derive(Debug, Error)]
pub enum OpenError {
    /// What was asked for cannot exist.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// No topic can have this name.
    #[error(transparent)]
    Name(#[from] NameError),
    /// `HORUS_NAMESPACE` names what cannot be a namespace.
    #[error("HORUS_NAMESPACE: {0}")]
    Namespace(#[from] NamespaceError),
    /// There is no group of this name.
    #[error(
        "there is no group {name:?} in /etc/group: make it (groupadd), or correct the name (HORUS_GROUP, `Options::group`)"
    )]
    NoGroup {
        /// The name.
        name: String,
    },
    /// This user may not give files to the group.
    #[error(
        "not permitted to give {} to group {group}: add this user to the group (usermod -aG), and log in anew",
        path.display()
    )]
    NotInGroup {
        /// The topic's file.
        path: PathBuf,
        /// The group's number.
        group: u32,
    },
    /// The permissions asked for would let everybody write, or are no file permissions.
    #[error("mode {mode:04o} is not possible for a topic: use 0600, or 0660 with a group that shares it")]
    Mode {
        /// The permissions asked for.
        mode: u32,
    },
    /// The type's name does not fit into the header.
    #[error(
        "the type name {name:?} cannot stand in a topic: use 1 to {TYPE_NAME_BYTES} bytes ({} are given) and no control \
        characters",
        name.len()
    )]
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
    /// Another user made the directory.
    #[error("{} belongs to user {owner}, who made it for himself: remove it when no program uses its topics, let root make it for a \
        shared group (install -d -m 2770 -g GROUP), or set HORUS_SHM_DIR to another one", path.display())]
    ForeignDirectory {
        /// The directory.
        path: PathBuf,
        /// Its owner's number.
        owner: u32,
    },
    /// This user may not use the directory.
    #[error("not permitted to {doing} {}: a program that ran as another user, perhaps by sudo, may have made it. \
        Remove it when no program uses its topics (sudo rm -r), let root make it for a shared group (install -d -m 2770 -g GROUP), or \
        set HORUS_SHM_DIR to another one", path.display())]
    DirectoryNotPermitted {
        /// What was tried.
        doing: &'static str,
        /// The directory.
        path: PathBuf,
    },
    /// The directory is on a disk.
    #[error("{} is not on a RAM file system, so that every message might wait for a disk: set HORUS_SHM_DIR to a directory \
        of /dev/shm or of another tmpfs", path.display())]
    NotInRam {
        /// The directory.
        path: PathBuf,
    },
    /// The file is there and is not what was asked for.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// A subscriber that came first needs what this program's options contradict.
    #[error("{who} waits for {} and needs {needs}: ask for the same here, or for less there", path.display())]
    Needed {
        /// The topic's file.
        path: PathBuf,
        /// The subscriber.
        who: Identity,
        /// What it needs.
        needs: Needs,
    },
    /// The topic was remade otherwise than this subscriber, which came before its publisher, can use.
    #[error("{} is published, but not as this subscriber needs it: {reason}", path.display())]
    Remade {
        /// The topic's file.
        path: PathBuf,
        /// Why it cannot be joined.
        reason: String,
    },
    /// The file of a topic that is in use was removed: a peer that joins from now on meets none of its peers.
    #[error("the file {} was removed while the topic is in use, so that new peers do not find this one: open the topic \
        again. Who removed it? Perhaps logind, when its user logged out (RemoveIPC= in logind.conf)", path.display())]
    Deleted {
        /// The file that was.
        path: PathBuf,
    },
    /// The file of a topic that is in use was cut off: what is sent there reaches no peer.
    #[error("the file {} was cut off while the topic is in use, by a program that may write to it: remove it (`horus topic clean`), and \
        open the topic again", path.display())]
    CutOff {
        /// The file.
        path: PathBuf,
    },
    /// This process is a child that `fork` made of the one that opened the topic.
    #[error("{} was opened before this process was forked, and belongs to its parent: open it after fork, in the process that \
        uses it", path.display())]
    Forked {
        /// The topic's file.
        path: PathBuf,
    },
    /// As many publishers live as the topic was made for.
    #[error("{} has {} ({}{one}) and room for no more: stop {}, publish under another name, or have every publisher ask for room \
        for more (`Options::publishers`)", path.display(), counted(*publishers, "living publisher"),
        if *publishers == 1 { "" } else { "one of them " }, one_of(*publishers))]
    PublishersFull {
        /// The topic's file.
        path: PathBuf,
        /// How many there are.
        publishers: usize,
        /// The first of them.
        one: Identity,
    },
    /// A monitor has its lane already.
    #[error("a monitor publishes what is safe on {} already ({one}): one is enough, stop the other", path.display())]
    MonitorsLane {
        /// The topic's file.
        path: PathBuf,
        /// Who it is.
        one: Identity,
    },
    /// As many subscribers live as the topic was made for.
    #[error("{} has {} and room for no more: stop {}", path.display(), counted(*subscribers, "living subscriber"),
        one_of(*subscribers))]
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
    /// The process may not make files as large as the segment.
    #[error("{} needs {bytes} bytes and this process may not make files of more than {limit}: raise LimitFSIZE= or ulimit -f, \
        or choose a smaller capacity", path.display())]
    FileSizeLimit {
        /// The topic's file.
        path: PathBuf,
        /// How many bytes it needs.
        bytes: usize,
        /// The limit in bytes.
        limit: u64,
    },
    /// Other processes are in the way: for a moment usually, for long if one of them is stopped in it.
    #[error("others join, remove or make {} all the time, or one of them was stopped while it did: `fuser {}` names them", path.display(), path.display())]
    Busy {
        /// The topic's file.
        path: PathBuf,
    },
    /// This user may not open the file.
    #[error("not permitted to open {}: run as its owner, or let both programs share it by a group (HORUS_GROUP, \
        `Options::group`, or a directory of mode 2770)", path.display())]
    NotPermitted {
        /// The topic's file.
        path: PathBuf,
    },
    /// Something else has the topic's name.
    #[error("{} is no regular file: remove it, or use another topic name", path.display())]
    NoRegularFile {
        /// What was found.
        path: PathBuf,
    },
    /// An unnamed file cannot be named here.
    #[error("cannot give {} its name without /proc: mount it (mount -t proc proc /proc), or use Linux 6.10 or newer", path.display())]
    NoProc {
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

/// Which of so many is to be stopped.
fn one_of(count: usize) -> &'static str {
    if count == 1 { "it" } else { "one of them" }
}

impl OpenError {
    /// The error for an answer of the kernel about a topic's file.
    pub(crate) fn io(doing: &'static str, path: &Path, error: Errno) -> Self {
        match error {
            Errno::ACCESS | Errno::PERM => Self::NotPermitted { path: path.to_owned() },
            _ => Self::Io { doing, path: path.to_owned(), source: error.into() },
        }
    }

    /// The error for an answer of the kernel about a directory.
    pub(crate) fn in_directory(doing: &'static str, path: &Path, error: Errno) -> Self {
        match error {
            Errno::ACCESS | Errno::PERM => Self::DirectoryNotPermitted { doing, path: path.to_owned() },
            _ => Self::Io { doing, path: path.to_owned(), source: error.into() },
        }
    }

    /// The error for an answer of the kernel about giving a file to a group.
    pub(crate) fn group(path: &Path, group: u32, error: Errno) -> Self {
        match error {
            Errno::ACCESS | Errno::PERM => Self::NotInGroup { path: path.to_owned(), group },
            _ => Self::io("give the group", path, error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_topic_says_how_many_it_has_in_the_number_that_they_are() {
        let path = PathBuf::from("/dev/shm/horus/imu.topic");
        let full = |publishers| {
            let one = Identity::own();
            OpenError::PublishersFull { path: path.clone(), publishers, one }.to_string()
        };
        let one = Identity::own();
        assert!(full(1).contains(&format!("imu.topic has 1 living publisher ({one}) and")), "{}", full(1));
        assert!(full(1).contains(": stop it, publish"), "{}", full(1));
        assert!(full(3).contains(&format!("has 3 living publishers (one of them {one}) and")), "{}", full(3));
        assert!(full(3).contains(": stop one of them, publish"), "{}", full(3));
        let full = |subscribers| OpenError::SubscribersFull { path: path.clone(), subscribers }.to_string();
        assert!(full(1).ends_with("has 1 living subscriber and room for no more: stop it"), "{}", full(1));
        assert!(full(64).ends_with("has 64 living subscribers and room for no more: stop one of them"), "{}", full(64));
    }
}
