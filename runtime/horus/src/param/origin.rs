//! Where a value came from, and how that stands before it in a set.

use super::sheet::Description;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The program's own.
    Program,
    /// This `node.toml`.
    Settings(String),
    /// A command, or a program that has [`Params`](super::Params).
    Command {
        /// The user, by number.
        user: u32,
        /// When, in seconds since 1970.
        when: u64,
    },
}

impl Origin {
    pub(super) const SETTINGS: u64 = 1;
    pub(super) const COMMAND: u64 = 2;

    /// The word of a command of this user.
    pub(super) fn command_of(user: u32) -> u64 {
        u64::from(user) << 32 | Self::COMMAND
    }

    pub(super) fn read(who: u64, when: u64, description: &Description) -> Self {
        match who & 0xff {
            Self::SETTINGS => Self::Settings(description.settings.clone()),
            Self::COMMAND => Self::Command { user: (who >> 32) as u32, when },
            _ => Self::Program,
        }
    }
}
