//! The rule for stating a quantile: at least ten samples lie beyond it.
//!
//! With fewer, the next run of the same length may well state another value. The rule of ten is the usual one for rare
//! events: the relative standard error of a count of ten is `1 / sqrt(10)`, a third.

/// A quantile is stated only when at least this many samples lie beyond it.
pub const MIN_EXCEEDANCES: u64 = 10;

/// Whether at least [`MIN_EXCEEDANCES`] of `samples` lie beyond `quantile` (0 to 1).
pub fn is_supported(quantile: f64, samples: u64) -> bool {
    samples.saturating_sub(rank(quantile, samples)) >= MIN_EXCEEDANCES
}

/// The smallest value that a share `quantile` of `classes` (ascending value, count) does not exceed, if enough of all
/// `samples` lie beyond it.
pub fn of_classes(classes: &[(u64, u64)], samples: u64, quantile: f64) -> Option<u64> {
    let rank = rank(quantile, samples);
    let mut seen = 0;
    let reached = classes.iter().find(|(_, count)| {
        seen += count;
        seen >= rank
    });
    reached.map(|(value, _)| *value).filter(|_| is_supported(quantile, samples))
}

/// How many samples a quantile does not exceed.
fn rank(quantile: f64, samples: u64) -> u64 {
    // A quantile is a decimal such as 0.999, which f64 rounds: without the tolerance 10 000 samples would leave 9.99….
    (quantile * samples as f64 - 1e-6).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_needs_ten_samples_beyond_it() {
        for (quantile, samples) in [(0.5, 20), (0.9, 100), (0.99, 1_000), (0.999, 10_000), (0.9999, 100_000)] {
            assert!(is_supported(quantile, samples), "{quantile} of {samples}");
            assert!(!is_supported(quantile, samples - 1), "{quantile} of {}", samples - 1);
        }
    }

    #[test]
    fn classes_are_counted_from_the_smallest() {
        let classes = [(10, 50), (20, 40), (30, 10)];
        assert_eq!(of_classes(&classes, 100, 0.5), Some(10));
        assert_eq!(of_classes(&classes, 100, 0.9), Some(20));
        assert_eq!(of_classes(&classes, 100, 0.91), None, "nine samples beyond");
        assert_eq!(of_classes(&[], 0, 0.5), None);
    }
}
