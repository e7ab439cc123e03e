//! The name of a frame, in the place where it stands: so that errors of a real-time loop can say it without an allocation.

use std::fmt;

/// Most bytes of a frame's name.
pub(super) const MAX_BYTES: usize = 52;

/// The name of a frame: 1 to 52 printable ASCII characters without a space, and no `/` in front.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct FrameName {
    bytes: [u8; MAX_BYTES],
    length: u8,
}

impl FrameName {
    /// `None` when it is no name of a frame.
    pub(super) fn new(name: &str) -> Option<Self> {
        Self::of_field(name.as_bytes())
    }

    /// The name in a field of a message, which ends with the first zero byte.
    pub(super) fn of_field(field: &[u8]) -> Option<Self> {
        let length = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
        let name = &field[..length];
        let is_name = (1..=MAX_BYTES).contains(&length) && name.iter().all(u8::is_ascii_graphic) && name[0] != b'/';
        is_name.then(|| {
            let mut bytes = [0; MAX_BYTES];
            bytes[..length].copy_from_slice(name);
            Self { bytes, length: length as u8 }
        })
    }

    /// The name in a field of a message.
    pub(super) fn field(&self) -> [u8; MAX_BYTES] {
        self.bytes
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.length.into()]).unwrap_or_default() // ASCII, so it is
    }

    /// FNV-1a: a place in a table, and nothing that anybody has to be unable to guess.
    pub(super) fn hash(name: &str) -> u64 {
        name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }

    /// How many characters have to be added, taken out or changed to make `other` of this one (Levenshtein 1966). Allocates nothing.
    pub(super) fn edits_to(&self, other: &str) -> usize {
        let other = &other.as_bytes()[..other.len().min(MAX_BYTES)];
        let mut row: [usize; MAX_BYTES + 1] = std::array::from_fn(|column| column);
        for (line, &byte) in self.as_str().as_bytes().iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], line + 1);
            for (column, &wanted) in other.iter().enumerate() {
                let changed = diagonal + usize::from(byte != wanted);
                diagonal = row[column + 1];
                row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
            }
        }
        row[other.len()]
    }
}

impl fmt::Display for FrameName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl fmt::Debug for FrameName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_short_and_printable() {
        assert_eq!(FrameName::new("base_link").map(|name| name.to_string()), Some("base_link".to_owned()));
        for wrong in ["", "/map", "a b", "\u{e4}", "tab\t", &"x".repeat(MAX_BYTES + 1)] {
            assert_eq!(FrameName::new(wrong), None, "{wrong}");
        }
        assert_eq!(FrameName::of_field(b"map\0\xff").unwrap().as_str(), "map");
    }

    #[test]
    fn edits_are_counted() {
        let edits = |one: &str, other: &str| FrameName::new(one).unwrap().edits_to(other);
        assert_eq!(
            (edits("base", "base"), edits("base", "bse"), edits("lidar", "radar"), edits("a", "")),
            (0, 1, 2, 1)
        );
    }
}
