//! Makes, opens and maps the files behind segments; the one place with unsafe system calls.
//!
//! A file gets its name only when all its bytes are in place: it starts as an unnamed temporary file (`O_TMPFILE`) and
//! is linked into the directory at the end. A process killed on the way leaves nothing behind, and nobody ever opens a
//! half-made segment. The bytes are allocated before they are mapped, so that a full `/dev/shm` is an error now and
//! not a SIGBUS later; they are faulted in and locked, so that no page fault meets a running loop.
//!
//! # What it does not do
//! It does not keep a peer that may write to the file from truncating it, which ends every process that touches the
//! lost pages with SIGBUS. Who shares a topic's group is trusted that far.

use std::fmt;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::ptr::NonNull;

use rustix::fs::{AtFlags, CWD, FallocateFlags, FileType, Gid, Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::copy::WORD;
use crate::error::OpenError;
use crate::sync::{AtomicU32, AtomicU64};

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

/// The kernel did not lock the memory, so that under memory pressure a page fault may meet the hot path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRefused {
    /// How many bytes were to be locked.
    pub bytes: usize,
    errno: Errno,
}

impl fmt::Display for LockRefused {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, errno } = self;
        write!(
            out,
            "the kernel did not lock {bytes} bytes of shared memory ({errno}): raise LimitMEMLOCK= or ulimit -l"
        )
    }
}

impl std::error::Error for LockRefused {}

/// A new, unnamed file of `bytes` allocated, zeroed bytes in the directory of `path`.
pub(crate) fn make_unnamed(path: &Path, bytes: usize, access: Access) -> Result<OwnedFd, OpenError> {
    if access.mode & !MODE_LIMIT != 0 {
        return Err(OpenError::Mode { mode: access.mode });
    }
    let directory = path.parent().unwrap_or(Path::new("."));
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = rustix::fs::open(directory, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|error| OpenError::io("make an unnamed file in the directory", directory, error))?;
    if let Some(group) = access.group {
        rustix::fs::fchown(&file, None, Some(Gid::from_raw(group)))
            .map_err(|error| OpenError::io("give the group", path, error))?;
    }
    // After fchown, and explicitly: open's mode is subject to the umask.
    rustix::fs::fchmod(&file, Mode::from_raw_mode(access.mode))
        .map_err(|error| OpenError::io("set the mode of", path, error))?;
    match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes as u64) {
        Ok(()) => Ok(file),
        Err(Errno::NOSPC | Errno::NOMEM | Errno::FBIG) => Err(OpenError::NoSpace { path: path.to_owned(), bytes }),
        Err(error) => Err(OpenError::io("allocate the bytes of", path, error)),
    }
}

/// Gives an unnamed file its name; false when the name is taken.
pub(crate) fn link(file: &OwnedFd, path: &Path) -> Result<bool, OpenError> {
    use std::os::fd::AsRawFd;
    // open(2) documents this way to name an O_TMPFILE; AT_EMPTY_PATH would need a capability.
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
    match rustix::fs::linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(OpenError::io("name the file", path, error)),
    }
}

/// Opens an existing file to read and write, `None` when there is none.
///
/// Follows no symbolic link and waits for nothing: what stands under a topic's name is a regular file or an error.
pub(crate) fn open(path: &Path) -> Result<Option<OwnedFd>, OpenError> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(OpenError::io("open", path, error)),
    };
    let stat = rustix::fs::fstat(&file).map_err(|error| OpenError::io("examine", path, error))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(OpenError::io("use as a topic, being no regular file,", path, Errno::INVAL));
    }
    Ok(Some(file))
}

/// Whether a mapping's pages must be there before they are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Residency {
    /// Fault all of them in and ask the kernel to keep them: for peers.
    Locked,
    /// Leave them to page faults: for a look at a few words.
    OnDemand,
}

/// A file's bytes in this process's memory, as words that peers may change at any time.
pub struct Mapping {
    address: NonNull<AtomicU64>,
    words: usize,
    lock: Result<(), LockRefused>,
}

// SAFETY: the mapping belongs to the value, not to a thread: munmap in `drop` may run on any.
unsafe impl Send for Mapping {}
// SAFETY: shared access lends out nothing but atomics, which any number of threads may use at once.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first `bytes` bytes of `file`.
    ///
    /// The caller has made sure that the file has these bytes. `path` is for errors only.
    ///
    /// # Panics
    /// When `bytes` is zero or no whole number of words: no [`crate::layout::Shape`] has such a size.
    pub(crate) fn new(file: &OwnedFd, bytes: usize, path: &Path, residency: Residency) -> Result<Self, OpenError> {
        assert!(bytes > 0 && bytes.is_multiple_of(WORD));
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a null hint makes the kernel choose free addresses, so no memory of ours is replaced.
        let address = unsafe { rustix::mm::mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, file, 0) };
        let address = address.map_err(|error| match error {
            Errno::NOMEM => OpenError::NoSpace { path: path.to_owned(), bytes },
            error => OpenError::io("map", path, error),
        })?;
        let address = NonNull::new(address.cast()).expect("the kernel maps nothing at address zero unless told to");
        let mut mapping = Self { address, words: bytes / WORD, lock: Ok(()) };
        if residency == Residency::Locked {
            mapping.lock = mapping.fault_in_and_lock();
        }
        Ok(mapping)
    }

    fn fault_in_and_lock(&self) -> Result<(), LockRefused> {
        let (address, bytes) = (self.address.as_ptr().cast(), self.words * WORD);
        // SAFETY: the range is the mapping that `new` made; populating changes no contents. Kernels before 5.14 do not
        // know the advice, and mlock faults in as well: nothing depends on its success.
        let _ = unsafe { rustix::mm::madvise(address, bytes, Advice::LinuxPopulateWrite) };
        // SAFETY: the range is the mapping that `new` made, and locking changes no contents.
        unsafe { rustix::mm::mlock(address, bytes) }.map_err(|errno| LockRefused { bytes, errno })
    }

    /// All words of the mapping.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: `new` mapped this many words, page-aligned, readable and writable; they stay mapped as long as
        // `self`. Every bit pattern is an AtomicU64, and no process that follows this crate accesses them but
        // atomically.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.words) }
    }

    /// The 32-bit word at byte `offset`, for the kernel to wait on.
    ///
    /// # Panics
    /// When the offset is no multiple of [`WORD`] or beyond the mapping.
    pub fn half_word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(WORD));
        let word: *const AtomicU64 = &self.words()[offset / WORD];
        // SAFETY: aligned and inside of the mapping, as the word that it is the first half of; every bit pattern is an
        // AtomicU32. Nobody uses these bytes as an AtomicU64: the layout gives the whole word to this use.
        unsafe { &*word.cast() }
    }

    /// Whether the kernel keeps the mapping in memory, if it was asked to.
    pub fn lock(&self) -> Result<(), LockRefused> {
        self.lock
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping that `new` made, and `words` lent it no longer than `self` lives.
        let _ = unsafe { rustix::mm::munmap(self.address.as_ptr().cast(), self.words * WORD) };
    }
}
