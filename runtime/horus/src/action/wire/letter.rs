//! A head and a body as one message.
//!
//! Of messages and layouts that is a layout of both: the head's fields, and behind them one field that is the body. So tools show it, types are
//! compared by field, and its bytes are those of the same message in ROS 2. Of bytes and values it is bytes: the head's, and behind them the body's.

use std::marker::PhantomData;
use std::time::Duration;

use horus_shm::ends::bytes::maximum;
use horus_shm::ends::{Kind, Payload as Size, Publication, Subscription};
use horus_shm::ring::NotStaged;
use postcard::Error as Format;

use super::carried::{Carried, Form};
use crate::message::Message;
use crate::topic::{OpenError, Payload, Received, Rooms, SendError, Sendable, SerializeError, WaitStrategy};

/// What stands before a body.
pub trait Head: Message {
    /// What the type of the whole is called after the body's.
    const SUFFIX: &'static str;
    /// The name of the body's field.
    const BODY: &'static str;
}

/// The kind of topics whose messages are a head `H` and a body of the kind `P`.
pub struct Letter<H, P: ?Sized>(PhantomData<fn(&H, &P)>);

/// A letter that came: its head, and the bytes of its body.
#[derive(Clone, Copy, Debug)]
pub struct Opened<'a, H> {
    pub head: H,
    pub body: &'a [u8],
}

/// Room to put a letter together, made once.
pub struct Sealed {
    room: Box<[u8]>,
    length: usize,
}

impl Sealed {
    /// For letters of at most so many bytes.
    pub fn of(bytes: usize) -> Self {
        Self { room: vec![0; bytes].into_boxed_slice(), length: 0 }
    }

    /// Puts a letter together: what is to be sent. Without a body, it has zeros where all letters are of one length.
    pub fn seal<H: Head, P: Carried + ?Sized>(
        &mut self,
        head: &H,
        body: Option<&P::Value>,
    ) -> Result<&[u8], SerializeError> {
        let (front, room) = self.room.split_at_mut(size_of::<H>());
        front.copy_from_slice(head.as_bytes());
        let used = match body {
            Some(body) => P::put(body, room)?,
            None if P::HAS_LENGTH => 0,
            None => {
                room.fill(0);
                room.len()
            }
        };
        self.length = size_of::<H>() + used;
        Ok(self.last())
    }

    /// The letter that was put together last.
    pub fn last(&self) -> &[u8] {
        &self.room[..self.length]
    }
}

impl<H: Head, P: Carried + ?Sized> Letter<H, P> {
    const FORM: Form = Form { head: H::FIELDS, head_bytes: size_of::<H>(), suffix: H::SUFFIX, body: H::BODY };

    fn open(bytes: &[u8]) -> Opened<'_, H> {
        // A peer of the same group may have sent a shorter one.
        match H::read_from_prefix(bytes) {
            Ok((head, body)) => Opened { head, body },
            Err(_) => Opened { head: H::new_zeroed(), body: &[] },
        }
    }

    fn recv_into(subscription: &mut Subscription, room: &mut [u8]) -> Option<Received<usize>> {
        if P::HAS_LENGTH {
            return subscription.try_recv_bytes(room);
        }
        let received = subscription.try_recv_whole(room)?;
        Some(received.map(|()| room.len()))
    }
}

impl<H, P: ?Sized> crate::topic::payload::sealed::Sealed for Letter<H, P> {}

impl<H: Head, P: Carried + ?Sized> Payload for Letter<H, P> {
    /// A letter that was [sealed](Sealed::seal).
    type Value = [u8];
    type Shape<'a> = P::Shape<'a>;
    type NotSent = SendError;
    type Message<'a> = Opened<'a, H>;
    type Owned = (H, Result<P::Body, Format>);
    type Place = [u8];
    type Placed = usize;
    type Seen<'a>
        = Opened<'a, H>
    where
        Self: 'a;
    type Writer = ();
    type Reader = Box<[u8]>;
    type Staged = [u8];
    /// The letter's length.
    type Kept = usize;
    type Rooms = Rooms;

    fn with_kind<R>(
        shape: P::Shape<'_>,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        P::with_letter(shape, &Self::FORM, open)
    }

    fn writer(_: &Publication) {}

    fn reader(subscription: &mut Subscription) -> Box<[u8]> {
        vec![0; Self::bytes(subscription.payload())].into_boxed_slice()
    }

    fn bytes(size: Size) -> usize {
        if P::HAS_LENGTH { maximum(size) } else { size.bytes }
    }

    fn try_send(publication: &mut Publication, (): &mut (), letter: &[u8], sent_ns: u64) -> Result<(), SendError> {
        match P::HAS_LENGTH {
            true => publication.try_send_bytes(letter, sent_ns)?,
            false => publication.try_send_whole(letter, sent_ns).map_err(|_full| SendError::Full)?,
        };
        Ok(())
    }

    fn is_full(error: &SendError) -> bool {
        matches!(error, SendError::Full)
    }

    fn try_send_blank(publication: &mut Publication, stamp: u64) -> bool {
        if P::HAS_LENGTH {
            return publication.try_send_bytes(&[], stamp).is_ok();
        }
        publication.try_send_zeros(stamp).is_ok()
    }

    fn send(
        publication: &mut Publication,
        (): &mut (),
        letter: &[u8],
        sent_ns: u64,
        (limit, wait_strategy): (Duration, WaitStrategy),
    ) -> Result<(), SendError> {
        match P::HAS_LENGTH {
            true => publication.send_bytes(letter, sent_ns, limit, wait_strategy)?,
            false => publication.send_whole(letter, sent_ns, limit, wait_strategy).map_err(|_full| SendError::Full)?,
        };
        Ok(())
    }

    fn try_recv<'a>(subscription: &'a mut Subscription, room: &'a mut Box<[u8]>) -> Option<Received<Opened<'a, H>>> {
        let received = Self::recv_into(subscription, room)?;
        Some(received.map(|length| Self::open(&room[..length])))
    }

    fn recv<'a>(
        subscription: &'a mut Subscription,
        room: &'a mut Box<[u8]>,
        limit: Duration,
    ) -> Option<Received<Opened<'a, H>>> {
        let received = subscription.wait_for(limit, |this| Self::recv_into(this, room))?;
        Some(received.map(|length| Self::open(&room[..length])))
    }

    fn owned(letter: Received<Opened<'_, H>>) -> Received<(H, Result<P::Body, Format>)> {
        letter.map(|Opened { head, body }| (head, P::get(body)))
    }

    fn try_recv_into(subscription: &mut Subscription, _: &mut Box<[u8]>, into: &mut [u8]) -> Option<Received<usize>> {
        Self::recv_into(subscription, into)
    }

    fn staged<'a>((): &'a mut (), letter: &'a [u8], size: Size) -> Option<&'a [u8]> {
        (letter.len() <= Self::bytes(size)).then_some(letter)
    }

    fn stage(publication: &mut Publication, letter: &[u8]) -> Result<(), NotStaged> {
        if P::HAS_LENGTH { publication.stage_bytes(letter) } else { publication.stage_whole(letter) }
    }

    fn payload(letter: &[u8], size: Size) -> Box<[u8]> {
        if P::HAS_LENGTH { <[u8]>::payload(letter, size) } else { letter.into() }
    }

    fn rooms(size: Size) -> Rooms {
        Rooms::of(Self::bytes(size))
    }

    fn take(subscription: &mut Subscription, rooms: &mut Rooms) -> Option<Received<usize>> {
        Self::recv_into(subscription, &mut rooms.coming)
    }

    fn keep(rooms: &mut Rooms) {
        rooms.keep();
    }

    fn newest<'a>(rooms: &'a mut Rooms, kept: &'a Received<usize>) -> Opened<'a, H>
    where
        Self: 'a,
    {
        Self::open(&rooms.newest[..kept.message])
    }

    fn taken(rooms: &mut Rooms, kept: Received<usize>, is_newest: bool) -> Opened<'_, H> {
        Self::open(&rooms.taken(is_newest)[..kept.message])
    }
}

impl<H: Head, P: Carried + ?Sized, B: AsRef<[u8]>> Sendable<Letter<H, P>> for B {
    fn value(&self) -> &[u8] {
        self.as_ref()
    }
}
