//! The name of a topic.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::renamed::renamed;

/// Most bytes of a topic's name.
pub const MAX_NAME_BYTES: usize = 128;

/// A name that a topic can have: 1 to 128 of `A-Z a-z 0-9 _ - .`, not starting with a dot.
///
/// ```
/// use horus_shm::directory::TopicName;
/// assert!("arm.left.imu".parse::<TopicName>().is_ok());
/// assert!("arm/left".parse::<TopicName>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicName(String);

/// Why a text is no topic name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum NameError {
    /// There is none.
    #[error("a topic needs a name: 1 to {MAX_NAME_BYTES} of A-Z a-z 0-9 _ - .")]
    Empty,
    /// It is too long.
    #[error("a topic name of {0} bytes is too long: at most {MAX_NAME_BYTES} are possible")]
    TooLong(usize),
    /// It holds a character that is not allowed.
    #[error("{character:?} cannot stand in the topic name {name:?}: use A-Z a-z 0-9 _ - .")]
    Character {
        /// The whole name.
        name: String,
        /// Its first wrong character.
        character: char,
    },
    /// `HORUS_RENAME` says what is no pair of names, or renames one twice.
    #[error(
        "HORUS_RENAME: {0:?} does not rename a topic: write each of them once, as in odom=wheels.odom,cmd=base.cmd"
    )]
    Rename(String),
    /// It would be a hidden file.
    #[error("the topic name {0:?} starts with a dot, which would hide its file")]
    Hidden(String),
}

/// What can be used where a topic's name is wanted: a [`TopicName`], or a text that is checked to be one and may be renamed from outside
/// ([`RENAME_VARIABLE`](super::RENAME_VARIABLE)).
pub trait IntoTopicName {
    /// The name.
    fn into_topic_name(self) -> Result<TopicName, NameError>;
}

impl IntoTopicName for TopicName {
    fn into_topic_name(self) -> Result<TopicName, NameError> {
        Ok(self)
    }
}

impl IntoTopicName for &TopicName {
    fn into_topic_name(self) -> Result<TopicName, NameError> {
        Ok(self.clone())
    }
}

impl IntoTopicName for &str {
    fn into_topic_name(self) -> Result<TopicName, NameError> {
        renamed(self.parse()?)
    }
}

impl IntoTopicName for &String {
    fn into_topic_name(self) -> Result<TopicName, NameError> {
        self.as_str().into_topic_name()
    }
}

impl TopicName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TopicName {
    type Err = NameError;

    fn from_str(name: &str) -> Result<Self, NameError> {
        if name.is_empty() {
            return Err(NameError::Empty);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(NameError::TooLong(name.len()));
        }
        let allowed = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
        if let Some(character) = name.chars().find(|&character| !allowed(character)) {
            return Err(NameError::Character { name: name.to_owned(), character });
        }
        if name.starts_with('.') {
            return Err(NameError::Hidden(name.to_owned()));
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for TopicName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_file_name_are_refused() {
        let parse = |name: &str| name.parse::<TopicName>();
        assert!(parse("a").is_ok() && parse("Arm_1.left-imu").is_ok() && parse(&"x".repeat(128)).is_ok());
        assert_eq!(parse(""), Err(NameError::Empty));
        assert_eq!(parse(&"x".repeat(300)), Err(NameError::TooLong(300)));
        for (name, character) in [("a/b", '/'), ("a b", ' '), ("é", 'é'), ("a\0", '\0')] {
            assert_eq!(parse(name), Err(NameError::Character { name: name.to_owned(), character }));
        }
        assert!(matches!(parse(".."), Err(NameError::Hidden(_))));
    }

    #[test]
    fn an_error_prints_nothing_that_a_terminal_would_obey() {
        for name in ["a\x1b[2J", "\x1b]0;b\x07"] {
            let error = name.parse::<TopicName>().unwrap_err().to_string();
            assert!(!error.chars().any(char::is_control), "{error:?}");
        }
    }
}
