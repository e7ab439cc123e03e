//! The positive control: a stall of known length is put into the metered loop, and the meter must find it.
//!
//! A meter that reports good figures because it is blind looks exactly like a good machine; this is the difference.

use std::time::Duration;

use horus::deadline::Timing;

use crate::record::schema::{Attempt, SelfTest};

use super::metered::Place;
use super::node::{self, Stall, Stalled};

/// The stall in periods, from attempt to attempt: long enough to skip releases, so that their counting is proved as
/// well. A machine that stalls for as long by itself, such as a busy virtual one, gets a longer one, which stands out.
const STALL_PERIODS: [u32; 4] = [3, 10, 30, 100];

/// No stall is longer, whatever the period: the node computes it in vain at real-time priority.
const LONGEST_STALL: Duration = Duration::from_millis(500);

/// The fewest releases of an attempt, besides those that the stall skips.
const MIN_RELEASES: u64 = 20;

/// Runs the test; a first attempt that succeeds, the usual case, takes about `time`. `inject` is a stall that really
/// happens in place of the one that the meter has to find, which makes the test fail: that is how the test is tested.
pub fn run(timing: Timing, time: Duration, place: Place, inject: Option<Duration>) -> SelfTest {
    let spare = (time.as_nanos() / timing.period().as_nanos()) as u64;
    let attempt = |periods: &u32| {
        let length = (timing.period() * *periods).min(LONGEST_STALL.max(timing.period() * STALL_PERIODS[0]));
        let skipped = length.as_nanos() as u64 / timing.period_nanos();
        let spare = spare.max(MIN_RELEASES);
        let expected = Stall { cycle: spare / 2, length };
        let happening = Stall { length: inject.unwrap_or(length), ..expected };
        judge(&timing, expected, &node::stalled(timing, spare + skipped, place, happening))
    };
    repeat(attempt)
}

/// What an attempt shows.
enum Outcome {
    /// The meter found the stall.
    Found,
    /// The meter was wrong about the stall: a longer one proves nothing, the first such attempt is the answer.
    Wrong(String),
    /// The machine stalled by itself for as long: a longer stall may stand out.
    Hidden(String),
}

/// Attempts with longer and longer stalls, until one has an answer.
fn repeat(mut attempt: impl FnMut(&u32) -> (SelfTest, Outcome)) -> SelfTest {
    let mut attempts = Vec::new();
    let mut result = SelfTest::default();
    for periods in &STALL_PERIODS {
        let outcome;
        (result, outcome) = attempt(periods);
        let is_final = !matches!(outcome, Outcome::Hidden(_));
        (result.passed, result.reason) = match outcome {
            Outcome::Found => (true, None),
            Outcome::Wrong(reason) | Outcome::Hidden(reason) => (false, Some(reason)),
        };
        let (injected_ns, found_ns) = (result.injected_ns, result.found_ns);
        attempts.push(Attempt { injected_ns, found_ns, reason: result.reason.clone() });
        if is_final {
            break;
        }
    }
    SelfTest { attempts, ..result }
}

/// Whether the meter found `expected`: in its cycle, not shorter, not twice as long, and with its skipped releases.
fn judge(timing: &Timing, expected: Stall, stalled: &Stalled) -> (SelfTest, Outcome) {
    let Stalled { measured, at } = stalled;
    let injected_ns = expected.length.as_nanos() as u64;
    let (found_ns, found_cycle) = measured.response.max();
    let injected_cycle = at.unwrap_or(expected.cycle);
    let fewest_skipped = injected_ns / timing.period_nanos();
    let microseconds = |nanoseconds: u64| nanoseconds / 1_000;
    let outcome = if found_ns < injected_ns {
        Outcome::Wrong("the meter did not see the whole stall".to_owned())
    } else if measured.tally.skipped < fewest_skipped {
        Outcome::Wrong("the scheduler did not count the releases that the stall skipped".to_owned())
    } else if found_cycle != injected_cycle {
        Outcome::Hidden(format!(
            "the worst response was in another cycle, so the machine stalls by itself for as long: {} us in cycle \
             {found_cycle}, with {} us injected in cycle {injected_cycle}",
            microseconds(found_ns),
            microseconds(injected_ns),
        ))
    } else if found_ns > 2 * injected_ns {
        Outcome::Hidden(format!(
            "the meter reports more than twice the stall, so the machine stalls by itself on top of it: {} us with {} \
             us injected",
            microseconds(found_ns),
            microseconds(injected_ns),
        ))
    } else {
        Outcome::Found
    };
    let test = SelfTest { injected_ns, found_ns, injected_cycle, found_cycle, ..SelfTest::default() };
    (test, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { cpu: None, priority: None, longest_computation: Duration::from_secs(1) };

    #[test]
    fn a_stall_that_happens_is_found() {
        let timing = Timing::new(Duration::from_millis(5), Duration::from_millis(5)).unwrap();
        let result = run(timing, Duration::from_millis(400), PLACE, None);
        assert!(result.passed, "{result:?}");
        assert!(result.found_ns >= result.injected_ns && result.found_cycle == result.injected_cycle);
    }

    #[test]
    fn a_meter_that_misses_the_stall_fails_the_test() {
        let timing = Timing::new(Duration::from_millis(2), Duration::from_millis(2)).unwrap();
        let stall = Stall { cycle: 10, length: Duration::from_secs(10) };
        let measured = node::stalled(timing, 20, PLACE, Stall { cycle: u64::MAX, length: Duration::ZERO });
        let (_, outcome) = judge(&timing, stall, &measured);
        assert!(matches!(outcome, Outcome::Wrong(reason) if reason.contains("did not see")));
    }

    #[test]
    fn a_blind_attempt_is_final_and_a_hidden_one_is_repeated_and_kept() {
        let blind = repeat(|_| (SelfTest::default(), Outcome::Wrong("did not see".to_owned())));
        assert!(!blind.passed && blind.attempts.len() == 1 && blind.retried().is_empty());
        let mut number = 0;
        let third = repeat(|periods| {
            number += 1;
            let outcome = if number < 3 { Outcome::Hidden("stalls by itself".to_owned()) } else { Outcome::Found };
            (SelfTest { injected_ns: u64::from(*periods), ..SelfTest::default() }, outcome)
        });
        assert!(third.passed && third.reason.is_none());
        assert_eq!(third.attempts.iter().map(|attempt| attempt.injected_ns).collect::<Vec<_>>(), [3, 10, 30]);
        assert!(third.retried().iter().all(|attempt| attempt.reason.is_some()) && third.retried().len() == 2);
        let never = repeat(|_| (SelfTest::default(), Outcome::Hidden("stalls by itself".to_owned())));
        assert!(!never.passed && never.attempts.len() == STALL_PERIODS.len() && never.reason.is_some());
    }
}
