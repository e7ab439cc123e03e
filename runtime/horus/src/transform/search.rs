//! The transform of a moving frame at a time: a search in the ring of its lane.
//!
//! Times in a lane grow, so it is a search for the two transforms around the time. It begins at the newest two and doubles its steps back,
//! because nearly all look-ups are for the last few.

use horus_shm::ends::Subscription;
use zerocopy::IntoBytes;

use super::pose::Transform;
use super::sample::{FrameSample, Front, MOVING};

/// How often a search is begun anew that a broadcaster was faster than.
pub(super) const TRIES: u32 = 8;

/// Why there is no transform at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// None was sent.
    NotSent,
    /// The newest is so many nanoseconds before the time.
    TooLate(u64),
    /// The oldest is so many nanoseconds after it.
    TooEarly(u64),
    /// The lane is another broadcaster's by now, or its frame was withdrawn.
    Other,
    /// Overwritten in each of the tries.
    Busy,
}

/// The lane of a moving frame, of which the broadcaster's first message has the number `first`.
pub(super) struct Lane<'a> {
    pub subscription: &'a Subscription,
    pub lane: usize,
    pub first: u64,
}

impl Lane<'_> {
    /// The time of the newest transform, in nanoseconds.
    pub fn newest_ns(&self) -> Result<u64, Missing> {
        for _ in 0..TRIES {
            let Some((_, newest)) = self.numbers()? else { return Err(Missing::NotSent) };
            if let Some(time) = self.front(newest, &mut Front::default())? {
                return Ok(time);
            }
        }
        Err(Missing::Busy)
    }

    /// The transform at a time.
    pub fn at(&self, time: u64) -> Result<Transform, Missing> {
        for _ in 0..TRIES {
            let Some((oldest, newest)) = self.numbers()? else { return Err(Missing::NotSent) };
            if let Some(found) = self.look(oldest, newest, time)? {
                return Ok(found);
            }
        }
        Err(Missing::Busy)
    }

    /// One search; `None` when the broadcaster was faster.
    fn look(&self, oldest: u64, newest: u64, time: u64) -> Result<Option<Transform>, Missing> {
        let (mut from, mut to) = (Front::default(), Front::default());
        let Some(newest_ns) = self.front(newest, &mut to)? else { return Ok(None) };
        if time >= newest_ns {
            return if time == newest_ns { Ok(Some(to.transform)) } else { Err(Missing::TooLate(time - newest_ns)) };
        }
        // The time is nearly always between the last two.
        if newest > oldest {
            let Some(before_ns) = self.front(newest - 1, &mut from)? else { return Ok(None) };
            if before_ns <= time {
                return Ok(Some(from.transform.interpolate(&to.transform, share(before_ns, newest_ns, time))));
            }
        }
        // The transform `after` is after the time, and `before` will be at it or before.
        let (mut after, mut step) = ((newest - 1).max(oldest), 2);
        let mut before = loop {
            let number = after.saturating_sub(step).max(oldest);
            let Some(found_ns) = self.time(number) else { return Ok(None) };
            if found_ns <= time {
                break number;
            }
            if number == oldest {
                return Err(Missing::TooEarly(found_ns - time));
            }
            (after, step) = (number, step * 2);
        };
        while after - before > 1 {
            let middle = before + (after - before) / 2;
            let Some(found_ns) = self.time(middle) else { return Ok(None) };
            *(if found_ns <= time { &mut before } else { &mut after }) = middle;
        }
        let (before, after) = (self.front(before, &mut from)?, self.front(after, &mut to)?);
        let (Some(before_ns), Some(after_ns)) = (before, after) else { return Ok(None) };
        Ok(Some(from.transform.interpolate(&to.transform, share(before_ns, after_ns, time))))
    }

    /// The oldest and the newest number that may still be there.
    fn numbers(&self) -> Result<Option<(u64, u64)>, Missing> {
        let numbers = self.subscription.numbers(self.lane);
        if numbers.end <= self.first {
            return Err(Missing::Other); // the topic was made anew
        }
        let oldest = numbers.start.max(self.first + 1);
        Ok((oldest < numbers.end).then(|| (oldest, numbers.end - 1)))
    }

    fn time(&self, number: u64) -> Option<u64> {
        self.subscription.recall(self.lane, number, &mut [])
    }

    /// A transform, to where it is wanted, and its time; `None` when it is not there any more.
    #[inline]
    fn front(&self, number: u64, into: &mut Front) -> Result<Option<u64>, Missing> {
        let Some(time) = self.subscription.recall(self.lane, number, into.as_mut_bytes()) else { return Ok(None) };
        if into.first != self.first || into.kind != MOVING { Err(Missing::Other) } else { Ok(Some(time)) }
    }
}

/// Where a time is between two: 0 is at the earlier one, 1 at the later one.
fn share(from_ns: u64, to_ns: u64, time: u64) -> f64 {
    // Times that do not grow are what no broadcaster of ours sends: then the earlier transform is as good as another.
    let span = to_ns.saturating_sub(from_ns).max(1);
    (time.saturating_sub(from_ns) as f64 / span as f64).min(1.0)
}

/// A whole message of a lane and its stamp, for who reads names too.
pub(super) fn whole(subscription: &Subscription, lane: usize, number: u64) -> Option<(FrameSample, u64)> {
    let mut sample = FrameSample::zeroed();
    let stamp = subscription.recall(lane, number, sample.as_mut_bytes())?;
    Some((sample, stamp))
}
