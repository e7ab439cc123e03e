//! Topics of values that are no plain data (strings, vectors, options, enums): serialized with serde and postcard, whose
//! format is small and documented.
//!
//! Costs what serializing costs; for what is sent often, a fixed [`message!`](crate::message!) is far faster. The two ends
//! agree on a type by its name only: postcard's bytes say nothing about their fields.
//!
//! ```
//! use horus::serialized::{SerializedPublisher, SerializedSubscriber};
//! use horus::topic::Options;
//!
//! #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
//! struct Fault { part: String, codes: Vec<u16> }
//!
//! # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
//! let options = Options::reliable(16);
//! # let options = options.directory(scratch.path());
//! let mut publisher = SerializedPublisher::<Fault>::open("faults", "example/Fault", 256, &options).unwrap();
//! let mut subscriber = SerializedSubscriber::<Fault>::open("faults", "example/Fault", 256, &options).unwrap();
//!
//! let fault = Fault { part: "left wheel".into(), codes: vec![3, 14] };
//! publisher.try_send(&fault).unwrap();
//! assert_eq!(subscriber.try_recv().unwrap().unwrap(), fault);
//! ```

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::time::Duration;

use horus_shm::ends::Subscription;
use horus_shm::ends::bytes::SendError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::bytes::{BytesPublisher, BytesSubscriber};
use crate::topic::{IntoTopicName, OpenError, Options};

/// Why a value was not sent.
#[derive(Debug, Error)]
pub enum SerializeError {
    /// There is no room.
    #[error("the topic is full: a subscriber has yet to read its oldest message; try again or wait")]
    Full,
    /// The serialized value is longer than the topic's maximum.
    #[error("the value takes more than the {maximum} bytes that the topic was made for: make it with a larger maximum")]
    TooLong {
        /// Bytes that a message can have.
        maximum: usize,
    },
    /// The value cannot be serialized.
    #[error("cannot serialize the value: {0}")]
    Format(#[source] postcard::Error),
}

/// Received bytes that are no value of the type.
#[derive(Debug, Error)]
#[error("message {sequence} is no such value: {source}; build both programs from the same type definition")]
pub struct DeserializeError {
    /// Number of the message in its publisher's lane.
    pub sequence: u64,
    /// What is wrong with it.
    pub source: postcard::Error,
}

/// The publishing end of a topic of serialized values.
pub struct SerializedPublisher<T> {
    publisher: BytesPublisher,
    /// Where a value is serialized to before it is sent: one that turns out to be too long costs the topic nothing.
    buffer: Box<[u8]>,
    _value: PhantomData<fn(&T)>,
}

impl<T: Serialize> SerializedPublisher<T> {
    /// As [`BytesPublisher::open`], for values of the type that both ends know by `type_name`.
    ///
    /// # Errors
    /// [`OpenError`], which says what is in the way and what to do.
    pub fn open(
        name: impl IntoTopicName,
        type_name: &str,
        maximum: usize,
        options: impl Borrow<Options>,
    ) -> Result<Self, OpenError> {
        let publisher = BytesPublisher::of_kind(type_name, name, maximum, options.borrow())?;
        Ok(Self { publisher, buffer: vec![0; maximum].into_boxed_slice(), _value: PhantomData })
    }

    /// Serializes a value and sends it. Allocates nothing unless the value's own serialization does.
    ///
    /// # Errors
    /// When there is no room, or the value takes more bytes than the topic was made for.
    pub fn try_send(&mut self, value: &T) -> Result<(), SerializeError> {
        let bytes = serialize(value, &mut self.buffer)?;
        self.publisher.try_send(bytes).map_err(from_send)
    }

    /// As [`try_send`](Self::try_send), but waits for room, at most `limit`; subscribers that died meanwhile stop holding
    /// the topic.
    ///
    /// # Errors
    /// When there is no room in time, or the value takes more bytes than the topic was made for.
    pub fn send_timeout(&mut self, value: &T, limit: Duration) -> Result<(), SerializeError> {
        let bytes = serialize(value, &mut self.buffer)?;
        self.publisher.send_timeout(bytes, limit).map_err(from_send)
    }

    /// See [`BytesPublisher::reap_dead_subscribers`].
    pub fn reap_dead_subscribers(&mut self) -> usize {
        self.publisher.reap_dead_subscribers()
    }
}

fn serialize<'a, T: Serialize>(value: &T, buffer: &'a mut [u8]) -> Result<&'a [u8], SerializeError> {
    let maximum = buffer.len();
    match postcard::to_slice(value, buffer) {
        Ok(used) => Ok(used),
        Err(postcard::Error::SerializeBufferFull) => Err(SerializeError::TooLong { maximum }),
        Err(error) => Err(SerializeError::Format(error)),
    }
}

fn from_send(error: SendError) -> SerializeError {
    match error {
        SendError::Full => SerializeError::Full,
        SendError::TooLong { maximum, .. } => SerializeError::TooLong { maximum },
    }
}

/// A subscribing end of a topic of serialized values.
pub struct SerializedSubscriber<T> {
    subscriber: BytesSubscriber,
    _value: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> SerializedSubscriber<T> {
    /// As [`BytesSubscriber::open`], for values of the type that both ends know by `type_name`.
    ///
    /// # Errors
    /// [`OpenError`], which says what is in the way and what to do.
    pub fn open(
        name: impl IntoTopicName,
        type_name: &str,
        maximum: usize,
        options: impl Borrow<Options>,
    ) -> Result<Self, OpenError> {
        let subscriber = BytesSubscriber::of_kind(type_name, name, maximum, options.borrow())?;
        Ok(Self { subscriber, _value: PhantomData })
    }

    /// The next value, or `None` when it has not been sent yet.
    ///
    /// # Errors
    /// When the bytes are no such value; the next call goes on with the next message.
    pub fn try_recv(&mut self) -> Option<Result<T, DeserializeError>> {
        let sample = self.subscriber.try_recv()?;
        Some(read(sample.sequence(), &sample))
    }

    /// Waits, at most `limit`, for the next value.
    ///
    /// # Errors
    /// As [`try_recv`](Self::try_recv).
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Result<T, DeserializeError>> {
        let sample = self.subscriber.recv_timeout(limit)?;
        Some(read(sample.sequence(), &sample))
    }

    /// How many messages were overwritten before this subscriber got to them, since it joined.
    pub fn missed(&self) -> u64 {
        self.subscriber.missed()
    }
}

fn read<T: DeserializeOwned>(sequence: u64, bytes: &[u8]) -> Result<T, DeserializeError> {
    postcard::from_bytes(bytes).map_err(|source| DeserializeError { sequence, source })
}

impl<T> crate::wait::Waitable for SerializedSubscriber<T> {
    fn subscription(&mut self) -> &mut Subscription {
        crate::wait::Waitable::subscription(&mut self.subscriber)
    }
}
