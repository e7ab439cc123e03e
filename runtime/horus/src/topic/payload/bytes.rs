//! Bytes: `[u8]`.

use std::time::Duration;

use horus_shm::ends::bytes::{maximum, payload, whole};
use horus_shm::ends::{Kind, Payload as Size, Publication, Subscription, place};
use horus_shm::ring::NotStaged;

use super::rooms::Rooms;
use super::sealed::Sealed;
use super::{InPlace, OpenError, Payload, Received, Sendable, WaitStrategy};
use crate::topic::{Loan, Publisher, SendError};

/// What both ends say of a topic whose messages have no fixed size.
///
/// Bytes of any length up to a maximum, whose meaning is the program's own business.
///
/// ```
/// use horus::topic::{Bytes, Options, Publisher, Subscriber};
///
/// # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
/// let options = Options::reliable(16);
/// # let options = options.directory(scratch.path());
/// let mut publisher = Publisher::<[u8]>::open_as("log", Bytes::up_to(256), &options).unwrap();
/// let mut subscriber = Subscriber::<[u8]>::open_as("log", Bytes::up_to(256), &options).unwrap();
///
/// publisher.try_send(b"left wheel slips").unwrap();
/// assert_eq!(subscriber.try_recv().unwrap().message, b"left wheel slips");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<'a> {
    type_name: &'a str,
    maximum: usize,
}

impl Bytes<'static> {
    /// What a topic of bytes is called in listings, unless something else gives its bytes a meaning.
    pub const TYPE_NAME: &'static str = "horus/Bytes";

    /// Bytes without a meaning that others know, at most `maximum` a message.
    pub fn up_to(maximum: usize) -> Self {
        Self { type_name: Self::TYPE_NAME, maximum }
    }
}

impl<'a> Bytes<'a> {
    /// Bytes, at most `maximum` a message, of a type that both ends know by this name: such as that of a value which is serialized.
    pub const fn of_type(type_name: &'a str, maximum: usize) -> Self {
        Self { type_name, maximum }
    }

    /// How the type is called.
    pub(crate) fn type_name(&self) -> &'a str {
        self.type_name
    }

    /// The most bytes of a message.
    pub(crate) fn maximum(&self) -> usize {
        self.maximum
    }

    pub(crate) fn with_kind<R>(
        self,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        open(Kind { type_name: self.type_name, layout_hash: 0, description: "" }, payload(self.maximum)?)
    }
}

/// Room for the longest message of a topic.
pub(super) fn room(size: Size) -> Box<[u8]> {
    vec![0; maximum(size)].into_boxed_slice()
}

impl Sealed for [u8] {}

impl Payload for [u8] {
    type Value = [u8];
    type Shape<'a> = Bytes<'a>;
    type NotSent = SendError;
    type Message<'a> = &'a [u8];
    type Owned = Vec<u8>;
    type Place = [u8];
    type Placed = usize;
    type Seen<'a> = &'a [u8];
    type Writer = ();
    type Reader = Box<[u8]>;
    type Staged = [u8];
    /// The message's length.
    type Kept = usize;
    type Rooms = Rooms;

    fn with_kind<R>(
        shape: Bytes<'_>,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        shape.with_kind(open)
    }

    fn writer(_: &Publication) {}

    fn reader(subscription: &mut Subscription) -> Box<[u8]> {
        room(subscription.payload())
    }

    #[inline]
    fn bytes(size: Size) -> usize {
        maximum(size)
    }

    #[inline]
    fn try_send(publication: &mut Publication, (): &mut (), message: &[u8], sent_ns: u64) -> Result<(), SendError> {
        publication.try_send_bytes(message, sent_ns).map(|_sequence| ())
    }

    fn is_full(error: &SendError) -> bool {
        matches!(error, SendError::Full)
    }

    fn try_send_blank(publication: &mut Publication, stamp: u64) -> bool {
        publication.try_send_bytes(&[], stamp).is_ok()
    }

    fn send(
        publication: &mut Publication,
        (): &mut (),
        message: &[u8],
        sent_ns: u64,
        (limit, wait_strategy): (Duration, WaitStrategy),
    ) -> Result<(), SendError> {
        publication.send_bytes(message, sent_ns, limit, wait_strategy).map(|_sequence| ())
    }

    #[inline]
    fn try_recv<'a>(subscription: &'a mut Subscription, room: &'a mut Box<[u8]>) -> Option<Received<&'a [u8]>> {
        let received = subscription.try_recv_bytes(room)?;
        Some(received.map(|bytes| &room[..bytes]))
    }

    fn recv<'a>(
        subscription: &'a mut Subscription,
        room: &'a mut Box<[u8]>,
        limit: Duration,
    ) -> Option<Received<&'a [u8]>> {
        let received = subscription.wait_for(limit, |this| this.try_recv_bytes(room))?;
        Some(received.map(|bytes| &room[..bytes]))
    }

    fn owned_in(message: Received<&[u8]>, spare: Option<Vec<u8>>) -> Received<Vec<u8>> {
        let mut room = spare.unwrap_or_default();
        room.clear();
        message.map(|bytes| {
            room.extend_from_slice(bytes);
            room
        })
    }

    fn owned(message: Received<&[u8]>) -> Received<Vec<u8>> {
        message.map(<[u8]>::to_vec)
    }

    #[inline]
    fn try_recv_into(subscription: &mut Subscription, _: &mut Box<[u8]>, into: &mut [u8]) -> Option<Received<usize>> {
        let longest = maximum(subscription.payload());
        assert!(into.len() >= longest, "{} bytes are no room for a message of up to {longest}", into.len());
        subscription.try_recv_bytes(into)
    }

    #[inline]
    fn staged<'a>((): &'a mut (), message: &'a [u8], size: Size) -> Option<&'a [u8]> {
        (message.len() <= maximum(size)).then_some(message)
    }

    #[inline]
    fn stage(publication: &mut Publication, message: &[u8]) -> Result<(), NotStaged> {
        publication.stage_bytes(message)
    }

    fn payload(message: &[u8], size: Size) -> Box<[u8]> {
        whole(message, size)
    }

    fn rooms(size: Size) -> Rooms {
        Rooms::of(maximum(size))
    }

    #[inline]
    fn take(subscription: &mut Subscription, rooms: &mut Rooms) -> Option<Received<usize>> {
        subscription.try_recv_bytes(&mut rooms.coming)
    }

    #[inline]
    fn keep(rooms: &mut Rooms) {
        rooms.keep();
    }

    #[inline]
    fn newest<'a>(rooms: &'a mut Rooms, kept: &'a Received<usize>) -> &'a [u8]
    where
        Self: 'a,
    {
        &rooms.newest[..kept.message]
    }

    #[inline]
    fn taken(rooms: &mut Rooms, kept: Received<usize>, is_newest: bool) -> &[u8] {
        &rooms.taken(is_newest)[..kept.message]
    }
}

impl InPlace for [u8] {
    #[inline]
    fn loan(publication: &mut Publication) -> Result<place::Loan<'_>, SendError> {
        publication.loan_bytes(maximum(publication.payload()))
    }

    #[inline]
    fn borrow<'a>(subscription: &'a mut Subscription, room: &'a mut Box<[u8]>) -> Option<place::Sample<'a>> {
        subscription.sample_of_bytes(room)
    }

    #[inline]
    fn value(bytes: &[u8]) -> &[u8] {
        bytes
    }

    #[inline]
    fn value_mut(bytes: &mut [u8]) -> &mut [u8] {
        bytes
    }
}

impl<B: AsRef<[u8]>> Sendable<[u8]> for B {
    #[inline(always)]
    fn value(&self) -> &[u8] {
        self.as_ref()
    }
}

impl Publisher<[u8]> {
    /// As [`loan`](Self::loan), for a message of `bytes` bytes.
    ///
    /// # Errors
    /// When there is no room, or `bytes` is more than the maximum.
    pub fn loan_of(&mut self, bytes: usize) -> Result<Loan<'_, [u8]>, SendError> {
        self.lend(|publication| publication.loan_bytes(bytes))
    }
}

impl Loan<'_, [u8]> {
    /// Sends only the first `bytes` bytes.
    ///
    /// # Panics
    /// When the loan has fewer.
    pub fn publish_first(mut self, bytes: usize) {
        self.loan.shorten(bytes);
        self.publish();
    }
}
