//! Which CPUs a run uses, and tying a thread to one.

use std::fmt;
use std::str::FromStr;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thiserror::Error;

/// The CPU of the end that measures and the CPU of its peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// Where the measuring end runs.
    pub first: usize,
    /// Where the peer runs.
    pub second: usize,
}

/// A choice of CPUs is not possible here.
#[derive(Debug, Error)]
pub enum CpusError {
    /// Not two numbers.
    #[error("'{0}' is not two CPUs: write for example 0,1")]
    Text(String),
    /// The kernel refused to run a thread there.
    #[error("cannot run on CPU {cpu}: {source}; choose among the CPUs that `taskset -p $$` shows")]
    Refused {
        /// The CPU.
        cpu: usize,
        /// What the kernel said.
        source: rustix::io::Errno,
    },
}

impl Cpus {
    /// The first two CPUs that this thread may run on; twice the same where there is one, or where the thread was
    /// [tied](pin_to) to one.
    pub fn default_pair() -> Self {
        let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        let mut allowed = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu));
        let first = allowed.next().unwrap_or(0);
        Self { first, second: allowed.next().unwrap_or(first) }
    }

    /// Whether both ends take turns on one CPU.
    pub fn shared(&self) -> bool {
        self.first == self.second
    }
}

impl FromStr for Cpus {
    type Err = CpusError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = |number: &str| number.trim().parse().ok().filter(|cpu| *cpu < CpuSet::MAX_CPU);
        text.split_once(',')
            .and_then(|(first, second)| Some(Self { first: parse(first)?, second: parse(second)? }))
            .ok_or_else(|| CpusError::Text(text.to_owned()))
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{},{}", self.first, self.second)
    }
}

/// Ties the calling thread to a CPU; threads that it starts later begin there too.
pub fn pin_to(cpu: usize) -> Result<(), CpusError> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|source| CpusError::Refused { cpu, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_numbers_are_two_cpus_and_all_else_is_refused() {
        assert_eq!("3,5".parse::<Cpus>().unwrap(), Cpus { first: 3, second: 5 });
        for text in ["", "1", "1,", "0,1,2", "a,b", "0,99999"] {
            assert!(text.parse::<Cpus>().unwrap_err().to_string().contains("0,1"), "{text}");
        }
    }

    #[test]
    fn a_pinned_thread_may_run_nowhere_else() {
        let cpu = Cpus::default_pair().second;
        std::thread::spawn(move || {
            pin_to(cpu).unwrap();
            assert_eq!(sched_getaffinity(None).unwrap().count(), 1);
        })
        .join()
        .unwrap();
    }
}
