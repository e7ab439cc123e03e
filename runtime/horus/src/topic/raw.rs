//! The ends of a topic for who knows a message's type only at run time: messages are bytes, and a [`Layout`] says what they mean.
//!
//! ```
//! use std::time::Duration;
//! use horus::topic::{Options, raw::{RawPublisher, RawSubscriber}};
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
//! let layout = "message example/WheelSpeed\n left f64\n right f64".parse()?;
//! let options = Options::latest(8);
//! # let options = options.directory(scratch.path());
//! let mut publisher = RawPublisher::open("wheels", &layout, &options)?;
//! let mut subscriber = RawSubscriber::open("wheels", &layout, &options)?;
//!
//! publisher.try_send(&[7; 16])?;
//! let mut message = [0; 16];
//! subscriber.recv_timeout(&mut message, Duration::from_millis(100)).expect("it was sent");
//! assert_eq!(message, [7; 16]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Panics
//! What sends and receives panics when the bytes are not as many as the layout says.

use std::borrow::Borrow;
use std::time::Duration;

pub use horus_shm::ends::Sent;
pub use horus_shm::ends::place::Sample as RawSample;
use horus_shm::ends::place::{Copied, Loan};
use horus_shm::ends::{Publication, Subscription};

use super::{Full, IntoTopicName, OpenError, Options, Policy, Received, Waiting, now_if};
use crate::message::layout::Layout;

/// The publishing end of a topic; as [`Publisher`](super::Publisher).
pub struct RawPublisher {
    publication: Publication,
    is_stamping: bool,
    waiting: Waiting,
}

impl RawPublisher {
    /// As [`Publisher::open`](super::Publisher::open).
    ///
    /// # Errors
    /// As that.
    pub fn open(name: impl IntoTopicName, layout: &Layout, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        let (name, options) = (name.into_topic_name()?, options.borrow());
        let directory = options.open_directory()?;
        let making = options.making(&directory)?;
        let publication =
            layout.with_kind(|kind, payload| Publication::open(&directory, &name, kind, payload, &making))?;
        Ok(Self { publication, is_stamping: options.is_stamping(), waiting: options.how_to_wait() })
    }

    /// The lane alone, for an output.
    pub(crate) fn into_publication(self) -> Publication {
        self.publication
    }

    /// Bytes of a message.
    pub fn message_bytes(&self) -> usize {
        self.publication.payload().bytes
    }

    /// What becomes of a message for which there is no room.
    pub fn policy(&self) -> Policy {
        self.publication.segment().header().policy
    }

    /// Messages that the topic holds of each publisher.
    pub fn capacity(&self) -> usize {
        self.publication.segment().header().shape.capacity()
    }

    /// Sends a message; see [`Publisher::try_send`](super::Publisher::try_send).
    ///
    /// # Errors
    /// When there is no room.
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> Result<(), Full<()>> {
        if self.is_stamping {
            return self.try_send_now(message);
        }
        self.try_send_stamped(message, 0)
    }

    /// Apart, so that reading the clock costs others no registers.
    #[inline(never)]
    fn try_send_now(&mut self, message: &[u8]) -> Result<(), Full<()>> {
        self.try_send_stamped(message, now_if(true))
    }

    /// As [`try_send`](Self::try_send) with a time that the caller has at hand, in nanoseconds on CLOCK_MONOTONIC.
    ///
    /// # Errors
    /// When there is no room.
    #[inline]
    pub fn try_send_stamped(&mut self, message: &[u8], sent_ns: u64) -> Result<(), Full<()>> {
        self.publication.try_send_whole(message, sent_ns).map(|_sequence| ())
    }

    /// How many bytes a message has that [`try_send_at_once`](Self::try_send_at_once) may be used for; 0 when there is none.
    pub fn short_bytes(&self) -> usize {
        if self.is_stamping { 0 } else { short_or_0(self.message_bytes()) }
    }

    /// As [`try_send`](Self::try_send) of as many bytes as [`short_bytes`](Self::short_bytes) says, where that is short. It is nothing where it is
    /// not, because room has to be looked for. Then call `try_send`. Who is asleep, [`ring`](Self::ring) wakes.
    #[inline(always)]
    pub fn try_send_at_once<const BYTES: usize>(&mut self, message: &[u8; BYTES]) -> Option<Sent> {
        self.publication.try_send_at_once(message, 0)
    }

    /// Wakes those of whom [`try_send_at_once`](Self::try_send_at_once) tells.
    pub fn ring(&mut self, asleep: u64) {
        self.publication.ring(asleep);
    }

    /// See [`Publisher::reap_dead_subscribers`](super::Publisher::reap_dead_subscribers).
    pub fn reap_dead_subscribers(&mut self) -> usize {
        self.publication.reap()
    }

    /// Sends a message, and waits for room on a `reliable` topic, at most `limit`; `None` for as long as it takes.
    ///
    /// # Errors
    /// When there is no room in time, or none on a `latest` topic, all of whose messages are held in place.
    pub fn send(&mut self, message: &[u8], limit: Option<Duration>) -> Result<(), Full<()>> {
        let now = now_if(self.is_stamping);
        let limit = limit.unwrap_or(Duration::MAX);
        self.publication.send_whole(message, now, limit, self.waiting).map(|_sequence| ())
    }

    /// Lends the place of the next message; see [`Publisher::loan`](super::Publisher::loan).
    ///
    /// # Errors
    /// When there is no room.
    pub fn loan(&mut self) -> Result<RawLoan<'_>, Full<()>> {
        let is_stamping = self.is_stamping;
        Ok(RawLoan { loan: self.publication.loan()?, is_stamping })
    }

    /// See [`Publisher::subscribers`](super::Publisher::subscribers).
    ///
    /// # Errors
    /// As there.
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        self.publication.subscribers()
    }

    /// See [`Publisher::check`](super::Publisher::check).
    ///
    /// # Errors
    /// As there.
    pub fn check(&self) -> Result<(), OpenError> {
        self.publication.check()
    }
}

/// As many, if that is one word or two: what a wheel is told, or a clock.
fn short_or_0(bytes: usize) -> usize {
    if matches!(bytes, 8 | 16) { bytes } else { 0 }
}

/// The bytes of a message that is being written, in their place; dropped without [`publish`](Self::publish), it was never sent.
#[must_use = "a loan that is not published sends nothing"]
pub struct RawLoan<'a> {
    loan: Loan<'a>,
    is_stamping: bool,
}

impl RawLoan<'_> {
    /// Sends the message.
    pub fn publish(self) {
        self.loan.publish(now_if(self.is_stamping));
    }
}

impl std::ops::Deref for RawLoan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.loan
    }
}

impl std::ops::DerefMut for RawLoan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.loan
    }
}

/// A subscribing end of a topic; as [`Subscriber`](super::Subscriber).
pub struct RawSubscriber {
    subscription: Subscription,
    copied: Copied,
}

impl RawSubscriber {
    /// As [`Subscriber::open`](super::Subscriber::open).
    ///
    /// # Errors
    /// As that.
    pub fn open(name: impl IntoTopicName, layout: &Layout, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        let (name, options) = (name.into_topic_name()?, options.borrow());
        let directory = options.open_directory()?;
        let joining = options.joining(&directory)?;
        let mut subscription =
            layout.with_kind(|kind, payload| Subscription::open(&directory, &name, kind, payload, joining))?;
        let copied = Copied::for_messages_of(&mut subscription);
        Ok(Self { subscription, copied })
    }

    /// As [`open`](Self::open), as if it had joined when another subscriber did, which has read nothing yet and begins in each lane with
    /// the number that `begins` says. What is no longer there is not counted.
    pub(crate) fn open_from(
        name: impl IntoTopicName,
        layout: &Layout,
        options: Options,
        begins: &[u64],
    ) -> Result<Self, OpenError> {
        let mut subscriber = Self::open(name, layout, options.history(usize::MAX))?;
        subscriber.subscription.skip_before(begins);
        Ok(subscriber)
    }

    /// Bytes of a message.
    pub fn message_bytes(&self) -> usize {
        self.subscription.payload().bytes
    }

    /// The next message, copied to `into`; see [`Subscriber::try_recv_into`](super::Subscriber::try_recv_into).
    #[inline]
    pub fn try_recv(&mut self, into: &mut [u8]) -> Option<Received<()>> {
        self.subscription.try_recv_whole(into)
    }

    /// How many bytes a message has that [`try_recv_at_once`](Self::try_recv_at_once) may be used for; 0 when there is none.
    pub fn short_bytes(&self) -> usize {
        short_or_0(self.message_bytes())
    }

    /// As [`try_recv`](Self::try_recv) of as many bytes as [`short_bytes`](Self::short_bytes) says, where that is short. It is nothing where it is
    /// not: where several publish, none does yet, or the next message was overwritten. Then call `try_recv`.
    #[inline(always)]
    pub fn try_recv_at_once<const BYTES: usize>(&mut self, into: &mut [u8; BYTES]) -> Option<Option<Received<()>>> {
        self.subscription.try_recv_at_once(into)
    }

    /// Waits, at most `limit`, for the next message.
    pub fn recv_timeout(&mut self, into: &mut [u8], limit: Duration) -> Option<Received<()>> {
        self.subscription.recv_whole_timeout(into, limit)
    }

    /// Lends the next message in its place; see [`Subscriber::borrow`](super::Subscriber::borrow).
    pub fn borrow(&mut self) -> Option<RawSample<'_>> {
        self.subscription.sample(&mut self.copied)
    }

    /// Waits, at most `limit`, until there is something to receive.
    pub fn wait(&mut self, limit: Duration) -> bool {
        self.subscription.wait(limit)
    }

    /// How many messages were overwritten before this subscriber got to them, since it joined.
    pub fn missed(&self) -> u64 {
        self.subscription.missed()
    }

    /// What happens when the topic is full.
    pub fn policy(&self) -> Policy {
        self.subscription.segment().header().policy
    }

    /// Messages that the topic holds of each publisher.
    pub fn capacity(&self) -> usize {
        self.subscription.segment().header().shape.capacity()
    }

    /// See [`Subscriber::wait_until_published`](super::Subscriber::wait_until_published).
    ///
    /// # Errors
    /// As there.
    pub fn wait_until_published(&mut self, limit: Duration) -> Result<bool, OpenError> {
        super::wait_until_published(&mut self.subscription, limit)
    }

    /// See [`Subscriber::is_published`](super::Subscriber::is_published).
    ///
    /// # Errors
    /// As there.
    pub fn is_published(&self) -> Result<bool, OpenError> {
        self.subscription.is_published()
    }

    /// See [`Subscriber::check`](super::Subscriber::check).
    ///
    /// # Errors
    /// As there.
    pub fn check(&self) -> Result<(), OpenError> {
        self.subscription.check()
    }
}

impl crate::wait::Waitable for RawSubscriber {
    fn subscription(&mut self) -> &mut Subscription {
        &mut self.subscription
    }
}
