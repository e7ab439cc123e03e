//! What a log's directory holds after whatever happened to it: the records of each segment, what is damaged, and where to go on.
//!
//! - **A killed process** leaves whole records and an end ([`super::record`]).
//! - **A power cut** leaves pages of different ages. The last segment is read up to its first end. What stands behind a damaged place
//!   counts only if its checksum, begun with the segment's salt, is right and its number is higher.
//! - **A segment whose header is damaged** cannot be believed at all. Its file gets the ending `damaged` and is left to people.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use super::error::LogError;
use super::index::Index;
use super::record::{self, Found, Head};
use super::segment::{HEADER_WORDS, Opened, Segment};

/// What comes next in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A record at word `at`; its message was copied.
    Record { head: Head, at: usize },
    /// Nothing.
    End,
    /// Nothing that could be read up to word `resume`, where a record is; or none is.
    Damage { resume: Option<usize> },
}

/// Reads what stands at word `at` of a segment, behind the record `last`.
#[inline]
pub fn step(words: &[AtomicU64], salt: u32, at: usize, last: u64, message: &mut Vec<u8>) -> Step {
    match record::read(&words[at..], salt, message) {
        Found::Record(head) if head.sequence > last => Step::Record { head, at },
        Found::End => Step::End,
        _ => Step::Damage { resume: look_further(words, salt, at + 1, last, message) },
    }
}

/// The next place with a record behind a damaged one.
///
/// What was written before the file was used again cannot be mistaken for one. What a publisher sent could look like the beginnings
/// of many long records. So only so many bytes are looked at in all, as the segment has four times.
#[cold]
#[inline(never)]
fn look_further(words: &[AtomicU64], salt: u32, from: usize, last: u64, message: &mut Vec<u8>) -> Option<usize> {
    let mut left = words.len().saturating_mul(4);
    for at in from..words.len() {
        match record::read(&words[at..], salt, message) {
            Found::Record(head) if head.sequence > last => return Some(at),
            Found::Damage if record::has_mark(&words[at..]) => left = left.checked_sub(record::words(message.len()))?,
            _ => {}
        }
    }
    None
}

/// What a segment holds.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// Records.
    pub records: u64,
    /// The number of the last one; that before the segment's first if there is none.
    pub last: u64,
    /// Where the next record goes.
    pub end: usize,
    /// Damaged places with records behind them.
    pub damaged: u64,
    /// Whether it ends with something other than an end: a record that was half on the disk.
    pub torn: bool,
    /// Where its records are.
    pub index: Index,
}

/// Reads all of a segment.
pub fn contents(segment: &Segment) -> Contents {
    let (words, header) = (segment.words(), segment.header());
    let mut found = Contents { last: header.base.saturating_sub(1), end: HEADER_WORDS, ..Contents::default() };
    let mut message = Vec::new();
    let mut at = HEADER_WORDS;
    while at < words.len() {
        match step(words, header.salt, at, found.last, &mut message) {
            Step::Record { head, at: place } => {
                found.index.note(place, head.sequence, head.stamp_ns);
                found.records += 1;
                found.last = head.sequence;
                at = place + record::words(head.bytes);
                found.end = at;
            }
            Step::End => break,
            Step::Damage { resume: Some(resume) } => {
                found.damaged += 1;
                at = resume;
            }
            Step::Damage { resume: None } => {
                found.torn = true;
                break;
            }
        }
    }
    found
}

/// The segments of a directory, in the order of their numbers, and the files that only look like some.
#[derive(Default)]
pub struct Directory {
    pub segments: Vec<(PathBuf, Segment)>,
    pub damaged: Vec<PathBuf>,
}

/// Opens all segments of a directory. Files with nothing in them are removed, damaged ones are renamed.
///
/// # Errors
/// When the directory or a file cannot be read.
pub fn directory(path: &Path) -> Result<Directory, LogError> {
    let io = |error| LogError::io("list", path, error);
    let mut found = Directory::default();
    for entry in std::fs::read_dir(path).map_err(io)? {
        let file = entry.map_err(io)?.path();
        if file.extension().is_none_or(|extension| extension != "log") {
            continue;
        }
        match Segment::open(&file)? {
            None => {}
            Some(Opened::Segment(segment)) => found.segments.push((file, segment)),
            Some(Opened::Empty) => {
                std::fs::remove_file(&file).map_err(|error| LogError::io("remove", &file, error))?;
            }
            Some(Opened::Damaged) => {
                let aside = file.with_extension("damaged");
                std::fs::rename(&file, &aside).map_err(|error| LogError::io("rename", &file, error))?;
                found.damaged.push(aside);
            }
        }
    }
    found.segments.sort_by_key(|(_, segment)| segment.header().number);
    Ok(found)
}
