//! Whether bounds of 95 % hold in 95 % of cases, by simulation: for independent misses, and for misses in bursts.

use horus_measure::bound::{binomial_upper_95, miss_bound_95};
use horus_measure::random::Random;

/// Made-up histories of a machine for each case.
const HISTORIES: u32 = 4_000;

/// Three standard deviations of a share of 0.95 that is found in [`HISTORIES`]: what chance may take from it.
const CHANCE: f64 = 3.0 * 0.003_45;

/// In which share of histories `bound_holds`.
fn coverage(seed: u64, mut bound_holds: impl FnMut(&mut Random) -> bool) -> f64 {
    let mut random = Random::new(seed);
    let held = (0..HISTORIES).filter(|_| bound_holds(&mut random)).count();
    held as f64 / f64::from(HISTORIES)
}

/// How many of `trials` hit, each with probability `p`: by jumping from hit to hit, whose distances are geometric.
fn hits(random: &mut Random, trials: u64, p: f64) -> u64 {
    let (mut place, mut count) = (0.0, 0);
    loop {
        place += ((1.0 - random.unit()).ln() / (-p).ln_1p()).floor() + 1.0;
        if place > trials as f64 {
            return count;
        }
        count += 1;
    }
}

#[test]
fn independent_misses_stay_below_the_bound_of_the_releases_in_95_percent_of_histories() {
    for (releases, p) in [(16_200, 1e-5), (16_200, 1e-4), (660_000, 1e-6), (660_000, 2e-5), (200, 0.02)] {
        let covered = coverage(1, |random| miss_bound_95(hits(random, releases, p), releases) >= p);
        assert!(covered >= 0.95 - CHANCE, "{releases} releases with {p}: {covered}");
    }
}

#[test]
fn boots_with_a_miss_stay_below_the_bound_of_the_boots_in_95_percent_of_histories() {
    for (boots, p) in [(10, 0.1), (41, 0.02), (41, 0.3), (200, 0.01)] {
        let covered = coverage(2, |random| binomial_upper_95(hits(random, boots, p), boots) >= p);
        assert!(covered >= 0.95 - CHANCE, "{boots} boots with {p}: {covered}");
    }
}

/// One boot of 50 has a burst of 40 misses, all others have none. The bound of the releases is then wrong far more often than
/// it says, which is why the sentence on the screen names its assumption. The bound of the boots keeps its word.
#[test]
fn misses_in_bursts_break_the_bound_of_the_releases_and_not_that_of_the_boots() {
    let (boots, releases, in_bad_boot, burst) = (41, 16_200, 0.02, 40);
    let rate = in_bad_boot * f64::from(burst) / releases as f64;
    let of_releases = coverage(3, |random| {
        let bad = hits(random, boots, in_bad_boot);
        miss_bound_95(bad * u64::from(burst as u32), boots * releases) >= rate
    });
    assert!(of_releases < 0.7, "with bursts this bound should fail, and it held in {of_releases}");
    let of_boots = coverage(3, |random| binomial_upper_95(hits(random, boots, in_bad_boot), boots) >= in_bad_boot);
    assert!(of_boots >= 0.95 - CHANCE, "{of_boots}");
}
