//! The meter: a histogram of fixed size that is filled in the loop and keeps its largest value exactly.

use hdrhistogram::Histogram;

use crate::report::schema::Latency;

/// A quantile is stated only when at least this many samples lie beyond it; fewer say nothing about it.
pub const MIN_EXCEEDANCES: u64 = 10;

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
    pub fn record(&mut self, nanoseconds: u64, at: u64) {
        self.histogram.saturating_record(nanoseconds);
        if nanoseconds > self.max_ns {
            self.max_ns = nanoseconds;
            self.max_at = at;
        }
    }

    /// How many samples there are.
    pub fn samples(&self) -> u64 {
        self.histogram.len()
    }

    /// The largest sample and its cycle.
    pub fn max(&self) -> (u64, u64) {
        (self.max_ns, self.max_at)
    }

    /// The value that a share `quantile` of all samples does not exceed, if enough samples lie beyond.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        supported(quantile, self.samples()).then(|| self.histogram.value_at_quantile(quantile).min(self.max_ns))
    }

    /// All quantiles that are reported.
    pub fn latency(&self) -> Latency {
        let max_ns = (self.samples() > 0).then_some(self.max_ns);
        quantiles(|quantile| self.quantile(quantile), max_ns)
    }

    /// Every class with samples: its upper value, its count.
    pub fn classes(&self) -> Vec<(u64, u64)> {
        self.histogram
            .iter_recorded()
            .map(|class| (class.value_iterated_to(), class.count_since_last_iteration()))
            .collect()
    }
}

/// Whether at least [`MIN_EXCEEDANCES`] of `samples` lie beyond `quantile`.
pub fn supported(quantile: f64, samples: u64) -> bool {
    // The quantile is a decimal such as 0.999, which f64 rounds: without the rounding here 10 000 samples would leave
    // 9.99….
    let within = (quantile * samples as f64 - 1e-6).ceil() as u64;
    samples.saturating_sub(within) >= MIN_EXCEEDANCES
}

/// Fills the reported quantiles from `at`.
pub fn quantiles(at: impl Fn(f64) -> Option<u64>, max_ns: Option<u64>) -> Latency {
    Latency { p50_ns: at(0.5), p90_ns: at(0.9), p99_ns: at(0.99), p999_ns: at(0.999), p9999_ns: at(0.9999), max_ns }
}

/// The smallest value that a share `quantile` of `classes` (ascending value, count) does not exceed, if enough lie
/// beyond.
pub fn quantile_of_classes(classes: &[(u64, u64)], samples: u64, quantile: f64) -> Option<u64> {
    let rank = (quantile * samples as f64 - 1e-6).ceil() as u64;
    let mut seen = 0;
    let reached = classes.iter().find(|(_, count)| {
        seen += count;
        seen >= rank
    });
    reached.map(|(value, _)| *value).filter(|_| supported(quantile, samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(samples: u64) -> Meter {
        let mut meter = Meter::new();
        (1..=samples).for_each(|sample| meter.record(sample, sample));
        meter
    }

    #[test]
    fn a_quantile_needs_ten_samples_beyond_it() {
        assert_eq!(filled(19).quantile(0.5), None);
        assert_eq!(filled(20).quantile(0.5), Some(10));
        assert_eq!(filled(999).quantile(0.99), None);
        assert_eq!(filled(1_000).quantile(0.99), Some(990));
        assert!(filled(9_999).quantile(0.999).is_none() && filled(10_000).quantile(0.999).is_some());
        assert!(!supported(0.9999, 99_999) && supported(0.9999, 100_000));
    }

    #[test]
    fn the_maximum_is_exact_and_knows_its_cycle() {
        let mut meter = filled(100);
        meter.record(123_456_789, 7);
        meter.record(99, 8);
        assert_eq!(meter.max(), (123_456_789, 7));
        assert_eq!(meter.latency().max_ns, Some(123_456_789));
        assert_eq!(meter.samples(), 102);
    }

    #[test]
    fn a_value_beyond_the_range_is_counted_and_kept_exactly() {
        let mut meter = Meter::new();
        meter.record(u64::MAX, 0);
        assert_eq!((meter.samples(), meter.max().0), (1, u64::MAX));
    }

    #[test]
    fn an_empty_meter_states_nothing() {
        assert_eq!(Meter::new().latency(), Latency::default());
    }

    #[test]
    fn classes_hold_every_sample() {
        let meter = filled(5_000);
        assert_eq!(meter.classes().iter().map(|class| class.1).sum::<u64>(), 5_000);
        assert_eq!(quantile_of_classes(&meter.classes(), 5_000, 0.5), meter.quantile(0.5));
    }
}
