//! Groups of users, by name or by number.

use std::path::Path;

use crate::error::OpenError;

/// A group that shares topics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// By number.
    Number(u32),
    /// By name, looked up in `/etc/group`; groups of a directory service go by number.
    Name(String),
}

impl Group {
    /// The group's number.
    pub fn number(&self) -> Result<u32, OpenError> {
        match self {
            // The kernel takes it for "leave the group as it is".
            Self::Number(u32::MAX) => Err(OpenError::NoGroup { name: u32::MAX.to_string() }),
            Self::Number(number) => Ok(*number),
            Self::Name(name) => {
                number_of(Path::new("/etc/group"), name).ok_or_else(|| OpenError::NoGroup { name: name.clone() })
            }
        }
    }
}

impl From<u32> for Group {
    fn from(number: u32) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for Group {
    /// A text of digits is a number.
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Name(text.to_owned()), Self::Number)
    }
}

/// The third field, between colons, of the line that begins with the name.
fn number_of(file: &Path, name: &str) -> Option<u32> {
    let lines = std::fs::read_to_string(file).ok()?;
    let fields = |line: &str| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok())?
    };
    lines.lines().find_map(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_by_its_name() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "root:x:0:\nbroken\nrobots:x:990:anna,bob\n").unwrap();
        assert_eq!(number_of(file.path(), "robots"), Some(990));
        assert_eq!(number_of(file.path(), "robot"), None);
        assert_eq!(number_of(Path::new("/nowhere"), "root"), None);
    }

    #[test]
    fn digits_are_a_number_and_an_unknown_name_is_an_error_that_says_so() {
        assert_eq!(Group::from("990"), Group::Number(990));
        let error = Group::from("no such group").number().unwrap_err().to_string();
        assert!(error.contains("groupadd"), "{error}");
        assert!(Group::from("4294967295").number().is_err() && Group::from("4294967294").number().is_ok());
    }
}
