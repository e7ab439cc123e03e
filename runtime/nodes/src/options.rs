//! The options that every node has, and what they ask of the system.

use std::time::Duration;

use clap::Args;
use horus::cpus::CpuChoice;
use horus::deadline::{Timing, TimingError};
use horus::scheduler::Scheduler;
use horus::startup::{FifoPriority, Policy, Process, Thread};
use horus::time::{MonotonicTime, parse_duration};

/// The longest that the loop may compute without sleeping before the kernel ends the process.
const RT_TIME_LIMIT: Duration = Duration::from_secs(1);

/// Silence is told after this many periods, where nothing else is asked for.
const SILENT_PERIODS: u32 = 100;

/// And not before this time: a peer that restarts is back within it.
const SHORTEST_DEFAULT_SILENCE: Duration = Duration::from_secs(1);

/// A silence that cannot be one.
#[derive(Debug, thiserror::Error)]
#[error("silence {silence:?} is shorter than the period {period:?}: choose a longer --silence, such as 1s")]
pub struct SilenceError {
    silence: Duration,
    period: Duration,
}

/// Options that every node has.
#[derive(Args)]
pub struct NodeOptions {
    /// Time between two releases
    #[arg(long, default_value = "10ms", value_parser = parse_duration)]
    period: Duration,
    /// Time from release to completion that counts as in time
    #[arg(long, default_value = "8ms", value_parser = parse_duration)]
    deadline: Duration,
    /// CPU to run on: any, isolated, isolated-last, housekeeping or a number
    #[arg(long, default_value = "any")]
    cpu: CpuChoice,
    /// SCHED_FIFO priority, usually 60 to 90; also locks memory and holds CPUs out of idle states
    #[arg(long)]
    priority: Option<FifoPriority>,
    /// Do not start unless the system grants CPU, priority and memory; otherwise start and say what is missing
    #[arg(long)]
    pub(crate) strict: bool,
    /// How long nothing may come on the input before the journal says so [default: 100 periods, and 1s at least]
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    silence: Option<Duration>,
    /// End after this many releases instead of on SIGTERM
    #[arg(long)]
    releases: Option<u64>,
}

impl NodeOptions {
    /// Period and deadline, checked.
    pub(crate) fn timing(&self) -> Result<Timing, TimingError> {
        Timing::new(self.period, self.deadline)
    }

    /// How long nothing may come on the input before the journal says so.
    pub(crate) fn silence(&self, timing: &Timing) -> Result<Duration, SilenceError> {
        let period = timing.period();
        match self.silence {
            None => Ok((period * SILENT_PERIODS).max(SHORTEST_DEFAULT_SILENCE)),
            Some(silence) if silence >= period => Ok(silence),
            Some(silence) => Err(SilenceError { silence, period }),
        }
    }

    /// What a node with these options asks for its process.
    pub(crate) fn process(&self) -> Process {
        let real_time = self.priority.is_some();
        Process {
            lock_memory: real_time,
            hold_cpu_dma_latency: real_time,
            rt_time_limit: real_time.then_some(RT_TIME_LIMIT),
        }
    }

    /// What it asks for the thread of its loop.
    pub(crate) fn thread(&self) -> Thread {
        Thread { cpu: self.cpu, policy: self.priority.map_or(Policy::Inherited, Policy::Fifo) }
    }

    /// The loop, `phase` behind the grid that all nodes with this period share.
    pub(crate) fn scheduler(&self, timing: Timing, phase: Duration) -> Scheduler {
        let scheduler = Scheduler::new(timing).first_release(timing.next_release(MonotonicTime::now(), phase));
        match self.releases {
            Some(releases) => scheduler.releases(releases),
            None => scheduler,
        }
    }
}
