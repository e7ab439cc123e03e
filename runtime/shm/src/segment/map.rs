//! The bytes of a segment in this process's memory.
//!
//! They are faulted in and locked, so that no page fault meets a running loop. A child made by `fork` does not get them
//! (`MADV_DONTFORK`), and their addresses stay without access there ([`crate::peers`]): two processes that write one lane would
//! tear each other's messages without a sign, while a child that touches what it has not got ends with SIGSEGV at once.
//!
//! # What it does not do
//! It does not keep a peer that may write to the file from truncating it. Who guards (`Mapping::guard`) the mapping goes on with zeros,
//! others are ended with SIGBUS when they touch the lost pages.

use std::fmt;
use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;
use std::path::Path;

use horus_sys::process::Opener;
use memmap2::{Advice, MmapOptions, MmapRaw};
use rustix::io::Errno;

use super::guard::Guarded;
use super::layout::WORD;
use crate::error::OpenError;
use crate::peers::fork::{forget_mapping, keep_from_children};
use crate::sync::{AtomicU32, AtomicU64};

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
    /// Dropped by hand: in a forked child these addresses are free, or already another mapping's.
    map: ManuallyDrop<MmapRaw>,
    opener: Opener,
    lock: Result<(), LockRefused>,
    guarded: Option<Guarded>,
}

impl Mapping {
    /// Maps the first `bytes` bytes of `file`, and keeps the open file description of `file` for as long as it lives: so
    /// long the kernel keeps the locks that were taken by it ([`crate::peers`]).
    ///
    /// The caller has made sure that the file has these bytes. `path` is for errors only.
    ///
    /// # Panics
    /// When `bytes` is zero or no whole number of words: no [`Shape`](super::layout::Shape) has such a size.
    pub(crate) fn new(file: &OwnedFd, bytes: usize, path: &Path, residency: Residency) -> Result<Self, OpenError> {
        assert!(bytes > 0 && bytes.is_multiple_of(WORD));
        let failed = |error: std::io::Error| match errno(&error) {
            Errno::NOMEM => OpenError::NoSpace { path: path.to_owned(), bytes },
            error => OpenError::io("map", path, error),
        };
        let map = MmapOptions::new().len(bytes).map_raw(file).map_err(failed)?;
        // Before anything is locked or joined: from here on no child can be made that has the mapping.
        map.advise(Advice::DontFork).map_err(failed)?;
        keep_from_children(map.as_ptr().expose_provenance(), bytes);
        let lock = match residency {
            Residency::Locked => fault_in_and_lock(&map),
            Residency::OnDemand => Ok(()),
        };
        Ok(Self { map: ManuallyDrop::new(map), opener: Opener::this(), lock, guarded: None })
    }

    /// From now on this process survives it when another process cuts off the file.
    pub(crate) fn guard(&mut self) {
        self.guarded = Some(Guarded::new(self.map.as_ptr().addr(), self.map.len()));
    }

    /// Whether the file of a guarded mapping was cut off, and this process has met that.
    pub(crate) fn is_lost(&self) -> bool {
        self.guarded.as_ref().is_some_and(Guarded::is_lost)
    }

    /// All words of the mapping.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: `new` mapped so many bytes, a whole number of words, page-aligned, readable and writable, and they stay
        // mapped as long as `self`. Every bit pattern is an AtomicU64, and no process that follows this crate accesses
        // them but atomically. A forked child, which has no such memory, is ended by the kernel when it looks.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast(), self.map.len() / WORD) }
    }

    /// The 32-bit word at byte `offset`, for the kernel to wait on.
    ///
    /// # Panics
    /// When the offset is no multiple of [`WORD`] or beyond the mapping.
    pub(crate) fn half_word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(WORD));
        let word: *const AtomicU64 = &self.words()[offset / WORD];
        // SAFETY: aligned and inside of the mapping, as the word that it is the first half of; every bit pattern is an
        // AtomicU32. No code uses these bytes as an AtomicU64: the layout gives the whole word to this use.
        unsafe { &*word.cast() }
    }

    /// Has the kernel map pages that will be written: all at once, which costs less than a fault for each. Kernels before 5.14 do
    /// not know how, and nothing depends on it.
    pub fn fault_in(&self, words: std::ops::Range<usize>) {
        let _ = self.map.advise_range(Advice::PopulateWrite, words.start * WORD, words.len() * WORD);
    }

    /// The process that the mapping was made in.
    pub(crate) fn opener(&self) -> Opener {
        self.opener
    }

    /// Lets the kernel swap it out again, and gives the memory back to the process's limit.
    pub(crate) fn unlock(&self) {
        let _ = self.map.unlock(); // what stays locked disturbs no process
    }

    /// Takes [`unlock`](Self::unlock) back.
    pub(crate) fn lock_again(&self) {
        if self.lock.is_ok() {
            let _ = self.map.lock(); // it could be locked before
        }
    }

    /// Whether the kernel keeps the mapping in memory, if it was asked to.
    pub fn lock(&self) -> Result<(), LockRefused> {
        self.lock
    }
}

fn fault_in_and_lock(map: &MmapRaw) -> Result<(), LockRefused> {
    // Kernels before 5.14 do not know the advice, and locking faults in as well: nothing depends on its success.
    let _ = map.advise(Advice::PopulateWrite);
    map.lock().map_err(|error| LockRefused { bytes: map.len(), errno: errno(&error) })
}

fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::INVAL)
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.opener.is_this() {
            self.guarded = None;
            forget_mapping(self.map.as_ptr().addr());
            // SAFETY: no code uses the field after this, its owner's end.
            unsafe { ManuallyDrop::drop(&mut self.map) };
        }
    }
}
