//! What a goal is known by.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// What a goal is known by: 16 bytes, as ROS 2's UUID. Its client chooses it.
///
/// It is written in 32 hexadecimal digits. A part from its beginning is enough for people, where it names one goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GoalId(pub [u8; 16]);

/// A text that is no goal's number.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`{0}` is no goal: a goal has 32 hexadecimal digits, as `horus action list` shows them")]
pub struct NoGoalId(String);

impl GoalId {
    /// That of no goal, which ROS 2 has for "all of them".
    pub const ZERO: Self = Self([0; 16]);

    /// The goal of this number among those of a client.
    pub(super) fn of(client: u64, number: u64) -> Self {
        let mut bytes = [0; 16];
        // With the highest bit, so that this is never `ZERO`.
        bytes[..8].copy_from_slice(&(client | 1 << 63).to_be_bytes());
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        Self(bytes)
    }
}

impl fmt::Display for GoalId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

impl FromStr for GoalId {
    type Err = NoGoalId;

    /// Dashes are passed over, as in a UUID.
    fn from_str(text: &str) -> Result<Self, NoGoalId> {
        let digits: Vec<u32> =
            text.chars().filter(|&digit| digit != '-').filter_map(|digit| digit.to_digit(16)).collect();
        let all = text.chars().filter(|&digit| digit != '-').count();
        if digits.len() != 32 || all != 32 {
            return Err(NoGoalId(text.to_owned()));
        }
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(digits.chunks_exact(2)).for_each(|(byte, pair)| *byte = (pair[0] << 4 | pair[1]) as u8);
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_read_as_it_was_written() {
        let id = GoalId::of(0x0123_4567_89ab_cdef, 7);
        assert_eq!(id.to_string(), "8123456789abcdef0000000000000007");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!("81234567-89ab-cdef-0000-000000000007".parse(), Ok(id));
        for wrong in ["", "7", "0123456789abcdef000000000000000x", "0123456789abcdef00000000000000071"] {
            assert!(wrong.parse::<GoalId>().is_err(), "{wrong}");
        }
    }
}
