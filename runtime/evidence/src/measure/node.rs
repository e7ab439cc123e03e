//! The measured node: horus's own scheduler loop with a small fixed work, metered in every cycle.

use std::time::Duration;

use horus::deadline::Timing;
use horus::node::Cycle;
use horus::time::{Clock, SystemClock};

use super::metered::{self, Judged, Measured, Place, Task};

/// A stall that is put into one cycle to see whether the meter finds it.
#[derive(Clone, Copy, Debug)]
pub struct Stall {
    /// The cycle; the next one that runs when the machine, by a stall of its own, skips this one.
    pub cycle: u64,
    /// How long the node computes in vain.
    pub length: Duration,
}

impl Stall {
    /// Whether it belongs into cycle `number`, if it has not happened yet.
    fn is_due(&self, number: u64) -> bool {
        number >= self.cycle
    }
}

/// A run of the node with a stall.
pub struct Stalled {
    /// What the loop gave.
    pub measured: Measured,
    /// The cycle that the stall was put into, if one was.
    pub at: Option<u64>,
}

/// A phase of the node.
pub fn phase(task: &Task) -> Judged {
    let mut work = Work::new();
    task.judge(|_| {
        work.step();
        true
    })
}

/// Runs the node for `releases` releases, with a stall in one of them.
pub fn stalled(timing: Timing, releases: u64, place: Place, stall: Stall) -> Stalled {
    let (mut work, mut at) = (Work::new(), None);
    let measured = metered::run(timing, releases, place, |cycle: &Cycle| {
        work.step();
        if at.is_none() && stall.is_due(cycle.number) {
            at = Some(cycle.number);
            let end = SystemClock.now().plus(stall.length);
            while SystemClock.now() < end {}
        }
        true
    });
    Stalled { measured, at }
}

/// What the node computes: one 16 x 16 matrix product, the covariance step of an estimator with 16 states.
///
/// Some microseconds on a small board, so that response time is more than jitter and the caches are really used.
struct Work {
    state: [[f64; SIZE]; SIZE],
    step: [[f64; SIZE]; SIZE],
}

const SIZE: usize = 16;

impl Work {
    fn new() -> Self {
        // A rotation in each pair of states keeps all values bounded for ever: no infinities, no slow subnormals.
        let (sine, cosine) = 0.01_f64.sin_cos();
        let mut step = [[0.0; SIZE]; SIZE];
        for pair in (0..SIZE).step_by(2) {
            (step[pair][pair], step[pair][pair + 1]) = (cosine, -sine);
            (step[pair + 1][pair], step[pair + 1][pair + 1]) = (sine, cosine);
        }
        Self { state: [[1.0; SIZE]; SIZE], step }
    }

    fn step(&mut self) {
        let mut next = [[0.0; SIZE]; SIZE];
        for (row, out) in self.step.iter().zip(&mut next) {
            for (factor, state) in row.iter().zip(&self.state) {
                out.iter_mut().zip(state).for_each(|(sum, value)| *sum += factor * value);
            }
        }
        self.state = std::hint::black_box(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { cpu: None, priority: None, longest_computation: Duration::from_secs(1) };

    fn timing() -> Timing {
        Timing::new(Duration::from_millis(2), Duration::from_millis(2)).unwrap()
    }

    #[test]
    fn every_release_is_one_sample_even_when_it_was_skipped() {
        let stall = Stall { cycle: 0, length: Duration::from_millis(9) }; // the only cycle that no other stall can skip
        let Stalled { measured, .. } = stalled(timing(), 50, PLACE, stall);
        assert_eq!(measured.tally.releases(), 50);
        assert_eq!(measured.response.samples(), 50);
        assert_eq!(measured.jitter.samples(), measured.tally.cycles);
        assert!(measured.tally.skipped >= 4 && measured.overruns >= 1);
        assert_eq!(measured.response.max().0, measured.tally.max_response.as_nanos() as u64);
        assert_eq!(measured.intervals.maxima(), [measured.response.max().0], "100 ms are one interval");
        assert_eq!(measured.intervals.rows[0].misses, measured.tally.misses);
        assert_eq!(measured.most_in_100, measured.tally.misses, "50 releases are within one window");
    }

    #[test]
    fn a_stall_whose_cycle_the_machine_skipped_happens_once_in_the_next_one() {
        let stall = Stall { cycle: 3, length: Duration::from_millis(5) };
        assert_eq!([2, 3, 7].map(|number| stall.is_due(number)), [false, true, true]);
        let Stalled { measured, at } = stalled(timing(), 200, PLACE, stall);
        let skipped_before = at.unwrap() - stall.cycle;
        assert!(measured.tally.skipped >= 2 + skipped_before, "{:?}", measured.tally);
        assert_eq!(stalled(timing(), 2, PLACE, stall).at, None);
    }

    #[test]
    fn the_work_stays_bounded() {
        let mut work = Work::new();
        (0..100_000).for_each(|_| work.step());
        assert!(work.state.iter().flatten().all(|value| value.abs() < 2.0));
    }
}
