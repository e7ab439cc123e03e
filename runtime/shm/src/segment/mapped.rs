//! The segment itself: its header's private copy, its mapping, and where the words of all lanes stand.

use std::os::fd::OwnedFd;
use std::path::Path;

use super::file::TopicFile;
use super::header::Header;
use super::layout::{ASLEEP, BELL, LANES_WORD, LINE, MEMBERS_WORD, MEMBERSHIP, SLEEPERS_WORD, SUPERSEDED_WORD, WORD};
use super::map::{LockRefused, Mapping, Residency};
use crate::error::OpenError;
use crate::peers::fork::Opener;
use crate::sync::{Arc, AtomicU32, AtomicU64};
use crate::wait::bell::Bell;

/// A mapped segment whose header was checked.
pub struct Segment {
    header: Header,
    mapping: Mapping,
    file: Arc<TopicFile>,
}

impl Segment {
    /// Maps the segment of a checked header, by the open file description of `description`, which the mapping then keeps.
    pub(crate) fn map(
        file: Arc<TopicFile>,
        description: &OwnedFd,
        header: Header,
        residency: Residency,
    ) -> Result<Self, OpenError> {
        let mapping = Mapping::new(description, header.shape.total_bytes(), file.path(), residency)?;
        Ok(Self { header, mapping, file })
    }

    /// The file's path at the time of opening.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// What the header said when it was checked.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Whether the kernel keeps the segment in memory.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.mapping.lock()
    }

    pub(crate) fn file(&self) -> &Arc<TopicFile> {
        &self.file
    }

    pub(crate) fn opener(&self) -> Opener {
        self.mapping.opener()
    }

    /// Looks whether the segment is still worth using: by this process, and where others find it.
    pub(crate) fn check(&self) -> Result<(), OpenError> {
        let path = || self.path().to_owned();
        if !self.opener().is_this() {
            return Err(OpenError::Forked { path: path() });
        }
        if !self.file.is_named() {
            return Err(OpenError::Deleted { path: path() });
        }
        Ok(())
    }

    /// `words` words from the byte offset `offset` on.
    #[inline]
    pub(crate) fn words(&self, offset: usize, words: usize) -> &[AtomicU64] {
        &self.mapping.words()[offset / WORD..offset / WORD + words]
    }

    fn membership(&self, word: usize) -> &AtomicU64 {
        &self.words(MEMBERSHIP, LINE / WORD)[word]
    }

    /// One bit per subscriber that reads here.
    pub(crate) fn members(&self) -> &AtomicU64 {
        self.membership(MEMBERS_WORD)
    }

    /// One bit per lane that was ever used.
    pub(crate) fn used_lanes(&self) -> &AtomicU64 {
        self.membership(LANES_WORD)
    }

    /// Not zero once another segment has taken this one's name.
    pub(crate) fn superseded(&self) -> &AtomicU64 {
        self.membership(SUPERSEDED_WORD)
    }
}

impl Bell for Segment {
    fn sleepers(&self) -> &AtomicU64 {
        self.membership(SLEEPERS_WORD)
    }

    #[inline]
    fn asleep(&self) -> &AtomicU64 {
        &self.words(ASLEEP, 1)[0]
    }

    fn rings(&self) -> &AtomicU32 {
        self.mapping.half_word(BELL)
    }
}
