//! Serialized values: [`Serde`].

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::time::Duration;

use horus_shm::ends::{Kind, Payload as Size, Publication, Subscription};
use horus_shm::ring::NotStaged;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::bytes::room;
use super::rooms::Rooms;
use super::sealed::Sealed;
use super::{Bytes, Full, OpenError, Payload, Received, Sendable, WaitStrategy};
use crate::topic::SendError;

/// The kind of topics whose messages are serialized values: `Publisher<Serde<Fault>>`.
///
/// Values that are no plain data (strings, vectors, options, enums): serialized with serde and postcard, whose format is small and
/// documented.
///
/// Costs what serializing costs. For what is sent often, a fixed [`message!`](crate::message!) is far faster. The two ends
/// agree on a type by its name only: postcard's bytes say nothing about their fields.
///
/// ```
/// use horus::topic::{Bytes, Options, Publisher, Serde, Subscriber};
///
/// #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
/// struct Fault { part: String, codes: Vec<u16> }
///
/// # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
/// let options = Options::reliable(16);
/// # let options = options.directory(scratch.path());
/// let shape = Bytes::of_type("example/Fault", 256);
/// let mut publisher = Publisher::<Serde<Fault>>::open_as("faults", shape, &options).unwrap();
/// let mut subscriber = Subscriber::<Serde<Fault>>::open_as("faults", shape, &options).unwrap();
///
/// let fault = Fault { part: "left wheel".into(), codes: vec![3, 14] };
/// publisher.try_send(&fault).unwrap();
/// assert_eq!(subscriber.try_recv().unwrap().message.unwrap(), fault);
/// ```
///
/// `T` has to have both, `Serialize` and `Deserialize`: without one of them the topic could have only one of its ends.
pub struct Serde<T>(PhantomData<T>);

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

impl From<Full<()>> for SerializeError {
    fn from(_: Full<()>) -> Self {
        Self::Full
    }
}

impl From<SendError> for SerializeError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Full => Self::Full,
            SendError::TooLong { maximum, .. } => Self::TooLong { maximum },
        }
    }
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

impl<T> Sealed for Serde<T> {}

impl<T: Serialize + DeserializeOwned> Payload for Serde<T> {
    type Value = T;
    type Shape<'a> = Bytes<'a>;
    type NotSent = SerializeError;
    type Message<'a> = Result<T, DeserializeError>;
    type Owned = Result<T, DeserializeError>;
    type Place = T;
    type Placed = Result<(), DeserializeError>;
    type Seen<'a>
        = Result<&'a T, &'a DeserializeError>
    where
        Self: 'a;
    /// Where a value is serialized to before it is sent: one that turns out to be too long costs the topic nothing.
    type Writer = Box<[u8]>;
    type Reader = Box<[u8]>;
    type Staged = [u8];
    /// The length of its bytes.
    type Kept = usize;
    type Rooms = Values<T>;

    fn with_kind<R>(
        shape: Bytes<'_>,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        shape.with_kind(open)
    }

    fn writer(publication: &Publication) -> Box<[u8]> {
        room(publication.payload())
    }

    fn reader(subscription: &mut Subscription) -> Box<[u8]> {
        room(subscription.payload())
    }

    fn bytes(size: Size) -> usize {
        <[u8]>::bytes(size)
    }

    fn try_send(
        publication: &mut Publication,
        room: &mut Box<[u8]>,
        value: &T,
        sent_ns: u64,
    ) -> Result<(), SerializeError> {
        publication.try_send_bytes(serialize(value, room)?, sent_ns)?;
        Ok(())
    }

    fn is_full(error: &SerializeError) -> bool {
        matches!(error, SerializeError::Full)
    }

    fn try_send_blank(publication: &mut Publication, stamp: u64) -> bool {
        publication.try_send_bytes(&[], stamp).is_ok()
    }

    fn send(
        publication: &mut Publication,
        room: &mut Box<[u8]>,
        value: &T,
        sent_ns: u64,
        (limit, wait_strategy): (Duration, WaitStrategy),
    ) -> Result<(), SerializeError> {
        publication.send_bytes(serialize(value, room)?, sent_ns, limit, wait_strategy)?;
        Ok(())
    }

    fn try_recv<'a>(
        subscription: &'a mut Subscription,
        room: &'a mut Box<[u8]>,
    ) -> Option<Received<Result<T, DeserializeError>>> {
        <[u8]>::try_recv(subscription, room).map(deserialize)
    }

    fn recv<'a>(
        subscription: &'a mut Subscription,
        room: &'a mut Box<[u8]>,
        limit: Duration,
    ) -> Option<Received<Result<T, DeserializeError>>> {
        <[u8]>::recv(subscription, room, limit).map(deserialize)
    }

    fn owned(message: Received<Result<T, DeserializeError>>) -> Received<Result<T, DeserializeError>> {
        message
    }

    /// `into` keeps its value when the bytes are none.
    fn try_recv_into(
        subscription: &mut Subscription,
        room: &mut Box<[u8]>,
        into: &mut T,
    ) -> Option<Received<Result<(), DeserializeError>>> {
        let received = Self::try_recv(subscription, room)?;
        Some(received.map(|value| value.map(|value| *into = value)))
    }

    fn staged<'a>(room: &'a mut Box<[u8]>, value: &'a T, _: Size) -> Option<&'a [u8]> {
        serialize(value, room).ok()
    }

    fn stage(publication: &mut Publication, bytes: &[u8]) -> Result<(), NotStaged> {
        <[u8]>::stage(publication, bytes)
    }

    fn payload(bytes: &[u8], size: Size) -> Box<[u8]> {
        <[u8]>::payload(bytes, size)
    }

    fn rooms(size: Size) -> Values<T> {
        Values { bytes: <[u8]>::rooms(size), newest: None }
    }

    fn take(subscription: &mut Subscription, rooms: &mut Values<T>) -> Option<Received<usize>> {
        <[u8]>::take(subscription, &mut rooms.bytes)
    }

    fn keep(rooms: &mut Values<T>) {
        rooms.bytes.keep();
        rooms.newest = None;
    }

    fn newest<'a>(rooms: &'a mut Values<T>, kept: &'a Received<usize>) -> Result<&'a T, &'a DeserializeError>
    where
        Self: 'a,
    {
        let Values { bytes, newest } = rooms;
        newest.get_or_insert_with(|| deserialize(kept.map(|length| &bytes.newest[..length])).message).as_ref()
    }

    fn taken(rooms: &mut Values<T>, kept: Received<usize>, is_newest: bool) -> Result<T, DeserializeError> {
        deserialize(kept.map(|length| &rooms.bytes.taken(is_newest)[..length])).message
    }
}

impl<T: Serialize + DeserializeOwned> super::ByValue for Serde<T> {}

/// Where an input keeps values: their bytes, and the newest one as soon as a step has asked for it. Messages that no step looks at are not read.
pub struct Values<T> {
    bytes: Rooms,
    newest: Option<Result<T, DeserializeError>>,
}

fn serialize<'a, T: Serialize>(value: &T, room: &'a mut [u8]) -> Result<&'a [u8], SerializeError> {
    let maximum = room.len();
    match postcard::to_slice(value, room) {
        Ok(used) => Ok(used),
        Err(postcard::Error::SerializeBufferFull) => Err(SerializeError::TooLong { maximum }),
        Err(error) => Err(SerializeError::Format(error)),
    }
}

fn deserialize<T: DeserializeOwned>(received: Received<&[u8]>) -> Received<Result<T, DeserializeError>> {
    let sequence = received.sequence;
    received.map(|bytes| postcard::from_bytes(bytes).map_err(|source| DeserializeError { sequence, source }))
}

impl<T: Serialize + DeserializeOwned, B: Borrow<T>> Sendable<Serde<T>> for B {
    fn value(&self) -> &T {
        self.borrow()
    }
}
