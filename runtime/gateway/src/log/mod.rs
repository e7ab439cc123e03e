//! The messages of one topic on disk: appended, repaired after whatever happened, replayed by number or by time.
//!
//! A log is a directory of segment files of one size. The last one is written through a mapping, so that appending is copying. When
//! it is full, the oldest one that need not be kept becomes the next.
//!
//! | file | what is in it |
//! |---|---|
//! | `options.rs` | what a log may cost, and when it is on the disk |
//! | `segment.rs`, `record.rs` | which byte of a file is what |
//! | `recover.rs` | what is believed of the files after a crash |
//! | `retention.rs`, `room.rs` | which segments stay, and where the next one comes from |
//! | `index.rs`, `reader.rs` | finding a place, and reading on from there |
//! | `promise.rs`, `sync.rs` | what is promised of messages, and a thread that has the disk write |
//!
//! ```
//! use horus_gateway::log::{From, Log, Options};
//! # let scratch = tempfile::tempdir()?;
//! # let directory = scratch.path().join("base.cmd");
//! let (mut log, _found) = Log::open(&directory, Options::default())?;
//! let number = log.append(b"forward", 1_000, 0)?;
//! log.commit()?;
//! let mut reader = log.reader(From::Sequence(number));
//! assert_eq!(reader.next(&mut log).unwrap().message, b"forward");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it does not do
//! - One process has a log, which writes and reads it. A second one is refused.
//! - A number is given once in a log's life, unless a power cut takes the end of a log that was not on the disk yet.
//! - On file systems that write each block to a new place (Btrfs, ZFS) allocated bytes are no promise. A full disk can end this
//!   process by SIGBUS there. On ext4, XFS, F2FS and tmpfs it is an error.

mod clock;
mod error;
mod index;
mod options;
mod promise;
mod reader;
mod record;
mod recover;
mod retention;
mod room;
mod segment;
mod sync;

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use horus_sys::clock::monotonic_ns;
use horus_sys::failpoint;

pub use error::LogError;
use index::Index;
pub use options::{Durability, Kind, Options};
pub use reader::{From, Reader, Replayed};
use record::Head;
use retention::Sealed;
use segment::{HEADER_WORDS, Segment};
use sync::Syncer;

/// A log, to be appended to and read.
pub struct Log {
    directory: PathBuf,
    options: Options,
    active: Active,
    sealed: VecDeque<Sealed>,
    next: u64,
    unsynced: bool,
    /// Messages that were appended when the last promise of all of them was kept, or broken.
    promised: u64,
    /// Why the promise of what was appended since then cannot be kept.
    broken: Option<LogError>,
    syncer: Option<Syncer>,
    /// Failures of the thread that were taken up.
    syncer_failures: u64,
    synced_ns: u64,
    cleaned_up_ns: u64,
    /// After a segment could not be begun: until when it is not tried again, and why it could not.
    paused: Option<(u64, String)>,
    /// What went wrong without breaking a promise.
    trouble: Option<LogError>,
    counts: Counts,
    /// Held as long as the log: the kernel drops the lock with it.
    _lock: OwnedFd,
}

/// The segment that is written.
struct Active {
    segment: Arc<Segment>,
    path: PathBuf,
    at: usize,
    /// Up to this word, memory is ready.
    ready: usize,
    /// Takes no more: a part of it may be missing on the disk, and what comes behind a hole is not found after a power cut.
    is_closed: bool,
    index: Index,
}

impl Active {
    fn new(segment: Arc<Segment>, path: PathBuf, at: usize, index: Index) -> Self {
        Self { segment, path, at, ready: 0, is_closed: false, index }
    }

    /// The next message begins another segment.
    fn close(&mut self) {
        (self.ready, self.is_closed) = (0, true);
    }
}

/// What was found when a log was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// Segments.
    pub segments: usize,
    /// Records in the last segment.
    pub records: u64,
    /// Damaged places in the last segment that have whole records behind them.
    pub damaged_places: u64,
    /// Whether the last segment ended in half a record.
    pub torn: bool,
    /// Files whose headers were damaged; they are renamed.
    pub damaged_files: Vec<PathBuf>,
}

/// What a log did since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages appended.
    pub appended: u64,
    /// Segments begun in a new file.
    pub made: u64,
    /// Segments begun in the file of an older one.
    pub recycled: u64,
    /// Segments that were removed.
    pub removed: u64,
    /// How often the disk did not take what was written.
    pub sync_failures: u64,
    /// Messages that [`commit`](Log::commit) could not promise: they may be on the disk or not.
    pub doubtful: u64,
}

impl Log {
    /// Opens the log in `directory`, which is made if it is not there; with what was found there.
    ///
    /// # Errors
    /// [`LogError`] says what is in the way and what to do.
    pub fn open(directory: &Path, mut options: Options) -> Result<(Self, Recovered), LogError> {
        options.check()?;
        let lock = room::lock(directory, options.durability)?;
        let recover::Directory { mut segments, damaged } = recover::directory(directory)?;
        let mut found = Recovered { segments: segments.len(), damaged_files: damaged, ..Recovered::default() };
        let last = segments.pop();
        let mut sealed: VecDeque<Sealed> = segments
            .into_iter()
            .map(|(path, segment)| Sealed { path, header: segment.header().clone(), index: None, mapped: Weak::new() })
            .collect();
        let (active, next) = match last {
            None => (Self::first(directory, &options)?, 1),
            Some((path, segment)) => {
                if options.kind == Kind::default() {
                    options.kind = segment.header().kind.clone();
                }
                let contents = recover::contents(&segment);
                (found.records, found.damaged_places, found.torn) = (contents.records, contents.damaged, contents.torn);
                let next = contents.last + 1;
                (Self::go_on(directory, &options, path, segment, contents, &mut sealed)?, next)
            }
        };
        let syncer = match options.durability {
            Durability::Interval(_) => {
                Some(Syncer::start().map_err(|error| LogError::io("start a thread for", directory, error))?)
            }
            Durability::None | Durability::Each => None,
        };
        let now = monotonic_ns();
        let mut log = Self {
            directory: directory.to_owned(),
            options,
            active,
            sealed,
            next,
            unsynced: true,
            promised: 0,
            broken: None,
            syncer,
            syncer_failures: 0,
            synced_ns: now,
            cleaned_up_ns: now,
            paused: None,
            trouble: None,
            counts: Counts::default(),
            _lock: lock,
        };
        log.retire(0)?;
        log.commit()?;
        failpoint!("open:opened");
        Ok((log, found))
    }

    fn first(directory: &Path, options: &Options) -> Result<Active, LogError> {
        room::make(directory, options, 1, 1)
    }

    /// Writes on in the last segment where that is possible: in the same boot, with messages of the same kind, in the same size.
    fn go_on(
        directory: &Path,
        options: &Options,
        path: PathBuf,
        segment: Segment,
        contents: recover::Contents,
        sealed: &mut VecDeque<Sealed>,
    ) -> Result<Active, LogError> {
        let header = segment.header().clone();
        let recover::Contents { end, index, last, .. } = contents;
        if header.boot == clock::boot() && header.kind == options.kind && header.bytes == options.segment_bytes {
            // Whole records behind the end, which a power cut left, must not be found again when the log has grown up to them.
            segment.clear_from(end.min(segment.words().len()));
            failpoint!("open:cleared");
            if options.durability != Durability::None {
                segment.write_again(end);
                failpoint!("open:again");
            }
            room::keep_name(directory, options.durability, &segment)?;
            return Ok(Active::new(Arc::new(segment), path, end, index));
        }
        let number = header.number + 1;
        sealed.push_back(Sealed { path, header, index: Some(index), mapped: Weak::new() });
        room::make(directory, options, number, last + 1)
    }

    /// Appends a message, and returns its number. It is safe from a kill of this process at once, and from a power cut as
    /// [`Options::durability`] says, at the earliest after [`commit`](Self::commit).
    ///
    /// # Errors
    /// When the disk is full and no segment may go, or when the message is too long. Nothing is appended then, and the next message
    /// can be.
    #[inline]
    pub fn append(&mut self, message: &[u8], stamp_ns: u64, publisher: u16) -> Result<u64, LogError> {
        let words = record::words(message.len());
        if self.active.at + words >= self.active.ready {
            self.make_ready(words, message.len())?;
        }
        let head = Head { bytes: message.len(), publisher, sequence: self.next, stamp_ns };
        let Active { segment, at, index, .. } = &mut self.active;
        record::write(&segment.words()[*at..], &head, message, segment.header().salt);
        index.note(*at, head.sequence, stamp_ns);
        failpoint!("append:noted");
        *at += words;
        self.next += 1;
        self.unsynced = true;
        self.counts.appended += 1;
        failpoint!("append:counted");
        Ok(head.sequence)
    }

    /// Leaves out so many numbers: those of messages that are known to be lost. A gap in the numbers is a loss, and nothing else is.
    pub fn skip(&mut self, messages: u64) {
        self.next = self.next.saturating_add(messages);
    }

    /// What the messages are that are appended from now on; those of another kind are in segments of their own.
    ///
    /// # Errors
    /// When there is no room for another segment.
    pub fn set_kind(&mut self, kind: Kind) -> Result<(), LogError> {
        if self.options.kind == kind {
            return Ok(());
        }
        let options = Options { kind, ..self.options.clone() };
        options.check()?;
        self.options = options;
        self.active.close(); // its header says another kind, whether or not there is room for the next one now
        self.roll()
    }

    /// A reader that begins at `from`.
    pub fn reader(&mut self, from: From) -> Reader {
        Reader::new(self, from)
    }

    /// The number that the next message will have.
    pub fn next_sequence(&self) -> u64 {
        self.next
    }

    /// The lowest number that a message in the log can have.
    pub fn first_sequence(&self) -> u64 {
        self.sealed.front().map_or(self.active.segment.header().base, |oldest| oldest.header.base)
    }

    /// What it did since it was opened.
    pub fn counts(&self) -> Counts {
        let of_thread = self.syncer.as_ref().map_or(0, Syncer::failures);
        Counts { sync_failures: self.counts.sync_failures + of_thread, ..self.counts }
    }

    /// Bytes of its files.
    pub fn bytes(&self) -> u64 {
        let sealed: u64 = self.sealed.iter().map(|one| one.header.bytes as u64).sum();
        sealed + self.active.segment.header().bytes as u64
    }

    /// Whether the active segment has no record.
    fn is_empty(&self) -> bool {
        self.active.at == HEADER_WORDS
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        let _ = self.end(); // no caller is there to be told
    }
}
