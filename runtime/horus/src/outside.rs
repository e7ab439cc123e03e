//! Text that comes from outside of this program: a package, a settings file, another process, the journal.
//!
//! A [`Word`] is text that was checked and can stand anywhere: in a unit, in the name of a file or a thread, in a line of a log. What is
//! no word, because people write it as they like, goes through [`shown`] on its way to a person.
//!
//! # What it does not do
//! It does not say that a name means anything. Whether there is such a group or device is another module's question.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Most bytes of a [`Word`].
pub(crate) const MAX_WORD_BYTES: usize = 64;

/// 1 to 64 of `A-Z a-z 0-9 . _ + ~ -`, the first of which is a letter, a digit or `_`.
///
/// ```
/// use horus::outside::Word;
/// assert_eq!("1.2.3-rc.1+5".parse::<Word>()?.as_str(), "1.2.3-rc.1+5");
/// assert!("1.0\n[Service]\nUser=root".parse::<Word>().is_err());
/// assert!("%n".parse::<Word>().is_err());
/// # Ok::<(), horus::outside::WordError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(try_from = "String", into = "String")]
pub struct Word(String);

/// Why a text is no [`Word`].
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "{} is no name: use 1 to {MAX_WORD_BYTES} of A-Z a-z 0-9 . _ + ~ -, and begin with a letter, a digit or _",
    quoted(.0)
)]
pub struct WordError(String);

impl Word {
    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Word {
    type Err = WordError;

    fn from_str(text: &str) -> Result<Self, WordError> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for Word {
    type Error = WordError;

    fn try_from(text: String) -> Result<Self, WordError> {
        let is_first = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let is_next = |byte: u8| byte.is_ascii_alphanumeric() || b"._+~-".contains(&byte);
        let begins_well = text.as_bytes().first().is_some_and(is_first);
        match begins_well && text.len() <= MAX_WORD_BYTES && text.bytes().all(is_next) {
            true => Ok(Self(text)),
            false => Err(WordError(text)),
        }
    }
}

impl From<Word> for String {
    fn from(word: Word) -> Self {
        word.0
    }
}

impl Borrow<str> for Word {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Word {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A text for people: what steers a terminal is replaced, and of more than `most` characters the rest is left out, which three dots say.
///
/// ```
/// assert_eq!(horus::outside::shown("a\x1b[2J\nb", 80), "a\u{fffd}[2J\u{fffd}b");
/// assert_eq!(horus::outside::shown("abcdef", 4), "abc…");
/// ```
pub fn shown(text: &str, most: usize) -> String {
    // Characters beyond the ASCII ones can steer as well: those of bidirectional text turn a line around.
    let steers = |character: char| {
        character.is_control()
            || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let plain = |character: char| if steers(character) { '\u{fffd}' } else { character };
    if text.chars().nth(most).is_none() {
        return text.chars().map(plain).collect();
    }
    text.chars().take(most.saturating_sub(1)).map(plain).chain(['…']).collect()
}

/// The whole text, without what steers a terminal: for one that is as long as it may be, as the name of a file is.
pub fn printable(text: &str) -> String {
    shown(text, usize::MAX)
}

/// A text that was refused, as an error quotes it.
fn quoted(text: &str) -> String {
    format!("'{}'", shown(text, MAX_WORD_BYTES))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_and_versions_are_words_and_nothing_that_a_unit_or_a_terminal_obeys_is() {
        for good in ["1", "0.1.0-rc.1+g12ab", "control", "arm_left", "_x", "1:2".replace(':', "~").as_str()] {
            assert!(good.parse::<Word>().is_ok(), "{good}");
        }
        let long = "x".repeat(MAX_WORD_BYTES + 1);
        for bad in
            ["", " ", "a b", "a\nb", "a\0", "%n", "-x", ".x", "a/b", "a=b", "[x]", "é", "a\x1b", "\u{202e}", &long]
        {
            let error = bad.parse::<Word>().unwrap_err().to_string();
            assert!(error.contains("is no name: use 1 to 64") && !error.chars().any(char::is_control), "{error:?}");
            assert!(error.chars().count() < 200, "an error is no longer than a line: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_fits_and_steers_nothing(text in any::<String>(), most in 1_usize..40) {
            let shown = shown(&text, most);
            prop_assert!(shown.chars().count() <= most && !shown.chars().any(char::is_control));
            let is_plain = !text.chars().any(|character| character.is_control() || ('\u{200e}'..='\u{2069}').contains(&character));
            prop_assert!(shown == text || !is_plain || text.chars().count() > most);
        }
    }
}
