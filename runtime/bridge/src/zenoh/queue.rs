//! The messages of a topic as they come: their numbers are followed, and those that find no room wait here. They are bounded, the oldest is
//! dropped, and what is missing is counted.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::attachment::Attachment;
use crate::route::{Endpoint, Numbers};

/// Messages that may wait, at most, and the memory that they may take.
const MOST: usize = 8192;
const MEMORY: usize = 64 << 20;
/// Buffers of messages that were published, kept for those that come, and how long the longest of them is.
const SPARE: usize = 64;
const SPARE_BYTES: usize = 1 << 16;

/// The queue of one topic.
pub struct Queue {
    inner: Mutex<Inner>,
    /// How many wait, for who only looks.
    waiting: AtomicUsize,
    room: usize,
}

#[derive(Default)]
struct Inner {
    messages: VecDeque<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    numbers: Numbers,
    /// Messages that found no room here.
    dropped: u64,
    /// A message came without a number since this was asked last.
    has_unnumbered: bool,
}

impl Queue {
    /// For messages of a topic.
    pub fn new(endpoint: &Endpoint) -> Self {
        Self {
            inner: Mutex::new(Inner { numbers: Numbers::new(&endpoint.file), ..Inner::default() }),
            waiting: AtomicUsize::new(0),
            room: (MEMORY / endpoint.bytes.max(1)).clamp(2, MOST),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message came, with what stood beside it; false if it comes back to where it was sent from.
    pub fn follow(&self, attachment: Option<Attachment>) -> bool {
        let mut inner = self.inner();
        match attachment {
            Some(Attachment { sequence, gid, .. }) => inner.numbers.follow(gid, sequence),
            None => {
                inner.has_unnumbered = true;
                true
            }
        }
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        // Relaxed: who must not miss a message is woken after it, or has the same lock as who put it here.
        self.waiting.load(Ordering::Relaxed) == 0
    }

    /// Has a message wait.
    pub fn push(&self, message: &[u8]) {
        let mut inner = self.inner();
        let mut place = if inner.messages.len() >= self.room {
            inner.dropped += 1;
            inner.messages.pop_front()
        } else {
            inner.spare.pop()
        }
        .unwrap_or_default();
        // What Zenoh holds is a part of all that came at once: kept, each message would keep the others' memory.
        place.clear();
        place.extend_from_slice(message);
        inner.messages.push_back(place);
        self.waiting.store(inner.messages.len(), Ordering::Relaxed);
    }

    /// Takes the buffer of a message that was published.
    pub fn give_back(&self, message: Vec<u8>) {
        let mut inner = self.inner();
        if inner.spare.len() < SPARE && message.capacity() <= SPARE_BYTES {
            inner.spare.push(message);
        }
    }

    /// Whether a message without a number came since this was asked last.
    pub fn has_unnumbered(&self) -> bool {
        std::mem::take(&mut self.inner().has_unnumbered)
    }

    /// The oldest message.
    pub fn pop(&self) -> Option<Vec<u8>> {
        let mut inner = self.inner();
        let message = inner.messages.pop_front();
        self.waiting.store(inner.messages.len(), Ordering::Relaxed);
        message
    }

    /// How many are missing, and how many came after a later one, since it began.
    pub fn damage(&self) -> (u64, u64) {
        let inner = self.inner();
        let (lost, reordered) = inner.numbers.damage();
        (lost + inner.dropped, reordered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Delivery;

    #[test]
    fn gaps_in_the_numbers_and_what_finds_no_room_are_counted() {
        let delivery = Delivery {
            is_reliable: true,
            is_transient_local: false,
            depth: 1,
            is_said: false,
            may_wait: true,
            is_latched: false,
        };
        let [topic, type_name, hash, layout, file] = ["/a", "a/msg/B", "", "", ""].map(str::to_owned);
        let queue = Queue::new(&Endpoint { topic, type_name, hash, delivery, bytes: MEMORY / 3, layout, file });
        let number = |sequence| Some(Attachment { sequence, source_ns: 0, gid: [1; 16] });
        let come = |sequence: i64| {
            queue.follow(number(sequence));
            queue.push(&[sequence as u8]);
        };
        [5, 6, 9].into_iter().for_each(come);
        assert_eq!(queue.damage(), (2, 0), "7 and 8");
        come(7);
        assert_eq!(queue.damage(), (2, 1), "7 came late, and 5 made room for it");
        assert_eq!(queue.pop(), Some(vec![6]));
    }

    #[test]
    fn a_message_in_a_buffer_that_was_given_back_is_not_allocated_and_one_without_number_is_told() {
        let delivery = Delivery {
            is_reliable: true,
            is_transient_local: false,
            depth: 1,
            is_said: false,
            may_wait: true,
            is_latched: false,
        };
        let [topic, type_name, hash, layout, file] = ["/a", "a/msg/B", "", "", ""].map(str::to_owned);
        let queue = Queue::new(&Endpoint { topic, type_name, hash, delivery, bytes: 100, layout, file });
        let there_and_back = |bytes: &[u8]| {
            queue.follow(Some(Attachment { sequence: 1, source_ns: 0, gid: [1; 16] }));
            queue.push(bytes);
            assert!(!queue.is_empty());
            let message = queue.pop().unwrap();
            assert_eq!(message, bytes);
            assert!(queue.is_empty());
            queue.give_back(message);
        };
        there_and_back(&[1; 100]);
        let counted = allocation_counter::measure(|| there_and_back(&[2; 90]));
        assert_eq!(counted.count_total, 0);
        assert!(!queue.has_unnumbered());
        queue.follow(None);
        assert!(queue.has_unnumbered() && !queue.has_unnumbered(), "told once");
    }
}
