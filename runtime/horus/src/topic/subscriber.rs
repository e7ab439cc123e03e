//! A subscribing end of a topic.

use std::borrow::Borrow;
use std::path::Path;
use std::time::{Duration, Instant};

use horus_shm::ends::Subscription;

use super::{
    DeliveryPolicy, InPlace, IntoTopicName, LockRefused, Messages, OpenError, Options, Payload, Received, Sample,
    WaitStrategy, Waitable,
};
use crate::message::Message;

/// A subscribing end of a topic, whose messages are of the kind `P`: see the [table](super::payload) of kinds.
pub struct Subscriber<P: Payload + ?Sized> {
    pub(super) subscription: Subscription,
    /// Where messages are copied to that are lent and are not held in place.
    reader: P::Reader,
}

impl<M: Message> Subscriber<M> {
    /// Joins topic `name`; receives what is sent from then on.
    ///
    /// It may come before its publisher: then it makes the topic with these options, and maps it anew if it is remade before it is
    /// published. That costs the system calls of mapping a file in the first receiving call after it, which delivers all the same; a
    /// subscriber that gives the options of its publisher never has to.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: another type, a topic that is not what these options ask for, no
    /// permission, 32 subscribers already.
    pub fn open(name: impl IntoTopicName, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        Self::open_as(name, (), options)
    }
}

impl<P: Payload + ?Sized> Subscriber<P> {
    /// As [`open`](Subscriber::open), for every kind: `shape` is what both ends say of the messages, such as
    /// [`Bytes::up_to(256)`](super::Bytes::up_to).
    ///
    /// # Errors
    /// As there.
    pub fn open_as(
        name: impl IntoTopicName,
        shape: P::Shape<'_>,
        options: impl Borrow<Options>,
    ) -> Result<Self, OpenError> {
        let (name, options) = (name.into_topic_name()?, options.borrow());
        let directory = options.open_directory()?;
        let joining = options.joining(&directory)?;
        let mut subscription =
            P::with_kind(shape, |kind, size| Subscription::open(&directory, &name, kind, size, joining))?;
        let reader = P::reader(&mut subscription);
        Ok(Self { subscription, reader })
    }

    /// The next message, or `None` when it has not been sent yet. Wait-free, no system call once a message was published.
    ///
    /// Allocates nothing, but for two kinds: reading a [`Serde`](super::Serde) value allocates what the value has, and the first
    /// call for a [`Raw`](super::Raw) topic may make room for one message, which [`try_recv_into`](Self::try_recv_into) never does.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Received<P::Message<'_>>> {
        P::try_recv(&mut self.subscription, &mut self.reader)
    }

    /// As [`try_recv`](Self::try_recv), into a place of the caller's: spares large messages a move. When this returns
    /// `None`, `into` holds what it held, or bytes that were never sent.
    ///
    /// # Panics
    /// When there is no room in `into` for a message: bytes have up to [`message_bytes`](Self::message_bytes), those of a layout have
    /// exactly so many.
    #[inline]
    pub fn try_recv_into(&mut self, into: &mut P::Place) -> Option<Received<P::Placed>> {
        P::try_recv_into(&mut self.subscription, &mut self.reader, into)
    }

    /// Waits, at most `limit`, for the next message, as [`Options::wait_strategy`] says; `None` when the time is up.
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Received<P::Message<'_>>> {
        P::recv(&mut self.subscription, &mut self.reader, limit)
    }

    /// As [`recv_timeout`](Self::recv_timeout), into a place of the caller's.
    ///
    /// # Panics
    /// As [`try_recv_into`](Self::try_recv_into).
    pub fn recv_timeout_into(&mut self, into: &mut P::Place, limit: Duration) -> Option<Received<P::Placed>> {
        let reader = &mut self.reader;
        self.subscription.wait_for(limit, |this| P::try_recv_into(this, reader, into))
    }

    /// Waits for the next message, however long that takes.
    pub fn recv(&mut self) -> Received<P::Message<'_>> {
        self.recv_timeout(Duration::MAX).expect("a wait of 500 years does not end without a message")
    }

    /// The messages as they come, for ever: sleeps while nothing comes. Bytes come in a `Vec` of their own.
    pub fn messages(&mut self) -> Messages<'_, P> {
        Messages(self)
    }

    /// Waits, at most `limit`, until there is something to receive or to borrow, or the trace of something that was
    /// missed; false when the time is up.
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.subscription.wait(limit)
    }

    /// For [`wait_any`](super::wait_any), which waits for several subscribers of any kinds.
    pub fn waitable(&mut self) -> Waitable<'_> {
        Waitable(&mut self.subscription)
    }

    /// Its place in the topic alone, for an input.
    pub(crate) fn into_subscription(self) -> Subscription {
        self.subscription
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

    /// As [`position`](Self::position), of the publisher of this lane.
    pub(crate) fn position_in(&self, lane: usize) -> u64 {
        self.subscription.position(lane)
    }

    /// Whether there is something to receive, or the trace of something that was missed.
    pub(crate) fn is_ready(&mut self) -> bool {
        self.subscription.is_ready()
    }

    /// The topic's file.
    pub(crate) fn path(&self) -> &Path {
        self.subscription.segment().path()
    }

    /// Publishers that the topic has room for.
    pub(crate) fn publishers(&self) -> usize {
        self.subscription.segment().header().shape.publishers()
    }

    /// The most bytes that a message can have.
    pub fn message_bytes(&self) -> usize {
        P::bytes(self.subscription.payload())
    }

    /// What happens when the topic is full.
    pub fn delivery_policy(&self) -> DeliveryPolicy {
        self.subscription.segment().header().policy
    }

    /// Messages that the topic holds of each publisher.
    pub fn capacity(&self) -> usize {
        self.subscription.segment().header().shape.capacity()
    }

    /// How this subscriber waits: as [`Options::wait_strategy`] said, or as suits the topic.
    pub fn wait_strategy(&self) -> WaitStrategy {
        self.subscription.wait_strategy()
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
        let started = Instant::now();
        loop {
            // Follows a topic that was remade.
            self.subscription.is_ready();
            if self.subscription.is_published()? {
                return Ok(true);
            }
            if started.elapsed() >= limit {
                return Ok(false);
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
    }

    /// Looks whether messages can come from the publishers of the topic from now on. One system call.
    ///
    /// # Errors
    /// [`OpenError::Deleted`] when the topic's file was removed; [`OpenError::CutOff`] when it was truncated; [`OpenError::Forked`] in a
    /// child that `fork` made of the process that opened the topic; [`OpenError::Remade`] when the topic was remade otherwise than this subscriber can
    /// use.
    pub fn check(&self) -> Result<(), OpenError> {
        self.subscription.check()
    }

    /// Whether the kernel locked the topic's memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.subscription.memory_lock()
    }
}

impl<P: InPlace + ?Sized> Subscriber<P> {
    /// Lends the next message in its place in shared memory, or `None` when it has not been sent yet: for messages too
    /// large to be copied.
    ///
    /// As long as the sample lives, the message stays, and this subscriber receives no other one. See
    /// [`horus_shm::ends::place`] for whom that trusts.
    pub fn borrow(&mut self) -> Option<Sample<'_, P>> {
        Some(Sample::new(P::borrow(&mut self.subscription, &mut self.reader)?))
    }
}
