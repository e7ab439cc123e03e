//! What RustDDS keeps of messages that were sent and acknowledged: it clears them every 6 seconds, and not sooner, whatever they take.
//!
//! A picture of 1 MB a hundred times a second is 600 MB until then. More than the bridge may have is not handed over: the message stays
//! in its topic, which counts what it overwrites.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

/// Bytes of all topics together: below what the unit of the bridge allows (horus-bridge.service).
const MOST: usize = 768 << 20;
/// RustDDS clears after 6 seconds; the second that has begun counts whole.
const SECONDS: usize = 7;

/// Counts what was handed over in the last seconds; clones count together.
#[derive(Clone, Debug)]
pub struct Kept {
    begun: Instant,
    counts: Rc<RefCell<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    second: u64,
    bytes: [usize; SECONDS],
}

impl Kept {
    /// Nothing was handed over yet.
    pub fn new() -> Self {
        Self { begun: Instant::now(), counts: Rc::default() }
    }

    /// Whether there is room for so many bytes more; then they are counted.
    pub fn take(&self, bytes: usize) -> bool {
        self.counts.borrow_mut().take(self.begun.elapsed().as_secs(), bytes)
    }
}

impl Counts {
    fn take(&mut self, second: u64, bytes: usize) -> bool {
        for gone in (self.second + 1..=second).take(SECONDS) {
            self.bytes[gone as usize % SECONDS] = 0;
        }
        self.second = second;
        if self.bytes.iter().sum::<usize>().saturating_add(bytes) > MOST {
            return false;
        }
        self.bytes[second as usize % SECONDS] += bytes;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_makes_room_when_rustdds_has_cleared_it() {
        let mut counts = Counts::default();
        let whole = (0..).take_while(|_| counts.take(3, 1 << 20)).count();
        assert_eq!(whole, MOST >> 20);
        assert!(!counts.take(9, 1), "it may be there still");
        assert!(counts.take(10, MOST) && !counts.take(10, 1));
        assert!(counts.take(1000, MOST), "long after that");
    }

    #[test]
    fn a_hundred_pictures_of_a_megabyte_a_second_have_room() {
        let mut counts = Counts::default();
        assert!((0..6000).all(|picture| counts.take(picture / 100, 1_050_000)));
    }
}
