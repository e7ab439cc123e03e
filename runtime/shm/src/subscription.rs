//! A subscriber's hold on a topic, whatever its messages are: joins all lanes, reads them in turn, and leaves nothing
//! behind.

use std::time::Duration;

use crate::bell::Bell;
use crate::clock::monotonic_ns;
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::lane::MappedLane;
use crate::layout::Policy;
use crate::members::{Locked, pause};
use crate::opening::{Joining, Kind, Payload, Process, damaged, open_existing};
use crate::ring::{self, Consumer, MAX_SEQUENCE, Memory, Taken};
use crate::segment::Segment;
use crate::spin::single_cpu;
use crate::sweep::tidy;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::wait::Waiting;

/// How long to wait between two looks for a publisher.
const FIND_PAUSE: Duration = Duration::from_millis(1);

/// A subscriber's cursors in all lanes of a topic.
pub struct Subscription {
    lanes: Box<[Consumer<MappedLane>]>,
    segment: Arc<Segment>,
    /// The lane that is looked at first: the one after that which was read last, so that none waits for another.
    turn: usize,
    subscriber: usize,
    waiting: Waiting,
    /// Whether there may be messages to read that were sent before this subscriber joined.
    has_history: bool,
    has_slept: bool,
    process: Process,
}

impl Subscription {
    /// See [`crate::endpoint::Reader::open`].
    pub(crate) fn open(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        payload: Payload,
        joining: Joining,
    ) -> Result<Self, OpenError> {
        single_cpu(); // read the machine's CPU list now, not in a first wait
        let expected = kind.expected(payload, None);
        let path = directory.file(name);
        tidy(directory);
        let started = monotonic_ns();
        loop {
            let opened = open_existing(&path, &expected, |segment, locked| Self::join(segment, locked, joining))?;
            if let Some(opened) = opened {
                return Ok(opened);
            }
            let waited = Duration::from_nanos(monotonic_ns() - started);
            if waited >= joining.wait {
                return Err(OpenError::NotFound { path, waited });
            }
            pause(FIND_PAUSE.min(joining.wait - waited));
        }
    }

    fn join(segment: &Arc<Segment>, locked: &Locked<'_>, joining: Joining) -> Result<Self, OpenError> {
        let subscriber = locked.reserve()?;
        let header = segment.header();
        let lanes: Vec<_> = (0..header.shape.lanes()).map(|lane| MappedLane::new(segment.clone(), lane)).collect();
        let positions = lanes.iter().map(|lane| lane.position().load(Ordering::Relaxed));
        let highest = positions.max().unwrap_or(MAX_SEQUENCE);
        if joining.waiting.sleeps() {
            // Relaxed: see the text of `bell`.
            segment.sleepers().fetch_or(1 << subscriber, Ordering::Relaxed);
        }
        let lanes = ring::join(lanes, subscriber, header.policy, joining.history);
        let lanes = lanes.ok_or_else(|| damaged(segment, highest)).inspect_err(|_| locked.remove(subscriber))?;
        Ok(Self {
            lanes,
            segment: segment.clone(),
            turn: 0,
            subscriber,
            waiting: joining.waiting,
            has_history: joining.history > 0,
            has_slept: false,
            process: Process::this(),
        })
    }

    /// Hands lanes that were ever used to `visit`, in turn, until it returns something; says of which lane that is.
    #[inline(always)]
    pub(crate) fn poll<R>(
        &mut self,
        mut visit: impl FnMut(&mut Consumer<MappedLane>) -> Option<R>,
    ) -> Option<(usize, R)> {
        // Relaxed: a lane that is used from now on is seen in finite time, and before sleeping (see `bell`).
        let first = &mut self.lanes[0];
        let used = first.memory().used_lanes().load(Ordering::Relaxed);
        if used == 1 {
            return visit(first).map(|found| (0, found));
        }
        self.poll_several(used, visit)
    }

    fn poll_several<R>(
        &mut self,
        used: u64,
        mut visit: impl FnMut(&mut Consumer<MappedLane>) -> Option<R>,
    ) -> Option<(usize, R)> {
        let lanes = self.lanes.len();
        // The lanes from `turn` on, then those before it; a bit beyond the lanes is a lie that helps nobody.
        let known = used & (u64::MAX >> (64 - lanes));
        let from_turn = known & (u64::MAX << self.turn);
        for mut part in [from_turn, known & !from_turn] {
            while part != 0 {
                let lane = part.trailing_zeros() as usize;
                part &= part - 1;
                if let Some(found) = visit(&mut self.lanes[lane]) {
                    self.turn = if lane + 1 == lanes { 0 } else { lane + 1 };
                    return Some((lane, found));
                }
            }
        }
        None
    }

    /// Finds the next message of any lane and holds it in place; see [`Consumer::hold`].
    pub(crate) fn hold(&mut self) -> Option<(usize, Taken)> {
        self.poll(Consumer::hold)
    }

    /// The slot that is held in `lane`.
    pub(crate) fn slot(&self, lane: usize) -> &[AtomicU64] {
        self.lanes[lane].slot()
    }

    /// Ends a hold.
    pub(crate) fn let_go(&mut self, lane: usize) {
        self.lanes[lane].let_go();
    }

    /// Whether messages can be held in place here and now: on a `latest` topic of small messages they cannot, nor
    /// anywhere before the history has been read, of which a reliable publisher may still overwrite some.
    pub(crate) fn can_hold(&mut self) -> bool {
        let header = self.segment.header();
        if header.policy == Policy::Latest {
            return header.shape.is_held();
        }
        self.has_history = self.has_history && self.lanes.iter().any(Consumer::has_history);
        !self.has_history
    }

    /// Whether a message, or the trace of one that was missed, is there to be taken.
    pub fn is_ready(&self) -> bool {
        let used = self.segment.used_lanes().load(Ordering::Relaxed);
        self.lanes.iter().enumerate().any(|(lane, consumer)| used >> lane & 1 == 1 && consumer.is_ready())
    }

    /// How many messages were overwritten before this reader got to them, of those sent since it joined.
    pub(crate) fn missed(&self) -> u64 {
        // Saturating: each lane's count is what its writer made of it, and several that lie add up to more than 2^64.
        self.lanes.iter().fold(0, |sum, lane| lane.missed().saturating_add(sum))
    }

    /// Sequence number of the message to be read next from `lane`.
    pub(crate) fn position(&self, lane: usize) -> u64 {
        self.lanes[lane].position()
    }

    /// Whether a living process publishes the topic.
    pub(crate) fn is_published(&self) -> Result<bool, OpenError> {
        Ok(Locked::new(&self.segment)?.publishers().iter().any(Option::is_some))
    }

    pub(crate) fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// True once.
    pub(crate) fn first_sleep(&mut self) -> bool {
        !std::mem::replace(&mut self.has_slept, true)
    }

    pub(crate) fn subscriber(&self) -> usize {
        self.subscriber
    }

    pub(crate) fn segment(&self) -> &Arc<Segment> {
        &self.segment
    }

    /// The words of the slot of message `sequence`, for the floor of `horus-measure`, which sends no messages.
    pub(crate) fn words(&self, sequence: u64) -> &[AtomicU64] {
        self.lanes[0].memory().slot(sequence)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if !self.process.is_this() {
            return;
        }
        match Locked::new(&self.segment) {
            Ok(locked) => {
                locked.remove(self.subscriber);
                locked.remove_if_unused();
            }
            // Somebody holds the lock and does not let go. The identity stays: without its bit it means nothing, and
            // the place may be another's at once.
            Err(_) => ring::leave(self.lanes[0].memory(), self.subscriber),
        }
    }
}
