//! Why a goal was rejected, or ended as it did: a word for programs, a sentence for people.

use std::fmt::{self, Write};

use super::REASON_BYTES;
use crate::messages::text;

/// What a goal was rejected or ended by, beside its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The server's program decided so.
    Program = 0,
    /// Another goal runs, and the server takes no other meanwhile (`Preemption::Refuse`), or has no room for more.
    Busy = 1,
    /// A newer goal took its place (`Preemption::Replace`).
    Replaced = 2,
    /// Its client is gone.
    ClientGone = 3,
    /// A client canceled it before its turn came.
    Canceled = 4,
    /// Its goal cannot be read: both programs have to be built from the same type.
    Unreadable = 5,
    /// A living goal has the same number.
    Twice = 6,
    /// The server's result is too long, or cannot be serialized.
    NoResult = 7,
}

impl Cause {
    /// What a peer alleges.
    pub(super) fn of_code(code: u32) -> Self {
        let all = [
            Self::Busy,
            Self::Replaced,
            Self::ClientGone,
            Self::Canceled,
            Self::Unreadable,
            Self::Twice,
            Self::NoResult,
        ];
        all.into_iter().find(|cause| *cause as u32 == code).unwrap_or(Self::Program)
    }
}

/// A sentence of at most 92 bytes, which is kept without an allocation. What is longer is cut off.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    pub(super) bytes: [u8; REASON_BYTES],
    length: u8,
}

impl Reason {
    /// Nothing is said.
    pub const NONE: Self = Self { bytes: [0; REASON_BYTES], length: 0 };

    /// `format_args!` as a reason.
    pub fn of(arguments: fmt::Arguments<'_>) -> Self {
        let mut reason = Self::NONE;
        let _ = reason.write_fmt(arguments); // what does not fit is cut off
        reason
    }

    /// What a peer alleges.
    pub(super) fn of_field(field: &[u8; REASON_BYTES]) -> Self {
        Self::from(text(field))
    }

    /// The sentence.
    pub fn as_str(&self) -> &str {
        text(&self.bytes)
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl Write for Reason {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        let room = &mut self.bytes[usize::from(self.length)..];
        let end = more.floor_char_boundary(room.len().min(more.len()));
        for (place, byte) in room.iter_mut().zip(more.as_bytes()[..end].iter()) {
            *place = if *byte == 0 { b' ' } else { *byte };
        }
        self.length += end as u8; // at most `REASON_BYTES`
        if end == more.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self::of(format_args!("{text}"))
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_is_too_long_is_cut_off_between_two_letters() {
        assert_eq!(Reason::from("the battery is low").as_str(), "the battery is low");
        let long = Reason::from("ö".repeat(REASON_BYTES).as_str());
        assert_eq!(long.as_str(), "ö".repeat(REASON_BYTES / 2));
        let odd = Reason::from(format!("x{}", "ö".repeat(REASON_BYTES)));
        assert_eq!(odd.as_str().len(), REASON_BYTES - 1);
        assert_eq!(Reason::of_field(&odd.bytes), odd);
        assert!(Reason::from("").is_empty() && !odd.is_empty());
    }

    #[test]
    fn a_cause_is_read_as_it_was_written() {
        for cause in
            [Cause::Program, Cause::Busy, Cause::Replaced, Cause::ClientGone, Cause::Canceled, Cause::Unreadable]
        {
            assert_eq!(Cause::of_code(cause as u32), cause);
        }
        assert_eq!(Cause::of_code(u32::MAX), Cause::Program);
    }
}
