//! A process in the middle that never sleeps, on a CPU of its own; sender and receiver share another one.

use std::sync::OnceLock;

use horus_benchmarks::pinning::{Cpus, pin_to};
use horus_benchmarks::transport::Failure;
use rustix::thread::{sched_getaffinity, sched_setaffinity};

/// As they were before a thread was tied to one of them.
static CPUS: OnceLock<Cpus> = OnceLock::new();

fn cpus() -> Cpus {
    *CPUS.get_or_init(Cpus::default_pair)
}

/// What tells a process in the middle that it is one of these: its CPU.
pub fn argument() -> String {
    cpus().second.to_string()
}

/// Ties a process in the middle to its CPU; true if it is one of these.
///
/// # Errors
/// When it may not run there.
pub fn begin(argument: &str) -> Result<bool, Failure> {
    if argument.is_empty() {
        return Ok(false);
    }
    pin_to(argument.parse()?)?;
    Ok(true)
}

/// Does something with this thread and those that it starts on the other CPU.
///
/// # Errors
/// Where there is only one CPU, and what `measure` says.
pub fn beside<T>(measure: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let cpus = cpus();
    if cpus.shared() {
        return Err("two CPUs are needed".into());
    }
    let before = sched_getaffinity(None)?;
    pin_to(cpus.first)?;
    let measured = measure();
    sched_setaffinity(None, &before)?;
    measured
}
