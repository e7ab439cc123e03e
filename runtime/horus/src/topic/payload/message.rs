//! Messages of a type: all of their bytes are copied, and their size is known to the compiler.

use std::borrow::Borrow;
use std::time::Duration;

use horus_shm::ends::place::{self, Copied};
use horus_shm::ends::{Kind, Payload as Size, Publication, Subscription};
use horus_shm::ring::NotStaged;

use super::sealed::Sealed;
use super::{Full, InPlace, OpenError, Payload, Received, Sendable, WaitStrategy};
use crate::message::Message;
use crate::message::layout::Layout;

impl<M: Message> Sealed for M {}

impl<M: Message> Payload for M {
    type Value = M;
    type Shape<'a> = ();
    type NotSent = Full<()>;
    type Message<'a> = M;
    type Owned = M;
    type Place = M;
    type Placed = ();
    type Seen<'a> = &'a M;
    type Writer = ();
    type Reader = Copied;
    type Staged = M;
    type Kept = M;
    type Rooms = ();

    fn with_kind<R>((): (), open: impl FnOnce(Kind<'_>, Size) -> Result<R, OpenError>) -> Result<R, OpenError> {
        Layout::of::<M>().with_kind(open)
    }

    fn writer(_: &Publication) {}

    fn reader(subscription: &mut Subscription) -> Copied {
        Copied::for_messages_of(subscription)
    }

    #[inline(always)]
    fn try_send(publication: &mut Publication, (): &mut (), message: &M, sent_ns: u64) -> Result<(), Full<()>> {
        publication.try_send(message, sent_ns).map(|_sequence| ())
    }

    fn is_full(_: &Full<()>) -> bool {
        true
    }

    fn try_send_blank(publication: &mut Publication, stamp: u64) -> bool {
        publication.try_send(&M::new_zeroed(), stamp).is_ok()
    }

    fn send(
        publication: &mut Publication,
        (): &mut (),
        message: &M,
        sent_ns: u64,
        (limit, wait_strategy): (Duration, WaitStrategy),
    ) -> Result<(), Full<()>> {
        publication.send(message, sent_ns, limit, wait_strategy).map(|_sequence| ())
    }

    #[inline(always)]
    fn try_recv<'a>(subscription: &'a mut Subscription, _: &'a mut Copied) -> Option<Received<M>> {
        subscription.try_recv()
    }

    fn recv<'a>(subscription: &'a mut Subscription, _: &'a mut Copied, limit: Duration) -> Option<Received<M>> {
        subscription.recv_timeout(limit)
    }

    #[inline(always)]
    fn owned(message: Received<M>) -> Received<M> {
        message
    }

    #[inline(always)]
    fn try_recv_into(subscription: &mut Subscription, _: &mut Copied, into: &mut M) -> Option<Received<()>> {
        subscription.try_recv_into(into)
    }

    #[inline(always)]
    fn staged<'a>((): &'a mut (), message: &'a M, _: Size) -> Option<&'a M> {
        Some(message)
    }

    #[inline(always)]
    fn stage(publication: &mut Publication, message: &M) -> Result<(), NotStaged> {
        publication.stage(message)
    }

    fn payload(message: &M, _: Size) -> Box<[u8]> {
        message.as_bytes().into()
    }

    fn rooms(_: Size) {}

    #[inline(always)]
    fn take(subscription: &mut Subscription, (): &mut ()) -> Option<Received<M>> {
        subscription.try_recv()
    }

    #[inline(always)]
    fn keep((): &mut ()) {}

    #[inline(always)]
    fn newest<'a>((): &'a mut (), kept: &'a Received<M>) -> &'a M
    where
        Self: 'a,
    {
        &kept.message
    }

    #[inline(always)]
    fn taken((): &mut (), kept: Received<M>, _: bool) -> M {
        kept.message
    }
}

impl<M: Message> super::ByValue for M {}

/// Why bytes of a place are always a message: the topic was opened for messages of this size and alignment.
const IS_A_MESSAGE: &str = "a place has the size and the alignment of its message";

impl<M: Message> InPlace for M {
    #[inline]
    fn loan(publication: &mut Publication) -> Result<place::Loan<'_>, Full<()>> {
        publication.loan()
    }

    #[inline]
    fn borrow<'a>(subscription: &'a mut Subscription, copied: &'a mut Copied) -> Option<place::Sample<'a>> {
        subscription.sample(copied)
    }

    #[inline]
    fn value(bytes: &[u8]) -> &M {
        M::ref_from_bytes(bytes).expect(IS_A_MESSAGE)
    }

    #[inline]
    fn value_mut(bytes: &mut [u8]) -> &mut M {
        M::mut_from_bytes(bytes).expect(IS_A_MESSAGE)
    }
}

impl<M: Message, B: Borrow<M>> Sendable<M> for B {
    #[inline(always)]
    fn value(&self) -> &M {
        self.borrow()
    }
}
