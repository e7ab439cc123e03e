//! What a phase was like second by second: the worst of each, and the machine's temperature, clock and throttling then.

use serde::{Deserialize, Serialize};

/// No phase has more intervals; in one of more seconds they are minutes, and in one of more minutes longer.
pub const MOST: u64 = 600;

/// The shortest interval.
const SECOND_NS: u64 = 1_000_000_000;

/// The next longer one.
const MINUTE_NS: u64 = 60 * SECOND_NS;

/// Intervals of equal length, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    /// The length of each: a second, in a run of more than [`MOST`] seconds a minute or more.
    pub width_ns: u64,
    /// The intervals. The last one may be cut short.
    pub rows: Vec<Interval>,
}

/// One interval. A release belongs to the one in which it was due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// The longest response time; `null` where no release was due.
    pub response_ns: Option<u64>,
    /// The largest release jitter; `null` where no release was served.
    pub jitter_ns: Option<u64>,
    /// Misses, skipped releases included.
    pub misses: u64,
    /// The hottest thermal zone at the interval's end, in thousandths of a degree Celsius; `null` where the machine has none.
    pub temperature_mc: Option<i64>,
    /// The clock of the measuring CPU at the interval's end; `null` where the kernel does not tell.
    pub frequency_khz: Option<u64>,
    /// Whether the machine slowed itself down since the interval before; `null` where it has nothing that tells.
    pub is_throttled: Option<bool>,
}

impl Intervals {
    /// Intervals for a phase of `length_ns`; all memory is there before the first release.
    pub fn over(length_ns: u64) -> Self {
        let shortest = if length_ns <= MOST * SECOND_NS { SECOND_NS } else { MINUTE_NS };
        let width_ns = length_ns.div_ceil(MOST).max(shortest);
        let count = length_ns.div_ceil(width_ns).max(1) as usize;
        Self { width_ns, rows: vec![Interval::default(); count] }
    }

    /// The interval of a release that was due `since_start_ns` after the first one; the last one for all that come later.
    #[inline]
    pub fn at(&mut self, since_start_ns: u64) -> &mut Interval {
        let last = self.rows.len() - 1;
        &mut self.rows[((since_start_ns / self.width_ns) as usize).min(last)]
    }

    /// The longest response time of each interval in which a release was due.
    pub fn maxima(&self) -> Vec<u64> {
        self.rows.iter().filter_map(|row| row.response_ns).collect()
    }
}

impl Interval {
    /// Adds a release.
    #[inline]
    pub fn add(&mut self, response_ns: u64, jitter_ns: Option<u64>, missed: bool) {
        self.response_ns = self.response_ns.max(Some(response_ns));
        self.jitter_ns = self.jitter_ns.max(jitter_ns);
        self.misses += u64::from(missed);
    }
}

/// Counts the misses in every 100 consecutive releases, and keeps the most: the weakly-hard figure of Bernat and Burns
/// ("Weakly hard real-time systems", IEEE Transactions on Computers 50, 2001).
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    /// The last releases, the newest in the lowest bit; 1 is a miss.
    last: u128,
    most: u32,
}

/// The bits of a window.
const WINDOW: u128 = (1 << 100) - 1;

impl Window {
    /// Adds a release.
    #[inline]
    pub fn add(&mut self, missed: bool) {
        self.last = (self.last << 1 | u128::from(missed)) & WINDOW;
        self.most = self.most.max(self.last.count_ones());
    }

    /// The most misses in any 100 consecutive releases.
    pub fn most(&self) -> u64 {
        self.most.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_has_no_more_intervals_than_a_report_can_hold() {
        assert_eq!(
            (Intervals::over(16_200_000_000).width_ns, Intervals::over(16_200_000_000).rows.len()),
            (SECOND_NS, 17)
        );
        let night = Intervals::over(8 * 3600 * SECOND_NS);
        assert_eq!((night.width_ns, night.rows.len()), (MINUTE_NS, 480));
        assert_eq!(Intervals::over(20 * 3600 * SECOND_NS).rows.len(), 600);
        assert_eq!(Intervals::over(0).rows.len(), 1);
    }

    #[test]
    fn a_release_counts_in_the_second_in_which_it_was_due_and_late_ones_in_the_last() {
        let mut intervals = Intervals::over(2 * SECOND_NS);
        intervals.at(999_999_999).add(5, Some(2), false);
        intervals.at(SECOND_NS).add(9, None, true);
        intervals.at(10 * SECOND_NS).add(7, Some(1), true);
        let row = |response, jitter, misses| Interval {
            response_ns: Some(response),
            jitter_ns: jitter,
            misses,
            ..Interval::default()
        };
        assert_eq!(intervals.rows, [row(5, Some(2), 0), row(9, Some(1), 2)]);
        assert_eq!(intervals.maxima(), [5, 9]);
    }

    #[test]
    fn a_window_of_100_forgets_what_lies_further_back() {
        let mut window = Window::default();
        for number in 0..1_000 {
            window.add(number % 50 == 0);
        }
        assert_eq!(window.most(), 2);
        (0..300).for_each(|_| window.add(true));
        assert_eq!(window.most(), 100);
    }
}
