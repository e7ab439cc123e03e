//! Topics: many publishers, many subscribers, typed messages through shared memory.
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
//! - Order is kept for each publisher, not between publishers.
//! - A subscriber receives what is sent after it joined, and of what was sent before at most the
//!   [`history`](Options::history) that it asks for.
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

use std::time::Duration;

use horus_shm::clock::monotonic_ns;
use horus_shm::endpoint::{Kind, Reader, Writer};

mod options;

pub use horus_shm::directory::{Directory, NameError, TopicName};
pub use horus_shm::endpoint::Sample;
pub use horus_shm::error::OpenError;
pub use horus_shm::layout::Policy;
pub use horus_shm::map::{Access, LockRefused};
pub use horus_shm::ring::{Full, Received};
pub use horus_shm::wait::Waiting;
pub use options::{Options, Wait};

use crate::message::Message;

/// Calls `open` with what the topic's header says about messages of type `M`.
fn with_kind<M: Message, R>(open: impl FnOnce(Kind<'_>) -> R) -> R {
    let description = crate::message::description::<M>();
    open(Kind { type_name: M::TYPE_NAME, layout_hash: M::LAYOUT_HASH, description: &description })
}

/// The publishing end of a topic.
pub struct Publisher<M: Message> {
    writer: Writer<M>,
    is_stamping: bool,
    waiting: Waiting,
}

impl<M: Message> Publisher<M> {
    /// Becomes a publisher of topic `name`, making the topic unless somebody living uses it already.
    ///
    /// A publisher that died is replaced at once: its subscribers go on with the next sequence number.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: as many living publishers as the topic was made for, another
    /// type, policy or capacity under the same name, no memory, no permission.
    pub fn create_or_open(name: &TopicName, options: &Options) -> Result<Self, OpenError> {
        let directory = options.open_directory()?;
        let writer = with_kind::<M, _>(|kind| Writer::create_or_open(&directory, name, kind, &options.making()))?;
        Ok(Self { writer, is_stamping: options.is_stamping(), waiting: options.how_to_wait() })
    }

    /// Sends a message; a topic without room gives it back.
    ///
    /// Wait-free, no allocation, no system call unless a subscriber sleeps. A `latest` topic is never full, except for
    /// large messages that a subscriber holds in place.
    #[inline]
    pub fn try_send(&mut self, message: M) -> Result<(), Full<M>> {
        let now = self.now();
        self.try_send_stamped(message, now)
    }

    /// As [`try_send`](Self::try_send) with a time that the caller has at hand, in nanoseconds on CLOCK_MONOTONIC.
    #[inline]
    pub fn try_send_stamped(&mut self, message: M, sent_ns: u64) -> Result<(), Full<M>> {
        self.writer.try_send(message, sent_ns).map(|_sequence| ())
    }

    /// As [`try_send`](Self::try_send), from where the message stands: spares large ones a move.
    #[inline]
    pub fn try_send_from(&mut self, message: &M) -> Result<(), Full<()>> {
        let now = self.now();
        self.writer.try_send_from(message, now).map(|_sequence| ())
    }

    /// As [`try_send`](Self::try_send), but waits for room, at most `limit`, as [`Options::waiting`] says. Subscribers that
    /// died meanwhile stop holding the topic. The stamp is the time of the call.
    pub fn send(&mut self, message: M, limit: Duration) -> Result<(), Full<M>> {
        let now = self.now();
        self.writer.send(message, now, limit, self.waiting).map(|_sequence| ())
    }

    /// Lends the place of the next message in shared memory, to be filled there and published: for messages too large to
    /// be copied. What stands there first is some older message, or zeros.
    pub fn loan(&mut self) -> Result<Loan<'_, M>, Full<()>> {
        let is_stamping = self.is_stamping;
        Ok(Loan { loan: self.writer.loan()?, is_stamping })
    }

    #[inline]
    fn now(&self) -> u64 {
        if self.is_stamping { monotonic_ns() } else { 0 }
    }

    /// Takes dead subscribers off the topic, so that they hold it no longer; returns how many. For callers of `try_send`,
    /// outside of their real-time loop: it makes system calls.
    pub fn reap_dead_subscribers(&mut self) -> usize {
        self.writer.bury_subscribers()
    }

    /// How many living subscribers the topic has. Makes system calls.
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        self.writer.subscribers()
    }

    /// Sequence number that the next message will have.
    pub fn position(&self) -> u64 {
        self.writer.position()
    }

    /// Number of this publisher's lane: what [`Received::publisher`] says of its messages.
    pub fn lane(&self) -> usize {
        self.writer.lane()
    }

    /// Whether the kernel locked the topic's memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.writer.memory_lock()
    }
}

/// The place of a message that is being written, as if it were the message; dropped without
/// [`publish`](Self::publish), it was never sent, but on a full `latest` topic the oldest message is given up for it.
#[must_use = "a loan that is not published sends nothing"]
pub struct Loan<'a, M: Message> {
    loan: horus_shm::endpoint::Loan<'a, M>,
    is_stamping: bool,
}

impl<M: Message> Loan<'_, M> {
    /// Sends the message.
    pub fn publish(self) {
        let now = if self.is_stamping { monotonic_ns() } else { 0 };
        self.loan.publish(now);
    }
}

impl<M: Message> std::ops::Deref for Loan<'_, M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.loan
    }
}

impl<M: Message> std::ops::DerefMut for Loan<'_, M> {
    fn deref_mut(&mut self) -> &mut M {
        &mut self.loan
    }
}

/// A subscribing end of a topic.
pub struct Subscriber<M: Message>(Reader<M>);

impl<M: Message> Subscriber<M> {
    /// Joins topic `name`; receives what is sent from then on. Capacity, policy and number of publishers are those that
    /// the topic was made with.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: nobody publishes, another type, no permission, 32
    /// subscribers already.
    pub fn open(name: &TopicName, options: &Options, wait: Wait) -> Result<Self, OpenError> {
        let directory = options.open_directory()?;
        with_kind::<M, _>(|kind| Reader::open(&directory, name, kind, options.joining(wait))).map(Self)
    }

    /// The next message, or `None` when it has not been sent yet. Wait-free, no allocation, no system call.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Received<M>> {
        self.0.try_recv()
    }

    /// As [`try_recv`](Self::try_recv), into a place of the caller's: spares large messages a move. When this returns
    /// `None`, `into` holds what it held, or bytes that nobody sent.
    #[inline]
    pub fn try_recv_into(&mut self, into: &mut M) -> Option<Received<()>> {
        self.0.try_recv_into(into)
    }

    /// Waits, at most `limit`, for the next message, as [`Options::waiting`] says; `None` when the time is up.
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Received<M>> {
        self.0.recv_timeout(limit)
    }

    /// Waits for the next message, however long that takes.
    pub fn recv(&mut self) -> Received<M> {
        loop {
            if let Some(received) = self.0.recv_timeout(Duration::from_secs(3600)) {
                return received;
            }
        }
    }

    /// Lends the next message in its place in shared memory, or `None` when it has not been sent yet: for messages too
    /// large to be copied.
    ///
    /// As long as the sample lives, the message stays, and this subscriber receives no other one. See
    /// [`horus_shm::endpoint`] for whom that trusts.
    pub fn borrow(&mut self) -> Option<Sample<'_, M>> {
        self.0.borrow()
    }

    /// Waits, at most `limit`, until there is something to receive or to borrow, or the trace of something that was
    /// overwritten; false when the time is up.
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.0.wait(limit)
    }

    /// How many messages were overwritten before this subscriber got to them, since it joined: exact as of the last
    /// message received. Zero for ever on a reliable topic.
    pub fn missed(&self) -> u64 {
        self.0.missed()
    }

    /// Sequence number of the message to be read next from the first publisher; right after joining, of the first that
    /// will be received.
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

impl<M: Message> crate::wait::Waitable for Subscriber<M> {
    fn subscription(&mut self) -> &mut horus_shm::wait::Subscription {
        self.0.subscription()
    }
}
