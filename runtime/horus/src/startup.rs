//! What a node asks of the system before its first cycle, and what it got: nothing is ever refused silently.
//!
//! Each guarantee is set, then *read back from the kernel*; only the second answer counts. A refusal carries its reason
//! and what to do about it. [`Mode::Strict`] turns a refusal into an error; [`Mode::Report`] starts anyway, says so on
//! stderr, and leaves the list to the caller's `NODE_START` journal entry ([`Granted::entry`]).
//!
//! Policy and affinity belong to the calling *thread*, and new threads inherit them: start other threads first
//! ([`crate::supervise`]), then ask, then run the loop on this thread.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::cpus::CpuChoice;
use crate::deadline::Timing;
use crate::journal::{self, Entry, Priority};

mod kernel;
pub use kernel::policy_of_this_thread;

/// The highest priority that may be asked for: 99 is left to the kernel's migration and watchdog threads.
pub const MAX_FIFO_PRIORITY: u8 = 98;

/// What a node wants to be granted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Where the calling thread runs.
    pub cpu: CpuChoice,
    /// `SCHED_FIFO` at this priority (1 to [`MAX_FIFO_PRIORITY`]) for the calling thread; `None` keeps its policy.
    /// Choose 60 to 90: above the kernel's threaded interrupts, which run at 50.
    pub fifo_priority: Option<u8>,
    /// Keep all present and future memory of the process in RAM, so that the loop takes no page fault. Touches 256 KiB
    /// of the calling thread's stack, which must have room for it.
    pub lock_memory: bool,
    /// Hold `/dev/cpu_dma_latency` at 0 for the rest of the process's life, so that CPUs enter no idle state with a
    /// wake-up cost.
    pub hold_cpu_dma_latency: bool,
    /// The longest that a FIFO thread of this process may compute without sleeping before the kernel ends the process
    /// (`RLIMIT_RTTIME`): a loop that never sleeps must not take its CPU away for ever.
    pub rt_time_limit: Option<Duration>,
}

/// What a refusal leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The node does not start.
    Strict,
    /// The node starts and says loudly what it lacks.
    Report,
}

/// The answer to one wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Granted; holds what the kernel says when asked again.
    Granted(String),
    /// Refused.
    Refused {
        /// What the system said.
        reason: String,
        /// What somebody can do about it.
        remedy: String,
    },
}

/// One wish and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// What kind of guarantee: `cpu`, `policy`, `memory`, `idle-states` or `rt-time-limit`.
    pub name: &'static str,
    /// What was asked for.
    pub asked: String,
    /// What came of it.
    pub answer: Answer,
}

impl Guarantee {
    /// Whether the wish was granted.
    pub fn is_granted(&self) -> bool {
        matches!(self.answer, Answer::Granted(_))
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, asked, answer } = self;
        match answer {
            Answer::Granted(found) => write!(out, "granted {name}: asked {asked}, kernel says {found}"),
            Answer::Refused { reason, remedy } => write!(out, "REFUSED {name}: asked {asked}: {reason}; {remedy}"),
        }
    }
}

/// Why a node does not start.
#[derive(Debug, Error)]
pub enum StartupError {
    /// The request itself makes no sense.
    #[error(
        "priority {0} is out of range: choose 1 to {MAX_FIFO_PRIORITY} (99 belongs to the kernel), usually 60 to 90"
    )]
    Priority(u8),
    /// A guarantee was refused and the mode is [`Mode::Strict`].
    #[error("not started, because the system does not grant what the node needs:\n{0}")]
    Refused(Granted),
}

/// The wishes and their answers, in the order in which they were tried. What was not asked for is not listed.
#[must_use = "a refusal that nobody looks at is silent"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    guarantees: Vec<Guarantee>,
}

impl Request {
    /// Asks the system, for the calling thread and its process.
    ///
    /// # Errors
    /// When the priority is out of range, or when [`Mode::Strict`] meets a refusal; the error lists every answer.
    pub fn apply(&self, mode: Mode) -> Result<Granted, StartupError> {
        if let Some(priority) = self.fifo_priority.filter(|priority| !(1..=MAX_FIFO_PRIORITY).contains(priority)) {
            return Err(StartupError::Priority(priority));
        }
        // Memory comes before the CPU: what is not in RAM yet is read from storage by the housekeeping CPUs, and an
        // isolated one neither submits the reads nor handles their interrupts. The limit comes before the policy that it
        // limits, and the policy last: the rest may take its time.
        let granted = Granted {
            guarantees: [
                self.lock_memory.then(kernel::lock_memory),
                self.hold_cpu_dma_latency.then(kernel::hold_cpu_dma_latency),
                kernel::pin(self.cpu),
                self.rt_time_limit.map(kernel::limit_rt_time),
                self.fifo_priority.map(kernel::set_fifo),
            ]
            .into_iter()
            .flatten()
            .collect(),
        };
        match mode {
            Mode::Strict if !granted.is_complete() => Err(StartupError::Refused(granted)),
            Mode::Strict => Ok(granted),
            Mode::Report => {
                for refused in granted.refused() {
                    eprintln!("warning: {refused}");
                }
                Ok(granted)
            }
        }
    }
}

impl Granted {
    /// Every wish with its answer.
    pub fn guarantees(&self) -> &[Guarantee] {
        &self.guarantees
    }

    /// The wishes that were refused.
    pub fn refused(&self) -> impl Iterator<Item = &Guarantee> {
        self.guarantees.iter().filter(|guarantee| !guarantee.is_granted())
    }

    /// Whether everything that was asked for was granted.
    pub fn is_complete(&self) -> bool {
        self.refused().next().is_none()
    }

    /// The `NODE_START` journal entry: one line a guarantee, a warning when one is missing.
    pub fn entry(&self, node: &str, timing: &Timing) -> Entry {
        let refused: Vec<_> = self.refused().map(|guarantee| guarantee.name).collect();
        let (priority, verdict) = match (self.guarantees.is_empty(), refused.is_empty()) {
            (true, _) => (Priority::Info, "on a best-effort basis".to_owned()),
            (false, true) => (Priority::Info, "with everything it asked for".to_owned()),
            (false, false) => (Priority::Warning, format!("WITHOUT {}", refused.join(", "))),
        };
        Entry::new(
            journal::id::NODE_START,
            priority,
            format!(
                "node {node} starts {verdict}: period {:?}, deadline {:?}\n{self}",
                timing.period(),
                timing.deadline()
            ),
        )
        .field("HORUS_NODE", node)
        .field("HORUS_PERIOD_NS", timing.period_nanos())
        .field("HORUS_DEADLINE_NS", timing.deadline_nanos())
        .field("HORUS_GUARANTEES", self)
        .field("HORUS_REFUSED", if refused.is_empty() { "none".to_owned() } else { refused.join(" ") })
    }
}

impl fmt::Display for Granted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.guarantees.is_empty() {
            return out.write_str("no guarantee was asked for");
        }
        for (index, guarantee) in self.guarantees.iter().enumerate() {
            write!(out, "{}{guarantee}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
