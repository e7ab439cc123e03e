//! The text of a line: where its values stand in it.

use std::fmt::Write;

use thiserror::Error;

use super::value::Value;
use super::{MAX_TEXT, MAX_VALUES};

/// Why a text is not that of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TextError {
    /// It is too long.
    #[error("the text of a line has up to {MAX_TEXT} bytes: make it shorter, or log two lines")]
    TooLong,
    /// It has too many values.
    #[error("a line has up to {MAX_VALUES} values: log two lines")]
    TooManyValues,
    /// The places are not as many as the values.
    #[error("the text has not as many places {{}} as there are values")]
    Count,
    /// A brace stands alone.
    #[error("a brace stands alone: a place is {{}}, {{:.3}} or {{:x}}, and {{{{ or }}}} is a brace")]
    Brace,
}

impl TextError {
    const fn panic(self) -> ! {
        match self {
            TextError::TooLong => panic!("the text of a line has up to 120 bytes: make it shorter, or log two lines"),
            TextError::TooManyValues => panic!("a line has up to 8 values: log two lines"),
            TextError::Count => panic!("the text has not as many places {{}} as there are values behind it"),
            TextError::Brace => {
                panic!("a place is {{}}, {{:.3}} or {{:x}}, with its value behind the text; {{{{ or }}}} is a brace")
            }
        }
    }
}

/// A text that was checked when it was compiled.
#[derive(Clone, Copy, Debug)]
pub struct Text(&'static str);

impl Text {
    /// Takes a text with so many values.
    ///
    /// # Panics
    /// When it has not as many places, or is too long: in a constant, which then does not compile.
    pub const fn checked(text: &'static str, values: usize) -> Self {
        match check(text, values) {
            Ok(()) => Self(text),
            Err(error) => error.panic(),
        }
    }

    pub(super) const fn get(self) -> &'static str {
        self.0
    }
}

/// A place for a value: what it is, and how many bytes its writing takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Plain,
    Digits(u8),
    Hexadecimal,
}

/// The place that begins at `at`, where a brace stands, and its bytes.
const fn place(text: &[u8], at: usize) -> Result<(Place, usize), TextError> {
    let left = text.len() - at;
    if left >= 2 && text[at + 1] == b'}' {
        return Ok((Place::Plain, 2));
    }
    if left >= 4 && text[at + 1] == b':' && text[at + 2] == b'x' && text[at + 3] == b'}' {
        return Ok((Place::Hexadecimal, 4));
    }
    if left >= 5
        && text[at + 1] == b':'
        && text[at + 2] == b'.'
        && text[at + 3].is_ascii_digit()
        && text[at + 4] == b'}'
    {
        return Ok((Place::Digits(text[at + 3] - b'0'), 5));
    }
    Err(TextError::Brace)
}

/// Whether a text has as many places as there are values.
pub(super) const fn check(text: &str, values: usize) -> Result<(), TextError> {
    let bytes = text.as_bytes();
    if bytes.len() > MAX_TEXT {
        return Err(TextError::TooLong);
    }
    if values > MAX_VALUES {
        return Err(TextError::TooManyValues);
    }
    let (mut at, mut places) = (0, 0);
    while at < bytes.len() {
        let is_brace = bytes[at] == b'{' || bytes[at] == b'}';
        if is_brace && at + 1 < bytes.len() && bytes[at + 1] == bytes[at] {
            at += 2;
        } else if bytes[at] == b'{' {
            match place(bytes, at) {
                Ok((_, length)) => at += length,
                Err(error) => return Err(error),
            }
            places += 1;
        } else if is_brace {
            return Err(TextError::Brace);
        } else {
            at += 1;
        }
    }
    if places == values { Ok(()) } else { Err(TextError::Count) }
}

/// The line that a text and its values make: beside the loop.
pub(super) fn format<'a>(text: &str, mut values: impl Iterator<Item = Value<'a>>) -> String {
    let (mut line, mut at) = (String::with_capacity(text.len() * 2), 0);
    while let Some(brace) = text[at..].find(['{', '}']).map(|found| at + found) {
        line.push_str(&text[at..brace]);
        let bytes = text.as_bytes();
        if bytes.get(brace + 1) == Some(&bytes[brace]) {
            line.push(char::from(bytes[brace]));
            at = brace + 2;
            continue;
        }
        // What no check let through stands as it is.
        let Ok((place, length)) = place(bytes, brace) else {
            line.push(char::from(bytes[brace]));
            at = brace + 1;
            continue;
        };
        at = brace + length;
        let Some(value) = values.next() else { continue };
        let written = match (place, value) {
            (Place::Digits(digits), Value::Float(number)) => write!(line, "{number:.*}", usize::from(digits)),
            (Place::Digits(digits), Value::Single(number)) => write!(line, "{number:.*}", usize::from(digits)),
            (Place::Hexadecimal, Value::Signed(number)) => write!(line, "{number:x}"),
            (Place::Hexadecimal, Value::Unsigned(number)) => write!(line, "{number:x}"),
            (_, value) => write!(line, "{value}"),
        };
        debug_assert!(written.is_ok(), "a String takes everything");
    }
    line.push_str(&text[at..]);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str, values: &[Value<'_>]) -> String {
        check(text, values.len()).unwrap();
        format(text, values.iter().copied())
    }

    #[test]
    fn values_stand_in_their_places() {
        assert_eq!(made("wheel {} slips", &[Value::Unsigned(3)]), "wheel 3 slips");
        assert_eq!(
            made("{} {:.2} {:x}", &[Value::Bool(true), Value::Float(1.0 / 3.0), Value::Signed(255)]),
            "true 0.33 ff"
        );
        assert_eq!(made("{{{}}}", &[Value::Text("ä", false)]), "{ä}");
        assert_eq!(made("{:x}{:.1}", &[Value::Text("left", true), Value::Unsigned(7)]), "left…7");
        assert_eq!(made("{} of {}", &[Value::Single(0.1), Value::Float(0.1)]), "0.1 of 0.1");
        assert_eq!(made("all is well", &[]), "all is well");
    }

    #[test]
    fn a_text_that_does_not_fit_its_values_is_refused_with_the_reason() {
        for (text, values, error) in [
            ("wheel {}", 0, TextError::Count),
            ("wheel", 1, TextError::Count),
            ("wheel {n}", 1, TextError::Brace),
            ("wheel {", 0, TextError::Brace),
            ("wheel }", 0, TextError::Brace),
            ("{:.33}", 1, TextError::Brace),
            ("{:?}", 1, TextError::Brace),
            (&"x".repeat(MAX_TEXT + 1), 0, TextError::TooLong),
            (&"{}".repeat(9), 9, TextError::TooManyValues),
        ] {
            assert_eq!(check(text, values), Err(error), "{text}");
        }
        assert_eq!(check(&"{}".repeat(8), 8), Ok(()));
        assert_eq!(check(&"x".repeat(MAX_TEXT), 0), Ok(()));
    }
}
