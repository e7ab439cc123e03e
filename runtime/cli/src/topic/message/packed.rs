//! Values of MessagePack (<https://github.com/msgpack/msgpack/blob/master/spec.md>), which topics of `dict` in Python carry, as JSON.
//!
//! What JSON has no word for is a text: bytes in hexadecimal digits behind `0x`, numbers that are not finite, a time as the seconds since
//! 1970 behind `@`, any other extension as its code and its bytes. A key that is no text becomes one.

use std::fmt::Write;

use horus::outside::printable;

/// What topics of such values are called.
pub const PACKED: &str = "horus/MessagePack";
/// Values inside of values, at most so deep, as for Python.
const DEPTH: usize = 64;
/// The extension that is a time.
const TIME: i8 = -1;

/// A message as JSON; with `gap`, a space, behind `:` and `,`. `None` when it is no value.
pub fn json(message: &[u8], gap: &str) -> Option<String> {
    let mut reader = Reader { rest: message, text: String::new(), gap };
    reader.value(DEPTH)?;
    reader.rest.is_empty().then_some(reader.text)
}

struct Reader<'a> {
    rest: &'a [u8],
    text: String,
    gap: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Option<()> {
        let [code] = self.array()?;
        match code {
            0x00..=0x7f => self.say(code),
            0xe0..=0xff => self.say(code as i8), // two's complement is the format
            0xcc => self.number(u8::from_be_bytes),
            0xcd => self.number(u16::from_be_bytes),
            0xce => self.number(u32::from_be_bytes),
            0xcf => self.number(u64::from_be_bytes),
            0xd0 => self.number(i8::from_be_bytes),
            0xd1 => self.number(i16::from_be_bytes),
            0xd2 => self.number(i32::from_be_bytes),
            0xd3 => self.number(i64::from_be_bytes),
            0xca => self.array().map(f32::from_be_bytes).and_then(|number| self.float(number, number.is_finite())),
            0xcb => self.array().map(f64::from_be_bytes).and_then(|number| self.float(number, number.is_finite())),
            0xc0 => self.say("null"),
            0xc2 | 0xc3 => self.say(code == 0xc3),
            0xa0..=0xbf => self.text(usize::from(code & 31)),
            0xd9..=0xdb => self.length(code - 0xd9).and_then(|length| self.text(length)),
            0xc4..=0xc6 => self.length(code - 0xc4).and_then(|length| self.bytes(length)),
            0x90..=0x9f => self.items(usize::from(code & 15), depth),
            0xdc | 0xdd => self.length(code - 0xdc + 1).and_then(|length| self.items(length, depth)),
            0x80..=0x8f => self.pairs(usize::from(code & 15), depth),
            0xde | 0xdf => self.length(code - 0xde + 1).and_then(|length| self.pairs(length, depth)),
            0xd4..=0xd8 => self.extension(1 << (code - 0xd4)),
            0xc7..=0xc9 => self.length(code - 0xc7).and_then(|length| self.extension(length)),
            0xc1 => None, // never used
        }
    }

    fn array<const BYTES: usize>(&mut self) -> Option<[u8; BYTES]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    fn slice(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    /// A length of 1, 2 or 4 bytes.
    fn length(&mut self, doublings: u8) -> Option<usize> {
        Some(self.slice(1 << doublings)?.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)))
    }

    fn say(&mut self, what: impl std::fmt::Display) -> Option<()> {
        write!(self.text, "{what}").ok()
    }

    fn number<const BYTES: usize, N: std::fmt::Display>(&mut self, from: fn([u8; BYTES]) -> N) -> Option<()> {
        let number = self.array().map(from)?;
        self.say(number)
    }

    fn float(&mut self, number: impl std::fmt::Debug, is_finite: bool) -> Option<()> {
        // `Debug` keeps a float a float: 1.0.
        if is_finite {
            self.say(format_args!("{number:?}"))
        } else {
            self.quoted(&format!("{number:?}").to_lowercase())
        }
    }

    fn quoted(&mut self, text: &str) -> Option<()> {
        // What JSON lets stand and a terminal obeys goes; what JSON escapes, such as a line's end, is escaped.
        let quoted = serde_json::to_string(text).ok()?;
        self.text += &printable(&quoted);
        Some(())
    }

    fn text(&mut self, length: usize) -> Option<()> {
        let text = std::str::from_utf8(self.slice(length)?).ok()?;
        self.quoted(text)
    }

    fn bytes(&mut self, length: usize) -> Option<()> {
        let digits = hexadecimal(self.slice(length)?);
        self.quoted(&format!("0x{digits}"))
    }

    fn extension(&mut self, length: usize) -> Option<()> {
        let code = self.array().map(i8::from_be_bytes)?;
        let bytes = self.slice(length)?;
        let seconds = (code == TIME).then(|| seconds(bytes)).flatten();
        self.quoted(&seconds.unwrap_or_else(|| format!("extension {code}: 0x{}", hexadecimal(bytes))))
    }

    fn items(&mut self, length: usize, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.say('[')?;
        for index in 0..length {
            self.separate(index)?;
            self.value(depth)?;
        }
        self.say(']')
    }

    fn pairs(&mut self, length: usize, depth: usize) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.say('{')?;
        for index in 0..length {
            self.separate(index)?;
            let from = self.text.len();
            self.value(depth)?;
            if !self.text[from..].starts_with('"') {
                let key = self.text.split_off(from);
                self.quoted(&key)?;
            }
            self.say(':')?;
            self.say(self.gap)?;
            self.value(depth)?;
        }
        self.say('}')
    }

    fn separate(&mut self, index: usize) -> Option<()> {
        let gap = self.gap;
        if index == 0 { Some(()) } else { self.say(format_args!(",{gap}")) }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The three forms of a time: seconds; nanoseconds in 30 bits and seconds in 34; nanoseconds, then seconds with a sign.
fn seconds(bytes: &[u8]) -> Option<String> {
    let (seconds, ns) = match *bytes {
        [a, b, c, d] => (i128::from(u32::from_be_bytes([a, b, c, d])), 0),
        [_, _, _, _, _, _, _, _] => {
            let both = u64::from_be_bytes(bytes.try_into().ok()?);
            (i128::from(both & ((1 << 34) - 1)), both >> 34)
        }
        [a, b, c, d, ref rest @ ..] => {
            let seconds = i64::from_be_bytes(rest.try_into().ok()?);
            (i128::from(seconds), u64::from(u32::from_be_bytes([a, b, c, d])))
        }
        _ => return None,
    };
    let all = seconds * 1_000_000_000 + i128::from(ns);
    let sign = if all < 0 { "-" } else { "" };
    Some(format!("@{sign}{}.{:09}", all.unsigned_abs() / 1_000_000_000, all.unsigned_abs() % 1_000_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(bytes: &[u8]) -> Option<String> {
        json(bytes, " ")
    }

    #[test]
    fn every_value_is_what_it_is_in_json() {
        for (bytes, text) in [
            (&b"\x83\xa1a\x01\xa1b\xff\x05\xc3"[..], r#"{"a": 1, "b": -1, "5": true}"#),
            (b"\x93\xc0\xcb\x3f\xf8\0\0\0\0\0\0\xca\x7f\xc0\0\0", r#"[null, 1.5, "nan"]"#),
            (b"\xdc\0\x02\xcd\x01\0\xd3\xff\xff\xff\xff\xff\xff\xff\xfe", "[256, -2]"),
            (b"\xde\0\x01\xd9\x02hi\xc4\x02\xab\xcd", r#"{"hi": "0xabcd"}"#),
            (b"\xa4\x1b[0m", r#""\u001b[0m""#),
            (b"\xa3\xc2\x9bm", "\"\u{fffd}m\""),
            (b"\xd6\xff\0\0\0\x05", r#""@5.000000000""#),
            (b"\xc7\x0c\xff\x1d\xcd\x65\0\xff\xff\xff\xff\xff\xff\xff\xff", r#""@-0.500000000""#),
            (b"\xd4\x01\x07", r#""extension 1: 0x07""#),
            (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"),
        ] {
            assert_eq!(said(bytes).as_deref(), Some(text));
        }
        assert_eq!(json(b"\x81\xa1a\x92\x01\x02", "").as_deref(), Some(r#"{"a":[1,2]}"#));
    }

    #[test]
    fn what_is_no_value_is_none() {
        let deep = [[0x91; DEPTH + 1].as_slice(), &[0]].concat();
        for bytes in
            [&b""[..], b"\xc1", b"\x01\x01", b"\x92\x01", b"\xa2a", b"\xa1\xff", b"\xdd\xff\xff\xff\xff", &deep]
        {
            assert_eq!(said(bytes), None, "{bytes:02x?}");
        }
        assert!(said(&deep[1..]).is_some());
    }
}
