//! The least that a message takes between two threads that both look for it: a ring of slots and nothing else.
//!
//! The floor throws one line to and fro, and a CPU that has just received a line may write it at once. A message cannot
//! do that: its sender writes a line that the receiver is looking at, so the sender must first take the line away from
//! the receiver, and the receiver must then fetch it. On some processors that costs up to half as much again as the
//! floor, for any queue; what a queue costs beyond it shows against this ring.
//!
//! It is no messaging system: one writer, one reader, no name, no check of anything, nobody may die. And it is a measure
//! for small messages only: it copies word by word, which for long ones is slower than what HORUS and others do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::transport::{Failure, Meeting, Payload, Receiver, Sender, Threads};

/// A ring of messages of `WORDS` words, the stamp in the same line as the first seven of them.
pub struct BareRing;

#[repr(align(64))]
struct Slot<const WORDS: usize> {
    /// One more than the number of the message that is here.
    stamp: AtomicU64,
    words: [AtomicU64; WORDS],
}

/// How many messages were taken: on lines of its own, which x86-64 fetches in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Taken(AtomicU64);

struct Shared<const WORDS: usize> {
    slots: Vec<Slot<WORDS>>,
    taken: Taken,
}

/// The writing end.
pub struct Writer<const WORDS: usize> {
    shared: Arc<Shared<WORDS>>,
    next: u64,
    taken: u64,
}

/// The reading end.
pub struct Reader<const WORDS: usize> {
    shared: Arc<Shared<WORDS>>,
    next: u64,
}

impl<const WORDS: usize> Shared<WORDS> {
    fn slot(&self, number: u64) -> &Slot<WORDS> {
        &self.slots[number as usize & (self.slots.len() - 1)]
    }
}

impl<const WORDS: usize> Sender<Payload<WORDS>> for Writer<WORDS> {
    #[inline]
    fn try_send(&mut self, message: &Payload<WORDS>) -> bool {
        if self.next - self.taken == self.shared.slots.len() as u64 {
            self.taken = self.shared.taken.0.load(Ordering::Acquire);
            if self.next - self.taken == self.shared.slots.len() as u64 {
                return false;
            }
        }
        let slot = self.shared.slot(self.next);
        for (word, value) in slot.words.iter().zip(message.0) {
            word.store(value, Ordering::Relaxed);
        }
        self.next += 1;
        slot.stamp.store(self.next, Ordering::Release);
        true
    }
}

impl<const WORDS: usize> Receiver<Payload<WORDS>> for Reader<WORDS> {
    #[inline]
    fn try_recv(&mut self, into: &mut Payload<WORDS>) -> bool {
        let slot = self.shared.slot(self.next);
        if slot.stamp.load(Ordering::Acquire) != self.next + 1 {
            return false;
        }
        for (word, value) in slot.words.iter().zip(&mut into.0) {
            *value = word.load(Ordering::Relaxed);
        }
        self.next += 1;
        self.shared.taken.0.store(self.next, Ordering::Release);
        true
    }
}

impl<const WORDS: usize> Threads<Payload<WORDS>> for BareRing {
    const SYSTEM: &'static str = "bare ring";
    type Sender = Writer<WORDS>;
    type Receiver = Reader<WORDS>;

    fn channel(_: &Meeting, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let slot = || Slot { stamp: AtomicU64::new(0), words: [const { AtomicU64::new(0) }; WORDS] };
        let slots = std::iter::repeat_with(slot).take(capacity).collect();
        let shared = Arc::new(Shared { slots, taken: Taken::default() });
        Ok((Writer { shared: Arc::clone(&shared), next: 0, taken: 0 }, Reader { shared, next: 0 }))
    }
}
