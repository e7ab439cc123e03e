//! How far the subscribers of a topic are, seen from outside.

use crate::error::OpenError;
use crate::peers;
use crate::peers::identity::Identity;
use crate::ring::Memory;
use crate::segment::Segment;
use crate::segment::lane::MappedLane;
use crate::sync::{Arc, Ordering};

/// A subscriber, and how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader {
    /// Who it is.
    pub identity: Identity,
    /// Messages that were sent and that it has not taken.
    pub behind: u64,
    /// How many of these are overwritten: it will miss them. What it missed before, it alone knows.
    pub overwritten: u64,
}

/// The living subscribers. Cursors and positions are what peers allege, read one after the other: a figure may be off by what
/// was sent between.
pub(super) fn readers(segment: &Arc<Segment>) -> Result<Vec<Reader>, OpenError> {
    let used = segment.used_lanes().load(Ordering::Relaxed);
    let shape = segment.header().shape;
    let lanes: Vec<_> = (0..shape.lanes())
        .filter(|lane| used >> lane & 1 == 1)
        .map(|lane| MappedLane::new(segment.clone(), lane))
        .collect();
    let reader = |(subscriber, identity)| {
        let behind = lanes.iter().map(|lane| {
            let cursor = lane.cursor(subscriber).load(Ordering::Relaxed); // first, so that it is not ahead of the position
            (lane.position().load(Ordering::Relaxed).saturating_sub(cursor), lane.capacity())
        });
        let of_lane = behind.map(|(behind, capacity)| (behind, behind.saturating_sub(capacity)));
        let (behind, overwritten) =
            of_lane.fold((0_u64, 0_u64), |sum, lane| (sum.0.saturating_add(lane.0), sum.1.saturating_add(lane.1)));
        Reader { identity, behind, overwritten }
    };
    Ok(peers::readers(segment)?.into_iter().map(reader).collect())
}
