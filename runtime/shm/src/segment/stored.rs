//! A file on a disk, mapped as words: a segment of a log, which one process writes and no other maps.
//!
//! Its bytes are stored and loaded with [`crate::ring::copy`], as those of a topic are. So a process that is killed leaves what it
//! had stored, in the order of its stores: the pages are the kernel's.
//!
//! # What it does not do
//! It does not keep others from truncating the file, which ends this process with SIGBUS when it looks at a lost page. The same
//! happens where the disk is full and the bytes were not allocated: the caller allocates them (`fallocate`) before it maps them.

use std::os::fd::OwnedFd;
use std::path::Path;

use super::layout::WORD;
use super::map::{Mapping, Residency};
use crate::error::OpenError;
use crate::sync::AtomicU64;

/// The mapped bytes of a file that stays.
pub struct Stored {
    mapping: Mapping,
    file: OwnedFd,
}

impl Stored {
    /// Maps all of `file`, whose name is for errors only; `None` when it has no bytes, or no whole number of words.
    ///
    /// # Errors
    /// When the kernel has no room for the mapping, or does not tell the file's size.
    pub fn map(file: OwnedFd, path: &Path) -> Result<Option<Self>, OpenError> {
        let stat = rustix::fs::fstat(&file).map_err(|error| OpenError::io("examine", path, error))?;
        let bytes = usize::try_from(stat.st_size).unwrap_or(0);
        if bytes == 0 || !bytes.is_multiple_of(WORD) {
            return Ok(None);
        }
        let mapping = Mapping::new(&file, bytes, path, Residency::OnDemand)?;
        Ok(Some(Self { mapping, file }))
    }

    /// All words of the file.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        self.mapping.words()
    }

    /// Has the kernel map these words' pages, which will be written.
    pub fn fault_in(&self, words: std::ops::Range<usize>) {
        self.mapping.fault_in(words);
    }

    /// The file, for `fdatasync`, which also writes what was stored in the mapping.
    pub fn file(&self) -> &OwnedFd {
        &self.file
    }
}
