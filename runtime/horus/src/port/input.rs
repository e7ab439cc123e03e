//! The end of a topic that a node reads in its steps.

use std::sync::Arc;
use std::time::Duration;

use horus_shm::ends::Subscription;

use super::sight::{Look, Sight};
use crate::time::MonotonicTime;
use crate::topic::{ByValue, Payload, Received, Subscriber};

/// The most messages that one call looks at: a publisher that is faster than its reader must not hold the step.
pub(super) const MOST: usize = 4096;

/// Where a message stood: its publisher's lane, and its number there. A message that follows it shows by two comparisons that nothing
/// was missed between; another one may come from another publisher, or behind a gap.
#[derive(Default)]
struct Place {
    publisher: usize,
    next: u64,
}

impl Place {
    /// Whether the message follows the last one; it is the last one from now on.
    #[inline(always)]
    fn goes_on<T>(&mut self, received: &Received<T>) -> bool {
        let goes_on = received.sequence == self.next && received.publisher == self.publisher;
        (self.publisher, self.next) = (received.publisher, received.sequence + 1);
        goes_on
    }
}

/// The end of a topic that a node reads; [`App::input`](crate::app::App::input) makes it.
///
/// Its messages are of the kind `P`: see the [table](crate::topic::payload#in-the-ports-of-a-node) of kinds.
pub struct Input<P: Payload + ?Sized> {
    subscription: Subscription,
    sight: Arc<Sight>,
    /// Where messages are that are known as bytes: the one that was taken last, and the newest one.
    rooms: P::Rooms,
    /// Came, and must not be seen yet.
    held: Option<Received<P::Kept>>,
    latest: Option<Received<P::Kept>>,
    /// Where the last message stood.
    last: Place,
}

impl<P: Payload + ?Sized> Input<P> {
    pub(crate) fn new(subscriber: Subscriber<P>, sight: Arc<Sight>) -> Self {
        let subscription = subscriber.into_subscription();
        let rooms = P::rooms(subscription.payload());
        Self { subscription, sight, rooms, held: None, latest: None, last: Place::default() }
    }

    /// Until when a message was sent that the step may see: when its cycle woke up, or was released.
    pub(crate) fn sees_until(&self) -> MonotonicTime {
        self.sight.until()
    }

    /// The number of the next message of each lane.
    pub(crate) fn positions(&self) -> Vec<u64> {
        self.subscription.positions()
    }

    /// The newest message, however old it is by now; `None` before the first.
    #[inline]
    pub fn latest(&mut self) -> Option<P::Seen<'_>> {
        self.look();
        Some(P::newest(&mut self.rooms, self.latest.as_ref()?))
    }

    /// The newest message, if it came since the last call.
    #[inline]
    pub fn fresh(&mut self) -> Option<P::Seen<'_>> {
        let came = self.look();
        Some(P::newest(&mut self.rooms, self.latest.as_ref().filter(|_| came)?))
    }

    /// As [`latest`](Self::latest), with when the message was sent, by which publisher, and as which.
    #[inline]
    pub fn latest_received(&mut self) -> Option<Received<P::Seen<'_>>> {
        self.look();
        self.newest()
    }

    /// As [`fresh`](Self::fresh), with when the message was sent, by which publisher, and as which.
    #[inline]
    pub fn fresh_received(&mut self) -> Option<Received<P::Seen<'_>>> {
        if self.look() { self.newest() } else { None }
    }

    /// The oldest message that came and was not read yet, in the order of each publisher.
    ///
    /// A loop that calls this until it gives nothing is held by a publisher that is faster; [`messages`](Self::messages) ends.
    #[inline]
    pub fn try_recv(&mut self) -> Option<Received<P::Message<'_>>> {
        let taken = self.next()?;
        let is_newest = self.keep_if_newest(taken);
        let Received { sequence, sent_ns, publisher, .. } = taken;
        Some(Received { message: P::taken(&mut self.rooms, taken, is_newest), sequence, sent_ns, publisher })
    }

    /// How long ago the newest message was sent that was read; `None` before the first, and where publishers stamp none. Every
    /// [`Output`](super::Output) stamps.
    pub fn age(&self, now: MonotonicTime) -> Option<Duration> {
        let sent_ns = self.latest.as_ref()?.sent_ns;
        (sent_ns > 0).then(|| now.since(MonotonicTime::from_nanos(sent_ns)))
    }

    /// How many messages were overwritten before they were read.
    pub fn missed(&self) -> u64 {
        self.subscription.missed()
    }

    /// The most bytes that a message can have.
    pub fn message_bytes(&self) -> usize {
        P::bytes(self.subscription.payload())
    }

    /// Reads what has come; whether a newest message is among it.
    #[inline]
    fn look(&mut self) -> bool {
        let mut came = false;
        for _ in 0..MOST {
            let Some(taken) = self.next() else { break };
            came |= self.keep_if_newest(taken);
        }
        came
    }

    /// Publishers have no common order: of several, the time says which message is the newest.
    #[inline(always)]
    fn keep_if_newest(&mut self, taken: Received<P::Kept>) -> bool {
        let is_newest = self.latest.as_ref().is_none_or(|latest| taken.sent_ns >= latest.sent_ns);
        if is_newest {
            P::keep(&mut self.rooms);
            self.latest = Some(taken);
        }
        is_newest
    }

    #[inline]
    fn newest(&mut self) -> Option<Received<P::Seen<'_>>> {
        let latest = self.latest.as_ref()?;
        let &Received { sequence, sent_ns, publisher, .. } = latest;
        Some(Received { message: P::newest(&mut self.rooms, latest), sequence, sent_ns, publisher })
    }

    #[inline]
    fn next(&mut self) -> Option<Received<P::Kept>> {
        loop {
            let received = match self.held.take() {
                Some(held) => held,
                None => {
                    let received = P::take(&mut self.subscription, &mut self.rooms)?;
                    if !self.last.goes_on(&received) {
                        self.sight.note_missed(self.subscription.missed());
                    }
                    received
                }
            };
            match self.sight.look(received.sent_ns) {
                Look::Early => {
                    self.held = Some(received);
                    return None;
                }
                Look::Lost => {}
                Look::Seen => return Some(received),
            }
        }
    }
}

impl<P: ByValue + ?Sized> Input<P> {
    /// The messages that came and were not read yet, each once, in the order of each publisher.
    pub fn messages(&mut self) -> Unread<'_, P> {
        Unread { input: self, left: MOST }
    }
}

/// What came on an input and was not read yet; see [`Input::messages`]. Unlike the [`Messages`](crate::topic::Messages) of a subscriber, it
/// ends.
pub struct Unread<'a, P: ByValue + ?Sized> {
    input: &'a mut Input<P>,
    left: usize,
}

impl<P: ByValue + ?Sized> Iterator for Unread<'_, P> {
    type Item = P::Owned;

    fn next(&mut self) -> Option<P::Owned> {
        self.left = self.left.checked_sub(1)?;
        Some(P::owned(self.input.try_recv()?).message)
    }
}
