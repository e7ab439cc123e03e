//! Gives a rival's own threads the freedom to run on any CPU.

use horus_benchmarks::transport::Failure;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Makes something while the calling thread may run on every CPU.
///
/// A new thread inherits the CPUs of the thread that starts it. The harness ties its threads to one CPU each, and
/// spins; a rival's I/O thread that inherited that would wait for the spinning thread's time slices to end.
pub fn with_free_threads<T>(make: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let tied = sched_getaffinity(None)?;
    let mut all = CpuSet::new();
    (0..CpuSet::MAX_CPU).for_each(|cpu| all.set(cpu));
    sched_setaffinity(None, &all)?;
    let made = make();
    sched_setaffinity(None, &tied)?;
    made
}
