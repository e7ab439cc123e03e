//! One file of a log: a header that says what its records are, and the records.
//!
//! ```text
//! word 0       "HORUSLOG"
//! word 1       bits 0..32 version, bits 32..64 the salt of the records' checksums: another one in each life of the file
//! word 2       the segment's number, which is also its name
//! word 3       the lowest sequence number that a record in it can have
//! word 4       bytes of the file
//! word 5       nanoseconds from CLOCK_MONOTONIC to CLOCK_REALTIME when the segment was begun
//! words 6, 7   the boot that the stamps belong to (/proc/sys/kernel/random/boot_id)
//! word 8       when it was begun, in nanoseconds on CLOCK_REALTIME
//! word 9       the layout hash of the messages
//! word 10      bytes of the type's name
//! words 11…26  the type's name
//! word 31      CRC32C of words 0 to 30
//! word 32…     records
//! ```

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::ring::copy;
use horus_shm::segment::stored::Stored;
use horus_sys::failpoint;
use rustix::fs::{CWD, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::error::LogError;
use super::{Kind, clock};
use crate::checksum;

/// Words before the first record.
pub const HEADER_WORDS: usize = 32;
/// Words that are made ready at a time: few enough that no client waits for it.
const READY_WORDS: usize = (128 << 10) / 8;
/// Words of the smallest page of any machine.
const PAGE_WORDS: usize = 4096 / 8;
const NAME_WORD: usize = 11;
/// The longest name of a type that a header has room for.
pub const MAX_NAME_BYTES: usize = 128;
const MAGIC: u64 = u64::from_le_bytes(*b"HORUSLOG");
/// Version 1 had one sum a record.
const VERSION: u64 = 2;

/// What a segment's header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The segment's number.
    pub number: u64,
    /// The lowest sequence number that a record in it can have.
    pub base: u64,
    /// Bytes of the file.
    pub bytes: usize,
    /// Where its records' checksums begin.
    pub salt: u32,
    /// What to add to a stamp to get a time of the day.
    pub unix_offset_ns: u64,
    /// When it was begun, in nanoseconds since 1970.
    pub begun_ns: u64,
    /// The boot that its stamps belong to.
    pub boot: u128,
    /// What its messages are.
    pub kind: Kind,
}

impl Header {
    /// That of a segment which begins now, in a life that the file did not have before.
    pub fn now(number: u64, base: u64, bytes: usize, kind: Kind) -> Result<Self, LogError> {
        let mut salt = [0; 4];
        let random = "/dev/urandom";
        rustix::fs::open(random, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .and_then(|file| rustix::io::read(file, &mut salt))
            .map_err(|error| LogError::io("read", random, error))?;
        let (begun_ns, unix_offset_ns) = clock::unix_ns_and_offset();
        Ok(Self {
            number,
            base,
            bytes,
            salt: u32::from_ne_bytes(salt),
            unix_offset_ns,
            begun_ns,
            boot: clock::boot(),
            kind,
        })
    }

    fn words(&self) -> [u64; HEADER_WORDS] {
        let mut words = [0; HEADER_WORDS];
        let name = self.kind.type_name.as_bytes();
        words[..11].copy_from_slice(&[
            MAGIC,
            VERSION | u64::from(self.salt) << 32,
            self.number,
            self.base,
            self.bytes as u64,
            self.unix_offset_ns,
            self.boot as u64,
            (self.boot >> 64) as u64,
            self.begun_ns,
            self.kind.layout_hash,
            name.len() as u64,
        ]);
        let mut padded = [0; MAX_NAME_BYTES];
        padded[..name.len()].copy_from_slice(name);
        for (word, bytes) in words[NAME_WORD..].iter_mut().zip(padded.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        words[HEADER_WORDS - 1] = u64::from(checksum(&words));
        words
    }

    /// Reads a header; `None` when these words are none, or were damaged.
    fn read(words: &[AtomicU64]) -> Option<Self> {
        let mut found = [0; HEADER_WORDS];
        for (found, word) in found.iter_mut().zip(words.get(..HEADER_WORDS)?) {
            *found = word.load(Ordering::Acquire);
        }
        let length = usize::try_from(found[10]).ok()?;
        let is_ours = found[0] == MAGIC && found[1] & 0xffff_ffff == VERSION && length <= MAX_NAME_BYTES;
        if !is_ours || found[HEADER_WORDS - 1] != u64::from(checksum(&found)) || found[4] != words.len() as u64 * 8 {
            return None;
        }
        let name: Vec<u8> = found[NAME_WORD..].iter().flat_map(|word| word.to_le_bytes()).take(length).collect();
        Some(Self {
            number: found[2],
            base: found[3],
            bytes: words.len() * 8,
            salt: (found[1] >> 32) as u32,
            unix_offset_ns: found[5],
            begun_ns: found[8],
            boot: u128::from(found[7]) << 64 | u128::from(found[6]),
            kind: Kind { type_name: String::from_utf8(name).ok()?, layout_hash: found[9] },
        })
    }
}

fn checksum(words: &[u64; HEADER_WORDS]) -> u32 {
    words[..HEADER_WORDS - 1].iter().fold(0, |sum, word| checksum::append(sum, &word.to_le_bytes()))
}

/// A mapped segment.
pub struct Segment {
    stored: Stored,
    header: Header,
}

/// What a file is that is called like a segment.
pub enum Opened {
    /// A segment.
    Segment(Segment),
    /// A file without a first word: its maker was killed, or the power failed, before anything was in it.
    Empty,
    /// Something else.
    Damaged,
}

impl Segment {
    /// The name of the file of segment `number`.
    pub fn path(directory: &Path, number: u64) -> PathBuf {
        directory.join(format!("{number:020}.log"))
    }

    /// Makes a segment of a file that is allocated, whatever stands in it; no other code may have it mapped.
    ///
    /// # Errors
    /// When it cannot be mapped.
    pub fn begin(file: OwnedFd, path: &Path, header: Header) -> Result<Self, LogError> {
        let stored = Stored::map(file, path)?.ok_or_else(|| LogError::io("map", path, Errno::INVAL))?;
        let words = stored.words();
        words[0].store(0, Ordering::Release); // from here on it is nothing
        words[HEADER_WORDS].store(0, Ordering::Release);
        failpoint!("segment:nothing");
        for (word, value) in words.iter().zip(header.words()).skip(1) {
            word.store(value, Ordering::Relaxed);
            failpoint!("segment:word");
        }
        failpoint!("segment:header");
        words[0].store(MAGIC, Ordering::Release); // all the rest is there
        failpoint!("segment:begun");
        Ok(Self { stored, header })
    }

    /// Opens the file `path`; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be opened or mapped.
    pub fn open(path: &Path) -> Result<Option<Opened>, LogError> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(LogError::io("open", path, error)),
        };
        let stat = rustix::fs::fstat(&file).map_err(|error| LogError::io("examine", path, error))?;
        // A file with holes would end this process by SIGBUS when the disk is full.
        let bytes = stat.st_size as usize;
        if bytes > 0 {
            allocate(&file, bytes).map_err(|error| not_allocated(error, path, bytes))?;
        }
        let Some(stored) = Stored::map(file, path)? else { return Ok(Some(Opened::Empty)) };
        let words = stored.words();
        Ok(Some(match Header::read(words) {
            Some(header) if words.len() > HEADER_WORDS => Opened::Segment(Self { header, stored }),
            _ if words[0].load(Ordering::Relaxed) == 0 => Opened::Empty,
            _ => Opened::Damaged,
        }))
    }

    /// What its header says.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Everything, the header included: places in a segment are counted in words of the file.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        self.stored.words()
    }

    /// Has memory ready for what is written from word `at` on, so that a fault for each page is spared: up to the word that it returns,
    /// which is behind `needed` where the segment goes so far.
    pub fn make_ready(&self, at: usize, needed: usize) -> usize {
        let ready = self.words().len().min((at + READY_WORDS).max(needed + 1));
        self.stored.fault_in(at..ready);
        ready
    }

    /// Overwrites everything from word `at` on with zeros, where it is not zero.
    pub fn clear_from(&self, at: usize) {
        for word in &self.words()[at..] {
            if word.load(Ordering::Relaxed) != 0 {
                word.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Has the kernel take everything before word `end` for new, so that the next [`sync`](Self::sync) writes all of it. Of a process
    /// that was here before, the disk may not have taken what the kernel holds, and the kernel says so only once.
    pub fn write_again(&self, end: usize) {
        for word in self.words()[..end].iter().step_by(PAGE_WORDS) {
            word.store(std::hint::black_box(word.load(Ordering::Relaxed)), Ordering::Relaxed);
        }
    }

    /// Waits until everything that was stored is on the disk.
    ///
    /// # Errors
    /// When the kernel could not write it.
    pub fn sync(&self) -> Result<(), Errno> {
        rustix::fs::fdatasync(self.stored.file())
    }
}

/// Makes or opens the file `path` and allocates `bytes` bytes for it.
///
/// # Errors
/// When there is no room.
pub fn make_file(path: &Path, bytes: usize) -> Result<OwnedFd, LogError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let file = rustix::fs::openat(CWD, path, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|error| LogError::io("make", path, error))?;
    let made = allocate(&file, bytes).and_then(|()| rustix::fs::ftruncate(&file, bytes as u64));
    match made {
        Ok(()) => Ok(file),
        Err(error) => Err(not_allocated(error, path, bytes)),
    }
}

fn not_allocated(error: Errno, path: &Path, bytes: usize) -> LogError {
    match error {
        Errno::NOSPC | Errno::DQUOT | Errno::FBIG => LogError::NoSpace { path: path.to_owned(), bytes },
        error => LogError::io("allocate the bytes of", path, error),
    }
}

fn allocate(file: &OwnedFd, bytes: usize) -> Result<(), Errno> {
    rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes as u64)
}

/// The words that a message of so many bytes needs in an empty segment, header and end included.
pub fn words_needed(bytes: usize) -> usize {
    HEADER_WORDS + super::record::HEAD_WORDS + copy::words_for(bytes) + 1
}
