//! The times of one cell: every sample kept in a histogram of fixed size, the greatest one kept exactly.

use hdrhistogram::Histogram;

/// A quantile is a number only if at least this many samples lie beyond it; with fewer it is an anecdote.
pub const MIN_BEYOND: f64 = 10.0;

/// Significant digits of the histogram: values are right to 0.1 %, below 2048 units to one unit.
const DIGITS: u8 = 3;

/// Samples in nanoseconds, each covering `divisor` messages: 2 for a round trip, 100 for a hundred sends.
#[derive(Clone, Debug)]
pub struct Samples {
    histogram: Histogram<u64>,
    divisor: u32,
    max: u64,
    total: u128,
}

impl Samples {
    /// No samples yet. Allocates all memory that it will use.
    pub fn new(divisor: u32) -> Self {
        // A minute is more than any sample may take; three digits are a legal precision, so this cannot fail.
        let histogram = Histogram::new_with_bounds(1, 60_000_000_000, DIGITS).unwrap_or_else(|_| unreachable!());
        Self { histogram, divisor, max: 0, total: 0 }
    }

    /// Keeps a sample: nanoseconds for `divisor` messages together.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        self.histogram.saturating_record(ns);
        self.max = self.max.max(ns);
        self.total += u128::from(ns);
    }

    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Nanoseconds a message at this quantile, from 0 to 1; `None` when fewer than ten samples lie beyond it.
    pub fn quantile(&self, quantile: f64) -> Option<f64> {
        // The tolerance is for 1 - 0.9999, which is a little more or less than a ten-thousandth.
        let beyond = self.count() as f64 * (1.0 - quantile);
        (beyond >= MIN_BEYOND - 1e-6).then(|| self.a_message(self.histogram.value_at_quantile(quantile).min(self.max)))
    }

    /// Nanoseconds a message of the greatest sample, exactly.
    pub fn max(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.a_message(self.max))
    }

    /// Nanoseconds a message on average.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.total as f64 / self.count() as f64 / f64::from(self.divisor))
    }

    /// Messages that a sample covers.
    pub fn divisor(&self) -> u32 {
        self.divisor
    }

    /// The histogram, in nanoseconds for [`divisor`](Self::divisor) messages.
    pub fn histogram(&self) -> &Histogram<u64> {
        &self.histogram
    }

    fn a_message(&self, ns: u64) -> f64 {
        ns as f64 / f64::from(self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: u64, divisor: u32) -> Samples {
        let mut samples = Samples::new(divisor);
        (1..=count).for_each(|ns| samples.record(ns));
        samples
    }

    #[test]
    fn a_quantile_needs_ten_samples_beyond_it() {
        for (count, quantile) in [(20, 0.5), (1_000, 0.99), (10_000, 0.999), (100_000, 0.9999)] {
            assert!(samples(count, 1).quantile(quantile).is_some(), "{quantile} of {count}");
            assert_eq!(samples(count - 1, 1).quantile(quantile), None, "{quantile} of {}", count - 1);
        }
    }

    #[test]
    fn quantiles_are_right_to_a_thousandth_and_the_maximum_exactly() {
        let samples = samples(1_234_567, 1);
        for quantile in [0.5, 0.99, 0.9999] {
            let (found, wanted) = (samples.quantile(quantile).unwrap(), quantile * 1_234_567.0);
            assert!((found / wanted - 1.0).abs() < 0.001, "{found} for {wanted}");
        }
        assert_eq!(samples.max(), Some(1_234_567.0));
    }

    #[test]
    fn times_are_those_of_one_message() {
        let samples = samples(100, 2);
        assert_eq!((samples.quantile(0.5), samples.max(), samples.mean()), (Some(25.0), Some(50.0), Some(25.25)));
    }

    #[test]
    fn nothing_is_said_about_nothing() {
        let samples = Samples::new(1);
        assert_eq!((samples.quantile(0.0), samples.max(), samples.mean()), (None, None, None));
    }
}
