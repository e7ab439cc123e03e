//! Why a transform was not found, and why one was not taken. The first allocates nothing: a loop may meet it.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use super::name::{FrameName, MAX_BYTES};
use super::{HELD, MAX_FRAMES};
use crate::topic::OpenError;

/// Why a look-up gave nothing. Made without an allocation; only printing it may make one.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum LookupError {
    /// No frame has this name.
    #[error("no frame is called {name}{}", Hint(nearest))]
    UnknownFrame {
        /// The name that was asked for, its first 52 characters if it is longer; `None` when it cannot be a frame's name.
        name: Asked,
        /// The name that is nearest to it.
        nearest: Option<FrameName>,
    },
    /// The two frames are in two trees.
    #[error(
        "{target} and {from} are not connected: the tree of {target} begins with {target_root}, that of {from} with {from_root}; send \
         one of these in a frame of the other tree"
    )]
    NotConnected {
        /// The frame that coordinates were wanted in.
        target: FrameName,
        /// The frame that they were in.
        from: FrameName,
        /// The frame without a parent above the first.
        target_root: FrameName,
        /// The frame without a parent above the second.
        from_root: FrameName,
    },
    /// The time is later than the newest transform.
    #[error(
        "{child} in {parent} is known until {by:?} before the time that was asked for: ask for an earlier time, or wait for it"
    )]
    TooLate {
        /// The parent of the frame that is behind.
        parent: FrameName,
        /// The frame that is behind.
        child: FrameName,
        /// How long before the time the newest transform is.
        by: Duration,
    },
    /// The time is earlier than the oldest transform that is held.
    #[error(
        "{child} in {parent} is known from {by:?} after the time that was asked for: the {} transforms that are held begin there; ask \
         sooner, or send it less often", HELD - 1
    )]
    TooEarly {
        /// The parent of the frame whose history is too short.
        parent: FrameName,
        /// The frame whose history is too short.
        child: FrameName,
        /// How long after the time the oldest transform is.
        by: Duration,
    },
    /// A broadcaster has said that it will send the frame, and has not sent it yet.
    #[error("{child} in {parent} was announced and not sent yet: wait for it")]
    NotSent {
        /// The parent.
        parent: FrameName,
        /// The frame.
        child: FrameName,
    },
    /// The frame was overwritten faster than it could be read.
    #[error(
        "{child} in {parent} was overwritten {tries} times while it was read: its broadcaster sends it faster than this program reads"
    )]
    Busy {
        /// The parent.
        parent: FrameName,
        /// The frame.
        child: FrameName,
        /// How often it was tried.
        tries: u32,
    },
    /// There are more frames than a reader knows.
    #[error(
        "{left_out} frames are left out, since a program knows {MAX_FRAMES} at most: send fewer, or in another namespace"
    )]
    TooMany {
        /// How many are not known.
        left_out: usize,
    },
}

/// A name as it was asked for, in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked(Option<FrameName>);

impl From<&str> for Asked {
    fn from(name: &str) -> Self {
        Self(FrameName::new(name))
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => name.fmt(out),
            None => write!(out, "so (a name has 1 to {MAX_BYTES} printable characters, and no / in front)"),
        }
    }
}

struct Hint<'a>(&'a Option<FrameName>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(nearest) => write!(out, ": the nearest name is {nearest}"),
            None => out.write_str(": no frame is sent yet (horus tf tree)"),
        }
    }
}

/// Why a broadcaster was not opened, or a transform was not sent.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SendError {
    /// The topic cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The file that describes the robot is wrong.
    #[error("{}: {source}", path.display())]
    Urdf {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        source: super::urdf::UrdfError,
    },
    /// It cannot be a frame's name.
    #[error(
        "{name:?} is no name of a frame: it has 1 to {MAX_BYTES} printable characters without a space, and no / in front"
    )]
    Name {
        /// What was given.
        name: String,
    },
    /// Another broadcaster sends the frame.
    #[error("{child} is in {parent} already, sent by {who}: it cannot be in {refused} too; end one of the two")]
    SecondParent {
        /// The frame.
        child: String,
        /// Its parent.
        parent: String,
        /// The parent that was refused.
        refused: String,
        /// Who sends it.
        who: String,
    },
    /// The frame would be above itself.
    #[error("{child} cannot be in {parent}: {parent} is in {child} already, by {path}; a tree has no loop")]
    Loop {
        /// The frame.
        child: String,
        /// The parent that was refused.
        parent: String,
        /// From the parent up to the frame.
        path: String,
    },
    /// The rotation is no unit quaternion, or a number is not finite.
    #[error(
        "{child} was not sent: its rotation has the length {length}, or a number is not finite; a rotation is a quaternion of length 1"
    )]
    NoRotation {
        /// The frame.
        child: FrameName,
        /// The length of the quaternion.
        length: f64,
    },
    /// The time is not after the last one.
    #[error(
        "{child} was not sent: its time is not after that of the transform before, by {by:?}; send each time once, in order"
    )]
    NotLater {
        /// The frame.
        child: FrameName,
        /// How far before the last one it is.
        by: Duration,
    },
    /// The time is too far in the future.
    #[error(
        "{child} was not sent: its time is {by:?} after now; give times of CLOCK_MONOTONIC, such as those of a cycle or of a message"
    )]
    Future {
        /// The frame.
        child: FrameName,
        /// How far after now it is.
        by: Duration,
    },
    /// There is no room for more static frames.
    #[error("a program sends at most {most} static frames: send the others from another program")]
    TooMany {
        /// How many there can be.
        most: usize,
    },
    /// A subscriber keeps all of the topic in place, which no program of ours does.
    #[error(
        "{child} was not sent: the topic of all frames is held by another program; end it (horus topic info transforms)"
    )]
    Full {
        /// The frame.
        child: FrameName,
    },
}
