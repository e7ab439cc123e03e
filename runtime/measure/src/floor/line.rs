//! Where the floor's ball lies: two words of a segment that is made like any topic's. All that the floor knows of shm's
//! topics.

use std::sync::atomic::AtomicU64;

use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::{Joining, Kind, Making, Payload, Publication, Subscription};
use horus_shm::error::OpenError;
use horus_shm::segment::file::Access;
use horus_shm::segment::header::Needs;
use horus_shm::segment::layout::{Policy, STAMP_WORD};
use horus_shm::wait::Waiting;

const KIND: Kind<'static> = Kind { type_name: "horus/Floor", layout_hash: 1, description: "" };
const PAYLOAD: Payload = Payload::of::<u64>();
const MAKING: Making = Making {
    capacity: 4,
    policy: Policy::Latest,
    access: Access { mode: 0o600, group: None },
    publishers: 1,
    wakes: false,
};
/// Slot whose stamp is thrown: odd numbers to the ponger, even ones back.
const BALL: u64 = 0;
/// Slot whose stamp says that there will be no more; two lines off, so that looking at it does not slow the ball.
const END: u64 = 2;

/// One end's view of the segment.
pub enum Line {
    /// The pinger's.
    Pinger(Publication),
    /// The ponger's.
    Ponger(Subscription),
}

impl Line {
    /// The pinger's view of the segment under the name of a topic, made if it is not there.
    pub fn pinger(directory: &Directory, name: &TopicName) -> Result<Self, OpenError> {
        Publication::open(directory, name, KIND, PAYLOAD, &MAKING).map(Self::Pinger)
    }

    /// The ponger's, likewise.
    pub fn ponger(directory: &Directory, name: &TopicName) -> Result<Self, OpenError> {
        let joining = Joining { needs: Needs::default(), making: MAKING, history: 0, waiting: Some(Waiting::Spin) };
        Subscription::open(directory, name, KIND, PAYLOAD, joining).map(Self::Ponger)
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
            Self::Pinger(end) => &end.words(slot)[STAMP_WORD],
            Self::Ponger(end) => &end.words(slot)[STAMP_WORD],
        }
    }
}
