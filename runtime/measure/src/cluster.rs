//! Whether misses are spread over boots as chance would spread them, or some boots have more than their share.
//!
//! A bound that takes releases as independent is too small where misses come in bursts. The test: if every release were alike,
//! each of the `m` misses would fall into boot `i` with the probability `n_i / n`. The statistic is Pearson's
//! `sum((m_i - e_i)^2 / e_i)` with `e_i = m n_i / n`. Its distribution is not taken from a table, which is wrong for few
//! misses, but made by throwing `m` misses at the boots at random.
//!
//! # What it does not do
//! It sees boots, not moments: a burst within the only boot is told by the longest run of misses. Few misses prove nothing
//! either way: with one miss the answer is always that nothing speaks against chance.

use crate::merge::Releases;
use crate::random::Random;

/// How often misses are thrown: the smallest probability that can be told is one more than this, inverted.
const THROWS: u32 = 2_000;

/// More misses are thrown in proportion: the time of the test stays bounded.
const MOST_MISSES: u64 = 2_000;

/// The probability that chance alone spreads the misses over `boots` as unevenly as they are, or more so. `None` where there
/// is nothing to spread: fewer than two boots, or no miss.
pub fn chance_of_spread(boots: &[Releases]) -> Option<f64> {
    let judged: u64 = boots.iter().map(|boot| boot.judged).sum();
    let misses: u64 = boots.iter().map(|boot| boot.misses).sum();
    if boots.len() < 2 || misses == 0 || judged == 0 {
        return None;
    }
    let scale = (MOST_MISSES as f64 / misses as f64).min(1.0);
    let thrown = (misses as f64 * scale).round() as u64;
    let shares: Vec<f64> = boots.iter().map(|boot| boot.judged as f64 / judged as f64).collect();
    let statistic = |found: &[f64]| -> f64 {
        let expected = |share: &f64| share * thrown as f64;
        let terms = found.iter().zip(&shares).filter(|(_, share)| **share > 0.0);
        terms.map(|(found, share)| (found - expected(share)).powi(2) / expected(share)).sum()
    };
    let observed = statistic(&boots.iter().map(|boot| boot.misses as f64 * scale).collect::<Vec<_>>());
    let mut ends: Vec<f64> = Vec::with_capacity(shares.len());
    shares.iter().for_each(|share| ends.push(ends.last().copied().unwrap_or(0.0) + share));
    let mut random = Random::new(misses);
    let mut as_uneven = 0;
    for _ in 0..THROWS {
        let mut found = vec![0.0; shares.len()];
        for _ in 0..thrown {
            let place = random.unit();
            let boot = ends.partition_point(|end| *end <= place).min(shares.len() - 1);
            found[boot] += 1.0;
        }
        as_uneven += u32::from(statistic(&found) >= observed * (1.0 - 1e-9));
    }
    Some(f64::from(as_uneven + 1) / f64::from(THROWS + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boots(misses: &[u64]) -> Vec<Releases> {
        misses.iter().map(|misses| Releases { judged: 16_200, misses: *misses, longest_run: 1 }).collect()
    }

    #[test]
    fn a_boot_with_all_misses_is_no_chance_and_an_even_spread_is() {
        assert!(chance_of_spread(&boots(&[0, 0, 20, 0, 0, 0])).unwrap() < 0.001);
        assert!(chance_of_spread(&boots(&[4, 3, 5, 4, 2, 3])).unwrap() > 0.3);
        assert_eq!(chance_of_spread(&boots(&[0, 1, 0])), Some(1.0), "one miss has to be somewhere");
    }

    #[test]
    fn without_misses_or_a_second_boot_nothing_is_said() {
        assert_eq!(
            [chance_of_spread(&boots(&[0, 0])), chance_of_spread(&boots(&[7])), chance_of_spread(&[])],
            [None; 3]
        );
    }

    #[test]
    fn chance_is_rarely_taken_for_a_cluster() {
        let mut random = Random::new(3);
        let mut alarms = 0;
        for _ in 0..200 {
            let mut misses = [0; 10];
            (0..12).for_each(|_| misses[random.below(10)] += 1);
            alarms += u32::from(chance_of_spread(&boots(&misses)).unwrap() < 0.05);
        }
        assert!(alarms <= 20, "{alarms} of 200, where 10 are expected");
    }

    #[test]
    fn a_miss_storm_is_judged_in_bounded_time() {
        assert!(chance_of_spread(&boots(&[1_000_000, 1_000_000])).unwrap() > 0.3);
        assert!(chance_of_spread(&boots(&[1_000_000, 10])).unwrap() < 0.001);
    }
}
