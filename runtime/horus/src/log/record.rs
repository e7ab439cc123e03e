//! A line as it crosses the ring: its text and its values, one behind the other.
//!
//! ```text
//! text ‖ kind (1) value (8, 4 or 1) ‖ kind (1) length (1) bytes ‖ …
//! ```

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{Level, Line, MAX_TEXT, MAX_TEXT_VALUE, MAX_VALUES, Value, text};

/// Bytes for text and values: with the rest a record has 256.
const BODY: usize = 232;

/// A kind and eight bytes of a number, or a kind, a length and a text that was cut to seven bytes.
const MOST_OF_A_NUMBER: usize = 9;

// Numbers always have room, and each text has some.
const _: () = assert!(MAX_TEXT + MAX_VALUES * MOST_OF_A_NUMBER <= BODY);

const SIGNED: u8 = 1;
const UNSIGNED: u8 = 2;
const FLOAT: u8 = 3;
const SINGLE: u8 = 4;
const FALSE: u8 = 5;
const TRUE: u8 = 6;
const TEXT: u8 = 7;
const CUT_TEXT: u8 = 8;

/// A line, as it crosses the ring.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub(super) struct Record {
    /// The cycle that said it.
    pub cycle: u64,
    /// Its release, on `CLOCK_MONOTONIC`.
    pub release_ns: u64,
    level: u8,
    text_bytes: u8,
    /// Of the body, with the text.
    used: u8,
    values: u8,
    spare: [u8; 4],
    body: [u8; BODY],
}

impl Record {
    #[inline]
    pub fn new(cycle: u64, release_ns: u64, line: &Line<'_>) -> Self {
        let level = line.level as u8;
        let mut record =
            Self { cycle, release_ns, level, text_bytes: 0, used: 0, values: 0, spare: [0; 4], body: [0; BODY] };
        record.put(line.text.as_bytes());
        record.text_bytes = record.used;
        let values = &line.values[..line.values.len().min(MAX_VALUES)];
        for (index, value) in values.iter().enumerate() {
            let later = (values.len() - 1 - index) * MOST_OF_A_NUMBER;
            record.add(value, later);
        }
        record.values = values.len() as u8;
        record
    }

    fn put(&mut self, bytes: &[u8]) {
        let at = usize::from(self.used);
        self.body[at..at + bytes.len()].copy_from_slice(bytes);
        self.used += bytes.len() as u8;
    }

    /// Adds a value, and leaves so much room for those behind it.
    fn add(&mut self, value: &Value<'_>, later: usize) {
        match *value {
            Value::Signed(number) => self.number(SIGNED, &number.to_ne_bytes()),
            Value::Unsigned(number) => self.number(UNSIGNED, &number.to_ne_bytes()),
            Value::Float(number) => self.number(FLOAT, &number.to_ne_bytes()),
            Value::Single(number) => self.number(SINGLE, &number.to_ne_bytes()),
            Value::Bool(is_true) => self.put(&[if is_true { TRUE } else { FALSE }]),
            Value::Text(text, was_cut) => {
                let room = (BODY - usize::from(self.used) - 2 - later).min(MAX_TEXT_VALUE);
                let end = text.floor_char_boundary(room);
                let is_cut = was_cut || end < text.len();
                self.put(&[if is_cut { CUT_TEXT } else { TEXT }, end as u8]);
                self.put(&text.as_bytes()[..end]);
            }
        }
    }

    fn number(&mut self, kind: u8, bytes: &[u8]) {
        self.put(&[kind]);
        self.put(bytes);
    }

    pub fn level(&self) -> Level {
        match self.level {
            0 => Level::Debug,
            1 => Level::Info,
            2 => Level::Warn,
            _ => Level::Error,
        }
    }

    /// The line that it makes.
    pub fn line(&self) -> String {
        let (text, values) = self.body[..usize::from(self.used)].split_at(usize::from(self.text_bytes));
        text::format(str::from_utf8(text).unwrap_or_default(), Values(values))
    }
}

/// The values behind the text.
struct Values<'a>(&'a [u8]);

impl<'a> Values<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        self.0.split_off(..bytes)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        let kind = self.take(1)?[0];
        Some(match kind {
            SIGNED => Value::Signed(i64::from_ne_bytes(self.number()?)),
            UNSIGNED => Value::Unsigned(u64::from_ne_bytes(self.number()?)),
            FLOAT => Value::Float(f64::from_ne_bytes(self.number()?)),
            SINGLE => Value::Single(f32::from_ne_bytes(self.number()?)),
            FALSE | TRUE => Value::Bool(kind == TRUE),
            _ => {
                let length = usize::from(self.take(1)?[0]);
                Value::Text(str::from_utf8(self.take(length)?).ok()?, kind == CUT_TEXT)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_record_fills_four_cache_lines() {
        assert_eq!(size_of::<Record>(), 256);
    }

    fn value() -> impl Strategy<Value = (u8, i64, String)> {
        (0..6_u8, any::<i64>(), ".{0,80}")
    }

    fn made(of: &(u8, i64, String)) -> Value<'_> {
        match of.0 {
            0 => Value::Signed(of.1),
            1 => Value::Unsigned(of.1.cast_unsigned()),
            2 => Value::Float(of.1 as f64 / 7.0),
            3 => Value::Single(of.1 as f32 / 7.0),
            4 => Value::Bool(of.1 % 2 == 0),
            _ => Value::Text(&of.2, false),
        }
    }

    proptest! {
        #[test]
        fn every_value_arrives_and_only_texts_are_cut(
            given in prop::collection::vec(value(), 0..=MAX_VALUES), padding in 0..=100_usize,
        ) {
            let values: Vec<_> = given.iter().map(made).collect();
            let text = "x".repeat(padding) + &"{}".repeat(values.len());
            let record = Record::new(7, 8, &Line::checked(Level::Warn, &text, &values).unwrap());
            prop_assert_eq!((record.cycle, record.release_ns, record.level()), (7, 8, Level::Warn));
            let (_, behind) = record.body[..usize::from(record.used)].split_at(usize::from(record.text_bytes));
            let came: Vec<_> = Values(behind).collect();
            prop_assert_eq!(came.len(), values.len());
            for (came, given) in came.iter().zip(&values) {
                match (came, given) {
                    (Value::Text(came, is_cut), Value::Text(given, _)) => {
                        prop_assert!(given.starts_with(came) && *is_cut == (came.len() < given.len()));
                        prop_assert!(came.len() >= given.floor_char_boundary(7));
                    }
                    (came, given) => prop_assert_eq!(came, given),
                }
            }
        }
    }
}
