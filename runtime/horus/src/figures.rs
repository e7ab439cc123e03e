//! A node's figures: counts and times that its loop writes and anybody allowed reads, without disturbing it.
//!
//! The figures of a process are on a board ([`horus_shm::board`]) in the topic directory. First come a few words for the
//! process, then a text that says what does not change (the names, periods and outputs of its nodes, as JSON), then some
//! words for each node:
//!
//! ```text
//!  0  version    1  nodes    2  bytes of the text    3  started, ns    4  process    5  its clock is so many ns ahead
//!  6  the text, filled up to a whole word
//!     per node: STATE …, and the histogram of its response times
//! ```
//!
//! The loop stores words, one by one and without order. A reader may see a cycle half counted. No word is ever wrong by
//! more than the cycle that runs.

mod everywhere;
mod histogram;
#[doc(hidden)]
pub mod imitation;
mod view;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::board::Board;

pub use everywhere::Everywhere;
pub use histogram::Responses;
pub use view::{NodeFigures, ProcessFigures, list};

use crate::deadline::Tally;
use crate::time::MonotonicTime;

/// The version of this layout.
const VERSION: u64 = 3;
/// Words before the text.
const HEAD_WORDS: usize = 6;

/// The words of a node.
mod word {
    pub const STATE: usize = 0;
    pub const TID: usize = 1;
    pub const CPU: usize = 2;
    /// 1 and more while a step runs: when it began, in nanoseconds.
    pub const STEP_BEGAN: usize = 3;
    pub const NUMBER: usize = 4;
    pub const RELEASE: usize = 5;
    pub const CPU_TIME: usize = 6;
    pub const COMPLETION: usize = 7;
    pub const CYCLES: usize = 8;
    pub const SKIPPED: usize = 9;
    pub const MISSES: usize = 10;
    pub const MAX_CONSECUTIVE: usize = 11;
    pub const MAX_RESPONSE: usize = 12;
    pub const MAX_JITTER: usize = 13;
    pub const MAX_CPU_TIME: usize = 14;
    pub const OVER_BUDGET: usize = 15;
    /// 1, written by a monitor: it published what is safe in the node's place. 2, written by a person's command: a node in its safe
    /// state is to run its steps again.
    pub const TAKEN_OVER: usize = 16;
    /// Messages that outputs did not publish and that inputs missed; written by the thread beside the loop.
    pub const LOST: usize = 17;
    pub const MISSED: usize = 18;
    pub const HISTOGRAM: usize = 19;
    pub const COUNT: usize = HISTOGRAM + super::histogram::BUCKETS;
}

/// A monitor published what is safe.
const TAKEN_OVER: u64 = 1;
/// A person wants the node's steps to run again.
const REARMED: u64 = 2;

/// What a node does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u64)]
pub enum State {
    /// It has not run yet.
    #[default]
    Starting = 0,
    /// Its steps run.
    Running = 1,
    /// At a lower rate, after misses.
    Degraded = 2,
    /// Its safe state is called in place of its steps.
    Safe = 3,
    /// It ended its program, after misses.
    Stopped = 4,
    /// It has used up its releases.
    Ended = 5,
}

impl State {
    fn from_word(word: u64) -> Self {
        [Self::Starting, Self::Running, Self::Degraded, Self::Safe, Self::Stopped, Self::Ended]
            .into_iter()
            .find(|state| *state as u64 == word)
            .unwrap_or_default()
    }

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Degraded => "degraded",
            Self::Safe => "safe state",
            Self::Stopped => "stopped",
            Self::Ended => "ended",
        }
    }
}

/// Where the words of a process are.
enum Words {
    /// In memory that others see.
    Shared(Board),
    /// In this process only.
    Own(Box<[AtomicU64]>),
}

/// The words of all nodes of a process.
pub(crate) struct Sheet {
    words: Words,
    /// The first word of the first node: this process's own number, and not what stands on the board, where others can write.
    first: usize,
}

impl Sheet {
    /// How many words a process with so many nodes and such a text needs.
    pub fn words(nodes: usize, text: &str) -> usize {
        HEAD_WORDS + text.len().div_ceil(8) + nodes * word::COUNT
    }

    /// On a board of at least [`words`](Self::words) words.
    pub fn on(board: Board, nodes: usize, text: &str) -> Arc<Self> {
        Self::begun(Words::Shared(board), nodes, text)
    }

    /// For this process only.
    pub fn own(nodes: usize, text: &str) -> Arc<Self> {
        let own = (0..Self::words(nodes, text)).map(|_| AtomicU64::new(0)).collect();
        Self::begun(Words::Own(own), nodes, text)
    }

    fn begun(words: Words, nodes: usize, text: &str) -> Arc<Self> {
        let sheet = Self { words, first: HEAD_WORDS + text.len().div_ceil(8) };
        let words = sheet.all();
        let now = MonotonicTime::now().as_nanos();
        let ahead = MonotonicTime::offset_of_namespace().cast_unsigned();
        let head = [VERSION, nodes as u64, text.len() as u64, now, std::process::id().into(), ahead];
        for (place, bytes) in text.as_bytes().chunks(8).enumerate() {
            let mut filled = [0; 8];
            filled[..bytes.len()].copy_from_slice(bytes);
            words[HEAD_WORDS + place].store(u64::from_le_bytes(filled), Ordering::Relaxed);
        }
        for (place, value) in head.into_iter().enumerate().skip(1) {
            words[place].store(value, Ordering::Relaxed);
        }
        // Who sees the version sees all that stands before it.
        words[0].store(VERSION, Ordering::Release); // SYNC POINT: figures
        Arc::new(sheet)
    }

    #[inline]
    fn all(&self) -> &[AtomicU64] {
        match &self.words {
            Words::Shared(board) => board.words(),
            Words::Own(words) => words,
        }
    }

    /// The figures of node number `node`.
    pub fn of(self: &Arc<Self>, node: usize) -> Arc<Figures> {
        Arc::new(Figures { sheet: Arc::clone(self), first: self.first + node * word::COUNT })
    }
}

/// The figures of one node, for its loop. Only the loop writes them, except for [`word::TAKEN_OVER`],
/// [`word::LOST`] and [`word::MISSED`]; no word guards another,
/// so all accesses are Relaxed, but for that of [`word::STEP_BEGAN`].
pub(crate) struct Figures {
    sheet: Arc<Sheet>,
    first: usize,
}

impl Figures {
    #[inline]
    fn words(&self) -> &[AtomicU64; word::COUNT] {
        // One check for all words of a node: those behind it have numbers that the compiler knows.
        self.sheet.all()[self.first..].first_chunk().expect("the sheet has room for all nodes")
    }

    fn store(&self, word: usize, value: u64) {
        self.words()[word].store(value, Ordering::Relaxed);
    }

    fn add(&self, word: usize, more: u64) {
        let word = &self.words()[word];
        // Others can write there, so the sum is what it is.
        word.store(word.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// The thread that runs the node.
    pub fn set_thread(&self, tid: u32) {
        self.store(word::TID, tid.into());
    }

    /// What the node does from now on.
    pub fn set_state(&self, state: State) {
        self.store(word::STATE, state as u64);
    }

    /// A step begins.
    #[inline]
    pub fn begin(&self, number: u64, release: MonotonicTime, wake: MonotonicTime, cpu_time: u64) {
        let words = self.words();
        words[word::NUMBER].store(number, Ordering::Relaxed);
        words[word::RELEASE].store(release.as_nanos(), Ordering::Relaxed);
        words[word::CPU_TIME].store(cpu_time, Ordering::Relaxed);
        // Who sees that a step runs sees its release.
        words[word::STEP_BEGAN].store(wake.as_nanos().max(1), Ordering::Release); // SYNC POINT: step
    }

    /// A cycle is over.
    #[inline]
    pub fn end(&self, completion: MonotonicTime, cpu: u32, response_ns: u64, tally: &Tally) {
        let words = self.words();
        let store = |word: usize, value: u64| words[word].store(value, Ordering::Relaxed);
        store(word::STEP_BEGAN, 0);
        store(word::COMPLETION, completion.as_nanos());
        store(word::CPU, cpu.into());
        store(word::CYCLES, tally.cycles);
        let (max_response_ns, max_jitter_ns) = tally.max_nanos();
        store(word::MAX_RESPONSE, max_response_ns);
        store(word::MAX_JITTER, max_jitter_ns);
        let bucket = &words[word::HISTOGRAM + histogram::bucket(response_ns)];
        bucket.store(bucket.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// What a miss changes.
    pub fn count_misses(&self, tally: &Tally) {
        self.store(word::SKIPPED, tally.skipped);
        self.store(word::MISSES, tally.misses);
        self.store(word::MAX_CONSECUTIVE, tally.max_consecutive);
    }

    /// CPU time of a cycle.
    pub fn used(&self, cpu_time: u64, is_over_budget: bool) {
        if cpu_time > self.words()[word::MAX_CPU_TIME].load(Ordering::Relaxed) {
            self.store(word::MAX_CPU_TIME, cpu_time);
        }
        if is_over_budget {
            self.add(word::OVER_BUDGET, 1);
        }
    }

    /// What its outputs did not publish and its inputs missed: by the thread beside the loop.
    pub fn set_messages(&self, lost: u64, missed: u64) {
        self.store(word::LOST, lost);
        self.store(word::MISSED, missed);
    }

    /// Whether the node runs no more.
    pub fn has_ended(&self) -> bool {
        self.words()[word::STATE].load(Ordering::Relaxed) >= State::Stopped as u64
    }

    /// When the step that runs now began.
    pub fn step_began(&self) -> Option<MonotonicTime> {
        let began = self.words()[word::STEP_BEGAN].load(Ordering::Relaxed);
        (began > 0).then(|| MonotonicTime::from_nanos(began))
    }

    /// The number of the last cycle.
    pub fn number(&self) -> u64 {
        self.words()[word::NUMBER].load(Ordering::Relaxed)
    }

    /// Whether a monitor published what is safe in the node's place.
    #[inline]
    pub fn is_taken_over(&self) -> bool {
        self.words()[word::TAKEN_OVER].load(Ordering::Relaxed) == TAKEN_OVER
    }

    /// Whether a user asked for its steps to run again; the request is answered by this.
    pub fn take_rearming(&self) -> bool {
        let word = &self.words()[word::TAKEN_OVER];
        // A monitor that takes over meanwhile has the last word.
        word.compare_exchange(REARMED, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Asks for its steps to run again, as [`ProcessFigures::rearm`] does from outside.
    pub fn rearm(&self) {
        self.store(word::TAKEN_OVER, REARMED);
    }

    /// All words of the node, for a test.
    #[cfg(test)]
    pub fn snapshot(&self) -> Vec<u64> {
        self.words().iter().map(|word| word.load(Ordering::Relaxed)).collect()
    }

    /// Takes the node's place, as [`ProcessFigures::take_over`] does from outside.
    #[cfg(test)]
    pub fn take_over(&self) {
        self.store(word::TAKEN_OVER, TAKEN_OVER);
    }
}
