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
    /// What was saved before the program started, or was loaded since.
    Saved {
        /// The user that had set it, by number; `None` where that was the program itself, or `node.toml`.
        user: Option<u32>,
        /// When it was set, in seconds since 1970.
        when: u64,
    },
}

/// Beside [`Origin::SAVED`]: a user is known.
const HAS_USER: u64 = 1 << 8;

impl Origin {
    pub(super) const SETTINGS: u64 = 1;
    pub(super) const COMMAND: u64 = 2;
    const SAVED: u64 = 3;

    /// The word of a command of this user.
    pub(super) fn command_of(user: u32) -> u64 {
        u64::from(user) << 32 | Self::COMMAND
    }

    /// The word of what this user had set before it was saved.
    pub(super) fn saved_of(user: Option<u32>) -> u64 {
        Self::SAVED | user.map_or(0, |user| u64::from(user) << 32 | HAS_USER)
    }

    pub(super) fn is_command(who: u64) -> bool {
        who & 0xff == Self::COMMAND
    }

    pub(super) fn read(who: u64, when: u64, description: &Description) -> Self {
        let user = (who >> 32) as u32;
        match who & 0xff {
            Self::SETTINGS => Self::Settings(description.settings.clone()),
            Self::COMMAND => Self::Command { user, when },
            Self::SAVED => Self::Saved { user: (who & HAS_USER != 0).then_some(user), when },
            _ => Self::Program,
        }
    }

    /// Who set it and when, where it is known.
    pub(super) fn set_by(&self) -> (Option<u32>, Option<u64>) {
        match self {
            Self::Command { user, when } => (Some(*user), Some(*when)),
            Self::Saved { user, when } => (*user, Some(*when)),
            Self::Program | Self::Settings(_) => (None, None),
        }
    }
}
