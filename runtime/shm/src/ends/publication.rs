//! A publisher's hold on a topic, whatever its messages are: opens or makes the segment, claims a lane, and leaves
//! nothing behind.
//!
//! # What becomes of a killed publisher's topic
//! While a subscriber lives, the segment stays, and the next publisher of the same name takes the lane over at once: it
//! goes on with the next sequence number, and a message that its predecessor left half-written is never seen.
//!
//! # What a sender never does
//! Sending makes no system call but one `futex` wake-up for each time that a subscriber lay down to sleep, whichever peer
//! starves, is stopped or dies meanwhile; on a topic that is made to wake no subscriber, none at all. Dead peers are found by the
//! process that opens the topic, by [`wait_for_room`](Publication::wait_for_room), and by [`reap`](Publication::reap).

use std::time::Duration;

use horus_sys::clock::monotonic_ns;

use super::opening::{Door, Entered, Kind, Making, Payload, damaged, open_or_make};
use super::remake::suited;
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::patience::pause;
use crate::peers::locks::Place;
use crate::peers::{Claim, Seat, leave_lane, reap, subscribers};
use crate::ring::{Full, Memory, Plain, Producer, copy, payload_word};
use crate::segment::Segment;
use crate::segment::file::LastOut;
use crate::segment::header::{Needs, Terms};
use crate::segment::lane::MappedLane;
use crate::segment::layout::DeliveryPolicy;
use crate::segment::map::LockRefused;
use crate::segment::rejected::Rejected;
use crate::sync::{AtomicU64, Ordering};
use crate::wait::bell::{Bell, Ringer};
use crate::wait::{Spin, WaitStrategy, wake_all};

/// A publisher's lane.
pub struct Publication {
    // In this order they are dropped: the lane goes with the mapping, and the file after it.
    producer: Producer<MappedLane>,
    ringer: Ringer,
    lane: usize,
    payload: Payload,
    _last_out: LastOut,
}

/// How often a waiting publisher looks for dead subscribers.
const REAPING_PERIOD_NS: u64 = 1_000_000;
/// How long a publisher that sleeps for room sleeps at a time. Readers do not wake publishers: that would cost each of
/// them a memory barrier for every message.
const ROOM_NAP: Duration = Duration::from_micros(100);

impl Publication {
    /// Opens the topic `name`, making it if no living peer uses it, and becomes one of its publishers.
    ///
    /// # Errors
    /// [`OpenError`]. In particular a topic that was ever published and gives less than is asked for here (type, layout, policy,
    /// capacity, publishers, waking) is refused, not changed under its users. One that only subscribers have opened so far is
    /// remade, unless one of them needs what it would no longer be.
    pub fn open(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        payload: Payload,
        making: &Making,
    ) -> Result<Self, OpenError> {
        let expected = kind.expected(payload, making.terms());
        let enter = |door: Door| match suited(door, &expected, making, Some(making.access))? {
            Some(door) => Self::join(door, payload, Seat::claim_lane),
            None => Ok(Entered::Alone),
        };
        let opened = open_or_make(&directory.file(name), &expected, Some(making), Place::Lane(0), enter)?;
        Ok(opened.expect("what is not there is made"))
    }

    /// Takes the monitor's lane of a topic that is published, however it is made; `None` when no peer has published it yet.
    ///
    /// Each topic has one such lane beside those of its publishers, which no publisher can take.
    ///
    /// # Errors
    /// As [`open`](Self::open): when the topic carries other messages, or another monitor has the lane.
    pub fn in_the_monitors_lane(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        payload: Payload,
    ) -> Result<Option<Self>, OpenError> {
        let expected = kind.expected(payload, Terms::AtLeast(Needs::default()));
        let enter = |door: Door| {
            let segment = &door.segment;
            let rejected = |reason| Rejected { path: segment.path().to_owned(), reason };
            segment.header().check(&expected).map_err(rejected)?;
            if segment.used_lanes().load(Ordering::Relaxed) == 0 {
                return Ok(Entered::Joined(None)); // it may yet be remade
            }
            Ok(match Self::join(door, payload, Seat::claim_monitors_lane)? {
                Entered::Joined(joined) => Entered::Joined(Some(joined)),
                Entered::Alone => Entered::Alone,
                Entered::Again => Entered::Again,
                Entered::Full(error) => Entered::Full(error),
            })
        };
        Ok(open_or_make(&directory.file(name), &expected, None, Place::Lane(0), enter)?.flatten())
    }

    fn join(
        door: Door,
        payload: Payload,
        claim: impl FnOnce(&Seat, &Segment) -> Result<Claim, OpenError>,
    ) -> Result<Entered<Self>, OpenError> {
        // In this order: they are dropped the other way round, the place before the file is looked at.
        let Door { last_out, seat, segment, .. } = door;
        let lane = match claim(&seat, &segment)? {
            Claim::Taken(lane) => lane,
            Claim::Again => return Ok(Entered::Again),
            Claim::Full(error) => return Ok(Entered::Full(error)),
        };
        seat.leave_door();
        drop(seat); // from here on the mapping alone holds the place: a program that is started now inherits no part of it
        reap(&segment);
        let (policy, is_held) = (segment.header().policy, segment.header().shape.is_held());
        let memory = MappedLane::new(segment.clone(), lane);
        let found = memory.position().load(Ordering::Relaxed);
        let producer = Producer::resume(memory, policy, is_held).ok_or_else(|| damaged(&segment, found))?;
        let ringer = Ringer::new(&*segment);
        Ok(Entered::Joined(Self { producer, ringer, lane, payload, _last_out: last_out }))
    }

    /// Sends a message of the topic's size, stamped `sent_ns`, and returns its sequence number; `None` when there is no room.
    ///
    /// Wait-free; no allocation, and no system call unless a subscriber went to sleep since the last message.
    ///
    /// # Panics
    /// When messages of the topic have fewer bytes. That they have as many is the caller's to see to.
    #[inline(always)]
    pub fn try_send<T: Plain>(&mut self, message: &T, sent_ns: u64) -> Result<u64, Full<()>> {
        let fill = |slot: &[AtomicU64]| copy::store(&slot[payload_word(align_of::<T>())..], message.as_bytes());
        self.send_with(sent_ns, fill).ok_or(Full(()))
    }

    /// As [`try_send`](Self::try_send), but waits for room at most `limit`, reaping dead subscribers meanwhile.
    ///
    /// A send that finds room at once is no slower than `try_send`. One that waits makes system calls (never an
    /// allocation) to find out who is dead.
    pub fn send<T: Plain>(
        &mut self,
        message: &T,
        sent_ns: u64,
        limit: Duration,
        wait_strategy: WaitStrategy,
    ) -> Result<u64, Full<()>> {
        if let Ok(sequence) = self.try_send(message, sent_ns) {
            return Ok(sequence);
        }
        self.wait_for_room(limit, wait_strategy, |this| this.try_send(message, sent_ns).ok()).ok_or(Full(()))
    }

    /// Sends a message, and wakes who sleeps; see [`Producer::send_with`].
    #[inline(always)]
    pub(super) fn send_with(&mut self, sent_ns: u64, fill: impl FnOnce(&[AtomicU64])) -> Option<u64> {
        let sequence = self.producer.send_with(sent_ns, fill)?;
        self.wake_sleepers();
        Some(sequence)
    }

    /// Begins a message; see [`Producer::begin`].
    pub(super) fn begin(&mut self) -> bool {
        self.producer.begin()
    }

    /// The slot of the message that was begun.
    pub(super) fn slot(&self) -> &[AtomicU64] {
        self.producer.slot()
    }

    /// Sends the message that was begun, and wakes who sleeps.
    pub(super) fn commit(&mut self, sent_ns: u64) -> u64 {
        let sequence = self.producer.commit(sent_ns);
        self.wake_sleepers();
        sequence
    }

    /// The writing end of its lane, for [`super::staged`].
    #[inline(always)]
    pub(super) fn producer(&mut self) -> &mut Producer<MappedLane> {
        &mut self.producer
    }

    #[inline(always)]
    pub(super) fn wake_sleepers(&mut self) {
        if let Some(asleep) = self.asleep() {
            self.ring(asleep);
        }
    }

    /// Who has to be woken after a message, if anybody.
    #[inline(always)]
    pub(super) fn asleep(&self) -> Option<u64> {
        // Relaxed: the text of `bell` says what that can miss, and what makes it good.
        let lane = self.producer.memory();
        if lane.sleepers().load(Ordering::Relaxed) == 0 { None } else { self.ringer.must_ring(lane) }
    }

    /// Sends a message where the last look for room found some; see [`Producer::send_at_once`].
    #[inline(always)]
    pub(super) fn send_at_once(&mut self, sent_ns: u64, fill: impl FnOnce(&[AtomicU64])) -> Option<u64> {
        self.producer.send_at_once(sent_ns, fill)
    }

    /// Wakes those of whom [`Sent`](super::Sent) tells. Apart, so that it costs those no registers whose subscribers are awake.
    #[cold]
    #[inline(never)]
    pub fn ring(&mut self, asleep: u64) {
        let lane = self.producer.memory();
        self.ringer.ring(lane, asleep);
        wake_all(lane.segment());
    }

    /// Calls `attempt` until it succeeds, as `waiting` says, at most `limit`; reaps dead subscribers meanwhile.
    ///
    /// Without a limit, which is `Duration::MAX`, it waits on a `reliable` topic only. On a `latest` one there is no room where subscribers
    /// hold every message in place, and these may do so for ever.
    pub(super) fn wait_for_room<R>(
        &mut self,
        limit: Duration,
        wait_strategy: WaitStrategy,
        mut attempt: impl FnMut(&mut Self) -> Option<R>,
    ) -> Option<R> {
        if limit == Duration::MAX && self.segment().header().policy == DeliveryPolicy::Latest {
            return None;
        }
        let started = monotonic_ns();
        let mut spin = Spin::new(wait_strategy.spinning(limit));
        let mut is_spinning = true;
        let mut next_reaping_ns = started;
        loop {
            let now = monotonic_ns();
            if now >= next_reaping_ns {
                reap(self.segment());
                next_reaping_ns = now + REAPING_PERIOD_NS;
            }
            if let Some(sent) = attempt(self) {
                return Some(sent);
            }
            is_spinning = is_spinning && spin.turn();
            if !is_spinning {
                let left = limit.saturating_sub(Duration::from_nanos(now - started));
                if left.is_zero() || wait_strategy == WaitStrategy::Spin {
                    return attempt(self);
                }
                pause(ROOM_NAP.min(left));
            }
        }
    }

    /// Takes dead subscribers off the topic, so that they hold it no longer; returns how many. A system call for each
    /// subscriber; allocates nothing, waits for nothing.
    pub fn reap(&mut self) -> usize {
        match self.segment().opener().is_this() {
            true => reap(self.segment()),
            false => 0,
        }
    }

    /// How many living subscribers there are. A system call for each that is possible: not for a real-time loop.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        self.check()?;
        Ok(subscribers(self.segment())?.len())
    }

    /// Looks whether what is sent here can reach anybody who joins from now on. One system call.
    ///
    /// # Errors
    /// [`OpenError::Deleted`] when the topic's file was removed, [`OpenError::CutOff`] when it was truncated,
    /// [`OpenError::Forked`] in a child that `fork` made of the process that opened the topic.
    pub fn check(&self) -> Result<(), OpenError> {
        self.segment().check()
    }

    /// Whether so many messages have room at once on a `reliable` topic. Wait-free, and no system call.
    pub fn has_room_for(&mut self, messages: usize) -> bool {
        self.producer.has_room_for(messages as u64)
    }

    /// Sequence number that the next message will have.
    pub fn position(&self) -> u64 {
        self.producer.position()
    }

    /// The message that was sent last in this lane, by this publisher or the one before it, and its stamp. Not for a loop: it allocates.
    pub fn last(&self) -> Option<(Vec<u8>, u64)> {
        let (sent_ns, slot) = self.producer.last()?;
        let mut message = vec![0; self.payload.bytes];
        copy::load_over(&slot[payload_word(self.payload.align)..], &mut message);
        Some((message, sent_ns))
    }

    /// Number of the lane that this publisher owns.
    pub fn lane(&self) -> usize {
        self.lane
    }

    /// Size and alignment of a message.
    pub fn payload(&self) -> Payload {
        self.payload
    }

    /// Whether the kernel keeps the segment in memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.segment().memory_lock()
    }

    /// The segment, for its path and header.
    pub fn segment(&self) -> &Segment {
        self.producer.memory().segment()
    }

    /// The words of the slot of message `sequence`, for [`super::line`], which sends no messages.
    pub(super) fn words(&self, sequence: u64) -> &[AtomicU64] {
        self.producer.memory().slot(sequence)
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        if self.segment().opener().is_this() {
            leave_lane(self.segment(), self.lane);
        }
    }
}
