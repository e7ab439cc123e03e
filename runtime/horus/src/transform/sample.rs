//! What stands in a slot of the topic of all frames. The time of a transform is the slot's time of sending, which the ring converts
//! for programs with a clock of their own (decision 63).

use super::name::{FrameName, MAX_BYTES};
use super::pose::Transform;
use crate::message::Message;

/// A broadcaster says which frame it will send, and is asked for before its first transform.
pub(super) const ANNOUNCED: u64 = 1;
/// The transform of a moving frame.
pub(super) const MOVING: u64 = 2;
/// The transform of a static frame.
pub(super) const STATIC: u64 = 3;
/// A broadcaster goes: what it sent in this lane is no more.
pub(super) const WITHDRAWN: u64 = 4;

crate::message! {
    /// A transform of a frame, 176 bytes: with the slot's own words, three cache lines.
    pub struct FrameSample = "horus/FrameSample" {
        /// The child in the parent.
        transform: Transform,
        /// The number, in this lane, of the first message of this broadcaster.
        first: u64,
        /// 1 announced, 2 moving, 3 static, 4 withdrawn.
        kind: u64,
        /// The parent's name.
        parent: [u8; 52],
        /// The child's name.
        child: [u8; 52],
    }
}
const _: () = assert!(size_of::<FrameSample>() == 176 && MAX_BYTES == 52);

crate::message! {
    /// The front of a [`FrameSample`]: all but the names, which a look-up knows already.
    #[derive(Default)]
    pub struct Front = "horus/FrameSampleFront" {
        /// The child in the parent.
        transform: Transform,
        /// As there.
        first: u64,
        /// As there.
        kind: u64,
    }
}
const _: () = assert!(size_of::<Front>() == 72);
const _: () = assert!(FrameSample::FIELDS[2].offset == Front::FIELDS[2].offset);

impl FrameSample {
    pub(super) fn new(parent: &FrameName, child: &FrameName, kind: u64, first: u64) -> Self {
        Self { transform: Transform::IDENTITY, first, kind, parent: parent.field(), child: child.field() }
    }

    /// For who watches the topic from outside: the parent and the child, if this is the transform of a moving frame.
    #[doc(hidden)]
    pub fn moving(&self) -> Option<(FrameName, FrameName)> {
        if self.kind == MOVING { self.names() } else { None }
    }

    /// The names, parent first; `None` when no broadcaster of ours wrote them.
    pub(super) fn names(&self) -> Option<(FrameName, FrameName)> {
        Some((FrameName::of_field(&self.parent)?, FrameName::of_field(&self.child)?))
    }
}
