//! What several runs say together: counts add up, bounds do not.
//!
//! Each run has a probability of a miss of its own. An average over a quiet and a loaded run holds under neither load, so
//! the bound of several runs is that of the worst one, and it is stated with that run's own counts.

use crate::bound::miss_bound_95;

/// The releases of one run and what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Releases {
    /// How many were judged, skipped ones included.
    pub judged: u64,
    /// How many of them missed the deadline, skipped ones included.
    pub misses: u64,
    /// The longest run of consecutive misses.
    pub longest_run: u64,
}

impl Releases {
    /// The upper 95 % confidence bound on the probability that a release misses.
    pub fn bound_95(&self) -> f64 {
        miss_bound_95(self.misses, self.judged)
    }
}

/// All counts added up. A run of misses does not go on from one run into the next. `None` without any run.
pub fn sum(runs: impl IntoIterator<Item = Releases>) -> Option<Releases> {
    runs.into_iter().reduce(|sum, next| Releases {
        judged: sum.judged + next.judged,
        misses: sum.misses + next.misses,
        longest_run: sum.longest_run.max(next.longest_run),
    })
}

/// The run with the weakest bound, the first of equal ones; `None` without any run. `releases` finds a run's counts.
pub fn weakest<T>(runs: impl IntoIterator<Item = T>, releases: impl Fn(&T) -> Releases) -> Option<T> {
    let bound = |run: &T| releases(run).bound_95();
    runs.into_iter().reduce(|worst, next| if bound(&next) > bound(&worst) { next } else { worst })
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUIET: Releases = Releases { judged: 16_200, misses: 399, longest_run: 9 };
    const LOAD: Releases = Releases { judged: 16_200, misses: 767, longest_run: 16 };

    #[test]
    fn counts_add_up_and_the_longest_run_stays_one_of_a_run() {
        assert_eq!(sum([QUIET, LOAD]), Some(Releases { judged: 32_400, misses: 1_166, longest_run: 16 }));
        assert_eq!(sum([]), None);
    }

    #[test]
    fn the_weakest_bound_is_that_of_one_run_and_above_that_of_the_sum() {
        let (name, worst) = weakest([("quiet", QUIET), ("load", LOAD)], |run| run.1).unwrap();
        assert_eq!((name, worst), ("load", LOAD));
        assert!(worst.bound_95() > sum([QUIET, LOAD]).unwrap().bound_95());
        assert_eq!(weakest([("first", QUIET), ("second", QUIET)], |run| run.1).unwrap().0, "first");
    }

    #[test]
    fn a_short_run_without_a_miss_can_be_the_weakest() {
        let short = Releases { judged: 10, misses: 0, longest_run: 0 };
        assert_eq!(weakest([LOAD, short], |run| *run), Some(short));
    }
}
