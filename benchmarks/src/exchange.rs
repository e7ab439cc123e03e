//! The least that a message of several cache lines takes between two threads: its lines, and nothing else.
//!
//! One thread writes one word into each line of a message, the last into the line that the other thread looks at; the
//! other reads one word of each and answers with as many lines of its own. Every queue that copies a payload through
//! shared memory moves at least these lines, so what HORUS takes beyond it is HORUS's own, and what this takes beyond
//! the floor is the processor's. The floor is one line that both write; here each direction has lines of its own, as
//! in every queue, and as many messages of memory as the latency cells have.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::scope;

use horus_shm::clock::monotonic_ns;

use crate::options::{Effort, LATENCY_CAPACITY};
use crate::patience::{PATIENCE, Patience, Stuck};
use crate::pinning::{Cpus, pin_to};
use crate::samples::Samples;
use crate::tally::Counts;
use crate::transport::Failure;

#[repr(align(64))]
struct Line(AtomicU64);

/// One direction: [`LATENCY_CAPACITY`] messages of so many lines, used in turn.
struct Direction {
    lines: Vec<Line>,
    lines_a_message: usize,
}

impl Direction {
    fn new(lines_a_message: usize) -> Self {
        let lines =
            std::iter::repeat_with(|| Line(AtomicU64::new(0))).take(lines_a_message * LATENCY_CAPACITY).collect();
        Self { lines, lines_a_message }
    }

    fn message(&self, round: u64) -> (&Line, &[Line]) {
        let first = round as usize % LATENCY_CAPACITY * self.lines_a_message;
        let message = &self.lines[first..first + self.lines_a_message];
        (&message[0], &message[1..])
    }

    /// Writes `round`, which is not 0 and greater than all before, into every line.
    #[inline]
    fn write(&self, round: u64) {
        let (looked_at, rest) = self.message(round);
        for line in rest {
            line.0.store(round, Ordering::Relaxed);
        }
        looked_at.0.store(round, Ordering::Release); // pairs with `read`: who sees it sees the other lines too
    }

    /// Waits for `round`; tells whether all its lines are there.
    #[inline]
    fn read(&self, round: u64, patience: &Patience) -> Result<bool, Stuck> {
        let (looked_at, rest) = self.message(round);
        while looked_at.0.load(Ordering::Acquire) != round {
            patience.turn()?;
        }
        patience.progress();
        Ok(rest.iter().fold(0, |wrong, line| wrong | (line.0.load(Ordering::Relaxed) ^ round)) == 0)
    }
}

/// Times exchanges of messages of `lines` lines between two CPUs; a sample is half an exchange.
pub fn play(cpus: Cpus, lines: usize, effort: &Effort) -> Result<(Samples, Counts), Failure> {
    let (there, back) = (Direction::new(lines), Direction::new(lines));
    let stop = AtomicBool::new(false);
    let patience = || Patience::new(PATIENCE, &stop).sharing(cpus.shared());
    let rounds = effort.warm_up + effort.samples;
    scope(|scope| {
        let answering = scope.spawn(|| {
            let patience = patience();
            let answered = pin_to(cpus.second).map_err(Failure::from).and_then(|()| {
                let mut whole = 0;
                for round in 1..=rounds {
                    match there.read(round, &patience) {
                        Ok(all) => whole += u64::from(all),
                        Err(Stuck::Stopped) => break,
                        Err(stuck) => return Err(stuck.into()),
                    }
                    back.write(round);
                }
                Ok(whole)
            });
            stop.store(answered.is_err(), Ordering::Relaxed);
            answered
        });
        let (samples, mut counts) =
            ask(cpus, [&there, &back], effort, &patience()).inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        stop.store(true, Ordering::Relaxed);
        let whole = answering.join().map_err(|_| "the exchange's second thread panicked")??;
        counts.corrupt += counts.sent - whole;
        Ok((samples, counts))
    })
}

#[inline(never)]
fn ask(
    cpus: Cpus,
    [there, back]: [&Direction; 2],
    effort: &Effort,
    patience: &Patience,
) -> Result<(Samples, Counts), Failure> {
    pin_to(cpus.first)?;
    let mut samples = Samples::new(2);
    let mut counts = Counts::default();
    let began = monotonic_ns();
    for round in 1..=effort.warm_up + effort.samples {
        let start = monotonic_ns();
        there.write(round);
        let whole = back.read(round, patience)?;
        let end = monotonic_ns();
        counts.sent += 1;
        if whole {
            counts.received += 1;
        } else {
            counts.corrupt += 1;
        }
        if round > effort.warm_up {
            samples.record(end - start);
        }
        if end - began > effort.limit.as_nanos() as u64 {
            break;
        }
    }
    Ok((samples, counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_message_arrives() {
        for lines in [1, 5] {
            let (samples, counts) =
                play(Cpus::default_pair(), lines, &Effort { limit: PATIENCE, ..Effort::TEST }).unwrap();
            assert_eq!(samples.count(), Effort::TEST.samples);
            assert_eq!((counts.sent, counts.received, counts.corrupt), (220, 220, 0));
        }
    }

    #[test]
    fn a_message_with_an_old_line_is_not_whole() {
        let go = AtomicBool::new(false);
        let direction = Direction::new(3);
        direction.write(1);
        direction.message(1).1[1].0.store(0, Ordering::Relaxed);
        assert_eq!(direction.read(1, &Patience::new(PATIENCE, &go)), Ok(false));
        direction.write(2);
        assert_eq!(direction.read(2, &Patience::new(PATIENCE, &go)), Ok(true));
    }
}
