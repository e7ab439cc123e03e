//! Layouts that are known at run time: [`Raw`].

use std::time::Duration;

use horus_shm::ends::place::{self, Copied};
use horus_shm::ends::{Kind, Payload as Size, Publication, Sent, Subscription};
use horus_shm::ring::NotStaged;

use super::rooms::Rooms;
use super::sealed::Sealed;
use super::{Full, InPlace, OpenError, Payload, Received, Sendable, WaitStrategy, now_if};
use crate::message::layout::Layout;
use crate::topic::{Publisher, Subscriber};

/// The kind of topics whose messages have a layout that is known only at run time: `Publisher<Raw>`.
///
/// A message is bytes, and a [`Layout`] says what they mean.
///
/// ```
/// use std::time::Duration;
/// use horus::topic::{Options, Publisher, Raw, Subscriber};
///
/// # let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
/// let layout = "message example/WheelSpeed\n left f64\n right f64".parse()?;
/// let options = Options::latest(8);
/// # let options = options.directory(scratch.path());
/// let mut publisher = Publisher::<Raw>::open_as("wheels", &layout, &options)?;
/// let mut subscriber = Subscriber::<Raw>::open_as("wheels", &layout, &options)?;
///
/// publisher.try_send([7; 16])?;
/// let received = subscriber.recv_timeout(Duration::from_millis(100)).expect("it was sent");
/// assert_eq!(received.message, [7; 16]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A subscriber makes room for a message when `try_recv`, `recv` or `messages` is called first, which allocates once. `try_recv_into` needs
/// none.
///
/// # Panics
/// What sends, and what receives to a place of the caller's, panics when the bytes are not as many as the layout says.
pub enum Raw {}

impl Sealed for Raw {}

impl Payload for Raw {
    type Value = [u8];
    type Shape<'a> = &'a Layout;
    type NotSent = Full<()>;
    type Message<'a> = &'a [u8];
    type Owned = Vec<u8>;
    type Place = [u8];
    type Placed = ();
    type Seen<'a> = &'a [u8];
    type Writer = ();
    type Reader = Copied;
    type Staged = [u8];
    type Kept = ();
    type Rooms = Rooms;

    fn with_kind<R>(
        layout: &Layout,
        open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>,
    ) -> Result<R, OpenError> {
        layout.with_kind(open)
    }

    fn writer(_: &Publication) {}

    fn reader(subscription: &mut Subscription) -> Copied {
        Copied::for_messages_of(subscription)
    }

    #[inline]
    fn try_send_now(
        publication: &mut Publication,
        (): &mut (),
        message: &[u8],
        is_stamping: bool,
    ) -> Result<(), Full<()>> {
        match is_stamping {
            true => try_send_stamped_now(publication, message),
            false => Self::try_send(publication, &mut (), message, 0),
        }
    }

    #[inline]
    fn try_send(publication: &mut Publication, (): &mut (), message: &[u8], sent_ns: u64) -> Result<(), Full<()>> {
        publication.try_send_whole(message, sent_ns).map(|_sequence| ())
    }

    fn is_full(_: &Full<()>) -> bool {
        true
    }

    fn try_send_blank(publication: &mut Publication, stamp: u64) -> bool {
        publication.try_send_zeros(stamp).is_ok()
    }

    fn send(
        publication: &mut Publication,
        (): &mut (),
        message: &[u8],
        sent_ns: u64,
        (limit, wait_strategy): (Duration, WaitStrategy),
    ) -> Result<(), Full<()>> {
        publication.send_whole(message, sent_ns, limit, wait_strategy).map(|_sequence| ())
    }

    fn try_recv<'a>(subscription: &'a mut Subscription, room: &'a mut Copied) -> Option<Received<&'a [u8]>> {
        let received = subscription.try_recv_copied(room)?;
        Some(received.map(|bytes| room.bytes(bytes)))
    }

    fn recv<'a>(
        subscription: &'a mut Subscription,
        room: &'a mut Copied,
        limit: Duration,
    ) -> Option<Received<&'a [u8]>> {
        let received = subscription.wait_for(limit, |this| this.try_recv_copied(room))?;
        Some(received.map(|bytes| room.bytes(bytes)))
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
    fn try_recv_into(subscription: &mut Subscription, _: &mut Copied, into: &mut [u8]) -> Option<Received<()>> {
        subscription.try_recv_whole(into)
    }

    #[inline]
    fn staged<'a>((): &'a mut (), message: &'a [u8], size: Size) -> Option<&'a [u8]> {
        assert_eq!(message.len(), size.bytes, "bytes of a message of this output");
        Some(message)
    }

    #[inline]
    fn stage(publication: &mut Publication, message: &[u8]) -> Result<(), NotStaged> {
        publication.stage_whole(message)
    }

    fn payload(message: &[u8], _: Size) -> Box<[u8]> {
        message.into()
    }

    fn rooms(size: Size) -> Rooms {
        Rooms::of(size.bytes)
    }

    #[inline]
    fn take(subscription: &mut Subscription, rooms: &mut Rooms) -> Option<Received<()>> {
        subscription.try_recv_whole(&mut rooms.coming)
    }

    #[inline]
    fn keep(rooms: &mut Rooms) {
        rooms.keep();
    }

    #[inline]
    fn newest<'a>(rooms: &'a mut Rooms, _: &'a Received<()>) -> &'a [u8]
    where
        Self: 'a,
    {
        &rooms.newest
    }

    #[inline]
    fn taken(rooms: &mut Rooms, _: Received<()>, is_newest: bool) -> &[u8] {
        rooms.taken(is_newest)
    }
}

/// Apart, so that reading the clock costs others no registers.
#[inline(never)]
fn try_send_stamped_now(publication: &mut Publication, message: &[u8]) -> Result<(), Full<()>> {
    Raw::try_send(publication, &mut (), message, now_if(true))
}

impl InPlace for Raw {
    #[inline]
    fn loan(publication: &mut Publication) -> Result<place::Loan<'_>, Full<()>> {
        publication.loan()
    }

    #[inline]
    fn borrow<'a>(subscription: &'a mut Subscription, copied: &'a mut Copied) -> Option<place::Sample<'a>> {
        subscription.sample(copied)
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

impl<B: AsRef<[u8]>> Sendable<Raw> for B {
    #[inline(always)]
    fn value(&self) -> &[u8] {
        self.as_ref()
    }
}

/// As many, if that is one word or two: what a wheel is told, or a clock.
fn short_or_0(bytes: usize) -> usize {
    if matches!(bytes, 8 | 16) { bytes } else { 0 }
}

/// Hidden: the short way of the C ABI, which is no faster for Rust.
#[doc(hidden)]
impl Publisher<Raw> {
    /// How many bytes a message has that [`try_send_at_once`](Self::try_send_at_once) may be used for; 0 when there is none.
    pub fn short_bytes(&self) -> usize {
        if self.is_stamping { 0 } else { short_or_0(self.message_bytes()) }
    }

    /// Sends a message of [`short_bytes`](Self::short_bytes) bytes. Returns `None`, and sends nothing, when room must be searched; then
    /// call `try_send`. [`ring`](Self::ring) wakes subscribers that are asleep.
    #[inline(always)]
    pub fn try_send_at_once<const BYTES: usize>(&mut self, message: &[u8; BYTES]) -> Option<Sent> {
        self.publication.try_send_at_once(message, 0)
    }

    /// Wakes those of whom [`try_send_at_once`](Self::try_send_at_once) tells.
    pub fn ring(&mut self, asleep: u64) {
        self.publication.ring(asleep);
    }
}

/// Hidden: the short way of the C ABI, which is no faster for Rust.
#[doc(hidden)]
impl Subscriber<Raw> {
    /// How many bytes a message has that [`try_recv_at_once`](Self::try_recv_at_once) may be used for; 0 when there is none.
    pub fn short_bytes(&self) -> usize {
        short_or_0(self.message_bytes())
    }

    /// As `try_recv_into` of [`short_bytes`](Self::short_bytes) bytes. Returns `None`, and receives nothing, where several publish, none
    /// does yet, or the next message was overwritten; then call `try_recv_into`.
    #[inline(always)]
    pub fn try_recv_at_once<const BYTES: usize>(&mut self, into: &mut [u8; BYTES]) -> Option<Option<Received<()>>> {
        self.subscription.try_recv_at_once(into)
    }
}
