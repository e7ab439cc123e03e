//! How a node comes to run in real time, in an order that the types enforce: prepare the process, open, enter, run.
//!
//! ```no_run
//! # use std::{error::Error, sync::atomic::AtomicBool, time::Duration};
//! use horus::cpus::CpuChoice;
//! use horus::scheduler::{Cycle, Node, Scheduler};
//! use horus::startup::{Policy, Process, Thread};
//! # struct Balance;
//! # impl Balance { fn open() -> Result<Self, std::io::Error> { Ok(Self) } }
//! # impl Node for Balance { fn step(&mut self, _: &Cycle) {} }
//! # fn main() -> Result<(), Box<dyn Error>> {
//! # let (scheduler, stop): (Scheduler, AtomicBool) = todo!();
//! let process = Process { lock_memory: true, hold_cpu_dma_latency: true, rt_time_limit: Some(Duration::from_secs(1)) };
//! let thread = Thread { cpu: CpuChoice::IsolatedFirst, policy: Policy::Fifo("80".parse()?) };
//! let opened = process.prepare().open(Balance::open)?; // topics, buffers, files: all that the node will use
//! let mut entered = opened.enter(&thread);
//! println!("{}", entered.granted()); // what was granted, and what was refused
//! let tally = entered.run(&scheduler, &stop, |_, _| {});
//! # Ok(()) }
//! ```
//!
//! # Why this order
//! Memory is locked first, so that what is opened afterwards is in RAM when it is open. What is opened maps memory, reads
//! files and takes its time: on an isolated CPU under `SCHED_FIFO` it would hold up all that has a deadline there, and wait
//! for interrupts that go elsewhere. Nothing of it is left when the thread gets its CPU and its policy, as the last step
//! before the loop. The limit on real-time computing comes before the policy that it limits.
//!
//! # What is promised
//! Each guarantee is set, then *read back from the kernel*; only the second answer counts. A refusal carries its reason and
//! what to do about it. It never ends the program: [`Granted`] lists it, and the caller decides, by
//! [`Granted::complete`] for all or nothing. Nothing is printed here.
//!
//! Policy and affinity belong to the calling *thread*, and new threads inherit them: start other threads first
//! ([`crate::supervise`]). A node may be opened on one thread and enter another, where it stays:
//!
//! ```
//! # use horus::startup::{Process, Thread};
//! let opened = Process::default().prepare().open(|| Ok::<_, ()>(0)).unwrap();
//! let thread = std::thread::spawn(move || opened.enter(&Thread::default()).granted().is_complete());
//! assert!(thread.join().unwrap()); // nothing was asked for
//! ```
//! ```compile_fail
//! # use horus::startup::{Process, Thread};
//! let opened = Process::default().prepare().open(|| Ok::<_, ()>(0)).unwrap();
//! let entered = opened.enter(&Thread::default());
//! let thread = std::thread::spawn(move || entered.granted().is_complete());
//! ```

use std::marker::PhantomData;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use thiserror::Error;

use crate::cpus::CpuChoice;
use crate::deadline::{CycleRecord, Tally, Verdict};
use crate::scheduler::{Node, Scheduler};
use crate::time::Clock;

mod granted;
mod kernel;

pub use granted::{Answer, Granted, Guarantee, Incomplete};
pub use kernel::policy_of_this_thread;

/// The highest priority that may be asked for: 99 is left to the kernel's migration and watchdog threads.
pub const MAX_FIFO_PRIORITY: u8 = 98;

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
    /// Before whom it runs.
    pub policy: Policy,
}

/// The scheduling policy that a thread asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// That of the thread that started it; nothing is changed.
    #[default]
    Inherited,
    /// `SCHED_FIFO`.
    Fifo(FifoPriority),
}

/// A real-time priority from 1 to [`MAX_FIFO_PRIORITY`]. Choose 60 to 90: above the kernel's threaded interrupts, which run
/// at 50.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FifoPriority(u8);

/// A number or text is not a priority.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("priority {0} is out of range: choose 1 to {MAX_FIFO_PRIORITY} (99 belongs to the kernel), usually 60 to 90")]
pub struct PriorityError(String);

impl FifoPriority {
    /// Checks the range.
    ///
    /// # Errors
    /// When the number is 0 or beyond [`MAX_FIFO_PRIORITY`].
    pub fn new(priority: u8) -> Result<Self, PriorityError> {
        match priority {
            1..=MAX_FIFO_PRIORITY => Ok(Self(priority)),
            _ => Err(PriorityError(priority.to_string())),
        }
    }

    /// The number.
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl FromStr for FifoPriority {
    type Err = PriorityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.parse().map_err(|_| PriorityError(format!("'{text}'")))?;
        Self::new(number)
    }
}

impl Process {
    /// Asks the system for the process: the first step.
    pub fn prepare(&self) -> Prepared {
        let answers = [
            self.lock_memory.then(kernel::lock_memory),
            self.hold_cpu_dma_latency.then(kernel::hold_cpu_dma_latency),
            self.rt_time_limit.map(kernel::limit_rt_time),
        ];
        Prepared { granted: answers.into_iter().flatten().collect() }
    }
}

impl Thread {
    /// Asks the system for the calling thread, which runs no node. A node enters by [`Opened::enter`].
    pub fn enter(&self) -> Granted {
        // The policy is last: the rest may take its time.
        let policy = match self.policy {
            Policy::Inherited => None,
            Policy::Fifo(priority) => Some(priority),
        };
        kernel::pin(self.cpu).into_iter().chain(policy.map(kernel::set_fifo)).collect()
    }
}

/// A process that has its guarantees, in which nothing is opened yet.
#[must_use = "a node has to be opened before it can run"]
#[derive(Debug)]
pub struct Prepared {
    granted: Granted,
}

impl Prepared {
    /// What the process was granted.
    pub fn granted(&self) -> &Granted {
        &self.granted
    }

    /// Makes the node with all that it will use, on an ordinary thread.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn open<N, E>(self, open: impl FnOnce() -> Result<N, E>) -> Result<Opened<N>, E> {
        Ok(Opened { node: open()?, granted: self.granted })
    }
}

/// A node that has all that it will use, on a thread without guarantees of its own.
#[must_use = "a node has to enter its thread before it can run"]
#[derive(Debug)]
pub struct Opened<N> {
    node: N,
    granted: Granted,
}

impl<N> Opened<N> {
    /// Asks the system for the calling thread: the last step before the loop.
    pub fn enter(self, thread: &Thread) -> Entered<N> {
        Entered { node: self.node, granted: self.granted.and(thread.enter()), of_this_thread: PhantomData }
    }
}

/// A node on the thread that runs it.
#[derive(Debug)]
pub struct Entered<N> {
    node: N,
    granted: Granted,
    /// CPU and policy belong to the thread, so this value stays on it.
    of_this_thread: PhantomData<*const ()>,
}

impl<N> Entered<N> {
    /// What process and thread were granted and refused.
    pub fn granted(&self) -> &Granted {
        &self.granted
    }

    /// The node.
    pub fn node(&self) -> &N {
        &self.node
    }
}

impl<N: Node> Entered<N> {
    /// Runs the node as [`Scheduler::run_observed`] does.
    pub fn run<C: Clock>(
        &mut self,
        scheduler: &Scheduler<C>,
        stop: &AtomicBool,
        observe: impl FnMut(&CycleRecord, &Verdict),
    ) -> Tally {
        scheduler.run_observed(stop, |cycle| self.node.step(cycle), observe)
    }
}
