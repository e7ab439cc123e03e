//! How often something may be done: so many times within a second, and no more.

use std::collections::VecDeque;

/// A second, in nanoseconds.
const SPAN_NS: u64 = 1_000_000_000;

/// When something was done lately.
#[derive(Debug, Default)]
pub struct Pace(VecDeque<u64>);

impl Pace {
    /// Whether it may be done now, at most `most` times a second. Saying yes counts.
    pub fn allows(&mut self, now_ns: u64, most: usize) -> bool {
        self.0.retain(|&before| now_ns.saturating_sub(before) < SPAN_NS);
        let allowed = self.0.len() < most;
        if allowed {
            self.0.push_back(now_ns);
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_is_answered_so_many_times_a_second() {
        let mut pace = Pace::default();
        let allowed = (0..30_000_u64).filter(|cycle| pace.allows(cycle * 100_000, 2)).count(); // three seconds at 10 kHz
        assert_eq!(allowed, 6);
    }
}
