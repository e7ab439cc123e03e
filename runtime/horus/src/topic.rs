//! Topics: many publishers, many subscribers, typed messages through shared memory.
//!
//! ```
//! use std::time::Duration;
//! use horus::message::Stamp;
//! use horus::topic::{Options, Publisher, Subscriber};
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
//! let options = Options::reliable(64);
//! # let options = options.directory(scratch.path());
//! let mut subscriber = Subscriber::<Stamp>::open("doc-example", &options)?;
//! let mut publisher = Publisher::<Stamp>::open("doc-example", &options)?;
//!
//! publisher.try_send(Stamp { sequence: 1, sent_ns: 0 })?;
//! let received = subscriber.recv_timeout(Duration::from_millis(100)).unwrap();
//! assert_eq!(received.message.sequence, 1);
//! assert_eq!(subscriber.missed(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Publishers and subscribers come in any order. A subscriber that comes first waits for its publisher.
//!
//! # What it does not do
//! - Order is kept for each publisher, not between publishers.
//! - A subscriber receives what is sent after it joined, and of what was sent before at most the
//!   [`history`](Options::history) that it asks for.
//! - Nobody is told that a peer left: [`Subscriber::is_published`] asks.
//! - A handle does not outlive `fork`: in the child it must not be used, and the kernel ends a child that does. See
//!   [`Publisher::check`].
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

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use horus_shm::ends::place::Copied;
use horus_shm::ends::{Publication, Subscription};
use horus_sys::clock::monotonic_ns;

mod in_place;
mod incoming;
mod options;
pub mod raw;

pub use horus_shm::directory::{Directory, Group, IntoTopicName, NameError, TopicName};
pub use horus_shm::error::OpenError;
pub use horus_shm::ring::{Full, Received};
pub use horus_shm::segment::file::Access;
pub use horus_shm::segment::layout::{HELD_FROM_BYTES, Policy};
pub use horus_shm::segment::map::LockRefused;
pub use horus_shm::wait::Waiting;
pub use in_place::{Loan, Sample};
pub use incoming::{Incoming, Messages};
pub(crate) use options::LONG;
pub use options::Options;

use crate::message::Message;
use crate::message::layout::Layout;

/// The publishing end of a topic.
pub struct Publisher<M: Message> {
    publication: Publication,
    is_stamping: bool,
    waiting: Waiting,
    _message: PhantomData<fn(M)>,
}

impl<M: Message> Publisher<M> {
    /// Becomes a publisher of topic `name`, making the topic unless somebody living uses it already.
    ///
    /// A publisher that died is replaced at once: its subscribers go on with the next sequence number.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: as many living publishers as the topic was made for, another
    /// type, policy or capacity under the same name, a subscriber that needs more, no memory, no permission.
    pub fn open(name: impl IntoTopicName, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        let (name, options) = (name.into_topic_name()?, options.borrow());
        let directory = options.open_directory()?;
        let making = options.making(&directory)?;
        let publication = Layout::of::<M>()
            .with_kind(|kind, payload| Publication::open(&directory, &name, kind, payload, &making))?;
        let (is_stamping, waiting) = (options.is_stamping(), options.how_to_wait());
        Ok(Self { publication, is_stamping, waiting, _message: PhantomData })
    }

    /// Sends a message; a topic without room gives it back.
    ///
    /// Wait-free, no allocation, no system call unless a subscriber went to sleep since the last message. A `latest` topic is
    /// never full, unless subscribers hold every one of its messages in place.
    #[inline]
    pub fn try_send(&mut self, message: M) -> Result<(), Full<M>> {
        let now = self.now();
        self.try_send_stamped(message, now)
    }

    /// As [`try_send`](Self::try_send) with a time that the caller has at hand, in nanoseconds on CLOCK_MONOTONIC.
    #[inline]
    pub fn try_send_stamped(&mut self, message: M, sent_ns: u64) -> Result<(), Full<M>> {
        self.publication.try_send(&message, sent_ns).map(|_sequence| ()).map_err(|Full(())| Full(message))
    }

    /// As [`try_send`](Self::try_send), from where the message stands: spares large ones a move.
    #[inline]
    pub fn try_send_from(&mut self, message: &M) -> Result<(), Full<()>> {
        let now = self.now();
        self.publication.try_send(message, now).map(|_sequence| ())
    }

    /// Sends a message. On a `reliable` topic it waits for room as long as that takes; on a `latest` topic there is always room,
    /// unless subscribers hold every message in place.
    ///
    /// # Errors
    /// When there is none on a `latest` topic.
    pub fn send(&mut self, message: &M) -> Result<(), Full<()>> {
        let now = self.now();
        self.publication.send(message, now, Duration::MAX, self.waiting).map(|_sequence| ())
    }

    /// As [`try_send`](Self::try_send), but waits for room, at most `limit`, as [`Options::waiting`] says. Subscribers that
    /// died meanwhile stop holding the topic. The stamp is the time of the call.
    pub fn send_timeout(&mut self, message: M, limit: Duration) -> Result<(), Full<M>> {
        let now = self.now();
        let sent = self.publication.send(&message, now, limit, self.waiting);
        sent.map(|_sequence| ()).map_err(|Full(())| Full(message))
    }

    /// Lends the place of the next message in shared memory, to be filled there and published: for messages too large to
    /// be copied. What stands there first is some older message, or zeros.
    pub fn loan(&mut self) -> Result<Loan<'_, M>, Full<()>> {
        let is_stamping = self.is_stamping;
        Ok(Loan { loan: self.publication.loan()?, is_stamping, _message: PhantomData })
    }

    /// The lane alone, for an output.
    pub(crate) fn into_publication(self) -> Publication {
        self.publication
    }

    #[inline]
    fn now(&self) -> u64 {
        now_if(self.is_stamping)
    }

    /// Takes dead subscribers off the topic, so that they hold it no longer; returns how many. For callers of `try_send`,
    /// outside of their real-time loop: it makes system calls.
    pub fn reap_dead_subscribers(&mut self) -> usize {
        self.publication.reap()
    }

    /// How many living subscribers the topic has. Makes system calls.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        self.publication.subscribers()
    }

    /// Looks whether what is sent here can reach anybody who joins from now on. One system call.
    ///
    /// # Errors
    /// [`OpenError::Deleted`] when somebody removed the topic's file; [`OpenError::CutOff`] when somebody truncated it; [`OpenError::Forked`] in a child that `fork` made of the
    /// process that opened the topic.
    pub fn check(&self) -> Result<(), OpenError> {
        self.publication.check()
    }

    /// Sequence number that the next message will have, unless subscribers hold what stands in its place.
    pub fn position(&self) -> u64 {
        self.publication.position()
    }

    /// Number of this publisher's lane: what [`Received::publisher`] says of its messages.
    pub fn lane(&self) -> usize {
        self.publication.lane()
    }

    /// Whether the kernel locked the topic's memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.publication.memory_lock()
    }
}

#[inline]
pub(crate) fn now_if(is_stamping: bool) -> u64 {
    if is_stamping { monotonic_ns() } else { 0 }
}

/// A subscribing end of a topic.
pub struct Subscriber<M: Message> {
    subscription: Subscription,
    /// Where [`borrow`](Self::borrow) copies messages to that cannot be held in place.
    copied: Copied,
    _message: PhantomData<fn() -> M>,
}

impl<M: Message> Subscriber<M> {
    /// Joins topic `name`; receives what is sent from then on.
    ///
    /// It may come before its publisher: then it makes the topic with these options, and maps it anew if it is remade before anybody
    /// publishes. That costs the system calls of mapping a file in the first receiving call after it, which delivers all the same; a
    /// subscriber that gives the options of its publisher never has to.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: another type, a topic that is not what these options ask for, no
    /// permission, 32 subscribers already.
    pub fn open(name: impl IntoTopicName, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        let (name, options) = (name.into_topic_name()?, options.borrow());
        let directory = options.open_directory()?;
        let joining = options.joining(&directory)?;
        let mut subscription = Layout::of::<M>()
            .with_kind(|kind, payload| Subscription::open(&directory, &name, kind, payload, joining))?;
        let copied = Copied::for_messages_of(&mut subscription);
        Ok(Self { subscription, copied, _message: PhantomData })
    }

    /// The next message, or `None` when it has not been sent yet. Wait-free, no allocation, no system call once somebody has
    /// published.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Received<M>> {
        self.subscription.try_recv()
    }

    /// As [`try_recv`](Self::try_recv), into a place of the caller's: spares large messages a move. When this returns
    /// `None`, `into` holds what it held, or bytes that nobody sent.
    #[inline]
    pub fn try_recv_into(&mut self, into: &mut M) -> Option<Received<()>> {
        self.subscription.try_recv_into(into)
    }

    /// Waits, at most `limit`, for the next message, as [`Options::waiting`] says; `None` when the time is up.
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Received<M>> {
        self.subscription.recv_timeout(limit)
    }

    /// Waits for the next message, however long that takes.
    pub fn recv(&mut self) -> Received<M> {
        loop {
            if let Some(received) = self.recv_timeout(LONG) {
                return received;
            }
        }
    }

    /// The messages as they come, for ever: sleeps while nothing comes.
    pub fn messages(&mut self) -> Messages<'_, M> {
        Messages(self)
    }

    /// Lends the next message in its place in shared memory, or `None` when it has not been sent yet: for messages too
    /// large to be copied.
    ///
    /// As long as the sample lives, the message stays, and this subscriber receives no other one. See
    /// [`horus_shm::ends::place`] for whom that trusts.
    pub fn borrow(&mut self) -> Option<Sample<'_, M>> {
        Some(Sample { sample: self.subscription.sample(&mut self.copied)?, _message: PhantomData })
    }

    /// Waits, at most `limit`, until there is something to receive or to borrow, or the trace of something that was
    /// missed; false when the time is up.
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.subscription.wait(limit)
    }

    /// How many messages were overwritten before this subscriber got to them, since it joined: exact as of the last
    /// message received. Zero for ever on a reliable topic.
    pub fn missed(&self) -> u64 {
        self.subscription.missed()
    }

    /// Sequence number of the message to be read next from the first publisher; right after joining, of the first that
    /// will be received.
    pub fn position(&self) -> u64 {
        self.subscription.position(0)
    }

    /// What happens when the topic is full.
    pub fn policy(&self) -> Policy {
        self.subscription.segment().header().policy
    }

    /// Messages that the topic holds of each publisher.
    pub fn capacity(&self) -> usize {
        self.subscription.segment().header().shape.capacity()
    }

    /// How this subscriber waits: as [`Options::waiting`] said, or as suits the topic.
    pub fn waiting(&self) -> Waiting {
        self.subscription.waiting()
    }

    /// Whether a living process publishes the topic. Makes system calls.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn is_published(&self) -> Result<bool, OpenError> {
        self.subscription.is_published()
    }

    /// Waits, at most `limit`, until a living process publishes the topic; false when the time is up. Looks once a millisecond.
    ///
    /// # Errors
    /// Those of [`check`](Self::check).
    pub fn wait_until_published(&mut self, limit: Duration) -> Result<bool, OpenError> {
        wait_until_published(&mut self.subscription, limit)
    }

    /// Looks whether messages can come from whoever publishes the topic from now on. One system call.
    ///
    /// # Errors
    /// [`OpenError::Deleted`] when somebody removed the topic's file; [`OpenError::CutOff`] when somebody truncated it; [`OpenError::Forked`] in a child that `fork` made of the
    /// process that opened the topic; [`OpenError::Remade`] when the topic was remade otherwise than this subscriber can
    /// use.
    pub fn check(&self) -> Result<(), OpenError> {
        self.subscription.check()
    }

    /// Whether the kernel locked the topic's memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.subscription.memory_lock()
    }
}

fn wait_until_published(subscription: &mut Subscription, limit: Duration) -> Result<bool, OpenError> {
    let started = Instant::now();
    loop {
        // Follows who has remade the topic.
        subscription.is_ready();
        if subscription.is_published()? {
            return Ok(true);
        }
        if started.elapsed() >= limit {
            return Ok(false);
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
}

impl<M: Message> crate::wait::Waitable for Subscriber<M> {
    fn subscription(&mut self) -> &mut Subscription {
        &mut self.subscription
    }
}
