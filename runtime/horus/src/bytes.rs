//! Topics of bytes: messages of any length up to a maximum, whose meaning is the program's own business.
//!
//! ```
//! use horus::bytes::{BytesPublisher, BytesSubscriber};
//! use horus::topic::Options;
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
//! let options = Options::reliable(16);
//! # let options = options.directory(scratch.path());
//! let mut publisher = BytesPublisher::open("log", 256, &options).unwrap();
//! let mut subscriber = BytesSubscriber::open("log", 256, &options).unwrap();
//!
//! publisher.try_send(b"left wheel slips").unwrap();
//! assert_eq!(&*subscriber.try_recv().unwrap(), b"left wheel slips");
//! ```

use std::borrow::Borrow;
use std::time::Duration;

use horus_shm::ends::bytes::{self, CopiedBytes};
use horus_shm::ends::{Kind, Publication, Subscription};

pub use horus_shm::ends::bytes::{BytesSample, SendError};

use crate::topic::{IntoTopicName, OpenError, Options, Waiting, now_if};

/// What a topic of bytes is called in listings, unless something else gives its bytes a meaning.
pub const TYPE_NAME: &str = "horus/Bytes";

/// The publishing end of a topic of bytes.
pub struct BytesPublisher {
    publication: Publication,
    is_stamping: bool,
    waiting: Waiting,
}

impl BytesPublisher {
    /// As [`Publisher::open`](crate::topic::Publisher::open), for messages of up to `maximum` bytes.
    ///
    /// # Errors
    /// [`OpenError`], which says what is in the way and what to do.
    pub fn open(name: impl IntoTopicName, maximum: usize, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        Self::of_kind(TYPE_NAME, name, maximum, options.borrow())
    }

    /// As [`open`](Self::open), for bytes to which something else gives a meaning, which both ends know by `type_name`.
    ///
    /// # Errors
    /// As there.
    pub fn of_kind(
        type_name: &str,
        name: impl IntoTopicName,
        maximum: usize,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let (name, payload) = (name.into_topic_name()?, bytes::payload(maximum)?);
        let directory = options.open_directory()?;
        let making = options.making(&directory)?;
        let publication = Publication::open(&directory, &name, kind(type_name), payload, &making)?;
        Ok(Self { publication, is_stamping: options.is_stamping(), waiting: options.how_to_wait() })
    }

    /// Sends a message. Wait-free, no allocation, no system call unless a subscriber sleeps.
    ///
    /// # Errors
    /// When there is no room, or the message is longer than the maximum.
    #[inline]
    pub fn try_send(&mut self, message: &[u8]) -> Result<(), SendError> {
        let now = now_if(self.is_stamping);
        self.publication.try_send_bytes(message, now).map(|_sequence| ())
    }

    /// As [`try_send`](Self::try_send), but waits for room, at most `limit`.
    ///
    /// # Errors
    /// When there is no room in time, or the message is longer than the maximum.
    pub fn send_timeout(&mut self, message: &[u8], limit: Duration) -> Result<(), SendError> {
        let now = now_if(self.is_stamping);
        self.publication.send_bytes(message, now, limit, self.waiting).map(|_sequence| ())
    }

    /// Lends the place of the next message in shared memory, for `bytes` bytes. What stands there first is of some older
    /// message, or zeros.
    ///
    /// # Errors
    /// When there is no room, or `bytes` is more than the maximum.
    pub fn loan(&mut self, bytes: usize) -> Result<BytesLoan<'_>, SendError> {
        let is_stamping = self.is_stamping;
        Ok(BytesLoan { loan: self.publication.loan_bytes(bytes)?, is_stamping })
    }

    /// Takes dead subscribers off the topic, so that they hold it no longer; returns how many. For callers of `try_send` and
    /// `loan`, outside of their real-time loop: it makes system calls.
    pub fn reap_dead_subscribers(&mut self) -> usize {
        self.publication.reap()
    }

    /// How many living subscribers the topic has. Makes system calls.
    ///
    /// # Errors
    /// When the topic's file was removed, or this process was forked since.
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        self.publication.subscribers()
    }

    /// Bytes that a message can have.
    pub fn maximum(&self) -> usize {
        bytes::maximum(self.publication.payload())
    }

    /// What becomes of a message for which there is no room.
    pub fn policy(&self) -> crate::topic::Policy {
        self.publication.segment().header().policy
    }

    /// Messages that the topic holds of each publisher.
    pub fn capacity(&self) -> usize {
        self.publication.segment().header().shape.capacity()
    }

    /// See [`Publisher::check`](crate::topic::Publisher::check).
    ///
    /// # Errors
    /// As there.
    pub fn check(&self) -> Result<(), OpenError> {
        self.publication.check()
    }
}

fn kind(type_name: &str) -> Kind<'_> {
    Kind { type_name, layout_hash: 0, description: "" }
}

/// The place of a message that is being written, as if it were the bytes; dropped without
/// [`publish`](Self::publish), it was never sent.
#[must_use = "a loan that is not published sends nothing"]
pub struct BytesLoan<'a> {
    loan: bytes::BytesLoan<'a>,
    is_stamping: bool,
}

impl BytesLoan<'_> {
    /// Sends the message.
    pub fn publish(self) {
        self.loan.publish(now_if(self.is_stamping));
    }

    /// Sends only the first `bytes` bytes.
    ///
    /// # Panics
    /// When the loan has fewer.
    pub fn publish_first(self, bytes: usize) {
        self.loan.publish_first(bytes, now_if(self.is_stamping));
    }
}

impl std::ops::Deref for BytesLoan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.loan
    }
}

impl std::ops::DerefMut for BytesLoan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.loan
    }
}

/// A subscribing end of a topic of bytes.
pub struct BytesSubscriber {
    subscription: Subscription,
    copied: CopiedBytes,
}

impl BytesSubscriber {
    /// As [`Subscriber::open`](crate::topic::Subscriber::open), for messages of up to `maximum` bytes, as many as the
    /// publishers say.
    ///
    /// # Errors
    /// [`OpenError`], which says what is in the way and what to do.
    pub fn open(name: impl IntoTopicName, maximum: usize, options: impl Borrow<Options>) -> Result<Self, OpenError> {
        Self::of_kind(TYPE_NAME, name, maximum, options.borrow())
    }

    /// As [`open`](Self::open), for bytes to which something else gives a meaning, which both ends know by `type_name`.
    ///
    /// # Errors
    /// As there.
    pub fn of_kind(
        type_name: &str,
        name: impl IntoTopicName,
        maximum: usize,
        options: &Options,
    ) -> Result<Self, OpenError> {
        let (name, payload) = (name.into_topic_name()?, bytes::payload(maximum)?);
        let directory = options.open_directory()?;
        let joining = options.joining(&directory)?;
        let subscription = Subscription::open(&directory, &name, kind(type_name), payload, joining)?;
        Ok(Self { subscription, copied: CopiedBytes::new(maximum) })
    }

    /// Bytes that a message can have.
    pub fn maximum(&self) -> usize {
        bytes::maximum(self.subscription.payload())
    }

    /// The next message, copied out of shared memory, or `None` when it has not been sent yet. Wait-free, no allocation.
    #[inline]
    pub fn try_recv(&mut self) -> Option<BytesSample<'_>> {
        self.subscription.try_recv_bytes(&mut self.copied)
    }

    /// Waits, at most `limit`, for the next message, and copies it out of shared memory.
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<BytesSample<'_>> {
        self.subscription.recv_bytes_timeout(&mut self.copied, limit)
    }

    /// The next message in its place in shared memory, or `None` when it has not been sent yet; see
    /// [`Subscriber::borrow`](crate::topic::Subscriber::borrow).
    pub fn borrow(&mut self) -> Option<BytesSample<'_>> {
        self.subscription.borrow_bytes(&mut self.copied)
    }

    /// How many messages were overwritten before this subscriber got to them, since it joined.
    pub fn missed(&self) -> u64 {
        self.subscription.missed()
    }

    /// What happens when the topic is full.
    pub fn policy(&self) -> crate::topic::Policy {
        self.subscription.segment().header().policy
    }

    /// Messages that the topic holds of each publisher.
    pub fn capacity(&self) -> usize {
        self.subscription.segment().header().shape.capacity()
    }

    /// See [`Subscriber::check`](crate::topic::Subscriber::check).
    ///
    /// # Errors
    /// As there.
    pub fn check(&self) -> Result<(), OpenError> {
        self.subscription.check()
    }

    /// Whether a living process publishes the topic. Makes system calls.
    ///
    /// # Errors
    /// When the topic's file was removed, or this process was forked since.
    pub fn is_published(&self) -> Result<bool, OpenError> {
        self.subscription.is_published()
    }
}

impl crate::wait::Waitable for BytesSubscriber {
    fn subscription(&mut self) -> &mut Subscription {
        &mut self.subscription
    }
}
