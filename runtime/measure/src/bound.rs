//! How small a miss probability a number of observations supports: the upper confidence bound for rare events.
//!
//! A run without a miss does not prove that misses cannot happen, only that they are rare: with zero misses in `n`
//! releases, `P(miss) < 3.0/n` at 95 % confidence (Hanley and Lippman-Hand, "If nothing goes wrong, is everything all
//! right?", JAMA 249, 1983). The general case is the exact upper limit for the mean of a Poisson count `m`: the mean
//! `mu` for which seeing `m` or fewer events has a probability of 5 % (Garwood, "Fiducial limits for the Poisson
//! distribution", Biometrika 28, 1936), which equals half the 0.95 quantile of chi-square with `2 (m + 1)` degrees of
//! freedom.
//!
//! Trade-off: the bound takes releases as independent and alike. Misses come in bursts and loads change, so it speaks
//! about *this machine under the load that was on it*, and the longest run of consecutive misses stands beside it.

/// One minus the confidence: 5 %.
const ALPHA: f64 = 0.05;

/// The upper 95 % confidence bound on the probability that a release misses, after `misses` in `releases`.
///
/// It is `3.0/n` for zero misses (exactly `-ln(0.05)/n` = 2.9957.../n) and never more than 1; without any release
/// nothing was observed, so the bound is 1.
///
/// ```
/// use horus_measure::bound::miss_bound_95;
/// assert!((miss_bound_95(0, 60_000) - 5.0e-5).abs() < 1e-6);
/// assert_eq!(miss_bound_95(0, 0), 1.0);
/// ```
pub fn miss_bound_95(misses: u64, releases: u64) -> f64 {
    if misses >= releases {
        return 1.0;
    }
    (poisson_upper_95(misses) / releases as f64).min(1.0)
}

/// The mean of the Poisson distribution that yields `events` or fewer with a probability of 5 %.
///
/// Found by bisection to the precision of `f64`: the probability falls strictly as the mean grows.
pub(crate) fn poisson_upper_95(events: u64) -> f64 {
    let m = events as f64;
    let mut low = m;
    // 5 % is reached 1.645 standard deviations up, plus a little skew: 5 deviations and 5 events are beyond it for all
    // m.
    let mut high = m + 5.0 * m.sqrt() + 5.0;
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if at_most(events, middle) > ALPHA {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The upper 95 % confidence bound on the probability of an event that happened in `events` of `trials` independent trials:
/// the exact one of Clopper and Pearson ("The use of confidence or fiducial limits", Biometrika 26, 1934).
///
/// For few trials, such as boots. For many, [`miss_bound_95`] is the same but for a rounding upwards. Without a trial it is 1.
///
/// ```
/// use horus_measure::bound::binomial_upper_95;
/// assert!((binomial_upper_95(0, 41) - 0.0705).abs() < 1e-4);
/// ```
pub fn binomial_upper_95(events: u64, trials: u64) -> f64 {
    if events >= trials {
        return 1.0;
    }
    let (mut low, mut high) = (events as f64 / trials as f64, 1.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if middle <= low || middle >= high {
            break;
        }
        if at_most_of(events, trials, middle) > ALPHA {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// `P(X <= events)` for `X` binomial with `trials` and probability `p`, summed from the largest term down; wants
/// `p >= events / trials`, where the terms fall.
fn at_most_of(events: u64, trials: u64, p: f64) -> f64 {
    let (k, n) = (events as f64, trials as f64);
    let choose = ln_factorial(trials) - ln_factorial(events) - ln_factorial(trials - events);
    let mut term = (choose + k * p.ln() + (n - k) * (-p).ln_1p()).exp();
    let mut sum = term;
    for i in (1..=events).rev() {
        term *= i as f64 / (n - i as f64 + 1.0) * (1.0 - p) / p;
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

/// `P(X <= events)` for `X` Poisson with `mean`, summed from the largest term down; wants `mean >= events`.
///
/// Each term is the one above it times `i / mean <= 1`, so the sum stops when terms no longer change it: after at most
/// some ten standard deviations.
fn at_most(events: u64, mean: f64) -> f64 {
    let mut term = (events as f64 * mean.ln() - mean - ln_factorial(events)).exp();
    let mut sum = term;
    for i in (1..=events).rev() {
        term *= i as f64 / mean;
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

/// `ln(n!)`: summed while small, then Stirling's series (Abramowitz and Stegun 6.1.41 at `n + 1`), whose first omitted
/// term is below 1e-17 from 255 on.
fn ln_factorial(n: u64) -> f64 {
    if n < 255 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    let x = n as f64 + 1.0;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3))
        + 1.0 / (1260.0 * x.powi(5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_limits_are_those_of_the_printed_tables() {
        // Garwood's table, upper 95 % limits, as reprinted in every text on counting statistics.
        let table = [3.00, 4.74, 6.30, 7.75, 9.15, 10.51];
        for (events, expected) in table.into_iter().enumerate() {
            let limit = poisson_upper_95(events as u64);
            assert!((limit - expected).abs() < 0.005, "{events} events: {limit}, table {expected}");
        }
    }

    #[test]
    fn boots_have_the_exact_limits_of_clopper_and_pearson() {
        // One-sided 95 % limits, as tables of the binomial distribution print them.
        for (events, trials, expected) in
            [(0, 10, 0.2589), (1, 10, 0.3942), (5, 10, 0.7776), (0, 1, 0.95), (2, 50, 0.1206)]
        {
            let limit = binomial_upper_95(events, trials);
            assert!((limit - expected).abs() < 5e-4, "{events} of {trials}: {limit}, table {expected}");
        }
        assert_eq!([binomial_upper_95(0, 0), binomial_upper_95(7, 7)], [1.0, 1.0]);
        let (exact, poisson) = (binomial_upper_95(3, 1_000_000), miss_bound_95(3, 1_000_000));
        assert!(exact <= poisson && poisson / exact < 1.0001, "{exact}, {poisson}");
    }

    #[test]
    fn zero_events_have_the_closed_form() {
        assert!((poisson_upper_95(0) - -(0.05f64.ln())).abs() < 1e-12);
    }

    #[test]
    fn large_counts_follow_the_chi_square_approximation() {
        // Wilson and Hilferty (1931): chi2_p(v) ~ v (1 - 2/(9v) + z_p sqrt(2/(9v)))^3, good to 1e-4 of itself and
        // better here.
        for events in [100u64, 254, 255, 1_000, 1_000_000, 1_000_000_000] {
            let v = 2.0 * (events as f64 + 1.0);
            let expected = v / 2.0 * (1.0 - 2.0 / (9.0 * v) + 1.644_853_626_951 * (2.0 / (9.0 * v)).sqrt()).powi(3);
            let limit = poisson_upper_95(events);
            assert!((limit / expected - 1.0).abs() < 2e-5, "{events} events: {limit}, approximation {expected}");
        }
    }

    #[test]
    fn a_bound_is_a_probability_and_never_falls_below_the_observed_rate() {
        for (misses, releases) in [(0, 0), (0, 1), (1, 1), (5, 3), (3, 4), (17, 1_000), (1, 100_000_000)] {
            let bound = miss_bound_95(misses, releases);
            assert!((0.0..=1.0).contains(&bound), "{misses}/{releases}: {bound}");
            assert!(bound >= (misses as f64 / releases.max(1) as f64).min(1.0), "{misses}/{releases}: {bound}");
        }
    }
}
