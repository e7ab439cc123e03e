//! Random draws that are the same in every run: a test by permutation has to give the same answer for the same data.
//!
//! SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014): one word of state, and
//! good enough to shuffle. Not for keys.

/// A sequence of draws.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 up to 1, which is never reached.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A place in a list of `length`, which is not empty.
    pub fn below(&mut self, length: usize) -> usize {
        ((u128::from(self.next_u64()) * length as u128) >> 64) as usize
    }

    /// Puts the first `count` of `values` in a random order, drawn from all of them (Fisher and Yates).
    pub(crate) fn draw_first<T>(&mut self, values: &mut [T], count: usize) {
        for place in 0..count.min(values.len().saturating_sub(1)) {
            let other = place + self.below(values.len() - place);
            values.swap(place, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_the_published_ones_and_even() {
        // The first values of the reference implementation for the seed 1234567.
        let mut random = Random::new(1_234_567);
        assert_eq!([random.next_u64(), random.next_u64()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
        let mut counts = [0_u32; 7];
        (0..70_000).for_each(|_| counts[random.below(7)] += 1);
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert!((0..1_000).all(|_| (0.0..1.0).contains(&random.unit())));
    }

    #[test]
    fn every_value_may_be_drawn_first_and_none_is_lost() {
        let (mut random, mut seen) = (Random::new(1), [false; 5]);
        for _ in 0..200 {
            let mut values = [0, 1, 2, 3, 4];
            random.draw_first(&mut values, 2);
            seen[values[0]] = true;
            values.sort_unstable();
            assert_eq!(values, [0, 1, 2, 3, 4]);
        }
        assert_eq!(seen, [true; 5]);
    }
}
