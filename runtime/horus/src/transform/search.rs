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
            if let Some((_, time)) = self.front(newest)? {
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
        let Some((front, newest_ns)) = self.front(newest)? else { return Ok(None) };
        if time >= newest_ns {
            return if time == newest_ns { Ok(Some(front.transform)) } else { Err(Missing::TooLate(time - newest_ns)) };
        }
        // The time is nearly always between the last two.
        if newest > oldest {
            let Some(before) = self.front(newest - 1)? else { return Ok(None) };
            if before.1 <= time {
                return Ok(Some(between(&before, &(front, newest_ns), time)));
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
        let (Some(before), Some(after)) = (self.front(before)?, self.front(after)?) else { return Ok(None) };
        Ok(Some(between(&before, &after, time)))
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

    /// A transform and its time; `None` when it is not there any more.
    #[inline]
    fn front(&self, number: u64) -> Result<Option<(Front, u64)>, Missing> {
        let mut front = Front::default();
        let Some(time) = self.subscription.recall(self.lane, number, front.as_mut_bytes()) else { return Ok(None) };
        if front.first != self.first || front.kind != MOVING { Err(Missing::Other) } else { Ok(Some((front, time))) }
    }
}

/// The transform at a time between two.
fn between((from, from_ns): &(Front, u64), (to, to_ns): &(Front, u64), time: u64) -> Transform {
    // Times that do not grow are what no broadcaster of ours sends: then the earlier transform is as good as another.
    let span = to_ns.saturating_sub(*from_ns).max(1);
    let share = time.saturating_sub(*from_ns) as f64 / span as f64;
    from.transform.interpolate(&to.transform, share.min(1.0))
}

/// A whole message of a lane and its stamp, for who reads names too.
pub(super) fn whole(subscription: &Subscription, lane: usize, number: u64) -> Option<(FrameSample, u64)> {
    let mut sample = FrameSample::zeroed();
    let stamp = subscription.recall(lane, number, sample.as_mut_bytes())?;
    Some((sample, stamp))
}
