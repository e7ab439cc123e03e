//! The values of a line: what is copied as it is.

use std::fmt;

/// A value of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// An integer.
    Signed(i64),
    /// An integer that is not negative.
    Unsigned(u64),
    /// A number of 64 bits.
    Float(f64),
    /// A number of 32 bits, which is written with its own digits.
    Single(f32),
    /// True or false.
    Bool(bool),
    /// A text, and whether it was cut.
    Text(&'a str, bool),
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Signed(number) => write!(out, "{number}"),
            Value::Unsigned(number) => write!(out, "{number}"),
            Value::Float(number) => write!(out, "{number}"),
            Value::Single(number) => write!(out, "{number}"),
            Value::Bool(is_true) => write!(out, "{is_true}"),
            Value::Text(text, false) => out.write_str(text),
            Value::Text(text, true) => write!(out, "{text}…"),
        }
    }
}

/// What may stand in a line: integers up to 64 bits, floats, `bool`, `str` and `String`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a line of a node's log",
    label = "a number, a bool or a text can",
    note = "a loop formats nothing: give the numbers and texts that it is made of, or write it from a background function"
)]
pub trait Loggable {
    /// As it is copied.
    fn value(&self) -> Value<'_>;
}

macro_rules! loggable {
    ($($type:ty => $kind:ident as $wide:ty),* $(,)?) => {
        $(impl Loggable for $type {
            #[inline]
            fn value(&self) -> Value<'_> {
                Value::$kind(*self as $wide)
            }
        })*
    };
}

loggable! {
    i8 => Signed as i64, i16 => Signed as i64, i32 => Signed as i64, i64 => Signed as i64, isize => Signed as i64,
    u8 => Unsigned as u64, u16 => Unsigned as u64, u32 => Unsigned as u64, u64 => Unsigned as u64,
    usize => Unsigned as u64, f64 => Float as f64, f32 => Single as f32, bool => Bool as bool,
}

impl Loggable for str {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Text(self, false)
    }
}

impl Loggable for String {
    #[inline]
    fn value(&self) -> Value<'_> {
        Value::Text(self, false)
    }
}

impl<T: Loggable + ?Sized> Loggable for &T {
    #[inline]
    fn value(&self) -> Value<'_> {
        (**self).value()
    }
}
