//! Bounded busy waiting.

use std::cell::Cell;
use std::time::Duration;

use rustix::thread::sched_getaffinity;

use horus_sys::clock::monotonic_ns;

/// Looks at the clock once in so many turns: a clock read costs about as much as this many `spin_loop` hints.
const TURNS_PER_LOOK: u32 = 16;
/// Gives the CPU away once in so many looks where the thread may use several CPUs. A peer that shares this CPU, against all
/// advice, then still makes progress, and the yield is too rare to show in a latency.
const LOOKS_PER_YIELD: u32 = 1024;
/// Asks once in so many looks which CPUs the thread may use: that changes when a user pins it, some milliseconds earlier.
const LOOKS_PER_QUESTION: u32 = 4096;

/// A busy wait with an end: call [`turn`](Self::turn) between attempts until it says that time is up.
pub struct Spin {
    limit_ns: u64,
    /// Set at the first look: what comes within a few turns, as most messages that are waited for do, costs no clock
    /// read.
    deadline_ns: Option<u64>,
    turns: u32,
    looks: u32,
}

impl Spin {
    /// A wait of at most `limit`, counted from a few turns after the first.
    pub fn new(limit: Duration) -> Self {
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Self { limit_ns, deadline_ns: None, turns: 0, looks: 0 }
    }

    /// Spends a moment; false once the limit has passed. Where the thread may use one CPU only, lets the peer run every few
    /// turns.
    #[inline]
    pub fn turn(&mut self) -> bool {
        core::hint::spin_loop();
        self.turns = self.turns.wrapping_add(1);
        !self.turns.is_multiple_of(TURNS_PER_LOOK) || self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(LOOKS_PER_YIELD) || has_one_cpu() {
            std::thread::yield_now();
        }
        let now = monotonic_ns();
        now < *self.deadline_ns.get_or_insert(now.saturating_add(self.limit_ns))
    }
}

/// Whether the calling thread may use one CPU only, so that a peer there makes progress only while it yields. Asks the kernel
/// once in a while; allocates nothing.
pub(crate) fn has_one_cpu() -> bool {
    thread_local! {
        /// Looks until the next question, and the last answer.
        static KNOWN: Cell<(u32, bool)> = const { Cell::new((0, false)) };
    }
    KNOWN.with(|known| {
        let (looks_left, answer) = known.get();
        if looks_left > 0 {
            known.set((looks_left - 1, answer));
            return answer;
        }
        // Not to be known counts as several CPUs: we still yield at times.
        let answer = sched_getaffinity(None).is_ok_and(|cpus| cpus.count() == 1);
        known.set((LOOKS_PER_QUESTION, answer));
        answer
    })
}

#[cfg(test)]
mod tests {
    use rustix::thread::{CpuSet, sched_setaffinity};

    use super::*;

    #[test]
    fn a_wait_ends_and_not_before_its_limit() {
        for limit in [Duration::ZERO, Duration::from_millis(2)] {
            let started = monotonic_ns();
            let mut spin = Spin::new(limit);
            while spin.turn() {}
            assert!(monotonic_ns() - started >= limit.as_nanos() as u64);
        }
    }

    #[test]
    fn a_pinned_thread_knows_that_it_has_one_cpu() {
        let pinned = std::thread::spawn(|| {
            let allowed = sched_getaffinity(None).unwrap();
            let first = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu)).unwrap();
            let mut one = CpuSet::new();
            one.set(first);
            sched_setaffinity(None, &one).unwrap();
            has_one_cpu()
        });
        assert!(pinned.join().unwrap());
    }
}
