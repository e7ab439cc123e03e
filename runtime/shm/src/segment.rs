//! A segment: a mapped file whose header was checked, and its lanes.
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
use crate::layout::{ASLEEP, BELL, HEADER_BYTES, LANES_WORD, LINE_PAIR, MEMBERS_WORD, ROSTER, SLEEPERS_WORD};
use crate::map::{Access, LockRefused, Mapping, Residency};
use crate::rejected::Rejected;
use crate::ring::Memory;
use crate::sync::{Arc, AtomicU32, AtomicU64};

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
    #[inline]
    fn roster(&self, word: usize) -> &AtomicU64 {
        &self.mapping.words()[ROSTER / WORD + word]
    }

    /// One bit per subscriber that reads here.
    #[inline]
    pub(crate) fn members(&self) -> &AtomicU64 {
        self.roster(MEMBERS_WORD)
    }

    /// One bit per lane that was ever used.
    #[inline]
    pub(crate) fn used_lanes(&self) -> &AtomicU64 {
        self.roster(LANES_WORD)
    }
}

impl Bell for Segment {
    #[inline]
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

/// A lane of a segment, for the ring.
#[derive(Clone)]
pub struct MappedLane {
    segment: Arc<Segment>,
    /// Word indices that follow from the checked shape, worked out once so that the hot path does no multiplication
    /// more than it must.
    members: usize,
    holders: usize,
    position: usize,
    first_cursor: usize,
    first_slot: usize,
    stride: usize,
    /// Capacity - 1.
    mask: u64,
}

impl MappedLane {
    /// Lane `lane` of `segment`.
    ///
    /// # Panics
    /// When the segment has no lane of that number.
    pub fn new(segment: Arc<Segment>, lane: usize) -> Self {
        let shape = segment.header.shape;
        assert!(lane < shape.lanes());
        Self {
            members: ROSTER / WORD + MEMBERS_WORD,
            holders: shape.holders(lane) / WORD,
            position: shape.position(lane) / WORD,
            first_cursor: shape.cursor(lane, 0) / WORD,
            first_slot: shape.slots(lane) / WORD,
            stride: shape.slot_stride() / WORD,
            mask: shape.capacity() as u64 - 1,
            segment,
        }
    }

    /// The segment that the lane belongs to.
    pub fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }
}

impl Memory for MappedLane {
    fn capacity(&self) -> u64 {
        self.mask + 1
    }

    fn subscribers(&self) -> usize {
        self.segment.header.shape.subscribers()
    }

    fn members(&self) -> &AtomicU64 {
        &self.segment.mapping.words()[self.members]
    }

    fn holders(&self) -> &AtomicU64 {
        &self.segment.mapping.words()[self.holders]
    }

    #[inline]
    fn position(&self) -> &AtomicU64 {
        &self.segment.mapping.words()[self.position]
    }

    #[inline]
    fn cursor(&self, subscriber: usize) -> &AtomicU64 {
        &self.segment.mapping.words()[self.first_cursor + subscriber * (LINE_PAIR / WORD)]
    }

    #[inline]
    fn slot(&self, sequence: u64) -> &[AtomicU64] {
        let start = self.first_slot + (sequence & self.mask) as usize * self.stride;
        &self.segment.mapping.words()[start..start + self.stride]
    }
}
