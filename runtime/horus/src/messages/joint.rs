//! What joints do, and what they shall do.

use thiserror::Error;

use super::text::{TextError, set_text, text};
use super::{TooMany, counted};

crate::message! {
    /// What up to 16 joints do, 912 bytes. The order of the joints is the publisher's; `names` says which is which.
    ///
    /// Lengths stand for sliding joints, angles for turning ones.
    pub struct JointState = "horus/JointState" {
        /// When it was measured, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// How many joints count, 0 to 16: read [`names`](Self::names) and the others.
        count: u32,
        /// Which quantities were measured: bit 0 position, bit 1 velocity, bit 2 effort.
        measured: u32,
        /// Positions, radians or metres from the joint's zero.
        position: [f64; 16],
        /// Velocities, radians per second or metres per second.
        velocity: [f64; 16],
        /// Efforts, newton metres or newtons.
        effort: [f64; 16],
        /// Names of the joints: texts, padded with zero bytes.
        name_texts: [[u8; 32]; 16],
    }
}
const _: () = assert!(size_of::<JointState>() == 912);

crate::message! {
    /// What up to 16 joints shall do, 928 bytes. Each joint has a mode, which says which of its three numbers counts.
    ///
    /// Lengths stand for sliding joints, angles for turning ones.
    pub struct JointCommand = "horus/JointCommand" {
        /// When it was decided, nanoseconds on CLOCK_MONOTONIC; 0 when not known.
        stamp_ns: u64,
        /// How many joints count, 0 to 16: read [`names`](Self::names) and the others.
        count: u32,
        /// How long after its sending the command holds, nanoseconds (at most 4.29 s); 0 until the next one.
        valid_for_ns: u32,
        /// One code of a [`JointMode`] a joint: read [`mode`](Self::mode).
        mode_codes: [u8; 16],
        /// Positions, radians or metres from the joint's zero.
        position: [f64; 16],
        /// Velocities, radians per second or metres per second.
        velocity: [f64; 16],
        /// Efforts, newton metres or newtons.
        effort: [f64; 16],
        /// Names of the joints: texts, padded with zero bytes.
        name_texts: [[u8; 32]; 16],
    }
}
const _: () = assert!(size_of::<JointCommand>() == 928);

/// Which number of a joint's command counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointMode {
    /// None: the joint is not commanded by this message.
    Untouched,
    /// The position; velocity and effort are its limits where they are not zero.
    Position,
    /// The velocity; effort is its limit where it is not zero.
    Velocity,
    /// The effort.
    Effort,
}

impl JointMode {
    const ALL: [Self; 4] = [Self::Untouched, Self::Position, Self::Velocity, Self::Effort];

    /// The number that stands in a message for this mode: 0 to 3 in the order of the variants.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The mode that a message's number stands for.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }
}

/// Why no message for these joints can be made.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum JointError {
    /// There are too many of them.
    #[error(transparent)]
    TooMany(#[from] TooMany),
    /// A name cannot stand in the message.
    #[error(transparent)]
    Name(#[from] TextError),
}

/// What both messages have: names and three numbers a joint, and a count that is not believed.
macro_rules! joints {
    ($message:ident) => {
        impl $message {
            /// Most joints that a message holds.
            pub const JOINTS: usize = 16;

            /// For joints of these names, in this order, with all else zero.
            pub fn new(names: &[&str]) -> Result<Self, JointError> {
                let mut message = Self::zeroed();
                if names.len() > Self::JOINTS {
                    return Err(TooMany { given: names.len(), capacity: Self::JOINTS }.into());
                }
                for (field, name) in message.name_texts.iter_mut().zip(names) {
                    set_text(field, name)?;
                }
                message.count = names.len() as u32; // at most 16
                Ok(message)
            }

            /// Names of the joints that count, at most [`JOINTS`](Self::JOINTS), whatever the count says.
            pub fn names(&self) -> impl Iterator<Item = &str> {
                counted(&self.name_texts, self.count).iter().map(|field| text(field))
            }

            /// Positions of the joints that count, radians or metres.
            pub fn positions(&self) -> &[f64] {
                counted(&self.position, self.count)
            }

            /// Velocities of the joints that count, radians per second or metres per second.
            pub fn velocities(&self) -> &[f64] {
                counted(&self.velocity, self.count)
            }

            /// Efforts of the joints that count, newton metres or newtons.
            pub fn efforts(&self) -> &[f64] {
                counted(&self.effort, self.count)
            }
        }
    };
}
joints!(JointState);
joints!(JointCommand);

impl JointCommand {
    /// What joint `joint` shall do; `None` for a joint that does not count or a code that means nothing.
    pub fn mode(&self, joint: usize) -> Option<JointMode> {
        counted(&self.mode_codes, self.count).get(joint).and_then(|&code| JointMode::from_code(code))
    }
}
