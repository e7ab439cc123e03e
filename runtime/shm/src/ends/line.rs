//! Two words in a segment that carries no messages: what the hardware's floor is measured with (crate `horus-measure`).
//!
//! They are stamps of slots, so that they lie as a topic's own words do. A segment of this kind is never sent to nor received
//! from; a program that opens it as a topic of messages all the same finds stamps that mean nothing.

use super::{Joining, Kind, Making, Payload, Publication, Subscription};
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::segment::file::Access;
use crate::segment::header::Needs;
use crate::segment::layout::{DeliveryPolicy, STAMP_WORD};
use crate::sync::AtomicU64;
use crate::wait::WaitStrategy;

const KIND: Kind<'static> = Kind { type_name: "horus/Floor", layout_hash: 1, description: "" };
const PAYLOAD: Payload = Payload::of::<u64>();
const MAKING: Making = Making {
    is_latched: false,
    capacity: 4,
    least: 4,
    policy: DeliveryPolicy::Latest,
    access: Access { mode: 0o600, group: None },
    publishers: 1,
    wakes: false,
};
const JOINING: Joining = Joining {
    needs: Needs { policy: None, capacity: 0, waking: false },
    making: MAKING,
    history: 0,
    wait_strategy: Some(WaitStrategy::Spin),
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
        Subscription::open(directory, name, KIND, PAYLOAD, JOINING).map(Self::Ponger)
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
