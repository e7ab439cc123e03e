//! Whether two sets of measurements come from the same distribution: the test of Mann and Whitney ("On a test of whether one
//! of two random variables is stochastically larger than the other", Annals of Mathematical Statistics 18, 1947).
//!
//! It asks in how many of all pairs the value of `b` is above that of `a`, so it needs no shape of the distribution, which for
//! the tail of a latency is unknown. How probable a share as far from one half is by chance is found by shuffling the
//! values, which is right for ties and for few values.
//!
//! # Trade-offs
//! Values are taken as independent within each set. It sees that one set lies above the other; that one is only wider, with the
//! same middle, it does not see. Without a difference, [`smallest_factor`] says what difference would have been seen.

use crate::random::Random;

/// How often the values are shuffled.
const SHUFFLES: u32 = 5_000;

/// How many experiments are made up for each factor.
const EXPERIMENTS: u32 = 300;

/// A result at least as far from chance as this counts: 5 %.
pub const ALPHA: f64 = 0.05;

/// How often a change has to be found to be called one that would have been seen.
pub const POWER: f64 = 0.8;

/// The factors that are tried: a tail that is twice as long is no rarity, so they grow.
const FACTORS: [f64; 14] = [1.01, 1.02, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2.0, 3.0, 5.0, 10.0, 30.0, 100.0];

/// What the test says about `b` against `a`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// In which share of all pairs the value of `b` is above that of `a`; equal ones count half.
    pub share_above: f64,
    /// How probable a share as far from one half is when both are alike.
    pub probability: f64,
}

/// Compares two sets; `None` where one is empty.
pub fn compare(a: &[f64], b: &[f64]) -> Option<Compared> {
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let mut ranks = ranks(a.iter().chain(b));
    let pairs = (a.len() * b.len()) as f64;
    let above = |of_b: f64| of_b - (b.len() * (b.len() + 1)) as f64 / 2.0;
    let share_above = above(ranks[a.len()..].iter().sum()) / pairs;
    let distance = (share_above - 0.5).abs();
    let mut random = Random::new(a.len() as u64 ^ (b.len() as u64) << 32);
    let mut as_far = 0;
    for _ in 0..SHUFFLES {
        random.draw_first(&mut ranks, b.len());
        let share = above(ranks[..b.len()].iter().sum()) / pairs;
        as_far += u32::from((share - 0.5).abs() >= distance - 1e-12);
    }
    Some(Compared { share_above, probability: f64::from(as_far + 1) / f64::from(SHUFFLES + 1) })
}

/// The rank of each value, from 1; equal values share the middle of theirs.
fn ranks<'a>(values: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let values: Vec<f64> = values.copied().collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|left, right| values[*left].total_cmp(&values[*right]));
    let mut ranks = vec![0.0; values.len()];
    for equal in order.chunk_by(|left, right| values[*left] == values[*right]) {
        let first = order.partition_point(|place| values[*place] < values[equal[0]]);
        equal.iter().for_each(|place| ranks[*place] = first as f64 + (equal.len() as f64 + 1.0) / 2.0);
    }
    ranks
}

/// The smallest factor between two sets like `a`, of as many values as `a` and `b` have, that a comparison finds in
/// [`POWER`] of all cases. `None` where not even the largest that is tried would be found, because there are too few values.
///
/// Found by experiment: values are drawn from `a` with replacement, and those of the second set are multiplied.
pub fn smallest_factor(a: &[f64], b_length: usize) -> Option<f64> {
    if a.is_empty() || b_length == 0 {
        return None;
    }
    FACTORS.into_iter().find(|factor| power(a, b_length, *factor) >= POWER)
}

/// In which share of experiments a change by `factor` is found.
fn power(a: &[f64], b_length: usize, factor: f64) -> f64 {
    let mut random = Random::new(7);
    let mut found = 0;
    for _ in 0..EXPERIMENTS {
        let mut draw =
            |count: usize, factor: f64| -> Vec<f64> { (0..count).map(|_| a[random.below(a.len())] * factor).collect() };
        let (left, right) = (draw(a.len(), 1.0), draw(b_length, factor));
        found += u32::from(is_unlike(&left, &right));
    }
    f64::from(found) / f64::from(EXPERIMENTS)
}

/// As [`compare`] with [`ALPHA`], but by the normal approximation, which is quick enough for many experiments. For few values
/// it is not asked: where not even complete separation would be rare enough, no experiment finds anything.
fn is_unlike(a: &[f64], b: &[f64]) -> bool {
    let (n, m) = (a.len() as f64, b.len() as f64);
    if rarest(a.len(), b.len()) > ALPHA {
        return false;
    }
    let ranks = ranks(a.iter().chain(b));
    let above = ranks[a.len()..].iter().sum::<f64>() - m * (m + 1.0) / 2.0;
    let deviation = (n * m * (n + m + 1.0) / 12.0).sqrt(); // ties only make it smaller, so this errs towards "not seen"
    ((above - n * m / 2.0).abs() - 0.5) / deviation >= NORMAL_975
}

/// The 0.975 quantile of the normal distribution.
const NORMAL_975: f64 = 1.959_963_985;

/// The smallest probability that a test of `n` against `m` values can give: all of one above all of the other, either way.
pub fn rarest(n: usize, m: usize) -> f64 {
    let orders: f64 = (1..=n.min(m)).map(|i| (n.max(m) + i) as f64 / i as f64).product();
    (2.0 / orders).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(random: &mut Random, count: usize) -> Vec<f64> {
        (0..count).map(|_| 10.0 - 3.0 * random.unit().max(1e-9).ln()).collect()
    }

    #[test]
    fn the_probability_is_that_of_the_published_table() {
        // n = m = 4, U = 0: 2 / C(8, 4) = 0.0286. n = m = 5, U = 2: two-sided 0.0317.
        let found = compare(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
        assert_eq!(found.share_above, 1.0);
        assert!((found.probability - 0.0286).abs() < 0.008, "{found:?}");
        let found = compare(&[1.0, 2.0, 3.0, 5.0, 6.0], &[4.0, 7.0, 8.0, 9.0, 10.0]).unwrap();
        assert!(
            (found.share_above - 23.0 / 25.0).abs() < 1e-12 && (found.probability - 0.0317).abs() < 0.008,
            "{found:?}"
        );
    }

    #[test]
    fn equal_values_are_no_change() {
        assert_eq!(compare(&[3.0; 6], &[3.0; 9]), Some(Compared { share_above: 0.5, probability: 1.0 }));
        assert_eq!([compare(&[], &[1.0]), compare(&[1.0], &[])], [None; 2]);
    }

    #[test]
    fn without_a_change_the_alarm_is_as_rare_as_promised() {
        let mut random = Random::new(11);
        let alarms = (0..200).filter(|_| {
            let (a, b) = (values(&mut random, 9), values(&mut random, 12));
            compare(&a, &b).unwrap().probability < ALPHA
        });
        let alarms = alarms.count();
        assert!(alarms <= 20, "{alarms} of 200, where 10 are expected");
    }

    #[test]
    fn the_factor_that_would_be_seen_is_seen_and_shrinks_with_more_data() {
        let mut random = Random::new(5);
        let (few, many) = (values(&mut random, 12), values(&mut random, 120));
        let (of_few, of_many) = (smallest_factor(&few, 12).unwrap(), smallest_factor(&many, 120).unwrap());
        assert!(of_many < of_few, "{of_many}, {of_few}");
        let found = (0..100).filter(|_| {
            let longer: Vec<_> = values(&mut random, 120).iter().map(|value| value * of_many).collect();
            compare(&values(&mut random, 120), &longer).unwrap().probability < ALPHA
        });
        let found = found.count();
        assert!(found >= 65, "a change by {of_many} was found {found} times of 100");
    }

    #[test]
    fn three_values_against_three_can_show_nothing() {
        assert!((rarest(3, 3) - 0.1).abs() < 1e-12 && (rarest(4, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert_eq!(smallest_factor(&[1.0, 2.0, 3.0], 3), None);
        assert!(smallest_factor(&[1.0, 1.1, 1.2, 1.3, 1.4, 1.5], 6).is_some());
    }
}
