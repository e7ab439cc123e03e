//! Where a log's next segment comes from: the file of one that need not be kept, or a new one.

use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use horus_shm::clock::monotonic_ns;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::error::LogError;
use super::index::Index;
use super::options::{Durability, Options};
use super::retention::{Sealed, surplus};
use super::segment::{self, HEADER_WORDS, Header, Segment};
use super::{Active, Log};

/// How long nothing is tried after the disk was full.
const FULL_NS: u64 = 1_000_000_000;

/// Makes the directory if it is not there, and takes the lock that its log has only one writer by.
pub fn lock(directory: &Path) -> Result<OwnedFd, LogError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|error| LogError::io("make the directory", directory, error))?;
    let path = directory.join("lock");
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file =
        rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(|error| LogError::io("make", &path, error))?;
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(LogError::InUse { path: directory.to_owned() }),
        Err(error) => Err(LogError::io("lock", path, error)),
    }
}

/// Begins segment `number` in a new file.
pub fn make(directory: &Path, options: &Options, number: u64, base: u64) -> Result<Active, LogError> {
    let path = Segment::path(directory, number);
    let file = segment::make_file(&path, options.segment_bytes)?;
    let header = Header::now(number, base, options.segment_bytes, options.kind.clone())?;
    let segment = Arc::new(Segment::begin(file, &path, header)?);
    keep_name(directory, options, &segment)?;
    Ok(Active { segment, path, at: HEADER_WORDS, ready: 0, index: Index::default() })
}

/// Begins segment `number` in the file of one that need not be kept.
fn recycle(directory: &Path, options: &Options, old: &Path, number: u64, base: u64) -> Result<Active, LogError> {
    let file = rustix::fs::open(old, OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
        .map_err(|error| LogError::io("open", old, error))?;
    let header = Header::now(number, base, options.segment_bytes, options.kind.clone())?;
    let segment = Arc::new(Segment::begin(file, old, header)?);
    // A process that is killed here leaves a segment under an old name. Nobody minds: the header says its number.
    let path = Segment::path(directory, number);
    std::fs::rename(old, &path).map_err(|error| LogError::io("rename", old, error))?;
    keep_name(directory, options, &segment)?;
    Ok(Active { segment, path, at: HEADER_WORDS, ready: 0, index: Index::default() })
}

/// What is promised to be on the disk must be found there under its name.
fn keep_name(directory: &Path, options: &Options, segment: &Segment) -> Result<(), LogError> {
    if options.durability != Durability::Each {
        return Ok(());
    }
    let io = |error| LogError::io("write to the disk", directory, error);
    segment.sync().map_err(io)?;
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(directory, flags, Mode::empty()).and_then(rustix::fs::fsync).map_err(io)
}

impl Log {
    /// Has memory ready for a record of so many words, in another segment where this one has no room for it.
    #[cold]
    pub(super) fn make_ready(&mut self, words: usize, bytes: usize) -> Result<(), LogError> {
        if self.active.at + words >= self.active.segment.words().len() {
            self.make_room(bytes)?;
        }
        let Active { segment, at, ready, .. } = &mut self.active;
        *ready = segment.make_ready(*at, *at + words);
        Ok(())
    }

    /// Begins a segment that has room for a message of `bytes`.
    fn make_room(&mut self, bytes: usize) -> Result<(), LogError> {
        let room = self.options.segment_bytes / 8;
        if segment::words_needed(bytes) > room || bytes > super::record::MAX_MESSAGE_BYTES {
            return Err(LogError::TooLong { bytes, maximum: (room - segment::words_needed(0)) * 8 });
        }
        if monotonic_ns() < self.full_until_ns {
            return Err(LogError::NoSpace { path: self.directory.clone(), bytes: self.options.segment_bytes });
        }
        self.roll()
    }

    pub(super) fn roll(&mut self) -> Result<(), LogError> {
        let number = self.active.segment.header().number + 1;
        let bytes = self.options.segment_bytes;
        let spare = self.retire(bytes)?;
        let (directory, options) = (&self.directory, &self.options);
        let begun = match spare {
            Some(spare) => recycle(directory, options, &spare.path, number, self.next).inspect(|_| {
                self.counts.recycled += 1;
            })?,
            None => match make(directory, options, number, self.next) {
                Ok(made) => {
                    self.counts.made += 1;
                    made
                }
                Err(LogError::NoSpace { path, bytes }) => {
                    let Some(oldest) = self.sealed.pop_front_if(|one| !one.is_read() && one.header.bytes == bytes)
                    else {
                        self.full_until_ns = monotonic_ns() + FULL_NS;
                        return Err(LogError::NoSpace { path, bytes });
                    };
                    self.counts.recycled += 1;
                    recycle(directory, options, &oldest.path, number, self.next)?
                }
                Err(error) => return Err(error),
            },
        };
        self.seal(begun)
    }

    /// The active segment will not be written any more; `begun` is from now on.
    fn seal(&mut self, begun: Active) -> Result<(), LogError> {
        let Active { segment, path, index, .. } = std::mem::replace(&mut self.active, begun);
        let (header, mapped) = (segment.header().clone(), Arc::downgrade(&segment));
        self.sealed.push_back(Sealed { path, header, index: Some(index), mapped });
        match (&self.syncer, self.options.durability) {
            (Some(syncer), _) => {
                syncer.order(&segment, true);
                Ok(())
            }
            (None, Durability::Each) if self.unsynced => segment.sync().map_err(|error| {
                self.counts.sync_failures += 1;
                LogError::io("write to the disk", &self.directory, error)
            }),
            _ => Ok(()),
        }
    }

    /// Removes the segments that need not be kept when one of `next` bytes comes; one whose file can be it is returned instead.
    pub(super) fn retire(&mut self, next: usize) -> Result<Option<Sealed>, LogError> {
        let active = self.active.segment.header();
        let all = active.bytes + next;
        let surplus = surplus(&self.sealed, active, all, self.options.keep_bytes, self.options.keep);
        let mut spare = None;
        for one in self.sealed.drain(..surplus) {
            if next > 0 && spare.is_none() && !one.is_read() && one.header.bytes == next {
                spare = Some(one);
                continue;
            }
            // Who reads it keeps its bytes, which go with the last mapping.
            std::fs::remove_file(&one.path).map_err(|error| LogError::io("remove", &one.path, error))?;
            self.counts.removed += 1;
        }
        Ok(spare)
    }

    /// Removes what is too old, and begins a segment when the active one is, so that it can go in its turn.
    pub(super) fn tidy(&mut self) -> Result<(), LogError> {
        let Some(keep) = self.options.keep else { return Ok(()) };
        if !self.is_empty() && super::retention::age(self.active.segment.header()) >= keep {
            self.roll()?;
        }
        self.retire(0).map(|_none| ())
    }
}
