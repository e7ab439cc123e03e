//! The places of a segment: taken, left, and cleared after the dead.

use std::os::fd::OwnedFd;

use horus_sys::failpoint;

use super::door;
use super::identity::{IDENTITY_WORDS, Identity};
use super::locks::{self, Place, Range};
use crate::error::OpenError;
use crate::segment::Segment;
use crate::segment::header::Needs;
use crate::segment::layout::MAX_PUBLISHERS;
use crate::sync::{AtomicU64, Ordering};
use crate::wait::bell::{self, Bell};

/// Words that say who holds a place: the identity and, of a subscriber, what it needs.
const NEEDS_WORD: usize = IDENTITY_WORDS;
/// Word of a lane's owner that counts the lane's owners.
const EPOCH_WORD: usize = 3;
const RECORD_WORDS: usize = 4;

/// The open file description that a peer's place will be locked by. To be dropped once the segment is mapped through it and
/// the place is taken: the mapping keeps it.
pub(crate) struct Seat(OwnedFd);

impl Seat {
    pub fn new(description: OwnedFd) -> Self {
        Self(description)
    }

    pub fn description(&self) -> &OwnedFd {
        &self.0
    }

    /// Takes a place; false when another peer has it.
    pub fn take(&self, segment: &Segment, place: Place) -> Result<bool, OpenError> {
        locks::try_lock(&self.0, place).map_err(|error| OpenError::io("lock", segment.path(), error))
    }

    /// Goes out of the door: the place is taken, and all is written that others look at.
    pub fn leave_door(&self) {
        door::leave(&self.0);
    }

    /// Becomes the owner of the first publisher's lane that is free.
    ///
    /// A lane whose owner is gone comes before one that was never used, so that readers look at no more lanes than
    /// publishers ever lived at once.
    pub fn claim_lane(&self, segment: &Segment) -> Result<Claim, OpenError> {
        let publishers = segment.header().shape.publishers();
        let full = || {
            let (path, one) = (segment.path().to_owned(), Identity::load(owner(segment, 0)));
            OpenError::PublishersFull { path, publishers, one }
        };
        self.claim_lane_of(segment, 0..publishers, full)
    }

    /// Becomes the owner of the monitor's lane.
    pub fn claim_monitors_lane(&self, segment: &Segment) -> Result<Claim, OpenError> {
        let lane = segment.header().shape.monitors_lane();
        let full = || {
            let (path, one) = (segment.path().to_owned(), Identity::load(owner(segment, lane)));
            OpenError::MonitorsLane { path, one }
        };
        self.claim_lane_of(segment, lane..lane + 1, full)
    }

    fn claim_lane_of(
        &self,
        segment: &Segment,
        lanes: std::ops::Range<usize>,
        full: impl Fn() -> OpenError,
    ) -> Result<Claim, OpenError> {
        let is_settled = |lane| Identity::load(owner(segment, lane)).pid != 0;
        let claim = self.claim_one(segment, lanes.map(|lane| (lane, Place::Lane(lane))), is_settled, full)?;
        let Claim::Taken(lane) = claim else { return Ok(claim) };
        failpoint!("claim:free");
        let owner = owner(segment, lane);
        Identity::own().store(owner);
        failpoint!("claim:owner");
        owner[EPOCH_WORD].fetch_add(1, Ordering::Relaxed); // wraps; `owners` reads it
        // Relaxed: a peer that sees the bit goes on to look at stamps.
        segment.used_lanes().fetch_or(1 << lane, Ordering::Relaxed);
        failpoint!("claim:lane");
        Ok(Claim::Taken(lane))
    }

    /// Takes a subscriber's place, cleared of the peer that died in it. The caller sets the bit by joining the ring.
    pub fn claim_subscriber(&self, segment: &Segment, needs: Needs) -> Result<Claim, OpenError> {
        let subscribers = segment.header().shape.subscribers();
        let is_settled = |subscriber| segment.members().load(Ordering::Relaxed) >> subscriber & 1 == 1;
        let full = || OpenError::SubscribersFull { path: segment.path().to_owned(), subscribers };
        let places = (0..subscribers).map(|subscriber| (subscriber, Place::Subscriber(subscriber)));
        let claim = self.claim_one(segment, places, is_settled, full)?;
        let Claim::Taken(subscriber) = claim else { return Ok(claim) };
        failpoint!("join:free");
        clear(segment, subscriber);
        let record = subscriber_record(segment, subscriber);
        Identity::own().store(record);
        record[NEEDS_WORD].store(needs.to_word(), Ordering::Relaxed); // a hint for the first publisher
        failpoint!("join:identity");
        Ok(claim)
    }

    /// Takes the first of `places` that can be taken.
    fn claim_one(
        &self,
        segment: &Segment,
        places: impl Iterator<Item = (usize, Place)>,
        is_settled: impl Fn(usize) -> bool,
        full: impl Fn() -> OpenError,
    ) -> Result<Claim, OpenError> {
        let mut settled = true;
        for (number, place) in places {
            if self.take(segment, place)? {
                return Ok(Claim::Taken(number));
            }
            settled &= is_settled(number);
        }
        let removing = locks::is_locked(&self.0, Range::REMOVING);
        let removing = removing.map_err(|error| OpenError::io("ask for the locks of", segment.path(), error))?;
        Ok(if settled && !removing { Claim::Full(full()) } else { Claim::Again })
    }
}

/// What came of asking for a place.
pub(crate) enum Claim {
    /// The number of the place.
    Taken(usize),
    /// Another peer joins, reaps or removes at this moment: to be asked for again.
    Again,
    /// Each place has a holder that has said who it is, as far as could be seen in one look.
    Full(OpenError),
}

/// How many owners the lane has had: another number is another owner. Wraps.
#[inline]
pub(crate) fn owners(segment: &Segment, lane: usize) -> u64 {
    // Relaxed: a reader that sees the next one a little later looks again.
    owner(segment, lane)[EPOCH_WORD].load(Ordering::Relaxed)
}

#[inline]
fn owner(segment: &Segment, lane: usize) -> &[AtomicU64] {
    segment.words(segment.header().shape.lane(lane), RECORD_WORDS)
}

fn subscriber_record(segment: &Segment, subscriber: usize) -> &[AtomicU64] {
    segment.words(segment.header().shape.identity(subscriber), RECORD_WORDS)
}

/// Says that the lane has no owner, before its lock goes with the owner's mapping.
pub(crate) fn leave_lane(segment: &Segment, lane: usize) {
    failpoint!("release:owner");
    owner(segment, lane)[0].store(0, Ordering::Relaxed); // for people; the lock is what counts
    failpoint!("release:free");
}

/// Takes a subscriber out: to be done by the holder of its place.
pub(crate) fn clear(segment: &Segment, subscriber: usize) {
    failpoint!("leave:member");
    // Release: what this reader copied was copied before a writer stops waiting for it.
    segment.members().fetch_and(!(1 << subscriber), Ordering::Release); // SYNC POINT: leave
    // Relaxed: a publisher that sees them a little longer rings in vain.
    segment.sleepers().fetch_and(!(1 << subscriber), Ordering::Relaxed);
    bell::get_up(segment, subscriber);
    failpoint!("leave:bits");
}

/// Takes dead subscribers out, so that no publisher waits for them, and returns how many. A system call for each subscriber;
/// allocates nothing, waits for nothing.
pub(crate) fn reap(segment: &Segment) -> usize {
    // Relaxed: a bit that is set later belongs to a peer that lived then.
    let members = segment.members().load(Ordering::Relaxed);
    let any = members | segment.sleepers().load(Ordering::Relaxed);
    let mut reaped = 0;
    for subscriber in (0..segment.header().shape.subscribers()).filter(|subscriber| any >> subscriber & 1 == 1) {
        let file = segment.file().file();
        if locks::try_lock(file, Place::Subscriber(subscriber)) == Ok(true) {
            reaped += usize::from(members >> subscriber & 1 == 1);
            clear(segment, subscriber);
            locks::unlock(file, Place::Subscriber(subscriber));
        }
    }
    reaped
}

/// Who lives of `count` places, and what each said of itself.
fn living(segment: &Segment, count: usize, place: fn(usize) -> Place) -> Result<Vec<usize>, OpenError> {
    let is_locked = |number: &usize| locks::is_locked(segment.file().file(), place(*number));
    let asked = (0..count).map(|number| is_locked(&number).map(|locked| locked.then_some(number)));
    let living: Result<Vec<_>, _> = asked.collect();
    let living = living.map_err(|error| OpenError::io("ask for the locks of", segment.path(), error))?;
    Ok(living.into_iter().flatten().collect())
}

/// The living publishers: lane and who it says it is.
pub(crate) fn publishers(segment: &Segment) -> Result<Vec<(usize, Identity)>, OpenError> {
    // Who removes the segment, or is about to publish, has a lock and is no publisher yet.
    let used = segment.used_lanes().load(Ordering::Relaxed);
    let living = living(segment, segment.header().shape.lanes(), Place::Lane)?;
    Ok(living
        .into_iter()
        .filter(|lane| used >> lane & 1 == 1)
        .map(|lane| (lane, Identity::load(owner(segment, lane))))
        .collect())
}

/// Whether a living process publishes the topic, the monitor aside: also by one that has remade it since this segment was mapped.
pub(crate) fn is_published(segment: &Segment) -> Result<bool, OpenError> {
    // Relaxed: the caller may be told a moment later.
    let generation = segment.generation_word().load(Ordering::Relaxed);
    let used = segment.used_lanes_in(generation).load(Ordering::Relaxed);
    let lanes = if generation == segment.generation() { segment.header().shape.publishers() } else { MAX_PUBLISHERS };
    Ok(living(segment, lanes, Place::Lane)?.into_iter().any(|lane| used >> lane & 1 == 1))
}

/// The living subscribers: who each says it is, and what it needs.
pub(crate) fn subscribers(segment: &Segment) -> Result<Vec<(Identity, Needs)>, OpenError> {
    let records = joined(segment)?.into_iter().map(|subscriber| subscriber_record(segment, subscriber));
    Ok(records
        .map(|record| (Identity::load(record), Needs::from_word(record[NEEDS_WORD].load(Ordering::Relaxed))))
        .collect())
}

/// The living subscribers: the place of each, and who it says it is.
pub(crate) fn readers(segment: &Segment) -> Result<Vec<(usize, Identity)>, OpenError> {
    let identity = |subscriber| Identity::load(subscriber_record(segment, subscriber));
    Ok(joined(segment)?.into_iter().map(|subscriber| (subscriber, identity(subscriber))).collect())
}

/// The places of living subscribers.
fn joined(segment: &Segment) -> Result<Vec<usize>, OpenError> {
    let members = segment.members().load(Ordering::Relaxed);
    let living = living(segment, segment.header().shape.subscribers(), Place::Subscriber)?;
    Ok(living.into_iter().filter(|subscriber| members >> subscriber & 1 == 1).collect())
}
