//! What becomes of a node that misses its deadline: how often it may (weakly-hard conditions), and what happens then.
//!
//! "At most `m` misses in any `k` releases" is the weakly-hard condition of Bernat, Burns and Llamosí ("Weakly hard real-time
//! systems", IEEE Transactions on Computers 50(4), 2001). [`OnMiss::after`] names the miss that breaks it, so `m + 1`.

use crate::deadline::Verdict;

/// The longest window of releases that is remembered.
pub const MAX_WITHIN: u32 = 1024;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The miss is counted.
    Count,
    /// It is counted, and told in the journal.
    Warn,
    /// The next release is left out, so that others catch up.
    Skip,
    /// From then on one release of so many is served.
    Degrade(u32),
    /// From then on the node's safe state is called in place of its step.
    SafeState,
    /// The program ends, with a failure.
    Stop,
}

/// An action, and the misses that lead to it.
///
/// ```
/// use horus::node::{OnMiss, SafeState};
/// let patient = OnMiss::degrade(2).after(3).within(100);
/// let safe = SafeState::after(3).within(100);
/// assert_ne!(patient, safe);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnMiss {
    /// What happens.
    pub action: Action,
    /// At the how manieth miss.
    pub after: u32,
    /// Of how many releases.
    pub within: u32,
}

impl Default for OnMiss {
    /// Each miss is told.
    fn default() -> Self {
        Self::warn()
    }
}

impl OnMiss {
    const fn new(action: Action) -> Self {
        Self { action, after: 1, within: 1 }
    }

    /// [`Action::Count`].
    pub const fn count() -> Self {
        Self::new(Action::Count)
    }

    /// [`Action::Warn`].
    pub const fn warn() -> Self {
        Self::new(Action::Warn)
    }

    /// [`Action::Skip`].
    pub const fn skip() -> Self {
        Self::new(Action::Skip)
    }

    /// [`Action::Degrade`]: one release of `every` is served.
    pub const fn degrade(every: u32) -> Self {
        Self::new(Action::Degrade(every))
    }

    /// [`Action::SafeState`].
    pub const fn safe_state() -> Self {
        Self::new(Action::SafeState)
    }

    /// [`Action::Stop`].
    pub const fn stop() -> Self {
        Self::new(Action::Stop)
    }

    /// Waits for the `misses`-th miss; all of them in a row, unless [`within`](Self::within) says of how many releases.
    #[must_use]
    pub const fn after(mut self, misses: u32) -> Self {
        self.after = misses;
        if self.within < misses {
            self.within = misses;
        }
        self
    }

    /// Counts the misses of the last `releases`.
    #[must_use]
    pub const fn within(mut self, releases: u32) -> Self {
        self.within = releases;
        self
    }
}

/// The safe state, as a reaction: `SafeState::after(3).within(100)`.
#[derive(Clone, Copy, Debug)]
pub struct SafeState;

impl SafeState {
    /// As [`OnMiss::after`].
    pub const fn after(misses: u32) -> OnMiss {
        OnMiss::safe_state().after(misses)
    }
}

impl From<SafeState> for OnMiss {
    fn from(SafeState: SafeState) -> Self {
        Self::safe_state()
    }
}

/// The last releases of a node, a bit each, and how many of them it missed.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    after: u32,
    within: u32,
    missed: [u64; MAX_WITHIN as usize / 64],
    next: u32,
    count: u32,
}

impl Window {
    pub fn new(on_miss: &OnMiss) -> Self {
        Self { after: on_miss.after, within: on_miss.within, missed: [0; _], next: 0, count: 0 }
    }

    /// Takes the verdict on a cycle; true when there were as many misses as must not be.
    pub fn add(&mut self, verdict: &Verdict) -> bool {
        if !verdict.missed && !self.has_misses() {
            return false; // no bit is set, so that none has to be moved
        }
        let mut is_broken = self.add_one(verdict.missed);
        for _ in 0..verdict.skipped.min(self.within.into()) {
            is_broken |= self.add_one(true);
        }
        is_broken
    }

    /// Whether one of the releases that it remembers was missed.
    #[inline]
    pub fn has_misses(&self) -> bool {
        self.count > 0
    }

    fn add_one(&mut self, missed: bool) -> bool {
        let (word, bit) = (&mut self.missed[self.next as usize / 64], 1 << (self.next % 64));
        self.count = self.count + u32::from(missed) - u32::from(*word & bit != 0);
        *word = if missed { *word | bit } else { *word & !bit };
        self.next = (self.next + 1) % self.within;
        missed && self.count >= self.after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(missed: bool, skipped: u64) -> Verdict {
        Verdict { missed, overran: skipped > 0, skipped, consecutive: 0 }
    }

    fn broken_at(on_miss: OnMiss, releases: &str) -> Vec<usize> {
        let mut window = Window::new(&on_miss);
        let judged = releases.chars().map(|release| window.add(&verdict(release == 'x', 0)));
        judged.enumerate().filter(|(_, broken)| *broken).map(|(index, _)| index).collect()
    }

    #[test]
    fn a_window_forgets_what_is_older_than_it_is_long() {
        let two_of_four = OnMiss::stop().after(2).within(4);
        assert!(broken_at(two_of_four, "x...x...x").is_empty());
        assert_eq!(broken_at(two_of_four, "x..x"), [3]);
        assert_eq!(broken_at(two_of_four, "x...xx.x"), [5, 7]);
        assert_eq!(broken_at(OnMiss::stop(), ".x.x"), [1, 3]);
        assert_eq!(broken_at(OnMiss::stop().after(3), "xx.xxx"), [5], "in a row");
    }

    #[test]
    fn the_window_agrees_with_a_count_by_hand() {
        let mut state = 7_u64;
        let misses: Vec<bool> = (0..5_000)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 62 == 0
            })
            .collect();
        for (after, within) in [(1, 1), (2, 3), (20, 64), (26, 100), (300, MAX_WITHIN)] {
            let mut window = Window::new(&OnMiss::stop().after(after).within(within));
            for (index, &missed) in misses.iter().enumerate() {
                let last = &misses[(index + 1).saturating_sub(within as usize)..=index];
                let expected = missed && last.iter().filter(|missed| **missed).count() >= after as usize;
                assert_eq!(window.add(&verdict(missed, 0)), expected, "{after} within {within}, release {index}");
            }
        }
    }

    #[test]
    fn skipped_releases_are_misses_of_the_window() {
        let mut window = Window::new(&OnMiss::stop().after(3).within(10));
        assert!(!window.add(&verdict(true, 1)));
        assert!(window.add(&verdict(true, 0)));
        let mut window = Window::new(&OnMiss::stop().after(3).within(10));
        assert!(window.add(&verdict(true, u64::MAX)), "as many as the window holds");
    }
}
