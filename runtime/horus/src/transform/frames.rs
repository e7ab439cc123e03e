//! The frames as a program looks them up.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use horus_shm::ends::Subscription;

use super::claim::{Claim, LANES, bits, claims};
use super::error::LookupError;
use super::pose::Transform;
use super::sample::FrameSample;
use super::search::{Lane, Missing, TRIES};
use super::table::{Link, Table};
use super::{MAX_FRAMES, TOPIC};
use crate::time::MonotonicTime;
use crate::topic::{OpenError, Options, Subscriber};

/// All frames of a namespace, to be looked up. It has a place of a subscriber, of which there are 32.
///
/// It may move to another thread and is not shared between two.
pub struct Frames(pub(super) RefCell<Reader>);

pub(super) struct Reader {
    pub subscription: Subscription,
    pub table: Table,
    pub claims: Vec<Claim>,
    /// Where the lanes were when the table was made, but for moving frames, whose lanes go on. These two say when there are other frames.
    used: u64,
    ends: [Option<u64>; LANES],
    /// Whose lanes they were: a frame that is dead has another's messages in its lane, and that is no error of a look-up.
    owners: [u64; LANES],
}

impl Frames {
    /// Opens the frames of the namespace that `options` lead to: of these, directory and group count. There need not be any yet.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do.
    pub fn open(options: &Options) -> Result<Self, OpenError> {
        let subscriber = Subscriber::<FrameSample>::open(TOPIC, options.for_transforms())?;
        let (table, claims) = (Table::new(), Vec::with_capacity(MAX_FRAMES));
        let subscription = subscriber.into_subscription();
        let mut reader = Reader { subscription, table, claims, used: 0, ends: [None; LANES], owners: [0; LANES] };
        reader.read_table();
        Ok(Self(RefCell::new(reader)))
    }

    /// The frame `source` in the frame `target`, at `time`: takes coordinates in `source` to those in `target`. Every moving frame
    /// between the two is interpolated at that time.
    ///
    /// Wait-free, no allocation, no system call.
    ///
    /// # Errors
    /// [`LookupError`] says which frame is in the way, and by how much the time is outside of what is held.
    pub fn at(&self, target: &str, source: &str, time: MonotonicTime) -> Result<Transform, LookupError> {
        // A slot has no stamp of zero.
        let time = time.as_nanos().max(1);
        self.look(|reader| reader.at(target, source, time))
    }

    /// As [`at`](Self::at), at the latest time for which every frame between the two is known; and that time, which is `None` when all
    /// of them are static.
    ///
    /// # Errors
    /// As there.
    pub fn newest(&self, target: &str, source: &str) -> Result<(Transform, Option<MonotonicTime>), LookupError> {
        self.look(|reader| {
            let newest = reader.newest_ns(target, source)?;
            Ok((reader.at(target, source, newest.unwrap_or(1))?, newest.map(MonotonicTime::from_nanos)))
        })
    }

    /// As [`at`](Self::at), but waits at most `limit` until the transform is known. Looks once a millisecond: not for a real-time loop,
    /// and not for a virtual world, whose time stands still meanwhile.
    ///
    /// # Errors
    /// The last one of [`at`](Self::at), when the time is up, or at once when waiting cannot help ([`LookupError::TooEarly`]).
    pub fn wait(
        &self,
        target: &str,
        source: &str,
        time: MonotonicTime,
        limit: Duration,
    ) -> Result<Transform, LookupError> {
        let started = Instant::now();
        loop {
            match self.at(target, source, time) {
                Ok(found) => return Ok(found),
                Err(error @ LookupError::TooEarly { .. }) => return Err(error),
                Err(error) if started.elapsed() >= limit => return Err(error),
                Err(_) => std::thread::park_timeout(Duration::from_millis(1)),
            }
        }
    }

    /// Looks, and once more after the table was read anew: a frame may have another broadcaster by now.
    pub(super) fn look<R>(&self, look: impl Fn(&Reader) -> Result<R, LookupError>) -> Result<R, LookupError> {
        let mut reader = self.0.borrow_mut();
        if reader.is_stale() {
            reader.read_table();
        }
        look(&reader).or_else(|_| {
            reader.read_table();
            look(&reader)
        })
    }
}

impl Reader {
    /// Whether there may be other frames than the table has. A word, one for each lane, and one more for each lane without a moving frame.
    fn is_stale(&mut self) -> bool {
        let used = self.subscription.used_lanes();
        let is_another = |lane: usize| {
            self.owners[lane] != self.subscription.owners(lane)
                || self.ends[lane].is_some_and(|end| end != self.subscription.numbers(lane).end)
        };
        used != self.used || bits(used).any(is_another)
    }

    pub fn read_table(&mut self) {
        self.used = self.subscription.used_lanes();
        self.claims.clear();
        self.table.clear();
        for lane in bits(self.used) {
            self.ends[lane] = Some(self.subscription.numbers(lane).end);
            let owners = self.subscription.owners(lane);
            let is_known = std::mem::replace(&mut self.owners[lane], owners) == owners;
            let is_moving = claims(&self.subscription, lane, |claim| {
                if self.claims.len() < MAX_FRAMES {
                    self.claims.push(claim); // within what there is room for
                }
            });
            // What stands in the lane of a new owner may be the one's before, until the next message.
            if is_moving && is_known {
                self.ends[lane] = None;
            }
        }
        // What was said last counts, where two say something of one frame: one of the two is dead.
        self.claims.sort_unstable_by_key(|claim| std::cmp::Reverse(claim.said_ns));
        for Claim { parent, child, link, .. } in &self.claims {
            self.table.put(parent, child, *link);
        }
    }

    fn at(&self, target: &str, source: &str, time: u64) -> Result<Transform, LookupError> {
        let (target, source, common) = self.ends(target, source)?;
        let in_common = |from: usize| {
            let mut whole = Transform::IDENTITY;
            for frame in self.table.path(from).take_while(|&frame| frame != common) {
                whole = self.in_parent(frame, time)? * whole;
            }
            Ok::<_, LookupError>(whole)
        };
        let source = in_common(source)?;
        Ok(if target == common { source } else { in_common(target)?.inverse() * source })
    }

    fn newest_ns(&self, target: &str, source: &str) -> Result<Option<u64>, LookupError> {
        let (target, source, common) = self.ends(target, source)?;
        let mut newest: Option<u64> = None;
        for from in [target, source] {
            for frame in self.table.path(from).take_while(|&frame| frame != common) {
                if let Link::Moving { lane, first } = self.table.frames()[frame].link {
                    let found = self.lane(lane, first).newest_ns().map_err(|missing| self.told(frame, missing))?;
                    newest = Some(newest.map_or(found, |newest| newest.min(found)));
                }
            }
        }
        Ok(newest)
    }

    /// Both frames, and the lowest one that is above both.
    pub fn ends(&self, target: &str, source: &str) -> Result<(usize, usize, usize), LookupError> {
        let find = |name: &str| {
            self.table.find(name).ok_or_else(|| match self.table.left_out() {
                0 => LookupError::UnknownFrame { name: name.into(), nearest: self.table.nearest(name) },
                left_out => LookupError::TooMany { left_out },
            })
        };
        let (target, source) = (find(target)?, find(source)?);
        let (one, other) = (self.table.depth(target), self.table.depth(source));
        let mut above_target = self.table.path(target).skip(one.saturating_sub(other));
        let mut above_source = self.table.path(source).skip(other.saturating_sub(one));
        loop {
            match (above_target.next(), above_source.next()) {
                (Some(one), Some(other)) if one == other => return Ok((target, source, one)),
                (Some(_), Some(_)) => {}
                _ => {
                    let name = |frame: usize| self.table.frames()[frame].name;
                    return Err(LookupError::NotConnected {
                        target: name(target),
                        from: name(source),
                        target_root: name(self.table.root(target)),
                        from_root: name(self.table.root(source)),
                    });
                }
            }
        }
    }

    #[inline]
    fn in_parent(&self, frame: usize, time: u64) -> Result<Transform, LookupError> {
        match self.table.frames()[frame].link {
            Link::Static(transform) => Ok(transform),
            Link::Moving { lane, first } => {
                self.lane(lane, first).at(time).map_err(|missing| self.told(frame, missing))
            }
            Link::Root => Ok(Transform::IDENTITY), // no path goes beyond a frame without a parent
        }
    }

    pub fn lane(&self, lane: usize, first: u64) -> Lane<'_> {
        Lane { subscription: &self.subscription, lane, first }
    }

    #[cold]
    fn told(&self, frame: usize, missing: Missing) -> LookupError {
        let child = self.table.frames()[frame].name;
        let parent = self.table.frames()[frame].parent().map_or(child, |parent| self.table.frames()[parent].name);
        let by = Duration::from_nanos;
        match missing {
            Missing::TooLate(nanos) => LookupError::TooLate { parent, child, by: by(nanos) },
            Missing::TooEarly(nanos) => LookupError::TooEarly { parent, child, by: by(nanos) },
            // Another broadcaster in two looks in a row has sent nothing of this frame.
            Missing::NotSent | Missing::Other => LookupError::NotSent { parent, child },
            Missing::Busy => LookupError::Busy { parent, child, tries: TRIES },
        }
    }
}
