//! Topics: one publisher, many subscribers, typed messages through shared memory.
//!
//! ```
//! use std::time::Duration;
//! use horus::message::Stamp;
//! use horus::topic::{Options, Publisher, Subscriber, Wait};
//!
//! # let scratch = tempfile::tempdir().unwrap();
//! let options = Options::reliable(64);
//! # let options = options.directory(scratch.path());
//! let name = "doc-example".parse().unwrap();
//! let mut publisher = Publisher::<Stamp>::create_or_open(&name, &options).unwrap();
//! let mut subscriber = Subscriber::<Stamp>::open(&name, &options, Wait::No).unwrap();
//!
//! publisher.try_send(Stamp { sequence: 1, sent_ns: 0 }).unwrap();
//! let received = subscriber.recv_timeout(Duration::from_millis(100)).unwrap();
//! assert_eq!(received.message.sequence, 1);
//! assert_eq!(subscriber.missed(), 0);
//! ```
//!
//! # What it does not do
//! - A subscriber receives what is sent after it joined; earlier messages are not kept for it.
//! - Waiting is busy. A subscriber with time to spare should wait on the clock and poll.
//! - One publisher a topic. A second one is refused while the first lives.
//! - Nobody is told that a peer left: [`Subscriber::is_published`] asks.
//!
//! # Handles belong to one thread at a time
//! They may move to another thread and not be shared between two:
//!
//! ```
//! fn movable<T: Send>() {}
//! movable::<horus::topic::Publisher<horus::message::Stamp>>();
//! movable::<horus::topic::Subscriber<horus::message::Stamp>>();
//! ```
//! ```compile_fail
//! fn shared<T: Sync>() {}
//! shared::<horus::topic::Publisher<horus::message::Stamp>>();
//! ```
//! ```compile_fail
//! fn shared<T: Sync>() {}
//! shared::<horus::topic::Subscriber<horus::message::Stamp>>();
//! ```

use std::path::PathBuf;
use std::time::Duration;

use horus_shm::clock::monotonic_ns;
use horus_shm::endpoint::{Kind, Making, Reader, Writer};

pub use horus_shm::directory::{Directory, NameError, TopicName};
pub use horus_shm::error::OpenError;
pub use horus_shm::layout::Policy;
pub use horus_shm::map::{Access, LockRefused};
pub use horus_shm::ring::{Full, Received};

use crate::message::Message;

/// How a topic is made; a subscriber uses the directory only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    capacity: usize,
    policy: Policy,
    access: Access,
    directory: Option<PathBuf>,
}

impl Options {
    /// A topic that loses nothing: when `capacity` messages wait for the slowest subscriber, sending is refused.
    ///
    /// `capacity` is a power of two from 1 to 2^20.
    pub fn reliable(capacity: usize) -> Self {
        Self { capacity, policy: Policy::Reliable, access: Access::default(), directory: None }
    }

    /// A topic whose publisher never waits: it overwrites the oldest of `capacity` messages, and subscribers count what
    /// they missed.
    ///
    /// `capacity` is a power of two from 1 to 2^20; with 1, a subscriber is likely to meet the publisher in the slot.
    pub fn latest(capacity: usize) -> Self {
        Self { policy: Policy::Latest, ..Self::reliable(capacity) }
    }

    /// Lets the members of a group publish and subscribe too (mode 0660); otherwise only the user who made the topic can.
    #[must_use]
    pub fn group(mut self, group: u32) -> Self {
        self.access = Access { mode: 0o660, group: Some(group) };
        self
    }

    /// Keeps the topic in this directory instead of `$HORUS_SHM_DIR` or `/dev/shm/horus`.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// What happens when the topic is full.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Messages that the topic holds.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    fn open_directory(&self) -> Result<Directory, OpenError> {
        self.directory.as_ref().map_or_else(Directory::from_environment, Directory::at)
    }
}

fn kind<M: Message>() -> Kind<'static> {
    Kind { type_name: M::TYPE_NAME, layout_hash: M::LAYOUT_HASH }
}

/// The publishing end of a topic.
pub struct Publisher<M: Message>(Writer<M>);

impl<M: Message> Publisher<M> {
    /// Becomes the publisher of topic `name`, making the topic unless living subscribers still hold it.
    ///
    /// A publisher that died is replaced at once: its subscribers go on with the next sequence number.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: another living publisher, another type, policy or capacity
    /// under the same name, no memory, no permission.
    pub fn create_or_open(name: &TopicName, options: &Options) -> Result<Self, OpenError> {
        let making = Making { capacity: options.capacity, policy: options.policy, access: options.access };
        Writer::create_or_open(&options.open_directory()?, name, kind::<M>(), &making).map(Self)
    }

    /// Sends a message, stamped with the time now; a full reliable topic gives it back.
    ///
    /// Wait-free, no allocation, no system call but the vDSO's clock. A `latest` topic is never full.
    #[inline]
    pub fn try_send(&mut self, message: M) -> Result<(), Full<M>> {
        self.try_send_stamped(message, monotonic_ns())
    }

    /// As [`try_send`](Self::try_send) with a time that the caller has at hand, in nanoseconds on CLOCK_MONOTONIC: spares
    /// the clock read, which costs about as much as the rest.
    #[inline]
    pub fn try_send_stamped(&mut self, message: M, sent_ns: u64) -> Result<(), Full<M>> {
        self.0.try_send(message, sent_ns).map(|_sequence| ())
    }

    /// As [`try_send`](Self::try_send), but waits busily for room, at most `limit`. Subscribers that died meanwhile stop
    /// holding the topic. The stamp is the time of the call.
    pub fn send(&mut self, message: M, limit: Duration) -> Result<(), Full<M>> {
        self.0.send(message, monotonic_ns(), limit).map(|_sequence| ())
    }

    /// Takes dead subscribers off the topic, so that they hold it no longer; returns how many. For callers of `try_send`,
    /// outside of their real-time loop: it makes system calls.
    pub fn reap_dead_subscribers(&mut self) -> usize {
        self.0.bury_subscribers()
    }

    /// How many living subscribers the topic has. Makes system calls.
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        self.0.subscribers()
    }

    /// Sequence number that the next message will have.
    pub fn position(&self) -> u64 {
        self.0.position()
    }

    /// Whether the kernel locked the topic's memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.0.memory_lock()
    }
}

/// Whether to wait for a topic that nobody publishes yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It must be there.
    No,
    /// Wait at most this long, looking once a millisecond.
    UpTo(Duration),
}

/// A subscribing end of a topic.
pub struct Subscriber<M: Message>(Reader<M>);

impl<M: Message> Subscriber<M> {
    /// Joins topic `name`; receives what is sent from then on. Capacity and policy are the publisher's.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: nobody publishes, another type, no permission, 32
    /// subscribers already.
    pub fn open(name: &TopicName, options: &Options, wait: Wait) -> Result<Self, OpenError> {
        let wait = match wait {
            Wait::No => Duration::ZERO,
            Wait::UpTo(limit) => limit,
        };
        Reader::open(&options.open_directory()?, name, kind::<M>(), wait).map(Self)
    }

    /// The next message, or `None` when it has not been sent yet. Wait-free, no allocation, no system call.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Received<M>> {
        self.0.try_recv()
    }

    /// Waits busily, at most `limit`, for the next message; `None` when the time is up.
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Received<M>> {
        self.0.recv_timeout(limit)
    }

    /// How many messages were overwritten before this subscriber got to them, since it joined: exact as of the last
    /// message received. Zero for ever on a reliable topic.
    pub fn missed(&self) -> u64 {
        self.0.missed()
    }

    /// Sequence number of the message to be read next; right after joining, of the first that will be received.
    pub fn position(&self) -> u64 {
        self.0.position()
    }

    /// Whether a living process publishes the topic. Makes system calls.
    pub fn is_published(&self) -> Result<bool, OpenError> {
        self.0.is_published()
    }

    /// Whether the kernel locked the topic's memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.0.memory_lock()
    }
}
