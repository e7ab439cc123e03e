//! The segment itself: its header's private copy, its mapping, and where the words of all lanes stand.

use std::os::fd::OwnedFd;
use std::path::Path;

use horus_sys::process::Opener;

use super::file::TopicFile;
use super::header::Header;
use super::layout::{
    ASLEEP, BELL, GENERATION_WORD, GENERATIONS, LANES_WORD, LINE_PAIR, MEMBERS_WORD, MEMBERSHIP, SLEEPERS_WORD, WORD,
};
use super::map::{LockRefused, Mapping, Residency};
use crate::error::OpenError;
use crate::sync::{Arc, AtomicU32, AtomicU64, Ordering};
use crate::wait::bell::Bell;

/// A mapped segment whose header was checked.
pub struct Segment {
    header: Header,
    /// How often the topic was remade before it was mapped, times two; odd if who remade it has not finished.
    generation: u64,
    mapping: Mapping,
    file: Arc<TopicFile>,
}

impl Segment {
    /// Maps the segment of a checked header, by the open file description of `description`, which the mapping then keeps.
    pub(crate) fn map(
        file: Arc<TopicFile>,
        description: &OwnedFd,
        header: Header,
        generation: u64,
        residency: Residency,
    ) -> Result<Self, OpenError> {
        let mut mapping = Mapping::new(description, header.shape.total_bytes(), file.path(), residency)?;
        mapping.guard();
        Ok(Self { header, generation, mapping, file })
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
        if self.mapping.is_lost() || !self.file.has_bytes(self.header.shape.total_bytes()) {
            return Err(OpenError::CutOff { path: path() });
        }
        Ok(())
    }

    /// `words` words from the byte offset `offset` on.
    #[inline]
    pub(crate) fn words(&self, offset: usize, words: usize) -> &[AtomicU64] {
        &self.mapping.words()[offset / WORD..offset / WORD + words]
    }

    fn membership(&self, word: usize) -> &AtomicU64 {
        &self.words(MEMBERSHIP, LINE_PAIR / WORD)[word]
    }

    /// One bit per subscriber that reads here.
    pub(crate) fn members(&self) -> &AtomicU64 {
        self.membership(MEMBERS_WORD)
    }

    /// One bit per lane that was ever used, in the generation that was mapped.
    pub(crate) fn used_lanes(&self) -> &AtomicU64 {
        self.used_lanes_in(self.generation)
    }

    /// The same of another generation, of which only who looks at a damaged word has too high a number.
    pub(crate) fn used_lanes_in(&self, generation: u64) -> &AtomicU64 {
        let last = GENERATIONS as u64 - 1;
        self.membership(LANES_WORD + (generation / 2).min(last) as usize)
    }

    /// The generation that was mapped.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The topic's generation by now.
    pub(crate) fn generation_word(&self) -> &AtomicU64 {
        self.membership(GENERATION_WORD)
    }

    /// Whether the header is the one that who made the topic last has written.
    pub(crate) fn is_finished(&self) -> bool {
        self.generation.is_multiple_of(2)
    }

    /// Empties all lanes: no message, and every cursor at the first. For the peer that remakes the topic, which no peer has
    /// published.
    pub(crate) fn clear_lanes(&self) {
        let (first, total) = (self.header.shape.lane(0), self.header.shape.total_bytes());
        // Relaxed: the generation, which is stored behind them, orders them.
        self.words(first, (total - first) / WORD).iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.used_lanes().store(0, Ordering::Relaxed);
    }

    /// Lets the kernel swap the segment out again: for one that is kept for its place only.
    pub(crate) fn unlock_memory(&self) {
        self.mapping.unlock();
    }

    /// Takes [`unlock_memory`](Self::unlock_memory) back: it is used after all.
    pub(crate) fn lock_memory_again(&self) {
        self.mapping.lock_again();
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
