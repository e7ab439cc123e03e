//! Real time, wish by wish: what is asked of the kernel for a process and for a thread, and what came of it.
//!
//! ```no_run
//! use std::time::Duration;
//! use horus::cpus::CpuChoice;
//! use horus::startup::{SchedulingPolicy, Process, Thread};
//!
//! let process = Process { lock_memory: true, hold_cpu_dma_latency: true, rt_time_limit: Some(Duration::from_secs(1)) };
//! let granted = process.prepare();
//! let thread = Thread { cpu: CpuChoice::Isolated(0), policy: SchedulingPolicy::Fifo("80".parse()?), ..Thread::default() };
//! println!("{granted}\n{}", thread.enter());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`App`](crate::app::App) does all of it, in the order that matters: a node's topics, buffers and files are opened by an ordinary thread. Then
//! memory is locked. Each thread takes its CPU, and its scheduling policy as the last step before its loop. Opening maps memory, reads files and
//! takes its time: on an isolated CPU under `SCHED_FIFO` it would hold up all that has a deadline there.
//!
//! # What is promised
//! Each guarantee is set, then *read back from the kernel*; only the second answer counts. A refusal carries its reason and
//! what to do about it. It never ends the program: [`Granted`] lists it, and the caller decides, by
//! [`Granted::complete`] for all or nothing. Nothing is printed here.
//!
//! Policy and affinity belong to the calling *thread*, and new threads inherit them: start other threads first.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

mod granted;
mod kernel;

pub use crate::cpus::{CpuChoice, CpuChoiceError};
pub use granted::{Answer, Granted, Guarantee, Incomplete};
pub(crate) use kernel::only_cpu;
#[doc(hidden)] // for HORUS's own programs, as the type that it gives
pub use kernel::policy_of_this_thread;

/// The highest priority that may be asked for: 99 is left to the kernel's migration and watchdog threads.
pub const MAX_RT_PRIORITY: u8 = 98;

/// What is asked for the whole process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// Keep all present and future memory of the process in RAM, so that the loop takes no page fault. Touches 256 KiB
    /// of the calling thread's stack, which must have room for it.
    pub lock_memory: bool,
    /// Hold `/dev/cpu_dma_latency` at 0 for the rest of the process's life, so that CPUs enter no idle state with a
    /// wake-up cost.
    pub hold_cpu_dma_latency: bool,
    /// The longest that a real-time thread of this process may compute without sleeping before the kernel ends the process
    /// (`RLIMIT_RTTIME`): a loop that never sleeps must not take its CPU away for ever.
    pub rt_time_limit: Option<Duration>,
}

/// What is asked for one thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thread {
    /// Where it runs.
    pub cpu: CpuChoice,
    /// Its scheduling policy.
    pub policy: SchedulingPolicy,
    /// What [`SchedulingPolicy::Deadline`] reserves.
    pub reservation: Reservation,
}

/// The scheduling policy that a thread asks for.
///
/// ```
/// use horus::startup::SchedulingPolicy;
/// assert_eq!("fifo:80".parse::<SchedulingPolicy>().unwrap().to_string(), "fifo:80");
/// assert!("fifo:100".parse::<SchedulingPolicy>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SchedulingPolicy {
    /// That of the thread that started it; nothing is changed.
    #[default]
    Inherited,
    /// `SCHED_OTHER`, a fair share.
    Other,
    /// `SCHED_FIFO`.
    Fifo(RtPriority),
    /// `SCHED_RR`.
    RoundRobin(RtPriority),
    /// `SCHED_DEADLINE`, with the budget, the deadline and the period of the thread's nodes.
    Deadline,
}

impl SchedulingPolicy {
    /// Whether the kernel runs it before all that have a fair share.
    pub(crate) const fn is_real_time(self) -> bool {
        matches!(self, Self::Fifo(_) | Self::RoundRobin(_) | Self::Deadline)
    }
}

impl fmt::Display for SchedulingPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inherited | Self::Other => out.write_str("other"),
            Self::Fifo(priority) => write!(out, "fifo:{}", priority.get()),
            Self::RoundRobin(priority) => write!(out, "rr:{}", priority.get()),
            Self::Deadline => out.write_str("deadline"),
        }
    }
}

/// A text is not a scheduling policy.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SchedulingPolicyError {
    /// It names none.
    #[error("'{0}' is not a scheduling policy: write fifo:80, rr:80, deadline or other")]
    Unknown(String),
    /// Its priority is out of range.
    #[error(transparent)]
    Priority(#[from] PriorityError),
}

impl FromStr for SchedulingPolicy {
    type Err = SchedulingPolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().split_once(':') {
            Some(("fifo", priority)) => Ok(Self::Fifo(priority.trim().parse()?)),
            Some(("rr", priority)) => Ok(Self::RoundRobin(priority.trim().parse()?)),
            None if text.trim() == "deadline" => Ok(Self::Deadline),
            None if text.trim() == "other" => Ok(Self::Other),
            _ => Err(SchedulingPolicyError::Unknown(text.to_owned())),
        }
    }
}

/// What `SCHED_DEADLINE` promises a thread: so much CPU time, until so long after the beginning of each period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reservation {
    /// CPU time in each period.
    pub runtime: Duration,
    /// Until when.
    pub deadline: Duration,
    /// How often.
    pub period: Duration,
}

/// A real-time priority from 1 to [`MAX_RT_PRIORITY`]. Choose 60 to 90: above the kernel's threaded interrupts, which run
/// at 50.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RtPriority(u8);

/// A number or text is not a priority.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("priority {0} is out of range: choose 1 to {MAX_RT_PRIORITY} (99 belongs to the kernel), usually 60 to 90")]
pub struct PriorityError(String);

impl RtPriority {
    /// Checks the range.
    ///
    /// # Errors
    /// When the number is 0 or beyond [`MAX_RT_PRIORITY`].
    pub fn new(priority: u8) -> Result<Self, PriorityError> {
        match priority {
            1..=MAX_RT_PRIORITY => Ok(Self(priority)),
            _ => Err(PriorityError(priority.to_string())),
        }
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl FromStr for RtPriority {
    type Err = PriorityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.parse().map_err(|_| PriorityError(format!("'{text}'")))?;
        Self::new(number)
    }
}

impl Process {
    /// Asks the system for the process.
    pub fn prepare(&self) -> Granted {
        let answers = [
            self.lock_memory.then(kernel::lock_memory),
            self.hold_cpu_dma_latency.then(kernel::hold_cpu_dma_latency),
            self.rt_time_limit.map(kernel::limit_rt_time),
        ];
        answers.into_iter().flatten().collect()
    }
}

impl Thread {
    /// Asks the system for the calling thread.
    pub fn enter(&self) -> Granted {
        // The policy is last: the rest may take its time.
        let policy = match self.policy {
            SchedulingPolicy::Inherited => None,
            wanted => Some(kernel::set_policy(wanted, self.reservation)),
        };
        kernel::pin(self.cpu).into_iter().chain(policy).collect()
    }
}
