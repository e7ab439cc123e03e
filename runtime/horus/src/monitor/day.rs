//! Other clocks than the machine's: that of the day, by which nodes do not go, but the times of journal entries do; and those of time namespaces.

use crate::journal::{self, Entry, Priority};

/// What is told, in nanoseconds. A time service that slews moves the clock by 50 us at most between two looks (500 ppm of 100 ms).
const SHORTEST_STEP: i64 = 100_000_000;

/// Watches the clock of the day.
#[derive(Debug, Default)]
pub struct Day {
    offset: Option<i64>,
}

impl Day {
    /// Compares how far the clock of the day is ahead of the monotonic one ([`crate::time::MonotonicTime::offset_of_day`]) with the look before.
    pub fn look(&mut self, offset: i64) -> Option<Entry> {
        let before = self.offset.replace(offset)?;
        let step = offset.saturating_sub(before);
        if step.saturating_abs() < SHORTEST_STEP {
            return None;
        }
        let (way, seconds) = (if step > 0 { "forward" } else { "back" }, step.unsigned_abs() as f64 / 1e9);
        let text = format!(
            "the clock of the day was set {way} by {seconds:.3} s: the times of earlier entries are wrong by that; nodes go by another clock and \
             lost nothing"
        );
        Some(Entry::new(journal::id::CLOCK_STEP, Priority::Info, text).field("HORUS_STEP_NS", step))
    }
}

/// That it cannot be said whether a process in another time namespace is late.
pub fn of_another_clock(name: &str, ahead_ns: i64) -> Entry {
    let text = format!(
        "the program {name} has a clock of its own, {:.3} s {} this one (a time namespace): whether its nodes hang cannot be told, so they are \
         made safe only when it ends. Run it without a time namespace, or a monitor in the same one",
        ahead_ns.unsigned_abs() as f64 / 1e9,
        if ahead_ns > 0 { "ahead of" } else { "behind" },
    );
    Entry::new(journal::id::MONITOR, Priority::Error, text).field("HORUS_PROCESS", name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_told_once_and_a_drift_is_not() {
        let mut day = Day::default();
        assert!(day.look(5_000_000_000_000).is_none(), "nothing to compare with");
        assert!(day.look(5_000_000_050_000).is_none(), "slewed");
        let entry = day.look(8_200_000_050_000).expect("a step");
        assert!(entry.message().contains("set forward by 3200.000 s"), "{}", entry.message());
        assert_eq!(entry.get("HORUS_STEP_NS"), Some("3200000000000"));
        assert!(day.look(8_200_000_050_000).is_none(), "once");
        let entry = day.look(0).expect("a step back");
        assert!(entry.message().contains("set back by 8200.000 s"), "{}", entry.message());
    }
}
