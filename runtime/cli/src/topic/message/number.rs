//! The numbers that a message is made of: read from its bytes, and written to them.

use std::fmt;

use serde::{Serialize, Serializer};

/// What a number is: its size and what its bits mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    Unsigned(usize),
    Signed(usize),
    Float(usize),
}

/// A number as it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    Unsigned(u128),
    Signed(i128),
    F32(f32),
    F64(f64),
}

impl Number {
    /// The number that is called so in Rust.
    pub fn named(name: &str) -> Option<Self> {
        let bits: usize = name.get(1..)?.parse().ok()?;
        let bytes = bits / 8;
        match name.as_bytes()[0] {
            b'u' if matches!(bits, 8 | 16 | 32 | 64 | 128) => Some(Self::Unsigned(bytes)),
            b'i' if matches!(bits, 8 | 16 | 32 | 64 | 128) => Some(Self::Signed(bytes)),
            b'f' if matches!(bits, 32 | 64) => Some(Self::Float(bytes)),
            _ => None,
        }
    }

    /// How many bytes it has.
    pub fn bytes(self) -> usize {
        let (Self::Unsigned(bytes) | Self::Signed(bytes) | Self::Float(bytes)) = self;
        bytes
    }

    /// The number in its bytes, which are in the order of this machine.
    pub fn read(self, bytes: &[u8]) -> Found {
        match self {
            Self::Float(4) => Found::F32(f32::from_bits(word(bytes) as u32)),
            Self::Float(_) => Found::F64(f64::from_bits(word(bytes) as u64)),
            Self::Unsigned(_) => Found::Unsigned(word(bytes)),
            Self::Signed(size) => {
                let unused = 128 - 8 * size as u32;
                Found::Signed((word(bytes) << unused).cast_signed() >> unused)
            }
        }
    }

    /// Writes the number that `text` says; the error says what would fit.
    pub fn write(self, text: &str, bytes: &mut [u8]) -> Result<(), String> {
        let bits = match self {
            Self::Float(4) => float(text).map(|value| u128::from((value as f32).to_bits())),
            Self::Float(_) => float(text).map(|value| u128::from(value.to_bits())),
            Self::Unsigned(size) => unsigned(text).filter(|value| value >> (8 * size as u32 - 1) <= 1),
            Self::Signed(size) => signed(text).filter(|value| fits(*value, size)).map(i128::cast_unsigned),
        };
        let bits = bits.ok_or_else(|| format!("{text} is not possible: it is {self}"))?;
        let bytes_of = bits.to_ne_bytes();
        let used = if cfg!(target_endian = "little") { 0 } else { bytes_of.len() - bytes.len() };
        bytes.copy_from_slice(&bytes_of[used..][..bytes.len()]);
        Ok(())
    }
}

/// Up to 16 bytes as a number.
fn word(bytes: &[u8]) -> u128 {
    let digit = |sum, byte: &u8| sum << 8 | u128::from(*byte);
    if cfg!(target_endian = "little") { bytes.iter().rev().fold(0, digit) } else { bytes.iter().fold(0, digit) }
}

fn unsigned(text: &str) -> Option<u128> {
    match text.strip_prefix("0x") {
        Some(digits) => u128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok().or(match text {
            "true" => Some(1),
            "false" => Some(0),
            _ => None,
        }),
    }
}

fn signed(text: &str) -> Option<i128> {
    text.parse().ok().or_else(|| unsigned(text).and_then(|value| i128::try_from(value).ok()))
}

fn fits(value: i128, size: usize) -> bool {
    let unused = 128 - 8 * size as u32;
    value << unused >> unused == value
}

/// YAML writes `.nan` and `.inf`, Rust without the dot.
fn float(text: &str) -> Option<f64> {
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |size| ("-", size));
    let size = if size.starts_with(".n") || size.starts_with(".i") { &size[1..] } else { size };
    format!("{sign}{size}").parse().ok()
}

impl fmt::Display for Number {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(bytes) => write!(out, "u{0}, a whole number from 0 to 2^{0} - 1", 8 * bytes),
            Self::Signed(bytes) => {
                write!(out, "i{}, a whole number from -2^{} to 2^{1} - 1", 8 * bytes, 8 * bytes - 1)
            }
            Self::Float(bytes) => write!(out, "f{}, a number such as 0.5, -2 or .nan", 8 * bytes),
        }
    }
}

/// As YAML writes it. A float always has a point or an exponent, so that it reads back as one.
impl fmt::Display for Found {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(value) => write!(out, "{value}"),
            Self::Signed(value) => write!(out, "{value}"),
            Self::F32(value) if value.is_finite() => write!(out, "{value:?}"),
            Self::F64(value) if value.is_finite() => write!(out, "{value:?}"),
            Self::F32(value) => out.write_str(not_finite(f64::from(*value))),
            Self::F64(value) => out.write_str(not_finite(*value)),
        }
    }
}

fn not_finite(value: f64) -> &'static str {
    match value {
        _ if value.is_nan() => ".nan",
        _ if value > 0.0 => ".inf",
        _ => "-.inf",
    }
}

/// As JSON writes it, which has no word for what is no finite number: those are texts, `"nan"`, `"inf"` and `"-inf"`.
impl Serialize for Found {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match *self {
            Self::Unsigned(value) => value.serialize(to),
            Self::Signed(value) => value.serialize(to),
            Self::F32(value) if value.is_finite() => value.serialize(to),
            Self::F64(value) if value.is_finite() => value.serialize(to),
            Self::F32(value) => not_finite(f64::from(value)).replace('.', "").serialize(to),
            Self::F64(value) => not_finite(value).replace('.', "").serialize(to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is read back after `text` was written as a number of that name.
    fn through(name: &str, text: &str) -> Result<String, String> {
        let number = Number::named(name).unwrap();
        let mut bytes = vec![0xee; number.bytes()];
        number.write(text, &mut bytes)?;
        Ok(number.read(&bytes).to_string())
    }

    #[test]
    fn every_number_comes_back_as_it_was_written() {
        for (name, text) in [
            ("u8", "255"),
            ("u64", "18446744073709551615"),
            ("u128", "340282366920938463463374607431768211455"),
            ("i8", "-128"),
            ("i16", "-2"),
            ("i128", "-170141183460469231731687303715884105728"),
            ("f32", "0.1"),
            ("f64", "-2.5e-300"),
            ("f64", ".nan"),
            ("f32", "-.inf"),
        ] {
            assert_eq!(through(name, text).as_deref(), Ok(text), "{name}");
        }
        assert_eq!((through("f64", "2"), through("f64", "inf")), (Ok("2.0".into()), Ok(".inf".into())));
        assert_eq!((through("u16", "0x1ff"), through("u8", "true")), (Ok("511".into()), Ok("1".into())));
        assert_eq!(1.5_f64.to_ne_bytes().to_vec(), {
            let mut bytes = vec![0; 8];
            Number::Float(8).write("1.5", &mut bytes).unwrap();
            bytes
        });
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_would() {
        for (name, text) in [("u8", "256"), ("u8", "-1"), ("i8", "128"), ("u32", "0.5"), ("f64", "fast"), ("u64", "")] {
            let error = through(name, text).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
        assert_eq!(
            through("i16", "-32769").unwrap_err(),
            "-32769 is not possible: it is i16, a whole number from -2^15 to 2^15 - 1"
        );
    }

    #[test]
    fn only_numbers_of_fixed_size_have_a_name() {
        assert!(["f16", "u7", "usize", "bool", "", "u", "é8"].iter().all(|name| Number::named(name).is_none()));
    }

    #[test]
    fn what_json_has_no_word_for_is_a_text() {
        let json = |found: Found| serde_json::to_string(&found).unwrap();
        assert_eq!([json(Found::F64(f64::NAN)), json(Found::F32(f32::NEG_INFINITY))], ["\"nan\"", "\"-inf\""]);
        assert_eq!([json(Found::F32(0.1)), json(Found::Unsigned(u128::MAX))], ["0.1", &u128::MAX.to_string()]);
    }
}
