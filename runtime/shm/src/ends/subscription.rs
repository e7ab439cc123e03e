//! A subscriber's hold on a topic, whatever its messages are: joins all lanes, reads them in turn, and leaves nothing
//! behind.
//!
//! # A subscriber that comes first
//! It makes the topic as it would like it, and receives once the topic is published. If it is remade before, by the first publisher or
//! by a subscriber that needs more, it follows ([`super::following`]): in the first receiving call after that, with the system
//! calls of mapping a file. A subscriber that says how the topic is made, as its publisher does, never has to.

use std::borrow::BorrowMut;
use std::mem::MaybeUninit;
use std::time::Duration;

use super::following::Following;
use super::opening::{Door, Entered, Joining, Kind, Making, Payload, damaged, open_or_make};
use super::remake::suited;
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::peers::locks::Place;
use crate::peers::{Claim, clear, is_published, reap};
use crate::ring::{self, Consumer, MAX_SEQUENCE, Memory, Plain, Received, Taken, copy, payload_word};
use crate::segment::Segment;
use crate::segment::file::LastOut;
use crate::segment::header::{Expected, Terms};
use crate::segment::lane::MappedLane;
use crate::segment::layout::DeliveryPolicy;
use crate::segment::map::LockRefused;
use crate::segment::rejected::Rejected;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::wait::bell::Bell;
use crate::wait::{self, WaitStrategy, Waiter};

/// A subscriber's cursors in all lanes of a topic.
pub struct Subscription {
    // In this order they are dropped: the place goes with the mapping, and the file after it.
    pub(super) lanes: Box<[Consumer<MappedLane>]>,
    pub(super) segment: Arc<Segment>,
    pub(super) following: Box<Following>,
    _last_out: LastOut,
    /// The lane that is looked at first: the one after that which was read last, so that none waits for another.
    pub(super) turn: usize,
    subscriber: usize,
    pub(super) wait_strategy: WaitStrategy,
    payload: Payload,
    /// Whether there may be messages to read that were sent before this subscriber joined.
    pub(super) has_history: bool,
    has_slept: bool,
}

impl Subscription {
    /// Joins the topic `name`, making it if no living peer uses it.
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
        joining.needs.waking = joining.wait_strategy.is_some_and(WaitStrategy::sleeps);
        let expected = kind.expected(payload, Terms::AtLeast(joining.needs));
        // What the topic would be if it had to be made must do, too.
        let Making { policy, capacity, wakes, .. } = joining.making;
        let path = || directory.file(name);
        joining.needs.check(policy, capacity, wakes).map_err(|reason| Rejected { path: path(), reason })?;
        let enter = |door: Door| match suited(door, &expected, &joining.making, None)? {
            Some(door) => Self::join(door, &expected, joining),
            None => Ok(Entered::Alone),
        };
        let opened = open_or_make(&path(), &expected, Some(&joining.making), Place::Subscriber(0), enter)?;
        Ok(opened.expect("what is not there is made"))
    }

    fn join(door: Door, expected: &Expected, joining: Joining) -> Result<Entered<Self>, OpenError> {
        // In this order: they are dropped the other way round, the place before the file is looked at.
        let Door { last_out, seat, segment, .. } = door;
        let header = segment.header();
        let wait_strategy = joining.wait_strategy_at(header);
        let subscriber = match seat.claim_subscriber(&segment, joining.needs)? {
            Claim::Taken(subscriber) => subscriber,
            Claim::Again => return Ok(Entered::Again),
            Claim::Full(error) => return Ok(Entered::Full(error)),
        };
        reap(&segment);
        let lanes: Vec<_> = (0..header.shape.lanes()).map(|lane| MappedLane::new(segment.clone(), lane)).collect();
        let positions = lanes.iter().map(|lane| lane.position().load(Ordering::Relaxed));
        let highest = positions.max().unwrap_or(MAX_SEQUENCE);
        if wait_strategy.sleeps() {
            // Relaxed: see the text of `bell`.
            segment.sleepers().fetch_or(1 << subscriber, Ordering::Relaxed);
        }
        let lanes = ring::join(lanes, subscriber, header.policy, joining.history);
        let lanes = lanes.ok_or_else(|| damaged(&segment, highest)).inspect_err(|_| clear(&segment, subscriber))?;
        seat.leave_door();
        drop(seat); // from here on the mapping alone holds the place: a program that is started now inherits no part of it
        Ok(Entered::Joined(Self {
            lanes,
            segment,
            following: Box::new(Following::new(expected.clone(), joining)),
            _last_out: last_out,
            turn: 0,
            subscriber,
            wait_strategy,
            payload: Payload { bytes: expected.payload_bytes, align: expected.payload_align },
            has_history: joining.history > 0,
            has_slept: false,
        }))
    }

    /// The next message of the topic's size, or `None` when it has not been sent yet. Wait-free; no allocation, and no system
    /// call once the topic is published.
    ///
    /// # Panics
    /// When messages of the topic have fewer bytes. That they have as many is the caller's to see to.
    #[inline(always)]
    pub fn try_recv<T: Plain>(&mut self) -> Option<Received<T>> {
        let mut message = MaybeUninit::uninit();
        let (publisher, taken) = self.poll(|lane| lane.take_into(&mut message))?;
        // SAFETY: a message was taken, so all bytes were loaded, and every pattern of bytes is a `T`.
        let message = unsafe { message.assume_init() };
        Some(received(publisher, taken, message))
    }

    /// As [`try_recv`](Self::try_recv), into a place of the caller's: spares large messages a move. `into` keeps what it
    /// holds, or gets what no publisher sent, when this returns `None`.
    #[inline(always)]
    pub fn try_recv_into<T: Plain>(&mut self, into: &mut T) -> Option<Received<()>> {
        let bytes = into.as_mut_bytes();
        let (publisher, taken) =
            self.poll(|lane| lane.take(|slot| copy::load_over(&slot[payload_word(align_of::<T>())..], bytes)))?;
        Some(received(publisher, taken, ()))
    }

    /// Waits, at most `limit`, for the next message.
    pub fn recv_timeout<T: Plain>(&mut self, limit: Duration) -> Option<Received<T>> {
        self.wait_for(limit, Self::try_recv)
    }

    /// Waits, at most `limit`, until `receive` gives something.
    pub fn wait_for<R>(&mut self, limit: Duration, receive: impl FnMut(&mut Self) -> Option<R>) -> Option<R> {
        wait::wait(self, limit, receive)
    }

    /// Waits, at most `limit`, until there is something to take, or the trace of something that was missed.
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.wait_for(limit, |this| this.is_ready().then_some(())).is_some()
    }

    /// Waits until one of `subscriptions` has something to take, at most `limit`; returns its index. See [`wait::any`].
    pub fn wait_any(subscriptions: &mut [impl BorrowMut<Self>], limit: Duration) -> Option<usize> {
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
        let mut used = used;
        if used == 0 {
            if !self.follow() {
                return None;
            }
            used = self.segment.used_lanes().load(Ordering::Relaxed); // as in `poll`
        }
        let lanes = self.lanes.len();
        // The lanes from `turn` on, then those before it; a bit beyond the lanes is a lie that helps no peer.
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
        // Of the topic as it is now: the next call must find what this one has said.
        if self.segment.used_lanes().load(Ordering::Relaxed) == 0 {
            self.follow();
        }
        let header = self.segment.header();
        if header.policy == DeliveryPolicy::Latest {
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

    /// The same of all lanes.
    pub fn positions(&self) -> Vec<u64> {
        self.lanes.iter().map(Consumer::position).collect()
    }

    /// Leaves out, of the messages that were sent before this subscriber joined, those of lower numbers than these, lane by lane.
    pub fn skip_before(&mut self, positions: &[u64]) {
        self.lanes.iter_mut().zip(positions).for_each(|(lane, position)| lane.skip_history_before(*position));
    }

    /// Whether a living process publishes the topic. A system call for each lane: not for a real-time loop.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn is_published(&self) -> Result<bool, OpenError> {
        self.check()?;
        is_published(&self.segment)
    }

    /// Looks whether messages can come from those that publish the topic from now on. One system call.
    ///
    /// # Errors
    /// [`OpenError::Deleted`] when the topic's file was removed, [`OpenError::CutOff`] when it was truncated,
    /// [`OpenError::Forked`] in a child that `fork` made of the process that opened the topic; and why this subscriber cannot
    /// receive what is published since the topic was remade.
    pub fn check(&self) -> Result<(), OpenError> {
        self.segment.check()?;
        self.following.refusal().map_or(Ok(()), |refusal| {
            Err(OpenError::Remade { path: self.segment.path().to_owned(), reason: refusal.to_string() })
        })
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
    pub fn wait_strategy(&self) -> WaitStrategy {
        self.wait_strategy
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

/// A message as it was taken from a lane.
#[inline(always)]
pub(super) fn received<T>(publisher: usize, Taken { sequence, sent_ns }: Taken, message: T) -> Received<T> {
    Received { message, sequence, sent_ns, publisher }
}

impl Waiter for Subscription {
    fn segment(&self) -> &Segment {
        &self.segment
    }

    fn subscriber(&self) -> usize {
        self.subscriber
    }

    fn wait_strategy(&self) -> WaitStrategy {
        self.wait_strategy
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
