//! Writes CDR to a buffer that is used again for every message.

use super::{ENCAPSULATION, gap};

/// Writes a message, number by number.
pub struct Writer<'a> {
    bytes: &'a mut Vec<u8>,
    start: usize,
}

macro_rules! numbers {
    ($($name:ident $all:ident $number:ty, $what:literal;)+) => { $(
        #[doc = concat!("Writes ", $what, ".")]
        pub fn $name(&mut self, value: $number) {
            self.align(size_of::<$number>());
            self.bytes.extend_from_slice(&value.to_le_bytes());
        }

        #[doc = concat!("Writes several of ", $what, ", without their count: an array.")]
        pub fn $all(&mut self, values: &[$number]) {
            if values.is_empty() {
                return; // an empty sequence is not aligned for what it has not
            }
            self.align(size_of::<$number>());
            for value in values {
                self.bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
    )+ };
}

impl<'a> Writer<'a> {
    /// Begins a message in place of what is in the buffer.
    pub fn new(bytes: &'a mut Vec<u8>) -> Self {
        bytes.clear();
        bytes.extend_from_slice(&ENCAPSULATION);
        Self { bytes, start: ENCAPSULATION.len() }
    }

    fn align(&mut self, align: usize) {
        let gap = gap(self.bytes.len() - self.start, align);
        self.bytes.extend_from_slice(&[0; 8][..gap]);
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

    /// Writes numbers of `size` bytes each, which are little-endian as they are.
    pub fn numbers(&mut self, size: usize, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.align(size);
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Writes a byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Writes bytes, without their count.
    pub fn u8s(&mut self, values: &[u8]) {
        self.bytes.extend_from_slice(values);
    }

    /// Writes how many elements follow.
    pub fn count(&mut self, elements: usize) {
        self.u32(u32::try_from(elements).unwrap_or(u32::MAX));
    }

    /// Writes a text: its length with the zero byte at its end.
    pub fn text(&mut self, text: &str) {
        self.count(text.len() + 1);
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }
}
