//! What a goal, a feedback or a result can be: every kind of payload, as bytes behind a head.

use postcard::Error as Format;
use serde::Serialize;
use serde::de::DeserializeOwned;

use horus_shm::ends::{Kind, Payload as Size};

use crate::message::Message;
use crate::message::layout::Layout;
use crate::topic::{Bytes, OpenError, Payload, Raw, Serde, SerializeError};

/// What goals, feedbacks and results can be: every [kind](crate::topic::payload) of payload.
///
/// The hidden functions are what an action's ends call.
pub trait Carried: Payload {
    /// What an end keeps of one: a message, a value, or bytes in a `Vec` of their own.
    type Body;
    /// Whether each message has a length of its own.
    #[doc(hidden)]
    const HAS_LENGTH: bool;

    /// What the topic carries: the fields of a head, and behind them one of these.
    #[doc(hidden)]
    fn with_letter<R>(
        shape: Self::Shape<'_>,
        form: &Form,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError>;
    /// Writes one, and says how many bytes it has.
    #[doc(hidden)]
    fn put(value: &Self::Value, room: &mut [u8]) -> Result<usize, SerializeError>;
    /// What the bytes are.
    #[doc(hidden)]
    fn get(bytes: &[u8]) -> Result<Self::Body, Format>;
    /// What is kept, as it is sent.
    #[doc(hidden)]
    fn seen(body: &Self::Body) -> &Self::Value;
}

/// How a head and a body are one message.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub head: &'static [crate::message::Field],
    pub head_bytes: usize,
    pub suffix: &'static str,
    pub body: &'static str,
}

fn with_layout<R>(
    body: &Layout,
    form: &Form,
    open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
) -> Result<R, OpenError> {
    let name = format!("{}{}", body.type_name(), form.suffix);
    Layout::behind(form.head, &name, form.body, body).with_kind(open)
}

fn with_bytes<R>(
    shape: Bytes<'_>,
    form: &Form,
    open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
) -> Result<R, OpenError> {
    let name = format!("{}{}", shape.type_name(), form.suffix);
    Bytes::of_type(&name, shape.maximum().saturating_add(form.head_bytes)).with_kind(open)
}

/// Copies all bytes, if they are no more than there is room for.
fn copy(bytes: &[u8], room: &mut [u8]) -> Result<usize, SerializeError> {
    let maximum = room.len();
    room.get_mut(..bytes.len()).ok_or(SerializeError::TooLong { maximum })?.copy_from_slice(bytes);
    Ok(bytes.len())
}

impl<M: Message> Carried for M {
    type Body = M;
    const HAS_LENGTH: bool = false;

    fn with_letter<R>(
        (): (),
        form: &Form,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        with_layout(&Layout::of::<M>(), form, open)
    }

    fn put(value: &M, room: &mut [u8]) -> Result<usize, SerializeError> {
        copy(value.as_bytes(), room)
    }

    fn get(bytes: &[u8]) -> Result<M, Format> {
        M::read_from_bytes(bytes).map_err(|_| Format::DeserializeUnexpectedEnd)
    }

    fn seen(body: &M) -> &M {
        body
    }
}

impl Carried for Raw {
    type Body = Vec<u8>;
    const HAS_LENGTH: bool = false;

    fn with_letter<R>(
        layout: &Layout,
        form: &Form,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        with_layout(layout, form, open)
    }

    fn put(value: &[u8], room: &mut [u8]) -> Result<usize, SerializeError> {
        assert_eq!(value.len(), room.len(), "bytes of a message of this layout");
        copy(value, room)
    }

    fn get(bytes: &[u8]) -> Result<Vec<u8>, Format> {
        Ok(bytes.to_vec())
    }

    fn seen(body: &Vec<u8>) -> &[u8] {
        body
    }
}

impl Carried for [u8] {
    type Body = Vec<u8>;
    const HAS_LENGTH: bool = true;

    fn with_letter<R>(
        shape: Bytes<'_>,
        form: &Form,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        with_bytes(shape, form, open)
    }

    fn put(value: &[u8], room: &mut [u8]) -> Result<usize, SerializeError> {
        copy(value, room)
    }

    fn get(bytes: &[u8]) -> Result<Vec<u8>, Format> {
        Ok(bytes.to_vec())
    }

    fn seen(body: &Vec<u8>) -> &[u8] {
        body
    }
}

impl<T: Serialize + DeserializeOwned> Carried for Serde<T> {
    type Body = T;
    const HAS_LENGTH: bool = true;

    fn with_letter<R>(
        shape: Bytes<'_>,
        form: &Form,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        with_bytes(shape, form, open)
    }

    fn put(value: &T, room: &mut [u8]) -> Result<usize, SerializeError> {
        let maximum = room.len();
        match postcard::to_slice(value, room) {
            Ok(used) => Ok(used.len()),
            Err(Format::SerializeBufferFull) => Err(SerializeError::TooLong { maximum }),
            Err(error) => Err(SerializeError::Format(error)),
        }
    }

    fn get(bytes: &[u8]) -> Result<T, Format> {
        postcard::from_bytes(bytes)
    }

    fn seen(body: &T) -> &T {
        body
    }
}
