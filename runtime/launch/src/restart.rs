//! When a program that has ended is started again: its rule, so many times, and after a pause that doubles.

use std::time::Duration;

/// How often a program is started again before it is given up.
pub const MOST_RESTARTS: u32 = 5;
/// The pause before the first of them; each next one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// A program that ran for so long has no failed starts behind it any more.
pub const CALM: Duration = Duration::from_secs(60);

/// The rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// Never.
    #[default]
    No,
    /// When it failed or was killed.
    OnFailure,
    /// However it ended.
    Always,
}

impl Restart {
    /// As a file has them.
    pub const WORDS: [(&str, Self); 3] = [("no", Self::No), ("on-failure", Self::OnFailure), ("always", Self::Always)];

    /// Whether a program that ended like this is started again.
    pub fn applies(self, is_failure: bool) -> bool {
        match self {
            Self::No => false,
            Self::OnFailure => is_failure,
            Self::Always => true,
        }
    }
}

/// The starts of a program after its first one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attempts(u32);

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// 1 for the first.
    pub number: u32,
    pub pause: Duration,
}

impl Attempts {
    /// The next one of a program that ran for `ran`; `None` when it had all that it may have.
    pub fn next(&mut self, ran: Duration) -> Option<Attempt> {
        if ran >= CALM {
            self.0 = 0;
        }
        (self.0 < MOST_RESTARTS).then(|| {
            let pause = FIRST_PAUSE * 2_u32.pow(self.0);
            self.0 += 1;
            Attempt { number: self.0, pause }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_after_five_restarts_it_is_given_up() {
        let mut attempts = Attempts::default();
        let all: Vec<_> = std::iter::from_fn(|| attempts.next(Duration::ZERO)).collect();
        let pauses: Vec<_> = all.iter().map(|attempt| attempt.pause.as_millis()).collect();
        assert_eq!(pauses, [500, 1_000, 2_000, 4_000, 8_000]);
        assert_eq!(all[1].number, 2);
    }

    #[test]
    fn a_program_that_ran_for_a_minute_has_all_its_restarts_again() {
        let mut attempts = Attempts::default();
        while attempts.next(Duration::ZERO).is_some() {}
        assert_eq!(attempts.next(CALM).map(|attempt| attempt.number), Some(1));
    }

    #[test]
    fn the_rule_says_which_end_leads_to_a_start() {
        for (rule, after_failure, after_success) in
            [(Restart::No, false, false), (Restart::OnFailure, true, false), (Restart::Always, true, true)]
        {
            assert_eq!((rule.applies(true), rule.applies(false)), (after_failure, after_success));
        }
    }
}
