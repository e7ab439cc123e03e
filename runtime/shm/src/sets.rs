//! Two sets of words, of which one holds: one side writes the other set and then says that it holds, and who reads finds a whole set or
//! looks again.
//!
//! Set `n + 1` is written where set `n - 1` was, and then the number `n + 1`, which is one word. Before it set `n` holds in all its words,
//! and after it set `n + 1` does. A reader takes the number, copies, and takes the number again: if it is the same, no write was where it read.
//!
//! # What it does not do
//! One side writes at a time; who lets several write keeps them apart. Another process may write the same words by the kernel
//! (`pwrite`), whose calls come one after the other.

use crate::sync::{AtomicU64, Ordering, fence};

/// Where the two sets are, and the number of the one that holds.
#[derive(Clone, Copy)]
pub struct Sets<'a> {
    /// The number.
    pub number: &'a AtomicU64,
    /// Sets with even numbers.
    pub even: &'a [AtomicU64],
    /// Sets with odd numbers, of as many words.
    pub odd: &'a [AtomicU64],
}

impl<'a> Sets<'a> {
    /// The number of the set that holds.
    #[inline]
    pub fn number(&self) -> u64 {
        self.number.load(Ordering::Acquire) // SYNC POINT: set
    }

    /// Copies words of set `number` from word `first` on; false if they may have been written to meanwhile.
    #[must_use]
    pub fn copy(&self, number: u64, first: usize, into: &mut [u64]) -> bool {
        let words = &self.of(number)[first..first + into.len()];
        for (into, word) in into.iter_mut().zip(words) {
            *into = word.load(Ordering::Relaxed);
        }
        // Who has read a word of set `number + 2` sees by now that set `number + 1` holds: that was said before it was written.
        fence(Ordering::Acquire); // SYNC POINT: set
        self.number.load(Ordering::Relaxed) == number
    }

    /// Has this set hold.
    pub fn put(&self, set: &[u64]) {
        let next = self.number.load(Ordering::Relaxed) + 1;
        // The words are not written before the number of the set that holds, which a reader of them then sees.
        fence(Ordering::Release); // SYNC POINT: set
        for (place, word) in self.of(next).iter().zip(set) {
            place.store(*word, Ordering::Relaxed);
        }
        self.number.store(next, Ordering::Release); // SYNC POINT: set
    }

    fn of(&self, number: u64) -> &'a [AtomicU64] {
        if number.is_multiple_of(2) { self.even } else { self.odd }
    }
}
