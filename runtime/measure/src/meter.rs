//! The meter: a histogram of fixed size that is filled in the loop and keeps its largest value exactly.

use hdrhistogram::Histogram;

use crate::quantile::is_supported;

/// Values above are counted in the last class; the maximum stays exact.
const LARGEST_NS: u64 = 60_000_000_000;

/// Three digits: a value in a class differs from the class's name by less than 0.1 %.
const DIGITS: u8 = 3;

/// Collects durations in nanoseconds. All memory is there and touched before the first [`record`](Self::record).
#[derive(Clone, Debug)]
pub struct Meter {
    histogram: Histogram<u64>,
    max_ns: u64,
    max_at: u64,
}

impl Meter {
    /// An empty meter.
    pub fn new() -> Self {
        let mut histogram =
            Histogram::new_with_bounds(1, LARGEST_NS, DIGITS).expect("1 ns to 60 s with three digits is a valid range");
        histogram.clear(); // writes every counter, so that the loop takes no page fault for one
        Self { histogram, max_ns: 0, max_at: 0 }
    }

    /// Adds one sample of cycle number `at`. Neither allocates nor fails.
    #[inline]
    pub fn record(&mut self, nanoseconds: u64, at: u64) {
        self.histogram.saturating_record(nanoseconds);
        if nanoseconds > self.max_ns {
            self.max_ns = nanoseconds;
            self.max_at = at;
        }
    }

    /// Takes over all samples of another meter, as if they had been recorded here.
    pub fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all meters have the same range");
        if other.max_ns > self.max_ns {
            (self.max_ns, self.max_at) = other.max();
        }
    }

    /// How many samples there are.
    pub fn samples(&self) -> u64 {
        self.histogram.len()
    }

    /// The largest sample and its cycle; zeros before the first sample.
    pub fn max(&self) -> (u64, u64) {
        (self.max_ns, self.max_at)
    }

    /// The largest sample in nanoseconds; `None` before the first one.
    pub fn max_ns(&self) -> Option<u64> {
        (self.samples() > 0).then_some(self.max_ns)
    }

    /// The mean in nanoseconds, right to 0.1 %; `None` before the first sample.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.samples() > 0).then(|| self.histogram.mean())
    }

    /// The value in nanoseconds that a share `quantile` of all samples does not exceed, if enough samples lie beyond it.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        is_supported(quantile, self.samples()).then(|| self.histogram.value_at_quantile(quantile).min(self.max_ns))
    }

    /// Every class with samples: its upper value in nanoseconds, its count. Ascending.
    pub fn classes(&self) -> Vec<(u64, u64)> {
        self.histogram
            .iter_recorded()
            .map(|class| (class.value_iterated_to(), class.count_since_last_iteration()))
            .collect()
    }

    /// The histogram itself, for its file formats.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantile;

    fn filled(samples: u64) -> Meter {
        let mut meter = Meter::new();
        (1..=samples).for_each(|sample| meter.record(sample, sample));
        meter
    }

    #[test]
    fn a_quantile_is_stated_by_the_rule_and_right_to_a_thousandth() {
        assert_eq!(filled(19).quantile(0.5), None);
        assert_eq!(filled(20).quantile(0.5), Some(10));
        let many = filled(1_234_567);
        for quantile in [0.5, 0.99, 0.9999] {
            let (found, wanted) = (many.quantile(quantile).unwrap() as f64, quantile * 1_234_567.0);
            assert!((found / wanted - 1.0).abs() < 0.001, "{found} for {wanted}");
        }
    }

    #[test]
    fn the_maximum_is_exact_and_knows_its_cycle() {
        let mut meter = filled(100);
        meter.record(123_456_789, 7);
        meter.record(99, 8);
        assert_eq!((meter.max(), meter.max_ns()), ((123_456_789, 7), Some(123_456_789)));
        assert_eq!(meter.samples(), 102);
    }

    #[test]
    fn a_value_beyond_the_range_is_counted_and_kept_exactly() {
        let mut meter = Meter::new();
        meter.record(u64::MAX, 0);
        assert_eq!((meter.samples(), meter.max().0), (1, u64::MAX));
    }

    #[test]
    fn two_meters_together_state_what_one_would_have() {
        let (mut together, mut other) = (filled(500), Meter::new());
        (501..=1_000).for_each(|sample| other.record(sample, sample));
        together.add(&other);
        assert_eq!(together.classes(), filled(1_000).classes());
        assert_eq!((together.max(), together.quantile(0.99)), ((1_000, 1_000), Some(990)));
    }

    #[test]
    fn an_empty_meter_states_nothing() {
        let meter = Meter::new();
        assert_eq!((meter.quantile(0.0), meter.max_ns(), meter.mean_ns()), (None, None, None));
    }

    #[test]
    fn classes_hold_every_sample() {
        let meter = filled(5_000);
        assert_eq!(meter.classes().iter().map(|class| class.1).sum::<u64>(), 5_000);
        assert_eq!(quantile::of_classes(&meter.classes(), 5_000, 0.5), meter.quantile(0.5));
    }
}
