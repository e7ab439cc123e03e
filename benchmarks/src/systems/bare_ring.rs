//! The least that a queue between two CPUs can do: the lines of one slot written, the lines of one slot read.
//!
//! Between this and the floor lies what the memory costs, not the queue. The floor's line is written by the CPU that has
//! just received it, and may thus own it already. Here a slot is written whose line the receiver looks at: it must be taken
//! away from there, and the receiver must then fetch it. On some processors that costs up to half as much again as the
//! floor, for any queue; what a queue costs beyond it shows against this ring. With more than one line a slot is the limit
//! of every queue that copies as many lines: one word of each further line is written, read and compared.
//!
//! It is no messaging system: one writer, one reader, no name, nobody may die, and of a message of several lines only its
//! number is carried.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::transport::{Failure, Meeting, Payload, Receiver, Sender, Threads};

/// A ring of slots of `LINES` cache lines: a stamp and 16 bytes in the first, the number again in all others.
pub struct BareRing<const LINES: usize = 1>;

/// Stamp and message, or the number; the rest stays empty.
#[derive(Default)]
#[repr(align(64))]
struct Line([AtomicU64; 3]);

/// How many messages were taken: on lines of its own, which x86-64 fetches in pairs.
#[derive(Default)]
#[repr(align(128))]
struct Taken(AtomicU64);

struct Shared<const LINES: usize> {
    slots: Vec<[Line; LINES]>,
    taken: Taken,
}

/// The writing end.
pub struct Writer<const LINES: usize> {
    shared: Arc<Shared<LINES>>,
    next: u64,
    taken: u64,
}

/// The reading end.
pub struct Reader<const LINES: usize> {
    shared: Arc<Shared<LINES>>,
    next: u64,
}

impl<const LINES: usize> Shared<LINES> {
    fn slot(&self, number: u64) -> (&[AtomicU64; 3], &[Line]) {
        let slot = &self.slots[number as usize & (self.slots.len() - 1)];
        (&slot[0].0, &slot[1..])
    }
}

impl<const LINES: usize> Sender<Payload<2>> for Writer<LINES> {
    #[inline]
    fn try_send(&mut self, message: &Payload<2>) -> bool {
        if self.next - self.taken == self.shared.slots.len() as u64 {
            self.taken = self.shared.taken.0.load(Ordering::Acquire);
            if self.next - self.taken == self.shared.slots.len() as u64 {
                return false;
            }
        }
        let ([stamp, words @ ..], lines) = self.shared.slot(self.next);
        lines.iter().for_each(|line| line.0[0].store(message.0[0], Ordering::Relaxed));
        words.iter().zip(message.0).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        self.next += 1;
        stamp.store(self.next, Ordering::Release);
        true
    }
}

impl<const LINES: usize> Receiver<Payload<2>> for Reader<LINES> {
    #[inline]
    fn try_recv(&mut self, into: &mut Payload<2>) -> bool {
        let ([stamp, words @ ..], lines) = self.shared.slot(self.next);
        if stamp.load(Ordering::Acquire) != self.next + 1 {
            return false;
        }
        words.iter().zip(&mut into.0).for_each(|(word, value)| *value = word.load(Ordering::Relaxed));
        // A line that another message left spoils the checksum.
        into.0[1] ^= lines.iter().fold(0, |wrong, line| wrong | line.0[0].load(Ordering::Relaxed) ^ into.0[0]);
        self.next += 1;
        self.shared.taken.0.store(self.next, Ordering::Release);
        true
    }
}

impl<const LINES: usize> Threads<Payload<2>> for BareRing<LINES> {
    const SYSTEM: &'static str = "bare ring";
    type Sender = Writer<LINES>;
    type Receiver = Reader<LINES>;

    fn channel(_: &Meeting, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let slots = std::iter::repeat_with(|| std::array::from_fn(|_| Line::default())).take(capacity).collect();
        let shared = Arc::new(Shared { slots, taken: Taken::default() });
        Ok((Writer { shared: Arc::clone(&shared), next: 0, taken: 0 }, Reader { shared, next: 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Mark, Prepared, verify};

    #[test]
    fn a_message_with_a_line_of_another_is_found_corrupt() {
        let meeting = Meeting { name: String::new(), directory: std::path::PathBuf::new() };
        let (mut writer, mut reader) = BareRing::<5>::channel(&meeting, 4).unwrap();
        let (mut prepared, mut into) = (Prepared::default(), Payload([0; 2]));
        for number in 0..10 {
            assert!(writer.try_send(prepared.number(Mark::nth(number, 1))));
            let torn = number == 7;
            if torn {
                writer.shared.slot(number).1[2].0[0].store(0, Ordering::Relaxed);
            }
            assert!(reader.try_recv(&mut into));
            assert_eq!(verify(&into), (!torn).then_some(Mark::nth(number, 1)));
        }
    }
}
