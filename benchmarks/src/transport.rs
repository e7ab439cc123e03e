//! What a messaging system must offer to be measured here: HORUS and every rival implement these traits.
//!
//! The measuring loops are generic over them and compiled for each system by itself: nothing in a timed path is called
//! through a pointer, so a rival pays for nothing that HORUS does not pay for.
//!
//! # What it does not do
//! It does not wait: [`Sender::try_send`] and [`Receiver::try_recv`] return at once, and the loops call them again. How
//! long to go on calling, and what to make of a peer that died, is the loops' to say.

use std::error::Error;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Why an end could not be made; ends the cell with its text.
pub type Failure = Box<dyn Error + Send + Sync>;

/// A message of fixed size that is plain bytes; at least 16 of them, for the sequence number and the checksum.
pub trait Content: FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Send + 'static {}

impl<M: FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Send + 'static> Content for M {}

/// A message of `WORDS` times 8 bytes without meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(transparent)]
pub struct Payload<const WORDS: usize>(pub [u64; WORDS]);

/// 16 bytes: a velocity command.
pub type Small = Payload<2>;
/// 304 bytes: an IMU message.
pub type Medium = Payload<38>;
/// 1480 bytes: a laser scan.
pub type Large = Payload<185>;

/// The sending end of one direction. A closure is one, too: it is called for [`try_send`](Self::try_send).
pub trait Sender<M: Content> {
    /// Sends a copy of the whole message. False: full, or the call would block; try again.
    fn try_send(&mut self, message: &M) -> bool;

    /// How many publishers this end is made of; message number `i` goes out through publisher `i` modulo this.
    fn publishers(&self) -> u64 {
        1
    }
}

impl<M: Content, F: FnMut(&M) -> bool> Sender<M> for F {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        self(message)
    }
}

/// The receiving end of one direction. A closure is one, too: it is called for [`try_recv`](Self::try_recv).
pub trait Receiver<M: Content> {
    /// Takes the next message, if there is one, and copies the whole of it into `into`. False: none yet.
    fn try_recv(&mut self, into: &mut M) -> bool;

    /// How many subscribers this end is made of. They take turns: message number `i` that comes out of `try_recv` came
    /// out of subscriber `i` modulo this.
    fn subscribers(&self) -> u64 {
        1
    }
}

impl<M: Content, F: FnMut(&mut M) -> bool> Receiver<M> for F {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        self(into)
    }
}

/// Where two ends find each other: a name that no other run uses, and a directory in memory for files of theirs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meeting {
    /// Letters, digits, `-`; 40 bytes at most.
    pub name: String,
    /// Exists; is removed with all that is in it at the end of the program.
    pub directory: PathBuf,
}

impl Meeting {
    /// The meeting `name-suffix` in the same directory: for systems that need a name for each direction.
    pub fn of(&self, suffix: &str) -> Self {
        Self { name: format!("{}-{suffix}", self.name), directory: self.directory.clone() }
    }
}

/// A system that connects threads of one process.
pub trait Threads<M: Content> {
    /// Name of the system in result files.
    const SYSTEM: &'static str;

    /// Makes both ends of one direction, able to hold `capacity` (a power of two) unread messages, or as near to it as
    /// the system can. Each moves into a thread of its own.
    fn channel(meeting: Meeting, capacity: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure>;
}

/// Which of two processes: they do the same but for who goes first, where the system needs that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The process that was started by the user, and measures.
    First,
    /// The same executable, started by the first process.
    Second,
}

/// The meeting of two processes, as one of them sees it.
#[derive(Clone, Debug)]
pub struct Link {
    /// What both have in common.
    pub meeting: Meeting,
    /// Which of both this is.
    pub end: End,
}

impl Link {
    /// The meeting of the direction that this end sends in.
    pub fn out(&self) -> Meeting {
        self.meeting.of(if self.end == End::First { "there" } else { "back" })
    }

    /// The meeting of the direction that it receives from.
    pub fn back(&self) -> Meeting {
        self.meeting.of(if self.end == End::First { "back" } else { "there" })
    }
}

/// A system that connects processes.
pub trait Processes<M: Content> {
    /// Name of the system in result files.
    const SYSTEM: &'static str;

    /// Connects with the other process, which calls this about the same time, in both directions.
    ///
    /// May wait for the other end, at most [`PATIENCE`](crate::patience::PATIENCE). When it has returned in both processes, nothing that either
    /// sends may get lost because the other had not joined yet.
    fn connect(link: Link, capacity: usize) -> Result<(impl Sender<M>, impl Receiver<M>), Failure>;
}
