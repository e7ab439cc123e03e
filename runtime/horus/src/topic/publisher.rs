//! The publishing end of a topic.

use std::borrow::Borrow;
use std::time::Duration;

use horus_shm::ends::Publication;
use horus_shm::ends::place;

use super::{
    DeliveryPolicy, InPlace, IntoTopicName, Loan, LockRefused, OpenError, Options, Payload, Sendable, WaitStrategy,
    now_if,
};
use crate::message::Message;

/// The publishing end of a topic, whose messages are of the kind `P`: see the [table](super::payload) of kinds.
pub struct Publisher<P: Payload + ?Sized> {
    pub(super) publication: Publication,
    pub(super) is_stamping: bool,
    wait_strategy: WaitStrategy,
    writer: P::Writer,
}

impl<M: Message> Publisher<M> {
    /// Becomes a publisher of topic `name`, making the topic unless a living peer uses it already.
    ///
    /// A publisher that died is replaced at once: its subscribers go on with the next sequence number.
    ///
    /// # Errors
    /// [`OpenError`] says what is in the way and what to do: as many living publishers as the topic was made for, another
    /// type, policy or capacity under the same name, a subscriber that needs more, no memory, no permission.
    pub fn open(name: impl IntoTopicName, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        Self::open_as(name, (), options)
    }
}

impl<P: Payload + ?Sized> Publisher<P> {
    /// As [`open`](Publisher::open), for every kind: `shape` is what both ends say of the messages, such as
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
        let making = options.making(&directory)?;
        let publication = P::with_kind(shape, |kind, size| Publication::open(&directory, &name, kind, size, &making))?;
        let (is_stamping, wait_strategy, writer) =
            (options.is_stamping(), options.how_to_wait(), P::writer(&publication));
        Ok(Self { publication, is_stamping, wait_strategy, writer })
    }

    /// Sends a message, which may be given by reference.
    ///
    /// Wait-free, no allocation (but what serializing a value allocates), no system call unless a subscriber went to sleep since the
    /// last message. A `latest` topic is never full, unless subscribers hold every one of its messages in place.
    ///
    /// A refused message is not given back: give a reference to one that you will send again.
    ///
    /// # Errors
    /// When there is no room, the message is longer than the topic's maximum, or a value cannot be serialized.
    ///
    /// # Panics
    /// When the bytes for a [`Raw`](super::Raw) topic are not as many as its layout says.
    #[inline]
    pub fn try_send(&mut self, message: impl Sendable<P>) -> Result<(), P::NotSent> {
        P::try_send_now(&mut self.publication, &mut self.writer, message.value(), self.is_stamping)
    }

    /// As [`try_send`](Self::try_send) with a time that the caller has at hand, in nanoseconds on CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// As there, and so are the panics.
    #[inline]
    pub fn try_send_stamped(&mut self, message: impl Sendable<P>, sent_ns: u64) -> Result<(), P::NotSent> {
        P::try_send(&mut self.publication, &mut self.writer, message.value(), sent_ns)
    }

    /// As [`try_send`](Self::try_send), of a value itself, stamped or not.
    pub(crate) fn try_send_value(&mut self, value: &P::Value, is_stamping: bool) -> Result<(), P::NotSent> {
        P::try_send(&mut self.publication, &mut self.writer, value, now_if(is_stamping))
    }

    /// As [`try_send_stamped`](Self::try_send_stamped), of a value itself.
    pub(crate) fn try_send_value_stamped(&mut self, value: &P::Value, stamp: u64) -> Result<(), P::NotSent> {
        P::try_send(&mut self.publication, &mut self.writer, value, stamp)
    }

    /// Whether so many messages have room at once on a `reliable` topic.
    pub(crate) fn has_room_for(&mut self, messages: usize) -> bool {
        self.publication.has_room_for(messages)
    }

    /// Sends a message whose stamp alone means something; false when there is no room.
    pub(crate) fn try_send_blank(&mut self, stamp: u64) -> bool {
        P::try_send_blank(&mut self.publication, stamp)
    }

    /// Sends a message. On a `reliable` topic it waits for room as long as that takes; on a `latest` topic there is always room,
    /// unless subscribers hold every message in place.
    ///
    /// # Errors
    /// When there is none on a `latest` topic, the message is longer than the topic's maximum, or a value cannot be serialized.
    ///
    /// # Panics
    /// As [`try_send`](Self::try_send).
    pub fn send(&mut self, message: impl Sendable<P>) -> Result<(), P::NotSent> {
        self.send_timeout(message, Duration::MAX)
    }

    /// As [`try_send`](Self::try_send), but waits for room, at most `limit`, as [`Options::wait_strategy`] says. Subscribers that
    /// died meanwhile stop holding the topic. The stamp is the time of the call.
    ///
    /// # Errors
    /// When there is no room in time, the message is longer than the topic's maximum, or a value cannot be serialized.
    ///
    /// # Panics
    /// As there.
    pub fn send_timeout(&mut self, message: impl Sendable<P>, limit: Duration) -> Result<(), P::NotSent> {
        let (now, room) = (now_if(self.is_stamping), (limit, self.wait_strategy));
        P::send(&mut self.publication, &mut self.writer, message.value(), now, room)
    }

    /// The lane alone, for an output.
    pub(crate) fn into_publication(self) -> Publication {
        self.publication
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

    /// Looks whether what is sent here can reach peers that join from now on. One system call.
    ///
    /// # Errors
    /// [`OpenError::Deleted`] when the topic's file was removed; [`OpenError::CutOff`] when it was truncated; [`OpenError::Forked`] in a
    /// child that `fork` made of the process that opened the topic.
    pub fn check(&self) -> Result<(), OpenError> {
        self.publication.check()
    }

    /// The most bytes that a message can have.
    pub fn message_bytes(&self) -> usize {
        P::bytes(self.publication.payload())
    }

    /// What becomes of a message for which there is no room.
    pub fn delivery_policy(&self) -> DeliveryPolicy {
        self.publication.segment().header().policy
    }

    /// Messages that the topic holds of each publisher.
    pub fn capacity(&self) -> usize {
        self.publication.segment().header().shape.capacity()
    }

    /// How this publisher waits for room.
    pub fn wait_strategy(&self) -> WaitStrategy {
        self.wait_strategy
    }

    /// Sequence number that the next message will have, unless subscribers hold what stands in its place.
    pub fn position(&self) -> u64 {
        self.publication.position()
    }

    /// Number of this publisher's lane: what [`Received::publisher`](super::Received::publisher) says of its messages.
    pub fn lane(&self) -> usize {
        self.publication.lane()
    }

    /// Whether the kernel locked the topic's memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.publication.memory_lock()
    }
}

impl<P: InPlace + ?Sized> Publisher<P> {
    /// Lends the place of the next message in shared memory, to be filled there and published: for messages too large to
    /// be copied. What stands there first is some older message, or zeros.
    ///
    /// A loan of bytes has room for the longest message, and [`publish`](Loan::publish) sends all of it. For fewer bytes use
    /// [`loan_of`](Publisher::loan_of) or [`publish_first`](Loan::publish_first).
    ///
    /// # Errors
    /// When there is no room.
    pub fn loan(&mut self) -> Result<Loan<'_, P>, P::NotSent> {
        self.lend(P::loan)
    }

    pub(super) fn lend<'a>(
        &'a mut self,
        loan: impl FnOnce(&'a mut Publication) -> Result<place::Loan<'a>, P::NotSent>,
    ) -> Result<Loan<'a, P>, P::NotSent> {
        let is_stamping = self.is_stamping;
        Ok(Loan::new(loan(&mut self.publication)?, is_stamping))
    }
}
