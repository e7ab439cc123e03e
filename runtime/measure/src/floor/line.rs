//! Where the floor's ball lies: two words of a segment that is made like any topic's. All that the floor knows of shm's
//! topics.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use horus_shm::directory::{Directory, TopicName};
use horus_shm::endpoint::{Joining, Kind, Making, Reader, Writer};
use horus_shm::error::OpenError;
use horus_shm::layout::{Policy, STAMP_WORD};
use horus_shm::map::Access;
use horus_shm::wait::Waiting;

const KIND: Kind<'static> = Kind { type_name: "horus/Floor", layout_hash: 1, description: "" };
const MAKING: Making =
    Making { capacity: 4, policy: Policy::Latest, access: Access { mode: 0o600, group: None }, publishers: 1 };
/// Slot whose stamp is thrown: odd numbers to the ponger, even ones back.
const BALL: u64 = 0;
/// Slot whose stamp says that there will be no more; two lines off, so that looking at it does not slow the ball.
const END: u64 = 2;

/// One end's view of the segment.
pub enum Line {
    /// The pinger's, which makes it.
    Made(Writer<u64>),
    /// The ponger's, which finds it.
    Found(Reader<u64>),
}

impl Line {
    /// Makes the segment under the name of a topic.
    pub fn make(directory: &Directory, name: &TopicName) -> Result<Self, OpenError> {
        Writer::create_or_open(directory, name, KIND, &MAKING).map(Self::Made)
    }

    /// Opens the segment, waiting at most `wait` for the pinger to make it.
    pub fn find(directory: &Directory, name: &TopicName, wait: Duration) -> Result<Self, OpenError> {
        let joining = Joining { wait, history: 0, waiting: Waiting::Spin };
        Reader::open(directory, name, KIND, joining).map(Self::Found)
    }

    /// The word that is thrown.
    pub fn ball(&self) -> &AtomicU64 {
        self.stamp(BALL)
    }

    /// The word that ends the game when it is not zero.
    pub fn end(&self) -> &AtomicU64 {
        self.stamp(END)
    }

    fn stamp(&self, slot: u64) -> &AtomicU64 {
        match self {
            Self::Made(writer) => &writer.words(slot)[STAMP_WORD],
            Self::Found(reader) => &reader.words(slot)[STAMP_WORD],
        }
    }
}
