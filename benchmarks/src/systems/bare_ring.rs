//! The least that a queue between two CPUs can do: the lines of one slot written, the lines of one slot read.
//!
//! Between this and the floor lies what the memory costs, not the queue. The floor's line is written by the CPU that has
//! just received it, and may thus own it already. Here a slot is written whose line the receiver looks at: it must be taken
//! away from there, and the receiver must then fetch it. On some processors that costs up to half as much again as the
//! floor, for any queue; what a queue costs beyond it shows against this ring. With more than one line a slot is the limit
//! of every queue that copies as many lines: one word of each further line is written, read and compared.
//!
//! It is no messaging system: one writer, one reader, no name, no peer may die, and of a message of several lines only its
//! number is carried.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::transport::{Failure, Meeting, Receiver, Sender, Small, Threads};

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

impl<const LINES: usize> Shared<LINES> {
    fn new(capacity: usize) -> Arc<Self> {
        let slots = std::iter::repeat_with(|| std::array::from_fn(|_| Line::default())).take(capacity).collect();
        Arc::new(Self { slots, taken: Taken::default() })
    }

    fn slot(&self, number: u64) -> (&[AtomicU64; 3], &[Line]) {
        let slot = &self.slots[number as usize & (self.slots.len() - 1)];
        (&slot[0].0, &slot[1..])
    }
}

fn ends<const LINES: usize>(shared: Arc<Shared<LINES>>) -> (impl Sender<Small> + Send, impl Receiver<Small> + Send) {
    let (reading, mut next, mut taken) = (Arc::clone(&shared), 0_u64, 0);
    let write = move |message: &Small| {
        if next - taken == shared.slots.len() as u64 {
            taken = shared.taken.0.load(Ordering::Acquire);
            if next - taken == shared.slots.len() as u64 {
                return false;
            }
        }
        let ([stamp, words @ ..], lines) = shared.slot(next);
        lines.iter().for_each(|line| line.0[0].store(message.0[0], Ordering::Relaxed));
        words.iter().zip(message.0).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        next += 1;
        stamp.store(next, Ordering::Release);
        true
    };
    let (shared, mut next) = (reading, 0);
    let read = move |into: &mut Small| {
        let ([stamp, words @ ..], lines) = shared.slot(next);
        if stamp.load(Ordering::Acquire) != next + 1 {
            return false;
        }
        words.iter().zip(&mut into.0).for_each(|(word, value)| *value = word.load(Ordering::Relaxed));
        // A line that another message left spoils the checksum.
        into.0[1] ^= lines.iter().fold(0, |wrong, line| wrong | line.0[0].load(Ordering::Relaxed) ^ into.0[0]);
        next += 1;
        shared.taken.0.store(next, Ordering::Release);
        true
    };
    (write, read)
}

impl<const LINES: usize> Threads<Small> for BareRing<LINES> {
    const SYSTEM: &'static str = "bare ring";

    fn channel(_: Meeting, slots: usize) -> Result<(impl Sender<Small> + Send, impl Receiver<Small> + Send), Failure> {
        Ok(ends(Shared::<LINES>::new(slots)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::{Mark, Prepared, verify};
    use crate::transport::Payload;

    #[test]
    fn a_message_with_a_line_of_another_is_found_corrupt() {
        let shared = Shared::<5>::new(4);
        let (mut writer, mut reader) = ends(Arc::clone(&shared));
        let (mut prepared, mut into) = (Prepared::default(), Payload([0; 2]));
        for number in 0..10 {
            assert!(writer.try_send(prepared.number(Mark::nth(number, 1))));
            let torn = number == 7;
            if torn {
                shared.slot(number).1[2].0[0].store(0, Ordering::Relaxed);
            }
            assert!(reader.try_recv(&mut into));
            assert_eq!(verify(&into), (!torn).then_some(Mark::nth(number, 1)));
        }
    }
}
