//! Bounded busy waiting.

use std::sync::OnceLock;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};

use crate::clock::monotonic_ns;

/// Looks at the clock once in so many turns: a clock read costs about as much as this many `spin_loop` hints.
const TURNS_PER_LOOK: u32 = 16;
/// Gives the CPU away once in so many looks where there are several CPUs. A peer that shares this CPU, against all
/// advice, then still makes progress, and the yield is too rare to show in a latency.
const LOOKS_PER_YIELD: u32 = 1024;

/// A busy wait with an end: call [`turn`](Self::turn) between attempts until it says that time is up.
pub struct Spin {
    limit_ns: u64,
    /// Set at the first look: what comes within a few turns, as most messages that are waited for do, costs no clock
    /// read.
    deadline_ns: Option<u64>,
    turns: u32,
    looks: u32,
    looks_per_yield: u32,
}

impl Spin {
    /// A wait of at most `limit`, counted from a few turns after the first.
    pub fn new(limit: Duration) -> Self {
        let limit_ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let looks_per_yield = if single_cpu() { 1 } else { LOOKS_PER_YIELD };
        Self { limit_ns, deadline_ns: None, turns: 0, looks: 0, looks_per_yield }
    }

    /// Spends a moment; false once the limit has passed. On a single CPU, lets the peer run every few turns.
    #[inline]
    pub fn turn(&mut self) -> bool {
        core::hint::spin_loop();
        self.turns = self.turns.wrapping_add(1);
        !self.turns.is_multiple_of(TURNS_PER_LOOK) || self.look()
    }

    #[cold]
    fn look(&mut self) -> bool {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(self.looks_per_yield) {
            std::thread::yield_now();
        }
        let now = monotonic_ns();
        now < *self.deadline_ns.get_or_insert(now.saturating_add(self.limit_ns))
    }
}

/// Whether the machine runs on one CPU, where a peer makes progress only while we yield. Read once; allocates nothing.
pub(crate) fn single_cpu() -> bool {
    static SINGLE: OnceLock<bool> = OnceLock::new();
    *SINGLE.get_or_init(|| {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mut text = [0; 64];
        let length = rustix::fs::open(c"/sys/devices/system/cpu/online", flags, Mode::empty())
            .and_then(|file| rustix::io::read(&file, &mut text));
        // A list such as "0-3,5"; a single number is a single CPU. Unreadable counts as several: we still yield at
        // times.
        length.is_ok_and(|length| !text[..length].iter().any(|byte| b"-,".contains(byte)))
    })
}

#[cfg(test)]
mod tests {
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
}
