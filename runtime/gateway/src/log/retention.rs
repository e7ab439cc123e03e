//! Which segments a log keeps: as many bytes as it may have, and none that is too old.
//!
//! Whole segments go, the oldest first, and never the one that is written. A file whose bytes no reader reads any more becomes
//! the next segment, so that a log that is full allocates nothing from then on.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use horus_sys::clock::monotonic_ns;

use super::clock;
use super::index::Index;
use super::segment::{Header, Segment};

/// A segment that is not written any more.
pub struct Sealed {
    pub path: PathBuf,
    pub header: Header,
    /// Where its records are; of a segment that this process did not write, `None`.
    pub index: Option<Index>,
    /// Its bytes, while a reader reads them.
    pub mapped: Weak<Segment>,
}

impl Sealed {
    /// Its bytes, for a reader; `None` when the file is no segment any more.
    pub fn map(&mut self) -> Option<Arc<Segment>> {
        if let Some(mapped) = self.mapped.upgrade() {
            return Some(mapped);
        }
        match Segment::open(&self.path) {
            Ok(Some(super::segment::Opened::Segment(segment))) if *segment.header() == self.header => {
                let segment = Arc::new(segment);
                self.mapped = Arc::downgrade(&segment);
                Some(segment)
            }
            _ => None,
        }
    }

    /// Whether a reader reads it.
    pub fn is_read(&self) -> bool {
        self.mapped.strong_count() > 0
    }
}

/// How old the beginning of a segment is. Within a boot the clock of the day does not matter, however it is set.
pub fn age(header: &Header) -> Duration {
    let age_ns = if header.boot == clock::boot() {
        monotonic_ns().saturating_sub(header.begun_ns.wrapping_sub(header.unix_offset_ns))
    } else {
        clock::unix_ns().saturating_sub(header.begun_ns)
    };
    Duration::from_nanos(age_ns)
}

/// How many of the oldest segments are to go, so that the sealed ones and one of `next` bytes are at most `keep_bytes`, and none
/// ended longer ago than `keep`.
pub fn surplus(
    sealed: &VecDeque<Sealed>,
    active: &Header,
    next: usize,
    keep_bytes: u64,
    keep: Option<Duration>,
) -> usize {
    let mut bytes = sealed.iter().map(|one| one.header.bytes as u64).sum::<u64>().saturating_add(next as u64);
    let mut surplus = 0;
    for (index, one) in sealed.iter().enumerate() {
        // A segment ended when the next one began.
        let successor = sealed.get(index + 1).map_or(active, |next| &next.header);
        if bytes <= keep_bytes && keep.is_none_or(|keep| age(successor) <= keep) {
            break;
        }
        bytes -= one.header.bytes as u64;
        surplus = index + 1;
    }
    surplus
}
