//! A publisher's or subscriber's hold on a topic: opens or makes the segment, joins, and leaves nothing behind.
//!
//! # What becomes of a killed publisher's topic
//! While a subscriber lives, the segment stays, and the next publisher of the same name takes the lane over at once: it
//! goes on with the next sequence number, and a message that its predecessor left half-written is never seen.

use std::time::Duration;

use crate::clock::monotonic_ns;
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::header::Header;
use crate::layout::{MAX_SUBSCRIBERS, Shape};
use crate::map::LockRefused;
use crate::members::{Locked, pause, release_unlocked};
pub use crate::opening::{Kind, Making};
use crate::opening::{OPEN_ATTEMPTS, damaged, make, open_existing};
use crate::ring::{Consumer, Full, Memory, Plain, Producer, Received, leave};
use crate::segment::{MappedLane, Segment};
use crate::spin::{Spin, single_cpu};
use crate::sweep::tidy;
use crate::sync::{Arc, AtomicU64, Ordering};

/// How long to wait between two looks for a publisher.
const FIND_PAUSE: Duration = Duration::from_millis(1);
/// The lane of the only publisher; more lanes are for later.
const LANE: usize = 0;

/// The process that joined. After `fork`, the child holds copies of its parent's handles; dropping those must not make
/// the parent leave.
struct Process(u32);

impl Process {
    fn this() -> Self {
        Self(std::process::id())
    }

    fn is_this(&self) -> bool {
        self.0 == std::process::id()
    }
}

/// The publishing end of a topic.
pub struct Writer<T: Plain> {
    producer: Producer<T, MappedLane>,
    process: Process,
}

impl<T: Plain> Writer<T> {
    /// Opens the topic `name`, making it if nobody living uses it, and becomes its publisher. Removes what killed peers
    /// left in the directory, other topics included.
    ///
    /// # Errors
    /// Every [`OpenError`] but `NotFound` and `SubscribersFull`. In particular a topic in use that was made otherwise
    /// than asked for here (type, layout, policy, capacity) is refused, not changed under its users.
    pub fn create_or_open(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        making: &Making,
    ) -> Result<Self, OpenError> {
        single_cpu(); // read the machine's CPU list now, not in a first wait
        let shape = Shape::new(size_of::<T>(), align_of::<T>(), making.capacity, 1, MAX_SUBSCRIBERS)?;
        let expected = kind.expected::<T>(Some(making));
        let header = Header::new(&expected, shape, making.policy)?;
        let path = directory.file(name);
        tidy(directory);
        let enter = |segment: &Arc<Segment>, locked: &Locked<'_>| {
            locked.claim(LANE)?;
            locked.bury_subscribers();
            let lane = MappedLane::new(segment.clone(), LANE);
            let found = lane.position().load(Ordering::Relaxed);
            let producer = Producer::resume(lane, segment.header().policy);
            producer.ok_or_else(|| damaged(segment, found)).inspect_err(|_| locked.release(LANE))
        };
        for _attempt in 0..OPEN_ATTEMPTS {
            if let Some(producer) = open_existing(&path, &expected, enter)? {
                return Ok(Self { producer, process: Process::this() });
            }
            if let Some(producer) = make(&path, header.clone(), making.access, enter)? {
                return Ok(Self { producer, process: Process::this() });
            }
        }
        Err(OpenError::Busy { path, waited: Duration::ZERO })
    }

    /// Sends a message stamped `sent_ns` and returns its sequence number; a full reliable lane gives it back.
    ///
    /// Wait-free; no system call, no allocation.
    #[inline]
    pub fn try_send(&mut self, message: T, sent_ns: u64) -> Result<u64, Full<T>> {
        self.producer.try_send(message, sent_ns)
    }

    /// As [`try_send`](Self::try_send), but waits for room at most `limit`, busily, burying dead subscribers meanwhile.
    ///
    /// A send that finds room at once is no slower than `try_send`. One that waits makes system calls (never an
    /// allocation) to find out who is dead.
    pub fn send(&mut self, message: T, sent_ns: u64, limit: Duration) -> Result<u64, Full<T>> {
        let Err(Full(mut message)) = self.producer.try_send(message, sent_ns) else {
            return Ok(self.producer.position() - 1);
        };
        let mut spin = Spin::new(limit);
        let mut next_burial_ns = 0;
        loop {
            let now = monotonic_ns();
            if now >= next_burial_ns {
                self.bury_subscribers();
                next_burial_ns = now + BURIAL_PERIOD_NS;
            }
            match self.producer.try_send(message, sent_ns) {
                Ok(sequence) => return Ok(sequence),
                Err(Full(returned)) => message = returned,
            }
            if !spin.turn() {
                return Err(Full(message));
            }
        }
    }

    /// Takes dead subscribers off the topic, so that they hold a reliable lane no longer; returns how many.
    ///
    /// Makes a few system calls for each subscriber, allocates nothing, waits for nothing: while another process holds
    /// the segment's lock, it does nothing and returns 0.
    pub fn bury_subscribers(&mut self) -> usize {
        Locked::try_new(self.segment()).map_or(0, |locked| locked.bury_subscribers())
    }

    /// How many living processes' subscribers there are. Takes the segment's lock: not for a real-time loop.
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        Ok(Locked::new(self.segment())?.census(LANE).1)
    }

    /// Sequence number that the next message will have.
    pub fn position(&self) -> u64 {
        self.producer.position()
    }

    /// Whether the kernel keeps the segment in memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.segment().memory_lock()
    }

    /// The segment, for its path and header.
    pub fn segment(&self) -> &Segment {
        self.producer.memory().segment()
    }

    /// The words of the slot of message `sequence`, for [`crate::floor`], which sends no messages.
    pub(crate) fn words(&self, sequence: u64) -> &[AtomicU64] {
        self.producer.memory().slot(sequence)
    }
}

/// How often a waiting `send` looks for dead subscribers: rarely enough to leave the lock to others.
const BURIAL_PERIOD_NS: u64 = 1_000_000;

impl<T: Plain> Drop for Writer<T> {
    fn drop(&mut self) {
        if !self.process.is_this() {
            return;
        }
        match Locked::new(self.segment()) {
            Ok(locked) => {
                locked.release(LANE);
                locked.remove_if_unused();
            }
            // Somebody holds the lock and does not let go. The file is left for whoever opens next.
            Err(_) => release_unlocked(self.segment(), LANE),
        }
    }
}

/// A subscribing end of a topic.
pub struct Reader<T: Plain> {
    consumer: Consumer<T, MappedLane>,
    process: Process,
}

impl<T: Plain> Reader<T> {
    /// Joins the topic `name`, waiting at most `wait` for somebody to publish it. Messages sent from then on are
    /// received. Removes what killed peers left in the directory, other topics included.
    ///
    /// # Errors
    /// Every [`OpenError`] but `LaneTaken` and `NoSpace` for the file; `NotFound` when `wait` has passed.
    pub fn open(directory: &Directory, name: &TopicName, kind: Kind<'_>, wait: Duration) -> Result<Self, OpenError> {
        single_cpu(); // read the machine's CPU list now, not in a first wait
        let expected = kind.expected::<T>(None);
        let path = directory.file(name);
        tidy(directory);
        let started = monotonic_ns();
        loop {
            let opened = open_existing(&path, &expected, |segment, locked| {
                let subscriber = locked.reserve()?;
                let lane = MappedLane::new(segment.clone(), LANE);
                let found = lane.position().load(Ordering::Relaxed);
                let consumer = Consumer::join(lane, subscriber);
                consumer.ok_or_else(|| damaged(segment, found)).inspect_err(|_| locked.remove(subscriber))
            });
            if let Some(consumer) = opened? {
                return Ok(Self { consumer, process: Process::this() });
            }
            let waited = Duration::from_nanos(monotonic_ns() - started);
            if waited >= wait {
                return Err(OpenError::NotFound { path, waited });
            }
            pause(FIND_PAUSE.min(wait - waited));
        }
    }

    /// The next message, or `None` when it has not been sent yet. Wait-free; no system call, no allocation.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Received<T>> {
        self.consumer.try_recv()
    }

    /// Waits busily, at most `limit`, for the next message.
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Received<T>> {
        if let Some(received) = self.consumer.try_recv() {
            return Some(received);
        }
        let mut spin = Spin::new(limit);
        loop {
            if let Some(received) = self.consumer.try_recv() {
                return Some(received);
            }
            if !spin.turn() {
                return None;
            }
        }
    }

    /// How many messages were overwritten before this reader got to them, since it joined.
    pub fn missed(&self) -> u64 {
        self.consumer.missed()
    }

    /// Whether a living process publishes the topic. Takes the segment's lock: not for a real-time loop.
    pub fn is_published(&self) -> Result<bool, OpenError> {
        Ok(Locked::new(self.segment())?.census(LANE).0.is_some())
    }

    /// Sequence number of the message to be read next.
    pub fn position(&self) -> u64 {
        self.consumer.position()
    }

    /// Whether the kernel keeps the segment in memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.segment().memory_lock()
    }

    /// The segment, for its path and header.
    pub fn segment(&self) -> &Segment {
        self.consumer.memory().segment()
    }

    /// The words of the slot of message `sequence`, for [`crate::floor`], which sends no messages.
    pub(crate) fn words(&self, sequence: u64) -> &[AtomicU64] {
        self.consumer.memory().slot(sequence)
    }
}

impl<T: Plain> Drop for Reader<T> {
    fn drop(&mut self) {
        if !self.process.is_this() {
            return;
        }
        let subscriber = self.consumer.subscriber();
        match Locked::new(self.segment()) {
            Ok(locked) => {
                locked.remove(subscriber);
                locked.remove_if_unused();
            }
            // Somebody holds the lock and does not let go. The identity stays: without its bit it means nothing, and
            // the place may be another's at once.
            Err(_) => leave(self.consumer.memory(), subscriber),
        }
    }
}
