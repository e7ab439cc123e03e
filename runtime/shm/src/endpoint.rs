//! The ends of a topic whose messages are plain data of one type: by copy, or in place.
//!
//! # In place or by copy
//! The copying calls ([`Writer::try_send`], [`Reader::try_recv`]) trust nobody: what a hostile peer scribbles into a slot
//! meanwhile yields wrong messages at worst. The calls in place ([`Writer::loan`], [`Reader::borrow`]) lend a reference
//! into the segment. No process that uses this crate changes what is lent; one that may write to the topic and ignores
//! the protocol could, and then the reader's program has the data race that Rust's references exclude. On a `latest` topic,
//! and of a reliable one's history, a reader that copies may besides copy from a slot whose writer fills it through a loan:
//! what it copied is thrown away, as everywhere, but the writer's accesses are not atomic there, which Rust's rules have no
//! name for. Who is let into a topic's group is trusted that far where messages are read in place.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use crate::copy;
use crate::directory::{Directory, TopicName};
use crate::error::OpenError;
use crate::map::LockRefused;
use crate::opening::Payload;
pub use crate::opening::{Joining, Kind, Making};
use crate::publication::Publication;
use crate::ring::{Full, Plain, Received, Taken, payload_word};
use crate::segment::Segment;
use crate::subscription::Subscription;
use crate::sync::AtomicU64;
use crate::wait::{self, Waiting};

/// The publishing end of a topic.
pub struct Writer<T: Plain> {
    publication: Publication,
    _message: PhantomData<fn(T)>,
}

impl<T: Plain> Writer<T> {
    /// Opens the topic `name`, making it if nobody living uses it, and becomes one of its publishers. Removes what killed
    /// peers left in the directory, other topics included.
    ///
    /// # Errors
    /// Every [`OpenError`] but `NotFound` and `SubscribersFull`. In particular a topic in use that was made otherwise
    /// than asked for here (type, layout, policy, capacity, publishers) is refused, not changed under its users.
    pub fn create_or_open(
        directory: &Directory,
        name: &TopicName,
        kind: Kind<'_>,
        making: &Making,
    ) -> Result<Self, OpenError> {
        let publication = Publication::create_or_open(directory, name, kind, Payload::of::<T>(), making)?;
        Ok(Self { publication, _message: PhantomData })
    }

    /// Sends a message stamped `sent_ns` and returns its sequence number; gives it back when there is no room.
    ///
    /// Wait-free; no allocation, and no system call unless a subscriber sleeps.
    #[inline(always)]
    pub fn try_send(&mut self, message: T, sent_ns: u64) -> Result<u64, Full<T>> {
        self.try_send_from(&message, sent_ns).map_err(|Full(())| Full(message))
    }

    /// As [`try_send`](Self::try_send), from where the message stands: spares large ones a move.
    #[inline(always)]
    pub fn try_send_from(&mut self, message: &T, sent_ns: u64) -> Result<u64, Full<()>> {
        send(&mut self.publication, message, sent_ns).ok_or(Full(()))
    }

    /// As [`try_send`](Self::try_send), but waits for room at most `limit`, burying dead subscribers meanwhile.
    ///
    /// A send that finds room at once is no slower than `try_send`. One that waits makes system calls (never an
    /// allocation) to find out who is dead.
    pub fn send(&mut self, message: T, sent_ns: u64, limit: Duration, waiting: Waiting) -> Result<u64, Full<T>> {
        if let Ok(sequence) = self.try_send(message, sent_ns) {
            return Ok(sequence);
        }
        let sent = self.publication.wait_for_room(limit, waiting, |publication| send(publication, &message, sent_ns));
        sent.ok_or(Full(message))
    }

    /// Lends the next message's place, to be filled there and then published. What stands there first is some older
    /// message, or zeros.
    pub fn loan(&mut self) -> Result<Loan<'_, T>, Full<()>> {
        if self.publication.begin() { Ok(Loan { writer: self }) } else { Err(Full(())) }
    }

    /// Takes dead subscribers off the topic, so that they hold a reliable lane no longer; returns how many.
    ///
    /// Makes a few system calls for each subscriber, allocates nothing, waits for nothing: while another process holds
    /// the segment's lock, it does nothing and returns 0.
    pub fn bury_subscribers(&mut self) -> usize {
        self.publication.bury_subscribers()
    }

    /// How many living processes' subscribers there are. Takes the segment's lock: not for a real-time loop.
    pub fn subscribers(&self) -> Result<usize, OpenError> {
        self.publication.subscribers()
    }

    /// Sequence number that the next message will have.
    pub fn position(&self) -> u64 {
        self.publication.position()
    }

    /// Number of the lane that this publisher owns.
    pub fn lane(&self) -> usize {
        self.publication.lane()
    }

    /// Whether the kernel keeps the segment in memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.segment().memory_lock()
    }

    /// The segment, for its path and header.
    pub fn segment(&self) -> &Segment {
        self.publication.segment()
    }

    /// The words of the slot of message `sequence`, for whoever plays with a slot and sends no messages: the cache-line
    /// floor of `horus-measure`.
    pub fn words(&self, sequence: u64) -> &[AtomicU64] {
        self.publication.words(sequence)
    }
}

#[inline(always)]
fn send<T: Plain>(publication: &mut Publication, message: &T, sent_ns: u64) -> Option<u64> {
    let fill = |slot: &[AtomicU64]| copy::store(&slot[payload_word(align_of::<T>())..], message.as_bytes());
    publication.send_with(sent_ns, fill)
}

/// The place of a message that is being written; dropped without [`publish`](Self::publish), it was never sent.
#[must_use = "a loan that is not published sends nothing"]
pub struct Loan<'a, T: Plain> {
    writer: &'a mut Writer<T>,
}

impl<T: Plain> Loan<'_, T> {
    /// Sends the message, stamped `sent_ns`, and returns its sequence number.
    pub fn publish(self, sent_ns: u64) -> u64 {
        self.writer.publication.commit(sent_ns)
    }

    fn place(&self) -> *mut T {
        place_of(self.writer.publication.slot())
    }
}

/// The payload in a slot.
fn place_of<T: Plain>(slot: &[AtomicU64]) -> *mut T {
    let payload = &slot[payload_word(align_of::<T>())..];
    assert!(size_of_val(payload) >= size_of::<T>());
    payload.as_ptr().cast_mut().cast()
}

impl<T: Plain> Deref for Loan<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: inside of the slot, by the assertion, and aligned: slots start on cache lines and the layout places the
        // payload by its alignment. Any bytes are a `T`. Nobody who follows the protocol writes to a slot that was begun
        // but its writer, which this value borrows, nor uses what it reads there; see the module's text for the others.
        unsafe { &*self.place() }
    }
}

impl<T: Plain> DerefMut for Loan<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above. Atomics may be written through the shared reference that the pointer comes from.
        unsafe { &mut *self.place() }
    }
}

/// A subscribing end of a topic.
pub struct Reader<T: Plain> {
    subscription: Subscription,
    /// Where [`borrow`](Self::borrow) copies messages to that cannot be held in place. Made at opening where that is to
    /// be expected.
    copied: Option<Box<T>>,
}

impl<T: Plain> Reader<T> {
    /// Joins the topic `name`. Removes what killed peers left in the directory, other topics included.
    ///
    /// # Errors
    /// Every [`OpenError`] but `PublishersFull` and `NoSpace` for the file; `NotFound` when nobody published in time.
    pub fn open(directory: &Directory, name: &TopicName, kind: Kind<'_>, joining: Joining) -> Result<Self, OpenError> {
        let mut subscription = Subscription::open(directory, name, kind, Payload::of::<T>(), joining)?;
        let copied = if subscription.can_hold() { None } else { Some(zeroed_box()) };
        Ok(Self { subscription, copied })
    }

    /// The next message, or `None` when it has not been sent yet. Wait-free; no system call, no allocation.
    #[inline(always)]
    pub fn try_recv(&mut self) -> Option<Received<T>> {
        receive(&mut self.subscription)
    }

    /// As [`try_recv`](Self::try_recv), into a place of the caller's: spares large messages a move. `into` keeps what it
    /// holds, or gets what nobody sent, when this returns `None`.
    #[inline(always)]
    pub fn try_recv_into(&mut self, into: &mut T) -> Option<Received<()>> {
        let (publisher, taken) = take_over(&mut self.subscription, into)?;
        Some(Received { message: (), sequence: taken.sequence, sent_ns: taken.sent_ns, publisher })
    }

    /// Waits, at most `limit`, for the next message.
    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Received<T>> {
        wait::wait(&mut self.subscription, limit, receive)
    }

    /// The next message in its place, or `None` when it has not been sent yet.
    ///
    /// While the sample lives, the message stays: the publisher's next attempt to overwrite it is refused as
    /// [`Full`]. On a `latest` topic with messages below [`HELD_FROM_BYTES`](crate::layout::HELD_FROM_BYTES) bytes, where
    /// that protection would cost more than a copy, the sample is a copy. So it is as long as messages of the
    /// [`history`](Joining::history) are left, which a publisher may overwrite.
    pub fn borrow(&mut self) -> Option<Sample<'_, T>> {
        let is_held = self.subscription.can_hold();
        let (lane, taken) = if is_held {
            self.subscription.hold()?
        } else {
            take_over(&mut self.subscription, &mut **self.copied.get_or_insert_with(zeroed_box))?
        };
        Some(Sample { lane, taken, is_held, reader: self })
    }

    /// Waits, at most `limit`, until [`try_recv`](Self::try_recv) or [`borrow`](Self::borrow) has something to find.
    pub fn wait(&mut self, limit: Duration) -> bool {
        wait::wait(&mut self.subscription, limit, |subscription| subscription.is_ready().then_some(())).is_some()
    }

    /// How many messages were overwritten before this reader got to them, of those sent since it joined.
    pub fn missed(&self) -> u64 {
        self.subscription.missed()
    }

    /// Whether a living process publishes the topic. Takes the segment's lock: not for a real-time loop.
    pub fn is_published(&self) -> Result<bool, OpenError> {
        self.subscription.is_published()
    }

    /// Sequence number of the message to be read next from the first publisher's lane.
    pub fn position(&self) -> u64 {
        self.subscription.position(0)
    }

    /// Whether the kernel keeps the segment in memory; if not, page faults may meet the hot path.
    pub fn memory_lock(&self) -> Result<(), LockRefused> {
        self.segment().memory_lock()
    }

    /// The segment, for its path and header.
    pub fn segment(&self) -> &Segment {
        self.subscription.segment()
    }

    /// For waiting on several topics: [`crate::wait::any`].
    pub fn subscription(&mut self) -> &mut Subscription {
        &mut self.subscription
    }

    /// The words of the slot of message `sequence`, for whoever plays with a slot and sends no messages: the cache-line
    /// floor of `horus-measure`.
    pub fn words(&self, sequence: u64) -> &[AtomicU64] {
        self.subscription.words(sequence)
    }
}

#[inline(always)]
fn receive<T: Plain>(subscription: &mut Subscription) -> Option<Received<T>> {
    let mut message = MaybeUninit::uninit();
    let (publisher, taken) = take_into(subscription, &mut message)?;
    // SAFETY: a message was taken, so all bytes were loaded, and every pattern of bytes is a `T`.
    let message = unsafe { message.assume_init() };
    Some(Received { message, sequence: taken.sequence, sent_ns: taken.sent_ns, publisher })
}

/// Copies the next message of any lane to `message`, which is initialized when this returns `Some`.
#[inline(always)]
fn take_into<T: Plain>(subscription: &mut Subscription, message: &mut MaybeUninit<T>) -> Option<(usize, Taken)> {
    subscription.poll(|lane| lane.take_into(message))
}

/// As [`take_into`], in place of another message: no `T` stands on the stack.
#[inline(always)]
fn take_over<T: Plain>(subscription: &mut Subscription, message: &mut T) -> Option<(usize, Taken)> {
    let place = std::ptr::from_mut(message).cast::<MaybeUninit<T>>();
    // SAFETY: the same place, exclusively borrowed as long; what is written to it is always initialized bytes, and any
    // bytes are a `T`.
    take_into(subscription, unsafe { &mut *place })
}

/// Made on the heap from the start: a large `T` on the stack would end the thread.
fn zeroed_box<T: Plain>() -> Box<T> {
    T::new_box_zeroed().unwrap_or_else(|_| std::alloc::handle_alloc_error(std::alloc::Layout::new::<T>()))
}

/// A received message in its place; the next one can be received when this one is dropped.
pub struct Sample<'a, T: Plain> {
    reader: &'a mut Reader<T>,
    lane: usize,
    taken: Taken,
    /// Whether the message stands in the segment, and not in the reader's own copy.
    is_held: bool,
}

impl<T: Plain> Sample<'_, T> {
    /// Its number in its publisher's lane.
    pub fn sequence(&self) -> u64 {
        self.taken.sequence
    }

    /// When it was sent, in nanoseconds on the sender's CLOCK_MONOTONIC; zero when the sender gave no time.
    pub fn sent_ns(&self) -> u64 {
        self.taken.sent_ns
    }

    /// Number of the lane that it came by.
    pub fn publisher(&self) -> usize {
        self.lane
    }
}

impl<T: Plain> Deref for Sample<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        if let Some(copy) = self.reader.copied.as_deref().filter(|_| !self.is_held) {
            return copy;
        }
        // SAFETY: inside of the slot, aligned and any bytes a `T`, as at `Loan`. While it is held, nobody who follows the
        // protocol writes to the slot; see the module's text for the others.
        unsafe { &*place_of::<T>(self.reader.subscription.slot(self.lane)) }
    }
}

impl<T: Plain> Drop for Sample<'_, T> {
    fn drop(&mut self) {
        if self.is_held {
            self.reader.subscription.let_go(self.lane);
        }
    }
}
