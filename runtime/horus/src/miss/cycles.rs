//! The last cycles of a node, in memory that its loop writes: what the flight recorder keeps of the time before a miss.
//!
//! ```text
//!   half 0: LAST slots of number, release, wake, completion │ half 1: the same
//! ```
//!
//! The loop writes into one half, four stores a cycle and nothing else. When a miss has frozen the trace of its CPU, it goes on in the other
//! half, so that what led to the miss holds still until it was read. It turns no more before it may freeze again, which is after that.
//! Between two freezes that follow each other closely there are fewer cycles than a half has slots.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::deadline::CycleRecord;

/// Cycles in a half: a power of two, so that a slot is found without a division.
pub const LAST: usize = 64;

/// Number, release, wake and completion, in nanoseconds; all zero where there was no cycle yet.
type Slot = [AtomicU64; 4];

/// Both halves.
type Slots = [Slot; 2 * LAST];

/// The loop's end.
pub struct Writer {
    slots: Arc<Slots>,
    /// The first slot of the half that is written.
    half: usize,
}

/// The end of the thread that has time to read.
pub struct Reader(Arc<Slots>);

/// Allocates the memory, here and never again.
pub fn pair() -> (Writer, Reader) {
    let slots: Arc<Slots> = Arc::new(std::array::from_fn(|_| Slot::default()));
    (Writer { slots: Arc::clone(&slots), half: 0 }, Reader(slots))
}

impl Writer {
    /// Takes note of a cycle that is over.
    #[inline(always)] // a call would cost as much as the stores
    pub fn note(&self, cycle: &CycleRecord) {
        // Both are below the number of slots: the mask only says so to the compiler.
        let slot = &self.slots[(self.half | (cycle.number as usize % LAST)) & (2 * LAST - 1)];
        let times = [cycle.number, cycle.release.as_nanos(), cycle.wake.as_nanos(), cycle.completion.as_nanos()];
        for (word, value) in slot.iter().zip(times) {
            word.store(value, Ordering::Relaxed); // read after the record of a miss has crossed its ring, which orders these
        }
    }

    /// Goes on in the other half. Returns the number of the one that stands still from now on.
    pub fn turn(&mut self) -> u32 {
        let still = u32::from(self.half != 0);
        self.half ^= LAST;
        still
    }
}

impl Reader {
    /// The cycles up to number `last` of the half that stands still, the oldest first: number, release, wake, completion.
    pub fn of_half(&self, half: u32, last: u64) -> Vec<[u64; 4]> {
        let first = if half == 0 { 0 } else { LAST };
        let slots = self.0[first..][..LAST].iter();
        let mut cycles: Vec<[u64; 4]> =
            slots.map(|slot| std::array::from_fn(|word| slot[word].load(Ordering::Relaxed))).collect();
        // Older ones are left of the turn before.
        let oldest = last.saturating_sub(LAST as u64 - 1);
        cycles.retain(|[number, .., completion]| *completion > 0 && (oldest..=last).contains(number));
        cycles.sort_unstable_by_key(|[number, ..]| *number);
        cycles
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::MonotonicTime;

    fn cycle(number: u64) -> CycleRecord {
        let [release, wake, completion] = [1, 2, 3].map(|part| MonotonicTime::from_nanos(number * 10 + part));
        CycleRecord { number, release, wake, completion, wake_cpu: 3, completion_cpu: 3, skipped: 0 }
    }

    fn numbers(cycles: &[[u64; 4]]) -> Vec<u64> {
        cycles.iter().map(|[number, ..]| *number).collect()
    }

    #[test]
    fn the_last_cycles_before_a_freeze_hold_still_while_the_loop_goes_on() {
        let (mut writer, reader) = pair();
        (0..100).for_each(|number| writer.note(&cycle(number)));
        let still = writer.turn();
        (100..900).for_each(|number| writer.note(&cycle(number)));
        let cycles = reader.of_half(still, 99);
        assert_eq!(numbers(&cycles), (36..100).collect::<Vec<_>>());
        assert_eq!(cycles[63], [99, 991, 992, 993]);
    }

    #[test]
    fn what_is_left_of_the_turn_before_is_not_told() {
        let (mut writer, reader) = pair();
        (0..50).for_each(|number| writer.note(&cycle(number)));
        assert_eq!(numbers(&reader.of_half(writer.turn(), 49)).len(), 50, "and no slot that was never used");
        writer.note(&cycle(50));
        writer.turn();
        [1_000, 1_003].iter().for_each(|number| writer.note(&cycle(*number))); // releases between were skipped
        let still = writer.turn();
        assert_eq!(numbers(&reader.of_half(still, 1_003)), [1_000, 1_003]);
    }
}
