//! The kinds of payload: what a topic carries, and how the ends of a topic handle it.
//!
//! [`Publisher`](super::Publisher) and [`Subscriber`](super::Subscriber) have the same methods for every kind:
//!
//! | kind | a message is | a topic is opened with |
//! |---|---|---|
//! | a [`Message`](crate::message::Message) | plain data of a type | the type alone |
//! | `[u8]` | any bytes up to a maximum | [`Bytes`] |
//! | [`Serde<T>`] | a value that serde knows | [`Bytes`], which name the value's type |
//! | [`Raw`] | bytes, whose meaning a [`Layout`](crate::message::layout::Layout) says at run time | the layout |
//!
//! Three methods are not there for every kind, and each has its reason:
//! - `open` is for messages. Their type says all; the other kinds need a maximum or a layout, so they are opened by `open_as`.
//! - `loan` and `borrow` are for kinds that are [`InPlace`]: the bytes of a serialized value are no value, so none can be lent.
//! - `loan_of` and [`Loan::publish_first`](super::Loan::publish_first) are for `[u8]`: only its messages have a length of their own.
//!
//! # In the ports of a node
//! An [`Input`](crate::port::Input) and an [`Output`](crate::port::Output) carry the same kinds, and have the same methods for all of them. No kind
//! takes a lock or makes a system call in a step. What else a step pays:
//!
//! | kind | what `set` does | what the step reads |
//! |---|---|---|
//! | a message | copies the message | a reference, or a copy |
//! | `[u8]`, [`Raw`] | copies the bytes | bytes that the input lends |
//! | [`Serde<T>`] | serializes the value, to room that was made before the first step, and copies the bytes | a value: the newest one is read once, when the step asks for it |
//!
//! A `Serde<T>` allocates in a step where `T` does when it is read or serialized: a `String` allocates when it is read. A `T` of fixed size
//! allocates nothing.
//!
//! What topics have and ports have not, or not for every kind:
//! - What waits, such as `send` and `recv`: a step must not wait.
//! - `loan` and `borrow`: a step that is discarded would leave half a message, and a peer could change what a step reads.
//! - What tells of the topic, such as `capacity` and `subscribers`: some of it makes system calls, and the program that opens the port gives the
//!   options.
//! - [`messages`](crate::port::Input::messages) is for kinds that are [`ByValue`]. An iterator cannot lend bytes, and room for each message would be
//!   an allocation in the step. [`try_recv`](crate::port::Input::try_recv) lends them.
//!
//! In a test, a [`VirtualWorld`](crate::world::VirtualWorld) publishes every kind by `publish_as`, and gives it by `last_as`.
//!
//! The test `payload_matrix.rs` calls every method for every kind.

mod bytes;
mod message;
mod raw;
mod rooms;
mod serde;

use std::time::Duration;

use horus_shm::ends::place;
use horus_shm::ends::{Kind, Payload as Size, Publication, Subscription};
use horus_shm::ring::NotStaged;

pub use self::bytes::Bytes;
pub use self::raw::Raw;
pub(crate) use self::rooms::Rooms;
pub use self::serde::{DeserializeError, Serde, SerializeError};

use super::{Full, OpenError, Received, WaitStrategy, now_if};

/// What a topic carries. See the [table](self) of kinds.
///
/// The hidden functions are what the ends of a topic and the ports of a node call. A program calls the ends and the ports.
#[diagnostic::on_unimplemented(
    message = "a topic cannot carry `{Self}`",
    label = "this is no message, and no other kind of payload",
    note = "define a type of your own by `horus::message!`",
    note = "the other kinds are `[u8]` (any bytes), `Serde<T>` (what serde knows) and `Raw` (a layout that is known at run time)"
)]
pub trait Payload: sealed::Sealed {
    /// What is sent.
    type Value: ?Sized;
    /// What both ends have to say of the messages beside the kind.
    type Shape<'a>: Copy;
    /// Why a value was not sent.
    type NotSent: std::error::Error + From<Full<()>>;
    /// What is received. Bytes are lent by the subscriber, until it receives the next message.
    type Message<'a>;
    /// What [`Subscriber::messages`](super::Subscriber::messages) gives. An iterator cannot lend, so bytes come in a `Vec` of their own.
    type Owned;
    /// Where [`Subscriber::try_recv_into`](super::Subscriber::try_recv_into) receives to.
    type Place: ?Sized;
    /// What that says of the message: nothing where it is all of the place, its length where it has one, or why it is no value.
    type Placed;
    /// What an input's [`latest`](crate::port::Input::latest) gives: a message, bytes, or a value and why there is none. The input lends it until
    /// its next look.
    type Seen<'a>
    where
        Self: 'a;
    #[doc(hidden)]
    type Writer: Send;
    #[doc(hidden)]
    type Reader: Send;
    /// What an output copies to its topic.
    #[doc(hidden)]
    type Staged: ?Sized;
    /// What an input knows of a message that it took, beside its rooms.
    #[doc(hidden)]
    type Kept: Copy;
    /// Where an input keeps the messages that it took.
    #[doc(hidden)]
    type Rooms;

    #[doc(hidden)]
    fn with_kind<R>(
        shape: Self::Shape<'_>,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError>;
    #[doc(hidden)]
    fn writer(publication: &Publication) -> Self::Writer;
    #[doc(hidden)]
    fn reader(subscription: &mut Subscription) -> Self::Reader;

    #[doc(hidden)]
    #[inline]
    fn bytes(size: Size) -> usize {
        size.bytes
    }

    #[doc(hidden)]
    #[inline(always)]
    fn try_send_now(
        publication: &mut Publication,
        writer: &mut Self::Writer,
        value: &Self::Value,
        is_stamping: bool,
    ) -> Result<(), Self::NotSent> {
        Self::try_send(publication, writer, value, now_if(is_stamping))
    }

    #[doc(hidden)]
    fn try_send(
        publication: &mut Publication,
        writer: &mut Self::Writer,
        value: &Self::Value,
        sent_ns: u64,
    ) -> Result<(), Self::NotSent>;
    /// Whether there was no room.
    #[doc(hidden)]
    fn is_full(error: &Self::NotSent) -> bool;
    /// Sends a message whose stamp alone means something; false when there is no room.
    #[doc(hidden)]
    fn try_send_blank(publication: &mut Publication, stamp: u64) -> bool;
    #[doc(hidden)]
    fn send(
        publication: &mut Publication,
        writer: &mut Self::Writer,
        value: &Self::Value,
        sent_ns: u64,
        room: (Duration, WaitStrategy),
    ) -> Result<(), Self::NotSent>;
    #[doc(hidden)]
    fn try_recv<'a>(
        subscription: &'a mut Subscription,
        reader: &'a mut Self::Reader,
    ) -> Option<Received<Self::Message<'a>>>;
    #[doc(hidden)]
    fn recv<'a>(
        subscription: &'a mut Subscription,
        reader: &'a mut Self::Reader,
        limit: Duration,
    ) -> Option<Received<Self::Message<'a>>>;
    #[doc(hidden)]
    fn owned(message: Received<Self::Message<'_>>) -> Received<Self::Owned>;
    /// As `owned`, in the memory of one that is not needed any more.
    #[doc(hidden)]
    fn owned_in(message: Received<Self::Message<'_>>, _spare: Option<Self::Owned>) -> Received<Self::Owned> {
        Self::owned(message)
    }
    #[doc(hidden)]
    fn try_recv_into(
        subscription: &mut Subscription,
        reader: &mut Self::Reader,
        into: &mut Self::Place,
    ) -> Option<Received<Self::Placed>>;

    /// What an output copies of a value; `None` where the value is no message of such a topic.
    #[doc(hidden)]
    fn staged<'a>(writer: &'a mut Self::Writer, value: &'a Self::Value, size: Size) -> Option<&'a Self::Staged>;
    #[doc(hidden)]
    fn stage(publication: &mut Publication, staged: &Self::Staged) -> Result<(), NotStaged>;
    /// All of the message's payload, for who knows it as bytes: not for a loop.
    #[doc(hidden)]
    fn payload(staged: &Self::Staged, size: Size) -> Box<[u8]>;
    #[doc(hidden)]
    fn rooms(size: Size) -> Self::Rooms;
    #[doc(hidden)]
    fn take(subscription: &mut Subscription, rooms: &mut Self::Rooms) -> Option<Received<Self::Kept>>;
    /// The message that was taken last is the newest one from now on.
    #[doc(hidden)]
    fn keep(rooms: &mut Self::Rooms);
    #[doc(hidden)]
    fn newest<'a>(rooms: &'a mut Self::Rooms, kept: &'a Received<Self::Kept>) -> Self::Seen<'a>
    where
        Self: 'a;
    /// The message that was taken last, which may have been kept as the newest one.
    #[doc(hidden)]
    fn taken(rooms: &mut Self::Rooms, kept: Received<Self::Kept>, is_newest: bool) -> Self::Message<'_>;
}

/// A kind whose received messages are values, and no bytes that are lent.
#[diagnostic::on_unimplemented(
    message = "an input of `{Self}` has no iterator of messages",
    note = "its bytes are lent, and an iterator cannot lend: call `try_recv` until it gives nothing"
)]
pub trait ByValue: Payload {}

/// A kind whose messages can be written and read where they lie in shared memory.
#[diagnostic::on_unimplemented(
    message = "messages of `{Self}` cannot be lent",
    note = "the bytes of a serialized value are no value: send and receive it"
)]
pub trait InPlace: Payload {
    #[doc(hidden)]
    fn loan(publication: &mut Publication) -> Result<place::Loan<'_>, Self::NotSent>;
    #[doc(hidden)]
    fn borrow<'a>(subscription: &'a mut Subscription, reader: &'a mut Self::Reader) -> Option<place::Sample<'a>>;
    #[doc(hidden)]
    fn value(bytes: &[u8]) -> &Self::Value;
    #[doc(hidden)]
    fn value_mut(bytes: &mut [u8]) -> &mut Self::Value;
}

/// What a publisher of `P` sends: a message or a reference to one, anything of bytes, or a reference to a value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not what a topic of `{P}` carries",
    label = "another message, or a reference to something else",
    note = "of a box, a loan or a sample, give the message in it: `&*it`"
)]
pub trait Sendable<P: Payload + ?Sized> {
    #[doc(hidden)]
    fn value(&self) -> &P::Value;
}

pub(crate) mod sealed {
    /// The kinds are those of this crate: the functions of the trait may change.
    pub trait Sealed {}
}
