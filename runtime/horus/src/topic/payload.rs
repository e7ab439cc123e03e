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
//! The test `payload_matrix.rs` calls every method for every kind.

mod bytes;
mod message;
mod raw;
mod serde;

use std::time::Duration;

use horus_shm::ends::place;
use horus_shm::ends::{Kind, Payload as Size, Publication, Subscription};

pub use self::bytes::Bytes;
pub use self::raw::Raw;
pub use self::serde::{DeserializeError, Serde, SerializeError};

use super::{Full, OpenError, Received, Waiting, now_if};

/// What a topic carries. See the [table](self) of kinds.
///
/// The functions without documentation are what the ends of a topic call. A program calls the ends.
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
    type Shape<'a>;
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
    #[doc(hidden)]
    type Writer;
    #[doc(hidden)]
    type Reader;

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
    #[doc(hidden)]
    fn send(
        publication: &mut Publication,
        writer: &mut Self::Writer,
        value: &Self::Value,
        sent_ns: u64,
        room: (Duration, Waiting),
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
    #[doc(hidden)]
    fn try_recv_into(
        subscription: &mut Subscription,
        reader: &mut Self::Reader,
        into: &mut Self::Place,
    ) -> Option<Received<Self::Placed>>;
}

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

mod sealed {
    /// The kinds are those of this crate: the functions of the trait may change.
    pub trait Sealed {}
}
