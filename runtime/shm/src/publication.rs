//! A publisher's hold on a topic, whatever its messages are: opens or makes the segment, claims a lane, and leaves
//! nothing behind.
//!
//! # What becomes of a killed publisher's topic
//! While a subscriber lives, the segment stays, and the next publisher of the same name takes the lane over at once: it
//! goes on with the next sequence number, and a message that its predecessor left half-written is never seen.

use std::time::Duration;

use crate::clock::monotonic_ns;
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::header::Header;
use crate::lane::MappedLane;
use crate::layout::{MAX_SUBSCRIBERS, Shape};
use crate::members::{Locked, pause, release_unlocked};
use crate::opening::{Kind, Making, OPEN_ATTEMPTS, Payload, Process, damaged, make, open_existing};
use crate::ring::{Memory, Producer};
use crate::segment::Segment;
use crate::spin::{Spin, single_cpu};
use crate::sweep::tidy;
use crate::sync::{Arc, AtomicU64, Ordering};
use crate::wait::{Waiting, wake};

/// A publisher's lane.
pub struct Publication {
    producer: Producer<MappedLane>,
    lane: usize,
    /// How often in succession the bell was rung and nobody woke.
    rung_in_vain: u32,
    process: Process,
}

/// How often a waiting publisher looks for dead subscribers: rarely enough to leave the lock to others.
const BURIAL_PERIOD_NS: u64 = 1_000_000;
/// After so many rings in succession that woke nobody, whoever claims to sleep is suspected to be dead. One that is on its
/// way to sleep is rung in vain once or twice.
const MOST_IN_VAIN: u32 = 64;
/// How long a publisher that sleeps for room sleeps at a time. Readers do not wake publishers: that would cost each of
/// them a memory barrier for every message.
const ROOM_NAP: Duration = Duration::from_micros(100);

impl Publication {
    /// See [`crate::endpoint::Writer::create_or_open`].
    pub(crate) fn create_or_open(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        payload: Payload,
        making: &Making,
    ) -> Result<Self, OpenError> {
        single_cpu(); // read the machine's CPU list now, not in a first wait
        let shape = Shape::new(payload.bytes, payload.align, making.capacity, making.publishers, MAX_SUBSCRIBERS)?;
        let expected = kind.expected(payload, Some(making));
        let header = Header::new(&expected, shape, making.policy)?;
        let path = directory.file(name);
        tidy(directory);
        let enter = |segment: &Arc<Segment>, locked: &Locked<'_>| {
            let lane = locked.claim()?;
            locked.bury_subscribers();
            let memory = MappedLane::new(segment.clone(), lane);
            let found = memory.position().load(Ordering::Relaxed);
            let producer = Producer::resume(memory, making.policy, shape.is_held());
            let producer = producer.ok_or_else(|| damaged(segment, found)).inspect_err(|_| locked.release(lane))?;
            Ok(Self { producer, lane, rung_in_vain: 0, process: Process::this() })
        };
        for _attempt in 0..OPEN_ATTEMPTS {
            if let Some(opened) = open_existing(&path, &expected, enter)? {
                return Ok(opened);
            }
            if let Some(made) = make(&path, header.clone(), making.access, enter)? {
                return Ok(made);
            }
        }
        Err(OpenError::Busy { path, waited: Duration::ZERO })
    }

    /// Sends a message, and wakes who sleeps; see [`Producer::send_with`].
    #[inline(always)]
    pub(crate) fn send_with(&mut self, sent_ns: u64, fill: impl FnOnce(&[AtomicU64])) -> Option<u64> {
        let sequence = self.producer.send_with(sent_ns, fill)?;
        self.wake_sleepers();
        Some(sequence)
    }

    /// Begins a message; see [`Producer::begin`].
    pub(crate) fn begin(&mut self) -> bool {
        self.producer.begin()
    }

    /// The slot of the message that was begun.
    pub(crate) fn slot(&self) -> &[AtomicU64] {
        self.producer.slot()
    }

    /// Sends the message that was begun, and wakes who sleeps.
    pub(crate) fn commit(&mut self, sent_ns: u64) -> u64 {
        let sequence = self.producer.commit(sent_ns);
        self.wake_sleepers();
        sequence
    }

    #[inline(always)]
    fn wake_sleepers(&mut self) {
        // Relaxed: the text of `bell` says what that can miss, and what makes it good.
        if self.producer.memory().sleepers().load(Ordering::Relaxed) != 0 {
            self.ring();
        }
    }

    /// Wakes who sleeps. One who only claims to was killed asleep, and is buried after a while: otherwise every message
    /// would cost a system call from then on.
    #[cold]
    fn ring(&mut self) {
        match wake(self.segment()) {
            Some(0) => self.rung_in_vain += 1,
            _ => self.rung_in_vain = 0,
        }
        if self.rung_in_vain == MOST_IN_VAIN {
            self.rung_in_vain = 0;
            self.bury_subscribers();
        }
    }

    /// Calls `attempt` until it succeeds, as `waiting` says, at most `limit`; buries dead subscribers meanwhile.
    pub(crate) fn wait_for_room<R>(
        &mut self,
        limit: Duration,
        waiting: Waiting,
        mut attempt: impl FnMut(&mut Self) -> Option<R>,
    ) -> Option<R> {
        let started = monotonic_ns();
        let mut spin = Spin::new(waiting.spinning(limit));
        let mut is_spinning = true;
        let mut next_burial_ns = started;
        loop {
            let now = monotonic_ns();
            if now >= next_burial_ns {
                self.bury_subscribers();
                next_burial_ns = now + BURIAL_PERIOD_NS;
            }
            if let Some(sent) = attempt(self) {
                return Some(sent);
            }
            is_spinning = is_spinning && spin.turn();
            if !is_spinning {
                let left = limit.saturating_sub(Duration::from_nanos(now - started));
                if left.is_zero() || waiting == Waiting::Spin {
                    return attempt(self);
                }
                pause(ROOM_NAP.min(left));
            }
        }
    }

    /// See [`crate::endpoint::Writer::bury_subscribers`].
    pub(crate) fn bury_subscribers(&mut self) -> usize {
        Locked::try_new(self.segment()).map_or(0, |locked| locked.bury_subscribers())
    }

    /// How many living processes' subscribers there are.
    pub(crate) fn subscribers(&self) -> Result<usize, OpenError> {
        Ok(Locked::new(self.segment())?.living_subscribers().len())
    }

    /// Sequence number that the next message will have.
    pub(crate) fn position(&self) -> u64 {
        self.producer.position()
    }

    pub(crate) fn lane(&self) -> usize {
        self.lane
    }

    pub(crate) fn segment(&self) -> &Segment {
        self.producer.memory().segment()
    }

    /// The words of the slot of message `sequence`, for the floor of `horus-measure`, which sends no messages.
    pub(crate) fn words(&self, sequence: u64) -> &[AtomicU64] {
        self.producer.memory().slot(sequence)
    }
}

impl Drop for Publication {
    fn drop(&mut self) {
        if !self.process.is_this() {
            return;
        }
        match Locked::new(self.segment()) {
            Ok(locked) => {
                locked.release(self.lane);
                locked.remove_if_unused();
            }
            // Somebody holds the lock and does not let go. The file is left for whoever opens next.
            Err(_) => release_unlocked(self.segment(), self.lane),
        }
    }
}
