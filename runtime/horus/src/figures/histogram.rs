//! A histogram in words: how often a response time lay in each of its buckets.
//!
//! Buckets are octaves cut into 16 parts, from 256 ns on: a quantile is at most 6 % too long. What is longer than a minute
//! is in the last one. [`hdrhistogram`](https://docs.rs/hdrhistogram) does the same better; it does not live in shared words.

/// Parts of an octave, as a power of two.
const PARTS_SHIFT: u32 = 4;
/// Below so many nanoseconds (as a power of two) all is one bucket.
const FIRST_SHIFT: u32 = 8;
/// Octaves from 256 ns to 68 s.
const OCTAVES: u32 = 28;

/// How many buckets there are.
pub(super) const BUCKETS: usize = 1 + (OCTAVES << PARTS_SHIFT) as usize;

/// The bucket of a time in nanoseconds.
#[inline]
pub(super) fn bucket(nanos: u64) -> usize {
    if nanos >> FIRST_SHIFT == 0 {
        return 0;
    }
    let octave = nanos.ilog2();
    let part = (nanos >> (octave - PARTS_SHIFT)) & ((1 << PARTS_SHIFT) - 1);
    (1 + (((octave - FIRST_SHIFT) << PARTS_SHIFT) as usize) + part as usize).min(BUCKETS - 1)
}

/// The first time that is beyond a bucket, in nanoseconds.
fn end(bucket: usize) -> u64 {
    if bucket == 0 {
        return 1 << FIRST_SHIFT;
    }
    let (octave, part) = ((bucket - 1) >> PARTS_SHIFT, (bucket - 1) as u64 & ((1 << PARTS_SHIFT) - 1));
    ((1 << PARTS_SHIFT) + part + 1) << (octave as u32 + FIRST_SHIFT - PARTS_SHIFT)
}

/// Response times, counted in buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Responses(Vec<u64>);

impl Responses {
    pub(super) fn new(counts: Vec<u64>) -> Self {
        Self(counts)
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        // They may be what another process alleges.
        self.0.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The time that a share of `quantile` of them does not exceed, in nanoseconds, at most 6 % too long; `None` unless ten
    /// of them lie beyond it.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let count = self.count();
        if (count as f64) * (1.0 - quantile) < 10.0 {
            return None;
        }
        let rank = (count as f64 * quantile).ceil() as u64;
        let mut seen = 0_u64;
        self.0
            .iter()
            .position(|bucket| {
                seen = seen.saturating_add(*bucket);
                seen >= rank
            })
            .map(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_the_bucket_that_ends_behind_it_and_within_6_percent() {
        for shift in 0..36 {
            for near in [-1_i64, 0, 1, 1 << shift.max(4) >> 2] {
                let nanos = ((1_i64 << shift) + near).max(0) as u64;
                let bucket = bucket(nanos);
                assert!(nanos < end(bucket), "{nanos}");
                assert!(bucket == 0 || nanos >= end(bucket - 1), "{nanos}");
                assert!(nanos < 256 || end(bucket) as f64 <= nanos as f64 * 1.0625 + 1.0, "{nanos}");
            }
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_quantile_needs_ten_beyond_it() {
        let mut counts = vec![0; BUCKETS];
        counts[bucket(1_000)] = 990;
        counts[bucket(50_000)] = 10;
        let responses = Responses::new(counts);
        assert_eq!(responses.quantile(0.5).map(|nanos| nanos / 100), Some(10));
        assert_eq!(responses.quantile(0.99).map(|nanos| nanos / 100), Some(10));
        assert_eq!(responses.quantile(0.999), None);
    }
}
