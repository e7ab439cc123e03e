//! Makes, opens, names and removes the files behind segments.
//!
//! A file gets its name only when its header is in place and all its bytes are allocated: it starts as an unnamed temporary
//! file (`O_TMPFILE`) and is linked into the directory. A process killed on the way leaves nothing behind, no process ever
//! opens a half-made segment, and a full `/dev/shm` is an error now and not a SIGBUS later.
//!
//! A topic that is remade keeps its file, which grows and never shrinks: to touch bytes that a file lost is SIGBUS.
//!
//! # Who removes a file
//! Of a latched topic that was published, `horus topic clean --latched` alone, and a publisher that cannot publish it as it is. Of others, the
//! peer that leaves last, and a process that finds one that no living peer uses: the next peer that opens the topic,
//! `horus topic clean`. It takes the locks of *all* places at once (`peers::locks`), which succeeds only if no peer
//! lives there, and takes the name away while it has them. Who joins takes its own place's lock first and then looks whether
//! the file still has a name. So one of the two sees the other. Who finds the places taken by a remover looks again a moment later;
//! one that is stopped in it for longer is an error ([`OpenError::Busy`]).

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use horus_sys::failpoint;
use horus_sys::process::Opener;
use rustix::fs::{AtFlags, CWD, FallocateFlags, FileType, Gid, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use crate::error::OpenError;
use crate::peers::fork::Opening;
use crate::peers::locks::{self, Range};
use crate::segment::header::is_kept;

/// Who may open a topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Permission bits of the file; every peer needs to read *and* write.
    pub mode: u32,
    /// Group that the file is given to, by number.
    pub group: Option<u32>,
}

impl Default for Access {
    /// Only the user who made it: mode 0600.
    fn default() -> Self {
        Self { mode: 0o600, group: None }
    }
}

/// Permission bits that a topic can have: no execution, nothing for everybody.
const MODE_LIMIT: u32 = 0o660;

/// A topic's file, open by a description of its own that never holds a peer's place for long.
#[derive(Debug)]
pub(crate) struct TopicFile {
    path: PathBuf,
    file: OwnedFd,
}

impl TopicFile {
    /// Opens an existing file to read and write, `None` when there is none.
    pub fn open(path: &Path) -> Result<Option<Self>, OpenError> {
        Ok(open(path)?.map(|file| Self { path: path.to_owned(), file }))
    }

    /// As [`open`](Self::open), to read alone.
    pub fn open_to_read(path: &Path) -> Result<Option<Self>, OpenError> {
        Ok(open_for(path, OFlags::RDONLY)?.map(|file| Self { path: path.to_owned(), file }))
    }

    /// The same file by another open file description, for a peer's place; `None` when another file, or none, has the name
    /// by now.
    pub fn open_again(&self) -> Result<Option<OwnedFd>, OpenError> {
        let Some(again) = open(&self.path)? else { return Ok(None) };
        Ok(self.is_same(&again)?.then_some(again))
    }

    /// Whether `other` is the same file.
    pub fn is_same(&self, other: &OwnedFd) -> Result<bool, OpenError> {
        let [one, other] = [&self.file, other].map(rustix::fs::fstat);
        let (one, other) = (self.io("examine", one)?, self.io("examine", other)?);
        Ok((one.st_dev, one.st_ino) == (other.st_dev, other.st_ino))
    }

    /// The path at the time of opening.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file, for its bytes and its locks.
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Whether the file still has a name. One without was given up: the process that opened it must look again.
    pub fn is_named(&self) -> bool {
        rustix::fs::fstat(&self.file).is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// Whether it has at least so many bytes: as many as it was made with, if it was not cut off.
    pub fn has_bytes(&self, bytes: usize) -> bool {
        rustix::fs::fstat(&self.file)
            .is_ok_and(|stat| u64::try_from(stat.st_size).is_ok_and(|size| size >= bytes as u64))
    }

    /// Removes the file if no living peer uses it. True if it is gone, whichever process removed it.
    ///
    /// The places are locked by a description of this call's own: this value's may be a forked child's, too.
    pub fn remove_if_unused(&self) -> Result<bool, OpenError> {
        let _no_child_gets_the_description = Opening::begin();
        // Without a name, or with another file under it: a person may have moved the file.
        let Some(own) = self.open_again()? else { return Ok(true) };
        if !self.io("lock", locks::try_lock(&own, Range::ALL))? {
            return Ok(false);
        }
        failpoint!("remove:locked");
        // Unless something else has the name by now.
        if self.is_named() && self.open_again()?.is_some() {
            self.io("remove", rustix::fs::unlink(&self.path))?;
        }
        failpoint!("remove:removed");
        Ok(true)
    }

    /// Lets in the users that `access` lets in, and no others.
    pub fn set_access(&self, access: Access) -> Result<(), OpenError> {
        set_access(&self.file, &self.path, access)
    }

    /// Makes the file at least so long; its new bytes are allocated and zero.
    pub fn grow(&self, bytes: usize) -> Result<(), OpenError> {
        allocate(&self.file, &self.path, bytes)
    }

    /// Whether the file lets in whom `access` lets in.
    pub fn has_access(&self, access: Access) -> bool {
        rustix::fs::fstat(&self.file).is_ok_and(|stat| {
            stat.st_mode & 0o7777 == access.mode && access.group.is_none_or(|group| group == stat.st_gid)
        })
    }

    fn io<R>(&self, doing: &'static str, answer: Result<R, Errno>) -> Result<R, OpenError> {
        answer.map_err(|error| OpenError::io(doing, &self.path, error))
    }
}

/// Removes a file when its owner goes, if no other living peer uses it. To be dropped after the owner's mapping, which holds
/// the owner's place.
pub(crate) struct LastOut {
    file: std::sync::Arc<TopicFile>,
    opener: Opener,
}

impl LastOut {
    pub fn new(file: std::sync::Arc<TopicFile>) -> Self {
        Self { file, opener: Opener::this() }
    }
}

impl Drop for LastOut {
    fn drop(&mut self) {
        // What cannot be removed now, the next one who opens the topic removes. What is latched stays for who comes later.
        if self.opener.is_this() && !is_kept(self.file.file()) {
            let _ = self.file.remove_if_unused();
        }
    }
}

/// A new, unnamed file of `bytes` allocated, zeroed bytes in the directory of `path`.
pub(crate) fn make_unnamed(path: &Path, bytes: usize, access: Access) -> Result<OwnedFd, OpenError> {
    check_mode(access)?;
    check_size(path, bytes)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|error| OpenError::in_directory("make an unnamed file in", directory, error))?;
    set_access(&file, path, access)?;
    failpoint!("create:unnamed");
    allocate(&file, path, bytes)?;
    Ok(file)
}

fn check_mode(access: Access) -> Result<(), OpenError> {
    if access.mode & !MODE_LIMIT == 0 { Ok(()) } else { Err(OpenError::Mode { mode: access.mode }) }
}

/// Beyond this limit the kernel does not answer, it sends SIGXFSZ.
fn check_size(path: &Path, bytes: usize) -> Result<(), OpenError> {
    match getrlimit(Resource::Fsize).current.filter(|&limit| limit < bytes as u64) {
        Some(limit) => Err(OpenError::FileSizeLimit { path: path.to_owned(), bytes, limit }),
        None => Ok(()),
    }
}

fn set_access(file: &OwnedFd, path: &Path, access: Access) -> Result<(), OpenError> {
    check_mode(access)?;
    if let Some(group) = access.group {
        rustix::fs::fchown(file, None, Some(Gid::from_raw(group)))
            .map_err(|error| OpenError::group(path, group, error))?;
    }
    // After fchown, and explicitly: open's mode is subject to the umask.
    rustix::fs::fchmod(file, Mode::from_raw_mode(access.mode))
        .map_err(|error| OpenError::io("set the mode of", path, error))
}

fn allocate(file: &OwnedFd, path: &Path, bytes: usize) -> Result<(), OpenError> {
    check_size(path, bytes)?;
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes as u64) {
        Ok(()) => Ok(()),
        Err(Errno::NOSPC | Errno::NOMEM | Errno::FBIG) => Err(OpenError::NoSpace { path: path.to_owned(), bytes }),
        Err(error) => Err(OpenError::io("allocate the bytes of", path, error)),
    }
}

/// Gives an unnamed file its name; false when the name is taken.
pub(crate) fn link(file: &OwnedFd, path: &Path) -> Result<bool, OpenError> {
    // Root may do it by the descriptor alone, others since Linux 6.10 and otherwise by way of /proc, as open(2) shows.
    let by_descriptor = rustix::fs::linkat(file, c"", CWD, path, AtFlags::EMPTY_PATH);
    let linked = match by_descriptor {
        Ok(()) | Err(Errno::EXIST) => by_descriptor,
        Err(_) => {
            let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
            rustix::fs::linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)
        }
    };
    match linked {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(Errno::NOENT) => Err(OpenError::NoProc { path: path.to_owned() }),
        Err(error) => Err(OpenError::in_directory("put a file into", path.parent().unwrap_or(path), error)),
    }
}

/// Lets everybody read a file who gets as far as its directory, and its group write to it.
pub(crate) fn let_others_read(file: &OwnedFd, path: &Path) -> Result<(), OpenError> {
    rustix::fs::fchmod(file, Mode::from_raw_mode(0o664)).map_err(|error| OpenError::io("set the mode of", path, error))
}

fn open(path: &Path) -> Result<Option<OwnedFd>, OpenError> {
    open_for(path, OFlags::RDWR)
}

/// Follows no symbolic link and waits for nothing: what stands under a topic's name is a regular file or an error.
fn open_for(path: &Path, what: OFlags) -> Result<Option<OwnedFd>, OpenError> {
    let flags = what | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::ISDIR | Errno::LOOP) => return Err(OpenError::NoRegularFile { path: path.to_owned() }),
        Err(error) => return Err(OpenError::io("open", path, error)),
    };
    let stat = rustix::fs::fstat(&file).map_err(|error| OpenError::io("examine", path, error))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(OpenError::NoRegularFile { path: path.to_owned() });
    }
    Ok(Some(file))
}
