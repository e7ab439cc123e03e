//! Reads CDR that another program wrote: every length is an allegation until it was compared with what is there.

use thiserror::Error;

use super::gap;

/// Why bytes are not the message that they are said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    /// They end before the message does.
    #[error("the message ends too early")]
    Short,
    /// A text without its zero byte, or that is no UTF-8.
    #[error("a text of the message is no UTF-8 with a zero byte at its end")]
    Text,
    /// More than the topic's message has room for.
    #[error("the message has more elements than the topic's message has room for: define a larger message")]
    TooMany,
    /// What our message cannot say.
    #[error("the message has no counterpart: {0}")]
    Unlike(&'static str),
}

/// Reads a message, number by number.
#[derive(Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    place: usize,
}

macro_rules! numbers {
    ($($name:ident $all:ident $number:ty, $what:literal;)+) => { $(
        #[doc = concat!("Reads ", $what, ".")]
        pub fn $name(&mut self) -> Result<$number, Malformed> {
            const BYTES: usize = size_of::<$number>();
            let mut value = [0; BYTES];
            value.copy_from_slice(self.aligned(BYTES, BYTES)?);
            Ok(<$number>::from_le_bytes(value))
        }

        #[doc = concat!("Reads several of ", $what, ", as many as there is room for: an array.")]
        pub fn $all(&mut self, into: &mut [$number]) -> Result<(), Malformed> {
            const BYTES: usize = size_of::<$number>();
            if into.is_empty() {
                return Ok(());
            }
            let from = self.aligned(BYTES, into.len().saturating_mul(BYTES))?;
            for (value, bytes) in into.iter_mut().zip(from.as_chunks::<BYTES>().0) {
                *value = <$number>::from_le_bytes(*bytes);
            }
            Ok(())
        }
    )+ };
}

impl<'a> Reader<'a> {
    /// Reads from the beginning of `bytes`, which is after the first four of an encapsulated message.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, place: 0 }
    }

    fn aligned(&mut self, align: usize, bytes: usize) -> Result<&'a [u8], Malformed> {
        let start = self.place + gap(self.place, align);
        let end = start.checked_add(bytes).ok_or(Malformed::Short)?;
        let found = self.bytes.get(start..end).ok_or(Malformed::Short)?;
        self.place = end;
        Ok(found)
    }

    numbers! {
        u16 u16s u16, "two bytes";
        i32 i32s i32, "a signed number of four bytes";
        u32 u32s u32, "a number of four bytes";
        f32 f32s f32, "a float";
        i64 i64s i64, "a signed number of eight bytes";
        u64 u64s u64, "a number of eight bytes";
        f64 f64s f64, "a double";
    }

    /// Reads a byte.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.aligned(1, 1)?[0])
    }

    /// Reads so many bytes.
    pub fn u8s(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        self.aligned(1, count)
    }

    /// Reads a count of elements that have `bytes` bytes each at least: more than are left are a lie.
    pub fn count(&mut self, bytes: usize) -> Result<usize, Malformed> {
        let count = self.u32()? as usize;
        let left = self.bytes.len() - self.place;
        if count.saturating_mul(bytes) > left { Err(Malformed::Short) } else { Ok(count) }
    }

    /// Reads a text.
    pub fn text(&mut self) -> Result<&'a str, Malformed> {
        let length = self.count(1)?;
        match self.u8s(length)? {
            [] => Ok(""),
            [text @ .., 0] => std::str::from_utf8(text).map_err(|_| Malformed::Text),
            _ => Err(Malformed::Text),
        }
    }

    /// Reads so many numbers of `size` bytes each, little-endian.
    pub fn numbers(&mut self, size: usize, count: usize) -> Result<&'a [u8], Malformed> {
        if count == 0 { Ok(&[]) } else { self.aligned(size, count.saturating_mul(size)) }
    }

    /// Passes over so many numbers of `bytes` bytes.
    pub fn pass(&mut self, count: usize, bytes: usize) -> Result<(), Malformed> {
        if count > 0 {
            self.aligned(bytes, count.saturating_mul(bytes))?;
        }
        Ok(())
    }
}
