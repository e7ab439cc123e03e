//! The parameters of a program where others see them: what they are, and two sets of their values, of which one holds.
//!
//! They are on a board ([`horus_shm::board`]) of the program's, beside that of its figures:
//!
//! ```text
//!  0  version of this layout    1  bytes of the text    2  words of a set    3  number of the set that holds
//!  4  the text (what the parameters are, as JSON), filled up to a whole word
//!     set of even numbers:   for each parameter  WHO  WHEN  value …
//!     set of odd numbers:    the same
//! ```
//!
//! # Why two sets
//! Who sets parameters writes set `n + 1` where set `n - 1` was, and then the number `n + 1`, which is one word. Before it set `n` holds
//! in all its words, and after it set `n + 1` does: a setter that is killed between any two instructions leaves one or the other. A
//! reader takes the number, copies, and takes the number again. If it is the same, no setter wrote where the reader read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use horus_shm::board::Board;
use serde::{Deserialize, Serialize};

use super::declaration::Declaration;

pub(super) const VERSION: u64 = 1;
pub(super) const HEAD_WORDS: usize = 4;
/// Where the number of the set that holds is.
pub(super) const NUMBER: usize = 3;
/// Words before a value: who set it, and when.
pub(super) const ORIGIN_WORDS: usize = 2;

/// What does not change while the program runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Description {
    pub program: String,
    pub parameters: Vec<Declaration>,
    /// The settings that were read at start; empty where none says anything of parameters.
    pub settings: String,
}

impl Description {
    /// Where the value of parameter number `index` begins in a set, and how long it is.
    pub fn place(&self, index: usize) -> std::ops::Range<usize> {
        let before: usize = self.parameters[..index].iter().map(|known| ORIGIN_WORDS + known.kind.words()).sum();
        let first = before + ORIGIN_WORDS;
        first..first + self.parameters[index].kind.words()
    }

    pub fn set_words(&self) -> usize {
        self.parameters.iter().map(|known| ORIGIN_WORDS + known.kind.words()).sum()
    }
}

enum Words {
    Shared(Board),
    Own(Box<[AtomicU64]>),
}

/// The parameters of this program.
pub(crate) struct Sheet {
    words: Words,
    first: usize,
    set_words: usize,
}

impl Sheet {
    /// How many words it takes.
    pub fn words(text: &str, set_words: usize) -> usize {
        HEAD_WORDS + text.len().div_ceil(8) + 2 * set_words
    }

    /// On a board that is as large as [`words`](Self::words) said.
    pub fn on(board: Board, text: &str, set: &[u64]) -> Arc<Self> {
        Self::begun(Words::Shared(board), text, set)
    }

    /// Where no other process sees it.
    pub fn own(text: &str, set: &[u64]) -> Arc<Self> {
        let own = (0..Self::words(text, set.len())).map(|_| AtomicU64::new(0)).collect();
        Self::begun(Words::Own(own), text, set)
    }

    fn begun(words: Words, text: &str, set: &[u64]) -> Arc<Self> {
        let sheet = Self { words, first: HEAD_WORDS + text.len().div_ceil(8), set_words: set.len() };
        let words = sheet.all();
        for (place, bytes) in text.as_bytes().chunks(8).enumerate() {
            let mut filled = [0; 8];
            filled[..bytes.len()].copy_from_slice(bytes);
            words[HEAD_WORDS + place].store(u64::from_le_bytes(filled), Ordering::Relaxed);
        }
        for (place, word) in words[sheet.first..].iter().zip(set) {
            place.store(*word, Ordering::Relaxed);
        }
        words[1].store(text.len() as u64, Ordering::Relaxed);
        words[2].store(set.len() as u64, Ordering::Relaxed);
        // Who sees the version sees all that stands before it.
        words[0].store(VERSION, Ordering::Release); // SYNC POINT: parameters
        Arc::new(sheet)
    }

    #[inline]
    fn all(&self) -> &[AtomicU64] {
        match &self.words {
            Words::Shared(board) => board.words(),
            Words::Own(words) => words,
        }
    }

    /// The number of the set that holds.
    #[inline]
    pub fn number(&self) -> u64 {
        self.all()[NUMBER].load(Ordering::Acquire) // SYNC POINT: set
    }

    /// Copies a part of set `number`; false if it may have been written to meanwhile.
    pub fn copy(&self, number: u64, part: std::ops::Range<usize>, into: &mut [u64]) -> bool {
        let words = self.all();
        let first = self.place(number);
        for (into, word) in into.iter_mut().zip(&words[first + part.start..first + part.end]) {
            *into = word.load(Ordering::Relaxed);
        }
        // Who has read a word of a newer set sees that the number is another one by now.
        fence(Ordering::Acquire); // SYNC POINT: set
        words[NUMBER].load(Ordering::Relaxed) == number
    }

    /// The set that holds becomes this one: for the program's own thread, where no other process sees it.
    pub fn put(&self, set: &[u64]) {
        let words = self.all();
        let next = words[NUMBER].load(Ordering::Relaxed) + 1;
        fence(Ordering::Release); // SYNC POINT: set
        for (place, word) in words[self.place(next)..].iter().zip(set) {
            place.store(*word, Ordering::Relaxed);
        }
        words[NUMBER].store(next, Ordering::Release); // SYNC POINT: set
    }

    fn place(&self, number: u64) -> usize {
        self.first + if number.is_multiple_of(2) { 0 } else { self.set_words }
    }
}
