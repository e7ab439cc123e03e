//! The end of a topic that a node reads in its steps.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::message::Message;
use crate::time::MonotonicTime;
use crate::topic::{OpenError, Raw, Received, Subscriber};

/// The most messages that one call looks at: a publisher that is faster than its reader must not hold the step.
pub(super) const MOST: usize = 4096;

/// What the executor and an input tell each other. Numbers of one thread after another, which guard nothing: all accesses are
/// Relaxed.
#[derive(Debug)]
pub(crate) struct Sight {
    topic: String,
    /// What is stamped later is not there yet.
    until_ns: AtomicU64,
    /// Whether what is stamped later than that may have come since, by the machine's clock.
    asks_clock: AtomicBool,
    received: AtomicU64,
    missed: AtomicU64,
    /// Messages that a test wants lost.
    to_lose: AtomicU64,
}

/// What becomes of a message that came.
pub(crate) enum Look {
    /// It is there later.
    Early,
    /// A test wants it lost.
    Lost,
    /// It is there.
    Seen,
}

impl Sight {
    pub fn new(topic: &str, asks_clock: bool) -> Self {
        let [until_ns, received, missed, to_lose] = [u64::MAX, 0, 0, 0].map(AtomicU64::new);
        Self { topic: topic.to_owned(), until_ns, asks_clock: AtomicBool::new(asks_clock), received, missed, to_lose }
    }

    /// The topic's name.
    pub fn topic(&self) -> &str {
        &self.topic
    }

    /// Shows what was sent until then.
    pub fn set(&self, until: MonotonicTime) {
        self.until_ns.store(until.as_nanos(), Ordering::Relaxed);
    }

    /// Shows nothing beyond what [`set`](Self::set) says, however late it is by then: for logical execution time.
    pub fn is_logical(&self) {
        self.asks_clock.store(false, Ordering::Relaxed);
    }

    /// Messages received.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Messages that were overwritten before they were read, as far as a message that was read later tells.
    pub fn missed(&self) -> u64 {
        self.missed.load(Ordering::Relaxed)
    }

    /// Takes note of what was missed by now: where a message does not follow the last one.
    #[cold]
    pub fn note_missed(&self, missed: u64) {
        self.missed.store(missed, Ordering::Relaxed);
    }

    /// Has the next messages never come.
    pub fn lose(&self, messages: u64) {
        self.to_lose.fetch_add(messages, Ordering::Relaxed);
    }

    /// What becomes of a message that came, which is counted if it is seen.
    #[inline]
    pub fn look(&self, sent_ns: u64) -> Look {
        if !self.shows(sent_ns) {
            return Look::Early;
        }
        if self.to_lose.load(Ordering::Relaxed) > 0 {
            self.to_lose.fetch_sub(1, Ordering::Relaxed);
            return Look::Lost;
        }
        // One thread at a time writes it: the one that runs the node.
        self.received.store(self.received() + 1, Ordering::Relaxed);
        Look::Seen
    }

    fn shows(&self, sent_ns: u64) -> bool {
        sent_ns <= self.until_ns.load(Ordering::Relaxed) || self.shows_by_now(sent_ns)
    }

    #[cold]
    fn shows_by_now(&self, sent_ns: u64) -> bool {
        self.asks_clock.load(Ordering::Relaxed) && sent_ns <= MonotonicTime::now().as_nanos()
    }
}

/// Where a message stood: its publisher's lane, and its number there. A message that follows it shows by two comparisons that nothing
/// was missed between; another one may come from another publisher, or behind a gap.
#[derive(Default)]
pub(super) struct Place {
    publisher: usize,
    next: u64,
}

impl Place {
    /// Whether the message follows the last one; it is the last one from now on.
    #[inline(always)]
    pub fn goes_on<T>(&mut self, received: &Received<T>) -> bool {
        let goes_on = received.sequence == self.next && received.publisher == self.publisher;
        (self.publisher, self.next) = (received.publisher, received.sequence + 1);
        goes_on
    }
}

/// The end of a topic that a node reads; [`App::input`](crate::app::App::input) makes it.
pub struct Input<M: Message> {
    subscriber: Subscriber<M>,
    sight: Arc<Sight>,
    /// Came, and must not be seen yet.
    held: Option<Received<M>>,
    latest: Option<Received<M>>,
    /// Where the last message stood.
    last: Place,
}

impl<M: Message> Input<M> {
    pub(crate) fn new(subscriber: Subscriber<M>, sight: Arc<Sight>) -> Self {
        Self { subscriber, sight, held: None, latest: None, last: Place::default() }
    }

    /// The newest message, however old it is by now; `None` before the first.
    #[inline]
    pub fn latest(&mut self) -> Option<&M> {
        self.fresh();
        self.latest.as_ref().map(|received| &received.message)
    }

    /// The newest message, if it came since the last call.
    #[inline]
    pub fn fresh(&mut self) -> Option<&M> {
        let mut came = false;
        for _ in 0..MOST {
            let Some(received) = self.next() else { break };
            // Publishers have no common order: of several, the time says which message is the newest.
            if self.latest.as_ref().is_none_or(|latest| received.sent_ns >= latest.sent_ns) {
                self.latest = Some(received);
                came = true;
            }
        }
        self.latest.as_ref().filter(|_| came).map(|received| &received.message)
    }

    /// The messages that came and were not read yet, each once, in the order of each publisher.
    pub fn messages(&mut self) -> Messages<'_, M> {
        Messages { input: self, left: MOST }
    }

    /// How long ago the newest message was sent that was read; `None` before the first, and where publishers stamp none. Every
    /// [`Output`](super::Output) stamps.
    pub fn age(&self, now: MonotonicTime) -> Option<std::time::Duration> {
        let sent_ns = self.latest.as_ref()?.sent_ns;
        (sent_ns > 0).then(|| now.since(MonotonicTime::from_nanos(sent_ns)))
    }

    /// How many messages were overwritten before they were read.
    pub fn missed(&self) -> u64 {
        self.subscriber.missed()
    }

    #[inline]
    fn next(&mut self) -> Option<Received<M>> {
        loop {
            let received = match self.held.take() {
                Some(held) => held,
                None => {
                    let received = self.subscriber.try_recv()?;
                    if !self.last.goes_on(&received) {
                        self.sight.note_missed(self.subscriber.missed());
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

/// The messages of an input; see [`Input::messages`].
pub struct Messages<'a, M: Message> {
    input: &'a mut Input<M>,
    left: usize,
}

impl<M: Message> Iterator for Messages<'_, M> {
    type Item = M;

    fn next(&mut self) -> Option<M> {
        self.left = self.left.checked_sub(1)?;
        let received = self.input.next()?;
        if self.input.latest.as_ref().is_none_or(|latest| received.sent_ns >= latest.sent_ns) {
            self.input.latest = Some(received);
        }
        Some(received.message)
    }
}

/// What releases a node when a message comes: a subscriber of the executor's own, beside the node's input.
pub(crate) trait Trigger: Send {
    /// Takes what has come: when the oldest of it was sent, 0 where that is not known.
    fn take(&mut self) -> Option<u64>;
    /// For waiting.
    fn subscription(&mut self) -> &mut horus_shm::ends::Subscription;
}

impl Trigger for Subscriber<Raw> {
    fn take(&mut self) -> Option<u64> {
        let mut oldest = None;
        for _ in 0..MOST {
            // In place: what is only counted is not copied.
            let Some(sample) = self.borrow() else { break };
            oldest.get_or_insert(sample.sent_ns());
        }
        oldest
    }

    fn subscription(&mut self) -> &mut horus_shm::ends::Subscription {
        Self::subscription(self)
    }
}

/// Opens a trigger for the topic of an input.
pub(crate) type OpenTrigger = Box<dyn FnOnce() -> Result<Box<dyn Trigger>, OpenError> + Send>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_logical_execution_time_nothing_is_seen_that_is_stamped_later_however_late_it_is() {
        let sight = Sight::new("imu", true);
        sight.set(MonotonicTime::from_nanos(10));
        assert!(sight.shows(10) && sight.shows(20), "by the machine's clock it has come");
        assert!(!sight.shows(MonotonicTime::now().as_nanos() + 60_000_000_000));
        sight.is_logical();
        assert!(sight.shows(10) && !sight.shows(20));
    }
}
