//! Figures, seen from outside: what `horus top`, `horus node` and the monitor read.

use std::path::Path;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use horus_shm::board::{self, View};
use horus_shm::directory::{Directory, TopicName};
use horus_shm::error::OpenError;

use super::histogram::Responses;
use super::{HEAD_WORDS, REARMED, State, TAKEN_OVER, VERSION, word};
use crate::graph::{NodeInfo, ProcessInfo};
use crate::outside::Word;
use crate::time::MonotonicTime;

/// The figures of a process that runs nodes.
pub struct ProcessFigures {
    view: View,
    info: ProcessInfo,
    /// When it started.
    pub started: MonotonicTime,
    /// Its number, in its own namespace.
    pub process: u32,
    /// How far its clock is ahead of the machine's, in nanoseconds: not zero in a time namespace.
    pub ahead_ns: i64,
    first: usize,
}

/// The figures of a node at one moment.
#[derive(Clone, Debug)]
pub struct NodeFigures {
    /// What it does.
    pub state: State,
    /// Its thread, in the namespace of its process.
    pub tid: u32,
    /// The CPU that it ran on last.
    pub cpu: u32,
    /// When the step that runs now began.
    pub step_began: Option<MonotonicTime>,
    /// The number of its last cycle.
    pub number: u64,
    /// The release of its last cycle.
    pub release: MonotonicTime,
    /// The CPU time of its thread when the last cycle began, where the node has a budget.
    pub cpu_time: Duration,
    /// The end of the last cycle that ended.
    pub completion: MonotonicTime,
    /// Cycles that ended.
    pub cycles: u64,
    /// Releases that were skipped.
    pub skipped: u64,
    /// Misses.
    pub misses: u64,
    /// The longest run of misses.
    pub max_consecutive: u64,
    /// The longest response time.
    pub max_response: Duration,
    /// The largest release jitter.
    pub max_jitter: Duration,
    /// The most CPU time of a cycle, where the node has a budget.
    pub max_cpu_time: Duration,
    /// Cycles that exceeded the budget.
    pub over_budget: u64,
    /// Whether a monitor took its place.
    pub is_taken_over: bool,
    /// Messages that its steps set and its outputs did not publish.
    pub lost: u64,
    /// Messages that were overwritten before its inputs read them.
    pub missed: u64,
    /// Response times.
    pub responses: Responses,
}

/// The processes that run nodes on topics of this directory.
///
/// # Errors
/// When the directory cannot be read. A process that cannot be looked at is left out.
pub fn list(directory: &Directory) -> Result<Vec<ProcessFigures>, OpenError> {
    Ok(board::list(directory)?.iter().filter_map(|path| ProcessFigures::open(path).ok().flatten()).collect())
}

impl ProcessFigures {
    /// Opens the figures in a file; `None` when no living process owns it, or when they are of another version.
    ///
    /// # Errors
    /// When the file cannot be opened.
    pub fn open(path: &Path) -> Result<Option<Self>, OpenError> {
        let Some(view) = View::open(path)? else { return Ok(None) };
        Ok(Self::read(view))
    }

    /// What the owner alleges is checked: sizes and names here, the text by its parser.
    fn read(view: View) -> Option<Self> {
        let mut head = [0; HEAD_WORDS];
        if !view.read(0, &mut head) || head[0] != VERSION {
            return None;
        }
        // What follows was written before the version, which this process has seen.
        fence(Ordering::Acquire); // SYNC POINT: figures
        if !view.read(0, &mut head) {
            return None;
        }
        let [_, nodes, bytes, started, process, ahead] = head;
        let (nodes, bytes) = (usize::try_from(nodes).ok()?, usize::try_from(bytes).ok()?);
        let first = HEAD_WORDS.checked_add(bytes.div_ceil(8))?;
        if first.checked_add(nodes.checked_mul(word::COUNT)?)? > view.words() {
            return None;
        }
        let mut text = vec![0; first - HEAD_WORDS];
        if !view.read(HEAD_WORDS, &mut text) {
            return None;
        }
        let text: Vec<u8> = text.iter().flat_map(|word: &u64| word.to_le_bytes()).take(bytes).collect();
        let info: ProcessInfo = serde_json::from_slice(&text).ok()?;
        let is_named = |node: &NodeInfo| node.name.parse::<Word>().is_ok();
        if info.nodes.len() != nodes || info.name.parse::<TopicName>().is_err() || !info.nodes.iter().all(is_named) {
            return None;
        }
        let started = MonotonicTime::from_nanos(started);
        let process = u32::try_from(process).unwrap_or(0);
        Some(Self { info, started, process, ahead_ns: ahead.cast_signed(), first, view })
    }

    /// What does not change.
    pub fn info(&self) -> &ProcessInfo {
        &self.info
    }

    /// Whether the process lives. One system call.
    pub fn is_alive(&self) -> bool {
        self.view.is_owned()
    }

    /// The user and the group of its file, by number.
    pub fn owner(&self) -> (u32, u32) {
        self.view.owner()
    }

    /// Whether its file still has its name: another process may have taken it.
    pub fn is_named(&self) -> bool {
        self.view.is_named()
    }

    /// Which file it is, whatever its names: device and number.
    pub fn identity(&self) -> (u64, u64) {
        self.view.identity()
    }

    /// The figures of its node number `node` at this moment; `None` when the file was cut off.
    ///
    /// # Panics
    /// When it has no such node.
    pub fn node(&self, node: usize) -> Option<NodeFigures> {
        self.read_node(node, &mut [0; word::COUNT])
    }

    /// As [`node`](Self::node), without response times and without an allocation.
    ///
    /// # Panics
    /// As there.
    pub(crate) fn node_without_responses(&self, node: usize) -> Option<NodeFigures> {
        self.read_node(node, &mut [0; word::HISTOGRAM])
    }

    /// What `words` has room for.
    fn read_node(&self, node: usize, words: &mut [u64]) -> Option<NodeFigures> {
        let (first, mut began) = (self.word(node, 0), [0]);
        if !self.view.read(first + word::STEP_BEGAN, &mut began) {
            return None;
        }
        // The release of a step that runs was written before its beginning, which this process has seen.
        fence(Ordering::Acquire); // SYNC POINT: step
        if !self.view.read(first, words) {
            return None;
        }
        let read = |word: usize| words[word];
        let time = |word| Duration::from_nanos(read(word));
        let [began] = began;
        Some(NodeFigures {
            state: State::from_word(read(word::STATE)),
            tid: u32::try_from(read(word::TID)).unwrap_or(0),
            cpu: u32::try_from(read(word::CPU)).unwrap_or(0),
            step_began: (began > 0).then(|| MonotonicTime::from_nanos(began)),
            number: read(word::NUMBER),
            release: MonotonicTime::from_nanos(read(word::RELEASE)),
            cpu_time: time(word::CPU_TIME),
            completion: MonotonicTime::from_nanos(read(word::COMPLETION)),
            cycles: read(word::CYCLES),
            skipped: read(word::SKIPPED),
            misses: read(word::MISSES),
            max_consecutive: read(word::MAX_CONSECUTIVE),
            max_response: time(word::MAX_RESPONSE),
            max_jitter: time(word::MAX_JITTER),
            max_cpu_time: time(word::MAX_CPU_TIME),
            over_budget: read(word::OVER_BUDGET),
            lost: read(word::LOST),
            missed: read(word::MISSED),
            is_taken_over: read(word::TAKEN_OVER) == TAKEN_OVER,
            responses: Responses::new(words[word::HISTOGRAM..].to_vec()),
        })
    }

    /// Tells the node that what is safe was published in its place: it publishes nothing of the step that hangs.
    pub fn take_over(&self, node: usize) {
        self.view.write(self.word(node, word::TAKEN_OVER), TAKEN_OVER);
    }

    /// Asks a node that is in its safe state to run its steps again from its next release on. Any other node ignores it.
    pub fn rearm(&self, node: usize) {
        self.view.write(self.word(node, word::TAKEN_OVER), REARMED);
    }

    /// Whether the node has not seen yet that it was asked.
    pub fn is_rearming(&self, node: usize) -> bool {
        let mut word = [0];
        self.view.read(self.word(node, word::TAKEN_OVER), &mut word) && word == [REARMED]
    }

    fn word(&self, node: usize, word: usize) -> usize {
        assert!(node < self.info.nodes.len());
        self.first + node * word::COUNT + word
    }
}
