//! A subscriber's hold on a topic, whatever its messages are: joins all lanes, reads them in turn, and leaves nothing
//! behind.
//!
//! # A subscriber that comes first
//! It makes the topic as it would like it, and receives once somebody publishes. If the first publisher makes the topic
//! otherwise, the subscriber follows it to the new segment: in the first receiving call after that, with the system calls of
//! opening. A subscriber that says how the topic is made, as its publisher does, never has to.

use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::time::Duration;

use super::opening::{Door, Entered, Joining, Kind, Payload, damaged, open_or_make};
use crate::clock::monotonic_ns;
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::peers::locks::Place;
use crate::peers::{clear, publishers};
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
        let expected = kind.expected(payload, Terms::AtLeast(joining.needs));
        let opened = Self::join_as(Arc::new(Wish { path: directory.file(name), expected, joining }), true)?;
        Ok(opened.expect("what is not there is made"))
    }

    fn join_as(wish: Arc<Wish>, may_make: bool) -> Result<Option<Self>, OpenError> {
        let Wish { path, expected, joining } = &*wish;
        let enter = |door: Door| {
            let checked = door.segment.header().check(expected);
            checked.map_err(|reason| Rejected { path: path.clone(), reason })?;
            Self::join(door, &wish).map(Entered::Joined)
        };
        let making = may_make.then_some(&joining.making);
        open_or_make(path, expected, making, Place::Subscriber(0), enter)
    }

    fn join(door: Door, wish: &Arc<Wish>) -> Result<Self, OpenError> {
        let Door { segment, seat, last_out } = door;
        let joining = &wish.joining;
        let header = segment.header();
        let waiting = match joining.waiting {
            Some(waiting) if waiting.sleeps() && !header.wakes => {
                return Err(OpenError::NeverWakes { path: segment.path().to_owned() });
            }
            Some(waiting) => waiting,
            None if header.wakes => Waiting::default(),
            None => Waiting::WITHOUT_WAKING,
        };
        let subscriber = seat.claim_subscriber(&segment, joining.needs)?;
        crate::peers::reap(&segment);
        let lanes: Vec<_> = (0..header.shape.lanes()).map(|lane| MappedLane::new(segment.clone(), lane)).collect();
        let positions = lanes.iter().map(|lane| lane.position().load(Ordering::Relaxed));
        let highest = positions.max().unwrap_or(MAX_SEQUENCE);
        if waiting.sleeps() {
            // Relaxed: see the text of `bell`.
            segment.sleepers().fetch_or(1 << subscriber, Ordering::Relaxed);
        }
        let lanes = ring::join(lanes, subscriber, header.policy, joining.history);
        let lanes = lanes.ok_or_else(|| damaged(&segment, highest)).inspect_err(|_| clear(&segment, subscriber))?;
        Ok(Self {
            lanes,
            segment,
            _last_out: last_out,
            turn: 0,
            subscriber,
            waiting,
            has_history: joining.history > 0,
            has_slept: false,
            wish: wish.clone(),
            following: Following::default(),
        })
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
        if superseded == 0 {
            return;
        }
        let now = monotonic_ns();
        let Following { since_ns, again_ns, .. } = &mut self.following;
        let since = *since_ns.get_or_insert(now);
        if now < *again_ns {
            return;
        }
        *again_ns = now + FOLLOW_PAUSE_NS;
        match Self::join_as(self.wish.clone(), now - since > FOLLOW_PATIENCE_NS) {
            Ok(Some(joined)) => *self = joined,
            Ok(None) => {} // it is being made
            Err(error) => {
                self.following =
                    Following { refusal: Some(error), again_ns: now + FOLLOW_PATIENCE_NS, since_ns: Some(now) }
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
            // Between two segments the old one has no name, and the next receiving call follows.
            None if self.segment.superseded().load(Ordering::Relaxed) != 0 => Ok(()),
            None => self.segment.check(),
        }
    }

    /// Size and alignment of a message.
    pub fn payload(&self) -> Payload {
        let Expected { payload_bytes: bytes, payload_align: align, .. } = self.wish.expected;
        Payload { bytes, align }
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

    /// The words of the slot of message `sequence` in the first lane, for who uses a topic's memory for something else, as
    /// measurements of the machine do.
    pub fn words(&self, sequence: u64) -> &[AtomicU64] {
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
