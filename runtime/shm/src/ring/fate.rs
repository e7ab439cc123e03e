//! What the stamp of a slot tells of a message's number, for those who watch a topic unseen. No model of loom's watches.

use super::{Memory, passed_over, ready};
use crate::segment::layout::STAMP_WORD;
use crate::sync::Ordering;

/// What became of a message's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its message is not to be seen yet.
    Coming,
    /// Its message is in its slot.
    Sent,
    /// No message has it: a reader held its slot.
    PassedOver,
    /// Its slot has been used again, and tells no more.
    Gone,
}

/// What became of `number`, on a lane of more than one slot: with one, the next message begins with the stamp of a number
/// that was passed over.
pub(crate) fn fate(memory: &impl Memory, number: u64) -> Fate {
    // Relaxed: the stamp stands for nothing else.
    match memory.slot(number)[STAMP_WORD].load(Ordering::Relaxed) {
        stamp if stamp < ready(number) => Fate::Coming,
        stamp if stamp == ready(number) => Fate::Sent,
        stamp if stamp == passed_over(number) => Fate::PassedOver,
        _ => Fate::Gone,
    }
}
