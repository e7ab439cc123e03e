//! What a program of nodes and the witness say to each other.
//!
//! They meet at a SEQPACKET socket, one JSON value a packet. A program enrols once, before its first release, and gets a descriptor
//! for each of its threads' CPUs (SCM_RIGHTS, in the order of [`Answer::Enrolled`]). One byte or more written to it freezes that
//! CPU's trace. After a miss the program asks ([`Request::Missed`]), and the witness answers each question once, in order: by a
//! [`Verdict`]. Then it thaws the trace. What the flight recorder has goes ahead of the question ([`Request::Recorded`]).
//!
//! Times are nanoseconds on `CLOCK_MONOTONIC`, as the kernel's traces have them.

use serde::{Deserialize, Serialize};

/// Where the witness listens.
pub const SOCKET: &str = "/run/horus/witness.sock";

/// The longest packet, in bytes.
pub const MAX_PACKET: usize = 16 * 1024;

/// What a program says.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// The first word: its threads of loops that have a CPU of their own.
    Enrol {
        /// The program's name.
        program: String,
        /// Its threads.
        threads: Vec<Thread>,
    },
    /// What was recorded before a miss. The question about it comes next; there is no answer to this.
    Recorded(Recording),
    /// A cycle missed its deadline.
    Missed(Missed),
}

/// A thread of loops.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct Thread {
    /// The kernel's number.
    pub tid: u32,
    /// The CPU that it is bound to.
    pub cpu: u32,
}

/// A cycle that missed its deadline.
#[derive(Clone, Debug, Eq, PartialEq, Deserialize, Serialize)]
pub struct Missed {
    /// The node, with its program: `balance/control`.
    pub node: String,
    /// The thread that runs it.
    pub tid: u32,
    /// The CPU on which the cycle ran.
    pub cpu: u32,
    /// The cycle's number.
    pub cycle: u64,
    /// When it was due to start.
    pub release_ns: u64,
    /// When its thread ran.
    pub wake_ns: u64,
    /// When its step had ended.
    pub completion_ns: u64,
    /// When it should have ended.
    pub deadline_ns: u64,
    /// The CPU time that the step may take, where its node declares a budget: own code within it is not to blame.
    pub budget_ns: Option<u64>,
}

/// What the flight recorder has of a node up to a missed cycle.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct Recording {
    /// The missed cycle's number.
    pub cycle: u64,
    /// Its last cycles up to that, the oldest first: number, release, wake and completion. A number that is left out was skipped.
    pub cycles: Vec<[u64; 4]>,
    /// The topics that it reads and writes, with the last messages that were sent before the cycle's end.
    pub topics: Vec<TopicTail>,
    /// How many topics are left out: too large, or more than a packet takes.
    pub left_out: usize,
}

/// A topic, and the last messages on it.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct TopicTail {
    /// Its name.
    pub topic: String,
    /// Whether the node reads it; otherwise it writes it.
    pub is_read: bool,
    /// The type of its messages.
    pub type_name: String,
    /// What the topic says of the fields.
    pub description: String,
    /// How many bytes a message has; zero where each says its own length.
    pub payload_bytes: usize,
    /// The oldest first.
    pub messages: Vec<TailMessage>,
}

/// A message, as a topic held it.
#[derive(Clone, Debug, Default, Eq, PartialEq, Deserialize, Serialize)]
pub struct TailMessage {
    /// The publisher's lane.
    pub publisher: usize,
    /// Its number in that lane.
    pub sequence: u64,
    /// When it was sent; zero where the publisher does not say.
    pub sent_ns: u64,
    /// How many bytes it has.
    pub bytes: usize,
    /// As many of them as are kept, in hexadecimal.
    pub hex: String,
}

/// What the witness answers.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// To `Enrol`: a descriptor of each of these CPUs rides along.
    Enrolled {
        /// The CPUs whose trace can be frozen.
        cpus: Vec<u32>,
    },
    /// To `Enrol`: nothing is traced, for this reason.
    Refused {
        /// What to do about it.
        reason: String,
    },
    /// To `Missed`.
    Verdict(Verdict),
}

/// Who is to blame for a miss.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Verdict {
    /// The cycle that was asked about.
    pub cycle: u64,
    /// From release to completion.
    pub window_ns: u64,
    /// What the window was spent on, the longest first. The times add up to `window_ns`.
    pub shares: Vec<Share>,
    /// How far to believe it.
    pub confidence: Confidence,
    /// Where the frozen trace is kept, if it is.
    pub trace: Option<String>,
}

/// A part of a missed cycle's time, and who had it.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Share {
    /// What it is.
    pub kind: Kind,
    /// Which one: `hog/137`, `27 (eth0)`, `update_pages_handler in kworker/1:1`.
    pub name: String,
    /// Its time.
    pub ns: u64,
    /// Whether this could have kept the node: a cycle's own code within its budget could not.
    pub is_suspect: bool,
    /// More about it, for the sentence: `FIFO 90`, `512 faults`, an address.
    pub detail: Option<String>,
}

/// What can keep a node from its deadline.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Another thread on the CPU.
    Task,
    /// An interrupt, or its thread.
    Interrupt,
    /// Deferred work of interrupts.
    Softirq,
    /// A work item of the kernel, by its function.
    WorkItem,
    /// A fault of the thread's own pages that needed no disk.
    MinorFault,
    /// A fault of the thread's own pages that waited for a disk.
    MajorFault,
    /// The node's own step.
    OwnCode,
    /// The node's thread waited by itself: for a lock, a file, a sleep.
    OwnWait,
    /// The CPU's frequency was lowered, or it was throttled.
    Frequency,
    /// The CPU was idle though the node was due: no task of this machine had it.
    Nobody,
    /// Not seen: the tracer was missing, or its buffer lost events.
    Unknown,
}

/// How far a verdict is to be believed.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Everything was seen.
    High,
    /// A second sign is missing, or part of the window was not seen.
    Low,
    /// Most of the window was not seen.
    None,
}
