//! How often the monitor speaks of one node: a machine that is too slow for it would fill the journal.

use crate::miss::MIN_ENTRY_DISTANCE;
use crate::time::MonotonicTime;

/// What was told of a node, and what was not.
#[derive(Debug, Default)]
pub struct Pace {
    last: Option<MonotonicTime>,
    untold: u64,
}

impl Pace {
    /// Something happened. When it may be told: how often it happened since it was told last, this time included.
    pub fn count(&mut self, now: MonotonicTime, is_urgent: bool) -> Option<u64> {
        self.untold += 1;
        let is_soon = self.last.is_some_and(|last| now < last.plus(MIN_ENTRY_DISTANCE));
        if is_soon && !is_urgent {
            return None;
        }
        self.last = Some(now);
        Some(std::mem::take(&mut self.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::ms;

    #[test]
    fn once_a_second_is_told_and_nothing_is_lost_from_the_count() {
        let mut pace = Pace::default();
        let at = |millis: u64| MonotonicTime::default().plus(ms(5_000 + millis));
        assert_eq!(pace.count(at(0), false), Some(1));
        assert_eq!(pace.count(at(100), false), None);
        assert_eq!(pace.count(at(999), false), None);
        assert_eq!(pace.count(at(1_000), false), Some(3));
        assert_eq!(pace.count(at(1_001), true), Some(1), "an end is told at once");
    }
}
