//! What a parameter can be: a truth value, a whole number, a number or a short text.

use std::fmt;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

/// Most bytes of a text.
pub const MAX_TEXT_BYTES: usize = 64;

/// Words of the longest value: a text, with its length before it.
pub(super) const MAX_WORDS: usize = 1 + MAX_TEXT_BYTES / 8;

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number of 64 bits with sign.
    I64,
    /// A number of 64 bits with a binary point, always finite.
    F64,
    /// A text of at most [`MAX_TEXT_BYTES`].
    Text,
}

impl Kind {
    /// Words of a value.
    pub(super) fn words(self) -> usize {
        if self == Self::Text { MAX_WORDS } else { 1 }
    }

    /// What a value of it is, in a sentence.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::I64 => "a whole number",
            Self::F64 => "a finite number",
            Self::Text => "a text of at most 64 bytes without control characters",
        }
    }
}

/// A value of any kind.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(untagged, expecting = "write true or false, a number, or a text")]
pub enum Value {
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of [`Kind::I64`].
    I64(i64),
    /// Of [`Kind::F64`].
    F64(f64),
    /// Of [`Kind::Text`].
    Text(String),
}

impl Value {
    /// What a person wrote, as a value of this kind.
    pub fn parse(kind: Kind, text: &str) -> Option<Self> {
        let value = match kind {
            Kind::Bool => Self::Bool(text.parse().ok()?),
            Kind::I64 => Self::I64(text.parse().ok()?),
            Kind::F64 => Self::F64(text.parse().ok()?),
            Kind::Text => Self::Text(text.to_owned()),
        };
        Some(value)
    }

    /// As one of this kind: a whole number is a number too.
    pub(crate) fn as_kind(&self, kind: Kind) -> Option<Self> {
        match (self, kind) {
            // Larger ones would be other numbers than a person wrote.
            (Self::I64(whole), Kind::F64) if whole.unsigned_abs() <= 1 << 53 => Some(Self::F64(*whole as f64)),
            (Self::F64(number), Kind::F64) => number.is_finite().then(|| self.clone()),
            (Self::Text(text), Kind::Text) => is_text(text).then(|| self.clone()),
            (Self::Bool(_), Kind::Bool) | (Self::I64(_), Kind::I64) => Some(self.clone()),
            _ => None,
        }
    }

    /// Its words, behind those that are there.
    pub(super) fn write(&self, into: &mut Vec<u64>) {
        match self {
            Self::Bool(value) => into.push(u64::from(*value)),
            Self::I64(value) => into.push(value.cast_unsigned()),
            Self::F64(value) => into.push(value.to_bits()),
            Self::Text(text) => into.extend(Text::new(text).words()),
        }
    }

    /// The value in these words; `None` where no value of this kind writes them.
    pub(super) fn read(kind: Kind, words: &[u64]) -> Option<Self> {
        Some(match (kind, words) {
            (Kind::Bool, [word @ 0..=1]) => Self::Bool(*word == 1),
            (Kind::I64, [word]) => Self::I64(word.cast_signed()),
            (Kind::F64, [word]) => Self::F64(Some(f64::from_bits(*word)).filter(|value| value.is_finite())?),
            (Kind::Text, words) => Self::Text(text(words, &mut [0; MAX_TEXT_BYTES])?.to_owned()),
            _ => return None,
        })
    }
}

impl fmt::Display for Value {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => value.fmt(out),
            Self::I64(value) => value.fmt(out),
            Self::F64(value) => value.fmt(out),
            Self::Text(value) => value.fmt(out),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::I64(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::F64(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

/// Whether words are a value of this kind: what the loop asks, without an allocation.
pub(super) fn is_value(kind: Kind, words: &[u64]) -> bool {
    match (kind, words) {
        (Kind::Bool, [word]) => *word <= 1,
        (Kind::I64, [_]) => true,
        (Kind::F64, [word]) => f64::from_bits(*word).is_finite(),
        (Kind::Text, words) => text(words, &mut [0; MAX_TEXT_BYTES]).is_some(),
        _ => false,
    }
}

fn is_text(text: &str) -> bool {
    text.len() <= MAX_TEXT_BYTES && !text.chars().any(char::is_control)
}

fn text<'a>(words: &[u64], bytes: &'a mut [u8; MAX_TEXT_BYTES]) -> Option<&'a str> {
    let (length, rest) = words.split_first()?;
    let length =
        usize::try_from(*length).ok().filter(|length| *length <= MAX_TEXT_BYTES && rest.len() == MAX_WORDS - 1)?;
    for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(rest) {
        *place = word.to_le_bytes();
    }
    std::str::from_utf8(&bytes[..length]).ok().filter(|text| is_text(text))
}

/// A short text, by value: it is read like a number, without an allocation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text {
    bytes: [u8; MAX_TEXT_BYTES],
    length: usize,
}

impl Text {
    /// The beginning of `text` that fits.
    pub(super) fn new(text: &str) -> Self {
        let length = text.floor_char_boundary(MAX_TEXT_BYTES);
        let mut bytes = [0; MAX_TEXT_BYTES];
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Self { bytes, length }
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        let bytes = self.bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        std::iter::once(self.length as u64).chain(bytes)
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), out)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(out)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for bool {}
    impl Sealed for i64 {}
    impl Sealed for f64 {}
    impl Sealed for super::Text {}
    impl Sealed for &str {}
}

/// The types that [`Param::get`](super::Param::get) gives.
pub trait Type: sealed::Sealed + Copy {
    /// Its kind.
    const KIND: Kind;
    /// Reads it where the loop keeps it.
    #[doc(hidden)]
    fn load(words: &[AtomicU64; MAX_WORDS]) -> Self;
}

/// The types of which a default can be: those of [`Type`], and literals of text.
pub trait Default: sealed::Sealed {
    /// What the parameter is then.
    type Type: Type;
    /// The default.
    fn value(self) -> Value;
}

/// The types that have a range.
pub trait Number: Type {
    /// As a word.
    #[doc(hidden)]
    fn word(self) -> u64;
}

// Relaxed throughout: the words are this thread's own, and atomic only because safe code shares nothing else.
impl Type for bool {
    const KIND: Kind = Kind::Bool;
    #[inline]
    fn load(words: &[AtomicU64; MAX_WORDS]) -> Self {
        words[0].load(Ordering::Relaxed) != 0
    }
}

impl Type for i64 {
    const KIND: Kind = Kind::I64;
    #[inline]
    fn load(words: &[AtomicU64; MAX_WORDS]) -> Self {
        words[0].load(Ordering::Relaxed).cast_signed()
    }
}

impl Type for f64 {
    const KIND: Kind = Kind::F64;
    #[inline]
    fn load(words: &[AtomicU64; MAX_WORDS]) -> Self {
        Self::from_bits(words[0].load(Ordering::Relaxed))
    }
}

impl Type for Text {
    const KIND: Kind = Kind::Text;
    fn load(words: &[AtomicU64; MAX_WORDS]) -> Self {
        let mut bytes = [0; MAX_TEXT_BYTES];
        for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(&words[1..]) {
            *place = word.load(Ordering::Relaxed).to_le_bytes();
        }
        let length = usize::try_from(words[0].load(Ordering::Relaxed)).unwrap_or(0).min(MAX_TEXT_BYTES);
        Self { bytes, length }
    }
}

impl Number for i64 {
    fn word(self) -> u64 {
        self.cast_unsigned()
    }
}

impl Number for f64 {
    fn word(self) -> u64 {
        self.to_bits()
    }
}

impl Default for bool {
    type Type = Self;
    fn value(self) -> Value {
        Value::Bool(self)
    }
}

impl Default for i64 {
    type Type = Self;
    fn value(self) -> Value {
        Value::I64(self)
    }
}

impl Default for f64 {
    type Type = Self;
    fn value(self) -> Value {
        Value::F64(self)
    }
}

impl Default for &str {
    type Type = Text;
    fn value(self) -> Value {
        Value::Text(self.to_owned())
    }
}
