//! The times of one cell: a meter whose samples may cover several messages each.

use hdrhistogram::Histogram;
use horus_measure::meter::Meter;
use horus_measure::quantile::is_supported;

/// Times of which the slowest tenth begins at more than this many times the end of the fastest tenth are of two machines,
/// so to say: the hypervisor moved a CPU meanwhile.
pub const TWO_PLACEMENTS: f64 = 2.0;

/// Samples in nanoseconds, each covering `divisor` messages: 2 for a round trip, 100 for a hundred sends.
#[derive(Clone, Debug)]
pub struct Samples {
    /// The times, in nanoseconds for [`divisor`](Self::divisor) messages.
    pub meter: Meter,
    /// Messages that a sample covers.
    pub divisor: u32,
}

impl Samples {
    /// No samples yet. Allocates all memory that it will use.
    pub fn new(divisor: u32) -> Self {
        Self { meter: Meter::new(), divisor }
    }

    /// Keeps a sample: nanoseconds for `divisor` messages together.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.meter.record(ns, 0); // it is not asked which sample was the longest
    }

    /// Nanoseconds a message at this quantile, from 0 to 1; `None` when fewer than ten samples lie beyond it.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        self.meter.quantile(quantile).map(|ns| self.a_message(ns as f64))
    }

    /// Nanoseconds a message of the greatest sample, exactly.
    pub fn max(&self) -> Option<f64> {
        self.meter.max_ns().map(|ns| self.a_message(ns as f64))
    }

    /// Nanoseconds a message on average.
    pub fn mean(&self) -> Option<f64> {
        self.meter.mean_ns().map(|ns| self.a_message(ns))
    }

    fn a_message(&self, ns: f64) -> f64 {
        ns / f64::from(self.divisor)
    }
}

/// The value that a tenth of all samples exceeds over the one that a tenth stays below; 1 where there are too few.
pub fn spread(times: &Histogram<u64>) -> f64 {
    if !is_supported(0.9, times.len()) {
        return 1.0;
    }
    times.value_at_quantile(0.9) as f64 / times.value_at_quantile(0.1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_one_message() {
        let mut samples = Samples::new(2);
        (1..=100).for_each(|ns| samples.record(ns));
        assert_eq!((samples.quantile(0.5), samples.max(), samples.mean()), (Some(25.0), Some(50.0), Some(25.25)));
        assert_eq!(samples.quantile(0.99), None, "one sample beyond");
    }

    #[test]
    fn times_of_two_placements_are_told_from_times_of_one() {
        let of = |near: u64, far: u64| {
            let mut samples = Samples::new(2);
            (0..near).for_each(|i| samples.record(50 + i % 36));
            (0..far).for_each(|i| samples.record(250 + i % 70));
            spread(samples.meter.histogram())
        };
        assert!(of(1_000, 0) < TWO_PLACEMENTS && of(0, 1_000) < TWO_PLACEMENTS);
        assert!(of(380, 620) > TWO_PLACEMENTS && of(620, 380) > TWO_PLACEMENTS);
    }
}
