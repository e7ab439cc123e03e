//! What the broadcasters say: which frame is in which, in what lane. And what a new one may not say beside those that live.

use std::collections::HashMap;
use std::sync::atomic::{Ordering, fence};

use horus_shm::ends::Subscription;

use super::TOPIC;
use super::error::SendError;
use super::name::FrameName;
use super::sample::{ANNOUNCED, FrameSample, MOVING, STATIC};
use super::search::{TRIES, whole};
use super::table::Link;
use crate::topic::{Options, Subscriber};

/// Lanes that a topic can have.
pub(super) const LANES: usize = 64;

/// The numbers of the bits that are set.
pub(super) fn bits(mask: u64) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |bit| mask >> bit & 1 == 1)
}

/// That one frame is in another.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    pub parent: FrameName,
    pub child: FrameName,
    pub link: Link,
    /// The stamp of the message that says so.
    pub said_ns: u64,
    /// Whose lane it stands in.
    pub lane: usize,
}

/// Hands what the broadcaster of a lane says to `take`; true when it is a moving frame. A static frame that is sent twice comes twice.
pub(super) fn claims(subscription: &Subscription, lane: usize, mut take: impl FnMut(Claim)) -> bool {
    let newest = || {
        let numbers = subscription.numbers(lane);
        if numbers.is_empty() { None } else { Some((numbers.end - 1, whole(subscription, lane, numbers.end - 1)?)) }
    };
    let Some((number, (sample, said_ns))) = (0..TRIES).find_map(|_| newest()) else { return false };
    let claim = |sample: &FrameSample, said_ns, link| {
        sample.names().map(|(parent, child)| Claim { parent, child, link, said_ns, lane })
    };
    match sample.kind {
        ANNOUNCED | MOVING if sample.first <= number => {
            claim(&sample, said_ns, Link::Moving { lane, first: sample.first }).into_iter().for_each(&mut take);
            true
        }
        STATIC => {
            let oldest = sample.first.max(subscription.numbers(lane).start);
            for (sample, said_ns) in (oldest..=number).filter_map(|number| whole(subscription, lane, number)) {
                if sample.kind == STATIC {
                    claim(&sample, said_ns, Link::Static(sample.transform)).into_iter().for_each(&mut take);
                }
            }
            false
        }
        _ => false,
    }
}

/// Whether the frames of a broadcaster, which are `own` as parent and child, may be beside those of all others that live.
///
/// To be asked before the broadcaster of `lane` says what they are, and once more after it: of two that come at the same time, at least one sees
/// the other then. It may be that both do and both are refused, and never that both stay.
pub(super) fn check(options: &Options, lane: usize, own: &[(FrameName, FrameName)]) -> Result<(), SendError> {
    // Each broadcaster has stored what it says before this fence, and looks at what the others say after it. Both ends are this line.
    fence(Ordering::SeqCst); // SYNC POINT: claimed
    let mut subscription = Subscriber::<FrameSample>::open(TOPIC, options.for_transforms())?.into_subscription();
    let used = subscription.used_lanes();
    let mut above: HashMap<String, (String, String)> = HashMap::new();
    for (living, who) in subscription.publishers()?.into_iter().filter(|(living, _)| *living != lane) {
        if bits(used).any(|lane| lane == living) {
            claims(&subscription, living, |Claim { parent, child, .. }| {
                above.insert(child.to_string(), (parent.to_string(), who.to_string()));
            });
        }
    }
    for (parent, child) in own {
        let (parent, child) = (parent.to_string(), child.to_string());
        if let Some((first, who)) = above.get(&child) {
            return Err(SendError::SecondParent { child, parent: first.clone(), refused: parent, who: who.clone() });
        }
        let up = |frame: &String| above.get(frame).map(|(parent, _)| parent.clone());
        let path: Vec<_> = std::iter::successors(Some(parent.clone()), up).take(above.len() + 1).collect();
        if let Some(end) = path.iter().position(|frame| *frame == child) {
            return Err(SendError::Loop { path: path[..=end].join(" in "), child, parent });
        }
        above.insert(child, (parent, "this program".to_owned()));
    }
    Ok(())
}
