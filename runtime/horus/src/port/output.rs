//! The end of a topic that a node writes in its steps, and the other half that publishes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::ring::local;

use crate::message::Message;
use crate::topic::Publisher;

/// The most messages that a cycle can set on one output. What is beyond is dropped.
pub const CYCLE_MESSAGES: usize = 64;

/// The largest message of an output, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 64 * 1024;

/// The memory that an output may lock for the messages of a cycle, beyond two of them.
const RING_BYTES: usize = 32 * 1024;

/// The end of a topic that a node writes; [`App::output`](crate::app::App::output) makes it.
pub struct Output<M: Message> {
    ring: local::Writer<M>,
    /// How many messages the step has set. The same thread writes and reads it, so accesses are Relaxed.
    set: Arc<AtomicU64>,
}

impl<M: Message> Output<M> {
    /// Publishes the message when the step returns, after what the step set before.
    #[inline]
    pub fn set(&mut self, message: M) {
        if self.ring.try_send(message).is_ok() {
            // Only the thread that runs the node writes it.
            self.set.store(self.set.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }
}

/// The executor's half of an output.
pub(crate) trait Outlet: Send {
    /// The topic's name.
    fn topic(&self) -> &str;
    /// Publishes what was set since the last time.
    fn publish(&mut self, stamp_ns: u64);
    /// Forgets what was set since the last time.
    fn discard(&mut self);
    /// Remembers what was set last as what is safe.
    fn learn_safe(&mut self);
    /// Publishes what is safe, if that is known.
    fn publish_safe(&mut self, stamp_ns: u64);
    /// The bytes of what is safe.
    fn safe(&self) -> Option<&[u8]>;
}

/// An output of messages of type `M`, seen by its executor.
pub(crate) struct TypedOutlet<M: Message> {
    topic: String,
    ring: local::Reader<M>,
    set: Arc<AtomicU64>,
    taken: u64,
    publisher: Publisher<M>,
    safe: Option<M>,
}

/// Both halves of an output.
pub(crate) fn pair<M: Message>(topic: &str, publisher: Publisher<M>) -> (Output<M>, Box<dyn Outlet>) {
    const { assert!(size_of::<M>() <= MAX_OUTPUT_BYTES, "too large for an output: let the node own a Publisher") };
    let (writer, ring) = local::ring(ring_capacity(size_of::<M>())).expect("a power of two from 2 to 64");
    let set = Arc::new(AtomicU64::new(0));
    let outlet = TypedOutlet { topic: topic.to_owned(), ring, set: Arc::clone(&set), taken: 0, publisher, safe: None };
    (Output { ring: writer, set }, Box::new(outlet))
}

/// How many messages of so many bytes a cycle can set.
pub(super) fn ring_capacity(bytes: usize) -> usize {
    let capacity = (RING_BYTES / bytes.max(1)).clamp(2, CYCLE_MESSAGES);
    if capacity.is_power_of_two() { capacity } else { capacity.next_power_of_two() / 2 }
}

impl<M: Message> TypedOutlet<M> {
    /// The next message that was set. A cycle that sets none costs one look at a counter.
    #[inline]
    fn take(&mut self) -> Option<M> {
        if self.set.load(Ordering::Relaxed) == self.taken {
            return None;
        }
        self.taken += 1;
        self.ring.try_recv()
    }

    fn send(&mut self, message: M, stamp_ns: u64) {
        // A full topic is one whose subscribers hold all of it: it counts what they miss.
        let _ = self.publisher.try_send_stamped(message, stamp_ns);
    }
}

impl<M: Message> Outlet for TypedOutlet<M> {
    fn topic(&self) -> &str {
        &self.topic
    }

    fn publish(&mut self, stamp_ns: u64) {
        while let Some(message) = self.take() {
            self.send(message, stamp_ns);
        }
    }

    fn discard(&mut self) {
        while self.take().is_some() {}
    }

    fn learn_safe(&mut self) {
        while let Some(message) = self.take() {
            self.safe = Some(message);
        }
    }

    fn publish_safe(&mut self, stamp_ns: u64) {
        if let Some(safe) = self.safe {
            self.send(safe, stamp_ns);
        }
    }

    fn safe(&self) -> Option<&[u8]> {
        self.safe.as_ref().map(|message| message.as_bytes())
    }
}
