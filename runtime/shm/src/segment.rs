//! A segment: a mapped file whose header was checked.
//!
//! Offsets are computed from a private copy of the checked [`Shape`](crate::layout::Shape) for as long as the segment
//! is open; the header in the file is never read again.
//!
//! What a [`Segment`] proves is that its bytes are *addressed* rightly. It proves nothing about their contents, which
//! peers go on changing: stamps, positions, cursors and identities are looked at with suspicion where they are read.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::bell::Bell;
use crate::copy::WORD;
use crate::error::OpenError;
use crate::failpoint::failpoint;
use crate::header::{Alleged, Header};
use crate::layout::{ASLEEP, BELL, HEADER_BYTES, LANES_WORD, LINE, MEMBERS_WORD, ROSTER, SLEEPERS_WORD};
use crate::map::{Access, LockRefused, Mapping, Residency};
use crate::rejected::Rejected;
use crate::sync::{AtomicU32, AtomicU64};

/// A mapped segment whose header was checked.
pub struct Segment {
    path: PathBuf,
    file: OwnedFd,
    header: Header,
    mapping: Mapping,
}

impl Segment {
    /// Makes a segment that has no name yet; see [`crate::map`].
    pub(crate) fn make(path: &Path, header: Header, access: Access) -> Result<Self, OpenError> {
        let bytes = header.shape.total_bytes();
        let file = crate::map::make_unnamed(path, bytes, access)?;
        failpoint!("create:unnamed");
        let written = rustix::io::pwrite(&file, &header.to_bytes(), 0)
            .map_err(|error| OpenError::io("write the header of", path, error))?;
        // A short write to allocated memory does not happen; if it did, the file would not validate.
        failpoint!("create:header");
        debug_assert_eq!(written, HEADER_BYTES);
        let mapping = Mapping::new(&file, bytes, path, Residency::Locked)?;
        Ok(Self { path: path.to_owned(), file, header, mapping })
    }

    /// Maps an open file after checking that it is a consistent segment.
    pub(crate) fn map(path: &Path, file: OwnedFd, residency: Residency) -> Result<Self, OpenError> {
        let header =
            Alleged::read(&file, path)?.validate().map_err(|reason| Rejected { path: path.to_owned(), reason })?;
        let mapping = Mapping::new(&file, header.shape.total_bytes(), path, residency)?;
        Ok(Self { path: path.to_owned(), file, header, mapping })
    }

    /// The file's path at the time of opening.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The fields of the message type, a line each: `offset bytes name type`. Empty where the publisher gave none.
    pub fn description(&self) -> &str {
        &self.header.description
    }

    /// What the header said when it was checked.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the kernel keeps the segment in memory.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.mapping.lock()
    }

    pub(crate) fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// `words` words from the byte offset `offset` on.
    pub(crate) fn words(&self, offset: usize, words: usize) -> &[AtomicU64] {
        &self.mapping.words()[offset / WORD..offset / WORD + words]
    }
}

impl Segment {
    fn roster(&self, word: usize) -> &AtomicU64 {
        &self.words(ROSTER, LINE / WORD)[word]
    }

    /// One bit per subscriber that reads here.
    pub(crate) fn members(&self) -> &AtomicU64 {
        self.roster(MEMBERS_WORD)
    }

    /// One bit per lane that was ever used.
    pub(crate) fn used_lanes(&self) -> &AtomicU64 {
        self.roster(LANES_WORD)
    }
}

impl Bell for Segment {
    fn sleepers(&self) -> &AtomicU64 {
        self.roster(SLEEPERS_WORD)
    }

    fn asleep(&self) -> &AtomicU64 {
        &self.words(ASLEEP, 1)[0]
    }

    fn rings(&self) -> &AtomicU32 {
        self.mapping.half_word(BELL)
    }
}
