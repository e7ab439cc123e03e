//! The pages of a CPU's trace, as the kernel hands them out: which bytes are an event, and when it happened.
//!
//! ```text
//!  u64 time of the first event | length of the data, bit 31: events before this page are lost | events
//!  an event: 5 bits kind and 27 bits time since the one before | its bytes, four at a time
//! ```
//!
//! Nothing about a page is believed: what does not fit is [`Corrupt`], and each step of the reader goes forward.
//! The layout is that of `include/linux/ring_buffer.h`.

use thiserror::Error;

use crate::tracefs::format::PageShape;

/// A page is not what the kernel writes.
#[derive(Clone, Copy, Debug, Eq, Error, PartialEq)]
#[error("a page of the trace is damaged at byte {0}")]
pub struct Corrupt(pub usize);

/// An event's bytes, and when it happened.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Raw<'a> {
    /// In nanoseconds of the trace's clock.
    pub ns: u64,
    /// From its `common_type` on.
    pub bytes: &'a [u8],
}

/// Reads one page from its first event to its last.
#[derive(Debug)]
pub struct Page<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
    ns: u64,
    /// Whether events between the page before and this one are lost.
    pub follows_a_gap: bool,
}

/// Kinds above the lengths: the rest of the page is empty, or an event was taken back.
const PADDING: u32 = 29;
/// Time went on for longer than 27 bits can say.
const TIME_EXTEND: u32 = 30;
/// The time itself follows.
const TIME_STAMP: u32 = 31;
/// The flags above the length of a page's data.
const LENGTH_MASK: u64 = (1 << 30) - 1;
const LOST: u64 = 1 << 31;
/// A time stamp has 59 bits; the rest is that of the time before.
const STAMP_BITS: u32 = 59;

impl<'a> Page<'a> {
    /// Looks at a page's header.
    ///
    /// # Errors
    /// When the page is too short for its header, or for the data that it says it has.
    pub fn new(bytes: &'a [u8], shape: PageShape) -> Result<Self, Corrupt> {
        let ns = bytes.get(..8).and_then(|time| Some(u64::from_ne_bytes(time.try_into().ok()?))).ok_or(Corrupt(0))?;
        let commit = bytes.get(shape.commit..shape.commit.saturating_add(shape.commit_size));
        let commit = match commit.ok_or(Corrupt(shape.commit))? {
            word if word.len() == 4 => word.try_into().map(u32::from_ne_bytes).map(u64::from),
            word => word.try_into().map(u64::from_ne_bytes),
        };
        let commit = commit.map_err(|_| Corrupt(shape.commit))?;
        let length = usize::try_from(commit & LENGTH_MASK).map_err(|_| Corrupt(shape.commit))?;
        let end = shape.data.checked_add(length).filter(|end| *end <= bytes.len()).ok_or(Corrupt(shape.commit))?;
        Ok(Self { bytes, at: shape.data, end, ns, follows_a_gap: commit & LOST != 0 })
    }

    fn word(&self, at: usize) -> Result<u32, Corrupt> {
        let bytes = at.checked_add(4).filter(|end| *end <= self.end).and_then(|end| self.bytes.get(at..end));
        bytes.and_then(|bytes| Some(u32::from_ne_bytes(bytes.try_into().ok()?))).ok_or(Corrupt(at))
    }

    /// The bytes from `at` on, and the reader behind them.
    fn take(&mut self, at: usize, length: usize) -> Result<&'a [u8], Corrupt> {
        let end = at.checked_add(length).filter(|end| *end <= self.end).ok_or(Corrupt(at))?;
        self.at = end;
        self.bytes.get(at..end).ok_or(Corrupt(at))
    }

    /// One step, which goes forward by four bytes or more. `None` is an entry that only says the time.
    fn step(&mut self) -> Result<Option<Raw<'a>>, Corrupt> {
        let at = self.at;
        let head = self.word(at)?;
        // The kernel declares two bit fields in one word: the first one is in the low bits where the low byte comes first.
        let (kind, delta) =
            if cfg!(target_endian = "little") { (head & 31, head >> 5) } else { (head >> 27, head & ((1 << 27) - 1)) };
        match kind {
            PADDING if delta == 0 => {
                self.at = self.end;
                Ok(None)
            }
            PADDING => {
                let length = self.word(at + 4)? as usize;
                // An event that was taken back keeps its time, but for 1, which stands for none.
                self.ns = self.ns.wrapping_add(if delta == 1 { 0 } else { u64::from(delta) });
                self.take(at + 4, length.max(4))?;
                Ok(None)
            }
            TIME_EXTEND => {
                let above = u64::from(self.word(at + 4)?);
                self.ns = self.ns.wrapping_add((above << 27) + u64::from(delta));
                self.at = at + 8;
                Ok(None)
            }
            TIME_STAMP => {
                let stamp = (u64::from(self.word(at + 4)?) << 27) + u64::from(delta);
                let high = self.ns >> STAMP_BITS << STAMP_BITS;
                self.ns = high | (stamp & ((1 << STAMP_BITS) - 1));
                self.at = at + 8;
                Ok(None)
            }
            0 => {
                // The length of a long event counts itself.
                let length = (self.word(at + 4)? as usize).checked_sub(4).ok_or(Corrupt(at + 4))?;
                self.ns = self.ns.wrapping_add(u64::from(delta));
                let bytes = self.take(at + 8, length.next_multiple_of(4))?;
                Ok(Some(Raw { ns: self.ns, bytes: &bytes[..length] }))
            }
            words => {
                self.ns = self.ns.wrapping_add(u64::from(delta));
                Ok(Some(Raw { ns: self.ns, bytes: self.take(at + 4, words as usize * 4)? }))
            }
        }
    }
}

impl<'a> Iterator for Page<'a> {
    type Item = Result<Raw<'a>, Corrupt>;

    /// The next event. After an error there is nothing more.
    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.end {
            match self.step() {
                Ok(Some(raw)) => return Some(Ok(raw)),
                Ok(None) => {}
                Err(error) => {
                    self.at = self.end;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
