//! Where a log's next segment comes from: the file of one that need not be kept, or a new one.

use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use horus_sys::clock::monotonic_ns;
use horus_sys::failpoint;
use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::error::LogError;
use super::index::Index;
use super::options::{Durability, Options};
use super::retention::{Sealed, surplus};
use super::segment::{self, HEADER_WORDS, Header, Segment};
use super::{Active, Log};

/// How long nothing is tried after a segment could not be begun.
const PAUSE_NS: u64 = 1_000_000_000;

/// Makes the directory if it is not there, and takes the lock that its log has only one writer by.
pub fn lock(directory: &Path, durability: Durability) -> Result<OwnedFd, LogError> {
    let missing = directory.ancestors().take_while(|place| !place.exists()).count();
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(directory)
        .map_err(|error| LogError::io("make the directory", directory, error))?;
    if durability == Durability::Each {
        directory.ancestors().skip(1).take(missing).try_for_each(sync_directory)?;
    }
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
    let begun = segment::make_file(&path, options.segment_bytes).and_then(|file| {
        failpoint!("segment:file");
        let header = Header::now(number, base, options.segment_bytes, options.kind.clone())?;
        let segment = Segment::begin(file, &path, header)?;
        keep_name(directory, options.durability, &segment)?;
        Ok(Active::new(Arc::new(segment), path.clone(), HEADER_WORDS, Index::default()))
    });
    if begun.is_err() {
        let _ = rustix::fs::unlink(&path); // the next attempt begins with nothing, also of what the disk did not take
    }
    begun
}

/// Begins segment `number` in the file of one that need not be kept, and is open.
fn recycle(
    (file, old): (OwnedFd, &Path),
    directory: &Path,
    options: &Options,
    number: u64,
    base: u64,
) -> Result<Active, LogError> {
    let path = Segment::path(directory, number);
    // A process that is killed before the new name leaves a segment under an old one. That does no harm: the header says its
    // number.
    let begun = Header::now(number, base, options.segment_bytes, options.kind.clone()).and_then(|header| {
        let segment = Segment::begin(file, old, header)?;
        std::fs::rename(old, &path).map_err(|error| LogError::io("rename", old, error))?;
        failpoint!("segment:renamed");
        keep_name(directory, options.durability, &segment)?;
        Ok(Active::new(Arc::new(segment), path.clone(), HEADER_WORDS, Index::default()))
    });
    if begun.is_err() {
        let _ = rustix::fs::unlink(old).and(rustix::fs::unlink(&path)); // it is no segment any more
    }
    begun
}

/// What is promised to be on the disk must be found there under its name.
pub fn keep_name(directory: &Path, durability: Durability, segment: &Segment) -> Result<(), LogError> {
    if durability != Durability::Each {
        return Ok(());
    }
    segment.sync().map_err(|error| LogError::disk(directory, error))?;
    failpoint!("segment:synced");
    sync_directory(directory)?;
    failpoint!("segment:named");
    Ok(())
}

fn sync_directory(directory: &Path) -> Result<(), LogError> {
    let place = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let file = rustix::fs::open(place, flags, Mode::empty()).map_err(|error| LogError::io("open", place, error))?;
    rustix::fs::fsync(file).map_err(|error| LogError::disk(place, error))
}

impl Log {
    /// Has memory ready for a record of so many words, in another segment where this one has no room for it.
    #[cold]
    pub(super) fn make_ready(&mut self, words: usize, bytes: usize) -> Result<(), LogError> {
        if self.active.is_closed || self.active.at + words >= self.active.segment.words().len() {
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
        self.roll()
    }

    /// Begins the next segment; what is in the active one stays as it is.
    pub(super) fn roll(&mut self) -> Result<(), LogError> {
        if let Some((until, why)) = &self.paused
            && monotonic_ns() < *until
        {
            return Err(LogError::Paused { why: why.clone() });
        }
        let begun = self.begin();
        self.paused = begun.as_ref().err().map(|error| (monotonic_ns() + PAUSE_NS, error.to_string()));
        if let Err(LogError::Disk { .. }) = begun {
            self.counts.sync_failures += 1;
        }
        begun.map(|begun| self.seal(begun))
    }

    fn begin(&mut self) -> Result<Active, LogError> {
        let number = self.active.segment.header().number + 1;
        let bytes = self.options.segment_bytes;
        let spare = match self.retire(bytes)? {
            Some(spare) => spare,
            None => match make(&self.directory, &self.options, number, self.next) {
                Ok(made) => {
                    self.counts.made += 1;
                    return Ok(made);
                }
                // The disk is full: the oldest one makes room, whatever is to be kept.
                Err(full @ LogError::NoSpace { .. }) => {
                    self.sealed.pop_front_if(|one| !one.is_read() && one.header.bytes == bytes).ok_or(full)?
                }
                Err(error) => return Err(error),
            },
        };
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = match rustix::fs::open(&spare.path, flags, Mode::empty()) {
            Ok(file) => file,
            Err(error) => {
                let error = LogError::io("open", &spare.path, error);
                self.sealed.push_front(spare); // nothing was done to it
                return Err(error);
            }
        };
        let recycled = recycle((file, &spare.path), &self.directory, &self.options, number, self.next)?;
        self.counts.recycled += 1;
        Ok(recycled)
    }

    /// The active segment will not be written any more; `begun` is from now on.
    fn seal(&mut self, begun: Active) {
        if self.options.durability == Durability::Each {
            self.sync_active(); // a failure is the next commit's
        }
        let Active { segment, path, index, .. } = std::mem::replace(&mut self.active, begun);
        let (header, mapped) = (segment.header().clone(), Arc::downgrade(&segment));
        self.sealed.push_back(Sealed { path, header, index: Some(index), mapped });
        if let Some(syncer) = &self.syncer {
            syncer.order(&segment, true);
        }
        failpoint!("segment:sealed");
    }

    /// Removes the segments that need not be kept when one of `next` bytes comes; one whose file can be it is returned instead.
    pub(super) fn retire(&mut self, next: usize) -> Result<Option<Sealed>, LogError> {
        let active = self.active.segment.header();
        let all = active.bytes + next;
        let surplus = surplus(&self.sealed, active, all, self.options.keep_bytes, self.options.keep);
        let mut spare = None;
        for _ in 0..surplus {
            let Some(one) = self.sealed.pop_front() else { break };
            if next > 0 && spare.is_none() && !one.is_read() && one.header.bytes == next {
                spare = Some(one);
                continue;
            }
            // Who reads it keeps its bytes, which go with the last mapping.
            if let Err(error) = std::fs::remove_file(&one.path)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                let error = LogError::io("remove", &one.path, error);
                self.sealed.push_front(one);
                spare.into_iter().for_each(|spare| self.sealed.push_front(spare));
                return Err(error);
            }
            self.counts.removed += 1;
            failpoint!("segment:removed");
        }
        Ok(spare)
    }

    /// Removes what is too old, and begins a segment when the active one is, so that it can go in its turn.
    pub(super) fn clean_up(&mut self) -> Result<(), LogError> {
        let Some(keep) = self.options.keep else { return Ok(()) };
        if !self.is_empty() && super::retention::age(self.active.segment.header()) >= keep {
            match self.roll() {
                Err(LogError::Paused { .. }) => {} // its reason was told
                other => other?,
            }
        }
        self.retire(0).map(|_none| ())
    }
}
