//! The parameters of a program where others see them: what they are, and two sets of their values, of which one holds.
//!
//! They are on a board ([`horus_shm::board`]) of the program's, beside that of its figures:
//!
//! ```text
//!  0  version of this layout    1  bytes of the text    2  words of a set    3  number of the set that holds
//!  4  what is asked of the program: number, and save, load or forget         5  the number that it has answered, and how
//!  6  the answer, as text of at most 512 bytes
//!     the text (what the parameters are, as JSON), filled up to a whole word
//!     of which parameters it is asked: a bit each
//!     when each was saved, in seconds since 1970; 0 where it was not
//!     set of even numbers:   for each parameter  WHO  WHEN  value …
//!     set of odd numbers:    the same
//! ```
//!
//! Who sets parameters writes the set that does not hold, and then its number ([`horus_shm::sets`]): a setter that is killed between any
//! two instructions leaves the set of before or its own. A setter of another process writes by system calls, which the kernel does one after
//! the other.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::board::Board;
use horus_shm::sets::Sets;
use serde::{Deserialize, Serialize};

use super::declaration::Declaration;

pub(super) const VERSION: u64 = 2;
/// Words before the answer's text.
pub(super) const HEAD_WORDS: usize = 6;
/// Where the number of the set that holds is.
pub(super) const NUMBER: usize = 3;
/// Where it stands what is asked of the program, and what it has answered.
pub(super) const REQUEST: usize = 4;
pub(super) const ANSWER: usize = 5;
/// The longest answer.
pub(super) const ANSWER_BYTES: usize = 512;
/// Where the description begins.
pub(super) const TEXT: usize = HEAD_WORDS + ANSWER_BYTES / 8;
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
    pub fn place(&self, index: usize) -> Range<usize> {
        let before: usize = self.parameters[..index].iter().map(|known| ORIGIN_WORDS + known.kind.words()).sum();
        let first = before + ORIGIN_WORDS;
        first..first + self.parameters[index].kind.words()
    }

    pub fn set_words(&self) -> usize {
        self.parameters.iter().map(|known| ORIGIN_WORDS + known.kind.words()).sum()
    }
}

/// Where what stands behind the description.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    marks: usize,
    count: usize,
    set_words: usize,
}

impl Places {
    /// Behind a text of so many words, of so many parameters.
    pub fn behind(text_words: usize, count: usize, set_words: usize) -> Self {
        Self { marks: TEXT + text_words, count, set_words }
    }

    /// Of which parameters something is asked.
    pub fn marks(&self) -> Range<usize> {
        self.marks..self.marks + self.count.div_ceil(64)
    }

    /// When each was saved.
    pub fn saved(&self) -> Range<usize> {
        let first = self.marks().end;
        first..first + self.count
    }

    /// Set `number`.
    pub fn set(&self, number: u64) -> usize {
        self.saved().end + if number.is_multiple_of(2) { 0 } else { self.set_words }
    }

    /// All words.
    pub fn words(&self) -> usize {
        self.saved().end + 2 * self.set_words
    }
}

enum Words {
    Shared(Board),
    Own(Box<[AtomicU64]>),
}

/// The parameters of this program.
pub(crate) struct Sheet {
    words: Words,
    places: Places,
}

impl Sheet {
    /// Where what stands in it.
    pub(super) fn places(text: &str, count: usize, set_words: usize) -> Places {
        Places::behind(text.len().div_ceil(8), count, set_words)
    }

    /// On a board that is as large as [`places`](Self::places) said.
    pub fn on(board: Board, text: &str, count: usize, set: &[u64]) -> Arc<Self> {
        Self::begun(Words::Shared(board), text, count, set)
    }

    /// Where no other process sees it.
    pub fn own(set: &[u64]) -> Arc<Self> {
        let own = (0..Self::places("", 0, set.len()).words()).map(|_| AtomicU64::new(0)).collect();
        Self::begun(Words::Own(own), "", 0, set)
    }

    fn begun(words: Words, text: &str, count: usize, set: &[u64]) -> Arc<Self> {
        let sheet = Self { words, places: Self::places(text, count, set.len()) };
        let words = sheet.all();
        store_text(&words[TEXT..], text);
        for (place, word) in words[sheet.places.set(0)..].iter().zip(set) {
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

    #[inline]
    fn sets(&self) -> Sets<'_> {
        let (words, Places { set_words, .. }) = (self.all(), self.places);
        let (even, odd) = words[self.places.set(0)..].split_at(set_words);
        Sets { number: &words[NUMBER], even, odd: &odd[..set_words] }
    }

    /// The number of the set that holds.
    #[inline]
    pub fn number(&self) -> u64 {
        self.sets().number()
    }

    /// Copies a part of set `number`; false if it may have been written to meanwhile.
    pub fn copy(&self, number: u64, part: Range<usize>, into: &mut [u64]) -> bool {
        self.sets().copy(number, part.start, into)
    }

    /// The set that holds becomes this one: for the program's own thread, where no other process sees it.
    pub fn put(&self, set: &[u64]) {
        self.sets().put(set);
    }

    /// What was asked last.
    pub fn request(&self) -> u64 {
        self.all()[REQUEST].load(Ordering::Acquire) // SYNC POINT: request
    }

    /// Of which parameters, by their numbers.
    pub fn marked(&self) -> Vec<usize> {
        let marks = &self.all()[self.places.marks()];
        let is_marked = |index: &usize| marks[index / 64].load(Ordering::Relaxed) >> (index % 64) & 1 == 1;
        (0..self.places.count).filter(is_marked).collect()
    }

    /// Answers what was asked.
    pub fn answer(&self, word: u64, text: &str) {
        store_text(&self.all()[HEAD_WORDS..TEXT], text);
        self.all()[ANSWER].store(word, Ordering::Release); // SYNC POINT: answer
    }

    /// Says when a parameter was saved. A word by itself, which orders nothing.
    pub fn set_saved(&self, index: usize, when: u64) {
        self.all()[self.places.saved()][index].store(when, Ordering::Relaxed);
    }
}

fn store_text(words: &[AtomicU64], text: &str) {
    for (place, bytes) in words.iter().zip(text.as_bytes().chunks(8)) {
        let mut filled = [0; 8];
        filled[..bytes.len()].copy_from_slice(bytes);
        place.store(u64::from_le_bytes(filled), Ordering::Relaxed);
    }
}
