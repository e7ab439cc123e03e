//! A subscriber's hold on a topic, whatever its messages are: joins all lanes, reads them in turn, and leaves nothing
//! behind.
//!
//! # A subscriber that comes first
//! It makes the topic as it would like it, and receives once somebody publishes. If the first publisher makes the topic
//! otherwise, the subscriber follows it to the new segment: in the first receiving call after that, with the system calls of
//! opening. It receives there what was sent from the first message on; if more were sent than the topic holds, the rest counts as
//! missed, on a reliable topic too. A subscriber that says how the topic is made, as its publisher does, never has to.

use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::time::Duration;

use super::opening::{Door, Entered, Joining, Kind, Making, Payload, damaged, open_or_make};
use crate::clock::monotonic_ns;
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::patience::Patience;
use crate::peers::locks::Place;
use crate::peers::{Claim, clear, publishers, reap};
use crate::ring::{self, Consumer, MAX_SEQUENCE, Memory, Plain, Received, Taken, copy, payload_word};
use crate::segment::Segment;
use crate::segment::file::LastOut;
use crate::segment::header::{Expected, Terms};
use crate::segment::lane::MappedLane;
use crate::segment::layout::Policy;
use crate::segment::map::LockRefused;
use crate::segment::rejected::Rejected;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::wait::bell::Bell;
use crate::wait::{self, Waiter, Waiting};

/// How long the publisher that makes a topic anew has for it. Then a subscriber that follows it makes the topic itself.
const FOLLOW_PATIENCE_NS: u64 = 100_000_000;
/// The time between two looks for it.
const FOLLOW_PAUSE_NS: u64 = 50_000;

/// A subscriber's cursors in all lanes of a topic.
pub struct Subscription {
    // In this order they are dropped: the place goes with the mapping, and the file after it.
    lanes: Box<[Consumer<MappedLane>]>,
    segment: Arc<Segment>,
    _last_out: LastOut,
    /// The lane that is looked at first: the one after that which was read last, so that none waits for another.
    turn: usize,
    subscriber: usize,
    waiting: Waiting,
    payload: Payload,
    /// Whether there may be messages to read that were sent before this subscriber joined.
    has_history: bool,
    has_slept: bool,
    wish: Arc<Wish>,
    following: Following,
}

/// What was asked for, to ask for it again.
struct Wish {
    path: PathBuf,
    expected: Expected,
    joining: Joining,
}

/// On what occasion a subscriber joins a segment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Because its program opens the topic.
    Afresh,
    /// Because the segment that it was in lost its name.
    Following { may_make: bool },
}

/// How a subscriber gets on that follows a publisher to the segment that it made anew.
#[derive(Default)]
struct Following {
    since_ns: Option<u64>,
    /// Not to look before this moment.
    again_ns: u64,
    /// Why the publisher's segment could not be joined.
    refusal: Option<OpenError>,
}

impl Subscription {
    /// Joins the topic `name`, making it if nobody living uses it.
    ///
    /// # Errors
    /// [`OpenError`]; in particular a topic that is not what the subscriber needs.
    pub fn open(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        payload: Payload,
        joining: Joining,
    ) -> Result<Self, OpenError> {
        let mut joining = joining;
        joining.needs.waking = joining.waiting.is_some_and(Waiting::sleeps);
        let expected = kind.expected(payload, Terms::AtLeast(joining.needs));
        // What the topic would be if it had to be made must do, too.
        let Making { policy, capacity, wakes, .. } = joining.making;
        let path = || directory.file(name);
        joining.needs.check(policy, capacity, wakes).map_err(|reason| Rejected { path: path(), reason })?;
        let wish = Arc::new(Wish { path: directory.file(name), expected, joining });
        let opened = Self::join_as(wish, How::Afresh)?;
        Ok(opened.expect("what is not there is made"))
    }

    fn join_as(wish: Arc<Wish>, how: How) -> Result<Option<Self>, OpenError> {
        let Wish { path, expected, joining } = &*wish;
        let enter = |door: Door| {
            let checked = door.segment.header().check(expected);
            checked.map_err(|reason| Rejected { path: path.clone(), reason })?;
            Self::join(door, &wish, how)
        };
        let making = (how != How::Following { may_make: false }).then_some(&joining.making);
        // Who follows does so within a receiving call, which waits for nobody.
        let patience = (how == How::Afresh).then(Patience::new);
        open_or_make(path, expected, making, Place::Subscriber(0), patience, enter)
    }

    fn join(door: Door, wish: &Arc<Wish>, how: How) -> Result<Entered<Self>, OpenError> {
        // In this order: they are dropped the other way round, the place before the file is looked at.
        let Door { last_out, seat, segment } = door;
        let joining = &wish.joining;
        let header = segment.header();
        let waiting = joining.waiting.unwrap_or(match header.wakes {
            true => Waiting::default(),
            false => Waiting::WITHOUT_WAKING,
        });
        let subscriber = match seat.claim_subscriber(&segment, joining.needs)? {
            Claim::Taken(subscriber) => subscriber,
            Claim::Again => return Ok(Entered::Again),
            Claim::Full(error) => return Ok(Entered::Full(error)),
        };
        drop(seat); // from here on the mapping alone holds the place: a program that is started now inherits no part of it
        reap(&segment);
        let lanes: Vec<_> = (0..header.shape.lanes()).map(|lane| MappedLane::new(segment.clone(), lane)).collect();
        let positions = lanes.iter().map(|lane| lane.position().load(Ordering::Relaxed));
        let highest = positions.max().unwrap_or(MAX_SEQUENCE);
        if waiting.sleeps() {
            // Relaxed: see the text of `bell`.
            segment.sleepers().fetch_or(1 << subscriber, Ordering::Relaxed);
        }
        // Who follows was there before the segment, so all of its messages are meant for it, too.
        let history = if how == How::Afresh { joining.history } else { u64::MAX };
        let lanes = ring::join(lanes, subscriber, header.policy, history);
        let mut lanes = lanes.ok_or_else(|| damaged(&segment, highest)).inspect_err(|_| clear(&segment, subscriber))?;
        if how != How::Afresh {
            lanes.iter_mut().for_each(Consumer::count_from_the_first);
        }
        Ok(Entered::Joined(Self {
            lanes,
            segment,
            _last_out: last_out,
            turn: 0,
            subscriber,
            waiting,
            payload: Payload { bytes: wish.expected.payload_bytes, align: wish.expected.payload_align },
            has_history: history > 0,
            has_slept: false,
            wish: wish.clone(),
            following: Following::default(),
        }))
    }

    /// The next message of the topic's size, or `None` when it has not been sent yet. Wait-free; no allocation, and no system
    /// call once somebody has published.
    ///
    /// # Panics
    /// When messages of the topic have fewer bytes. That they have as many is the caller's to see to.
    #[inline(always)]
    pub fn try_recv<T: Plain>(&mut self) -> Option<Received<T>> {
        let mut message = MaybeUninit::uninit();
        let (publisher, taken) = self.poll(|lane| lane.take_into(&mut message))?;
        // SAFETY: a message was taken, so all bytes were loaded, and every pattern of bytes is a `T`.
        let message = unsafe { message.assume_init() };
        Some(Received { message, sequence: taken.sequence, sent_ns: taken.sent_ns, publisher })
    }

    /// As [`try_recv`](Self::try_recv), into a place of the caller's: spares large messages a move. `into` keeps what it
    /// holds, or gets what nobody sent, when this returns `None`.
    #[inline(always)]
    pub fn try_recv_into<T: Plain>(&mut self, into: &mut T) -> Option<Received<()>> {
        let bytes = into.as_mut_bytes();
        let (publisher, taken) =
            self.poll(|lane| lane.take(|slot| copy::load_over(&slot[payload_word(align_of::<T>())..], bytes)))?;
        Some(Received { message: (), sequence: taken.sequence, sent_ns: taken.sent_ns, publisher })
    }

    /// Waits, at most `limit`, for the next message.
    pub fn recv_timeout<T: Plain>(&mut self, limit: Duration) -> Option<Received<T>> {
        wait::wait(self, limit, Self::try_recv)
    }

    /// Waits, at most `limit`, until there is something to take, or the trace of something that was missed.
    pub fn wait(&mut self, limit: Duration) -> bool {
        wait::wait(self, limit, |this| this.is_ready().then_some(())).is_some()
    }

    /// Waits until one of `subscriptions` has something to take, at most `limit`; returns its index. See [`wait::any`].
    pub fn wait_any(subscriptions: &mut [&mut Self], limit: Duration) -> Option<usize> {
        wait::any(subscriptions, limit, Self::is_ready)
    }

    /// Hands lanes that were ever used to `visit`, in turn, until it returns something; says of which lane that is.
    #[inline(always)]
    pub(super) fn poll<R>(
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

    /// The lane that alone was ever used, and is the first one.
    #[inline(always)]
    pub(super) fn only_lane(&mut self) -> Option<&mut Consumer<MappedLane>> {
        let first = self.lanes.first_mut()?;
        // Relaxed, as in `poll`.
        (first.memory().used_lanes().load(Ordering::Relaxed) == 1).then_some(first)
    }

    fn poll_several<R>(
        &mut self,
        used: u64,
        mut visit: impl FnMut(&mut Consumer<MappedLane>) -> Option<R>,
    ) -> Option<(usize, R)> {
        if used == 0 {
            self.follow();
            return None; // what the new segment has, the next call finds
        }
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

    /// Where nobody ever published: looks whether the topic was made anew, and joins what stands there now.
    #[cold]
    fn follow(&mut self) {
        let superseded = self.segment.superseded().load(Ordering::Acquire); // SYNC POINT: superseded
        let now = monotonic_ns();
        let Following { since_ns, again_ns, .. } = &mut self.following;
        if now < *again_ns && (superseded == 0 || since_ns.is_some()) {
            return;
        }
        if superseded == 0 {
            // Who took the name away may have died before it could say so.
            *again_ns = now + FOLLOW_PATIENCE_NS;
            if self.segment.file().is_named() {
                return;
            }
        }
        let since = *since_ns.get_or_insert(now);
        *again_ns = now + FOLLOW_PAUSE_NS;
        match Self::join_as(self.wish.clone(), How::Following { may_make: now - since > FOLLOW_PATIENCE_NS }) {
            Ok(Some(joined)) => *self = joined,
            Ok(None) => {} // it is being made
            Err(error) => {
                let again_ns = now + FOLLOW_PATIENCE_NS;
                self.following = Following { refusal: Some(error), again_ns, since_ns: Some(now) };
            }
        }
    }

    /// Finds the next message of any lane and holds it in place; see [`Consumer::hold`].
    pub(super) fn hold(&mut self) -> Option<(usize, Taken)> {
        self.poll(Consumer::hold)
    }

    /// The slot that is held in `lane`.
    pub(super) fn slot(&self, lane: usize) -> &[AtomicU64] {
        self.lanes[lane].slot()
    }

    /// Ends a hold.
    pub(super) fn let_go(&mut self, lane: usize) {
        self.lanes[lane].let_go();
    }

    /// Whether messages can be held in place here and now: on a `latest` topic of small messages they cannot, nor
    /// anywhere before the history has been read, of which a reliable publisher may still overwrite some.
    pub(super) fn can_hold(&mut self) -> bool {
        let header = self.segment.header();
        if header.policy == Policy::Latest {
            return header.shape.is_held();
        }
        self.has_history = self.has_history && self.lanes.iter().any(Consumer::has_history);
        !self.has_history
    }

    /// Whether a message, or the trace of one that was missed, is there to be taken.
    pub fn is_ready(&mut self) -> bool {
        // Relaxed, as in `poll`.
        let mut used = self.segment.used_lanes().load(Ordering::Relaxed);
        if used == 0 {
            self.follow();
            used = self.segment.used_lanes().load(Ordering::Relaxed);
        }
        self.lanes.iter().enumerate().any(|(lane, consumer)| used >> lane & 1 == 1 && consumer.is_ready())
    }

    /// How many messages were overwritten before this subscriber got to them, of those sent since it joined.
    pub fn missed(&self) -> u64 {
        // Saturating: each lane's count is what its writer made of it, and several that lie add up to more than 2^64.
        self.lanes.iter().fold(0, |sum, lane| lane.missed().saturating_add(sum))
    }

    /// Sequence number of the message to be read next from `lane`.
    ///
    /// # Panics
    /// When the topic has no such lane.
    pub fn position(&self, lane: usize) -> u64 {
        self.lanes[lane].position()
    }

    /// Whether a living process publishes the topic. A system call for each lane: not for a real-time loop.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn is_published(&self) -> Result<bool, OpenError> {
        self.check()?;
        Ok(!publishers(&self.segment)?.is_empty())
    }

    /// Looks whether messages can come from whoever publishes the topic from now on. One system call.
    ///
    /// # Errors
    /// [`OpenError::Deleted`] when somebody removed the topic's file, [`OpenError::Forked`] in a child that `fork` made of the
    /// process that opened the topic; and why this subscriber cannot receive what is published by a publisher that made the
    /// topic anew.
    pub fn check(&self) -> Result<(), OpenError> {
        match &self.following.refusal {
            Some(refusal) => {
                Err(OpenError::Superseded { path: self.segment.path().to_owned(), reason: refusal.to_string() })
            }
            // Between two segments the old one has no name, and the next receiving call follows. A child of `fork` has no segment to read.
            None if self.segment.opener().is_this() && self.segment.superseded().load(Ordering::Relaxed) != 0 => Ok(()),
            None => self.segment.check(),
        }
    }

    /// Size and alignment of a message.
    pub fn payload(&self) -> Payload {
        self.payload
    }

    /// Whether the kernel keeps the segment in memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.segment.memory_lock()
    }

    /// How it waits: as it was asked to, or as suits the topic.
    pub fn waiting(&self) -> Waiting {
        self.waiting
    }

    /// The segment, for its path and header.
    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    /// The words of the slot of message `sequence` in the first lane, for [`super::line`], which receives no messages.
    pub(super) fn words(&self, sequence: u64) -> &[AtomicU64] {
        self.lanes[0].memory().slot(sequence)
    }
}

impl Waiter for Subscription {
    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn subscriber(&self) -> usize {
        self.subscriber
    }

    fn waiting(&self) -> Waiting {
        self.waiting
    }

    fn is_first_sleep(&mut self) -> bool {
        !std::mem::replace(&mut self.has_slept, true)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.segment.opener().is_this() {
            clear(&self.segment, self.subscriber);
        }
    }
}
