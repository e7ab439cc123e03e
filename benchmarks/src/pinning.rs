//! Which CPUs a run uses, and tying a thread to one.

use std::fmt;
use std::str::FromStr;

use core_affinity::{CoreId, get_core_ids, set_for_current};
use thiserror::Error;

/// CPUs that the kernel's interface for affinity can name (`CPU_SETSIZE` in sched.h).
const MOST_CPUS: usize = 1024;

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
    #[error("cannot run on CPU {0}; choose among the CPUs that `taskset -p $$` shows")]
    Refused(usize),
}

impl Cpus {
    /// The first two CPUs that this thread may run on; twice the same where there is one, or where the thread was
    /// [tied](pin_to) to one.
    pub fn default_pair() -> Self {
        let mut allowed = get_core_ids().unwrap_or_default().into_iter().map(|core| core.id);
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
        let parse = |number: &str| number.trim().parse().ok().filter(|cpu| *cpu < MOST_CPUS);
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
    if set_for_current(CoreId { id: cpu }) { Ok(()) } else { Err(CpusError::Refused(cpu)) }
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
            assert_eq!(get_core_ids().unwrap(), [CoreId { id: cpu }]);
        })
        .join()
        .unwrap();
    }
}
