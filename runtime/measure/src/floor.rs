//! The hardware's minimum: one cache line thrown to and fro between two CPUs.
//!
//! No message between two CPUs can be faster than a cache line takes to change sides. Measured on the same memory, in
//! the same minute and between the same CPUs as a topic's latency, this tells how much of that latency is ours. The
//! word that is thrown is the stamp of a slot, in a segment made like any topic's.
//!
//! # What it does not do
//! It pins nothing: the caller chooses the CPU of each end. It waits busily, so both ends need a CPU of their own for a
//! meaningful figure; on a single CPU the ends take turns and the figure is the scheduler's, not the cache's. Each
//! figure includes half a clock read (about 10 ns), as message latencies measured by clock reads do.

pub mod around;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::line::Line;
use horus_shm::error::OpenError;
use horus_shm::wait::Spin;
use horus_sys::clock::monotonic_ns;
use thiserror::Error;

/// Unrecorded rounds before the recorded ones: the peer is there, caches and clock speed have settled.
pub const WARM_UP_ROUNDS: u64 = 1000;

/// Why a measurement of the floor stopped early.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FloorError {
    /// The time limit passed before the last round.
    #[error(
        "the peer process answered {rounds} times in {limit:?}, which is too few: is it running, on a CPU of its own?"
    )]
    TimedOut {
        /// Rounds until then, warm-up included.
        rounds: u64,
        /// The time limit of the call.
        limit: Duration,
    },
    /// The stop flag was set.
    #[error("stopped after {rounds} rounds")]
    Stopped {
        /// Rounds until then, warm-up included.
        rounds: u64,
    },
}

/// The end that throws first and measures.
pub struct Pinger(Line);

/// The end that throws back.
pub struct Ponger(Line);

impl Pinger {
    /// Makes the segment under the name of a topic.
    pub fn create(directory: &Directory, name: &TopicName) -> Result<Self, OpenError> {
        let line = Line::pinger(directory, name)?;
        line.end().store(0, Ordering::Relaxed); // a predecessor may have ended here
        Ok(Self(line))
    }

    /// Plays [`WARM_UP_ROUNDS`] and then `rounds` more, handing half of each later round trip to `record`, in
    /// nanoseconds.
    ///
    /// The whole call takes at most `limit`, and ends soon after `stop` becomes true. May be called again: a
    /// [`Ponger`] plays until the pinger is dropped.
    pub fn ping(
        &mut self,
        rounds: u64,
        limit: Duration,
        stop: &AtomicBool,
        mut record: impl FnMut(u64),
    ) -> Result<(), FloorError> {
        let ball = self.0.ball();
        let mut spin = Spin::new(limit);
        // An odd ball was thrown by a call that gave up on it; throwing the next odd one is fair in any case.
        let mut thrown = (ball.load(Ordering::Relaxed) | 1).wrapping_add(2);
        for round in 0..WARM_UP_ROUNDS + rounds {
            let start = monotonic_ns();
            ball.store(thrown, Ordering::Release); // SYNC POINT: ball
            await_ball(ball, &mut spin, stop, round, limit, |seen| seen == thrown.wrapping_add(1))?;
            if round >= WARM_UP_ROUNDS {
                record((monotonic_ns() - start) / 2);
            }
            thrown = thrown.wrapping_add(2);
        }
        Ok(())
    }
}

impl Drop for Pinger {
    fn drop(&mut self) {
        self.0.end().store(1, Ordering::Relaxed);
    }
}

impl Ponger {
    /// Opens the segment, before or after the pinger.
    pub fn open(directory: &Directory, name: &TopicName) -> Result<Self, OpenError> {
        Line::ponger(directory, name).map(Self)
    }

    /// Throws back until the pinger is dropped; returns the number of rounds.
    ///
    /// The whole call takes at most `limit`, and ends soon after `stop` becomes true.
    pub fn pong(&mut self, limit: Duration, stop: &AtomicBool) -> Result<u64, FloorError> {
        let ball = self.0.ball();
        let end = self.0.end();
        let mut spin = Spin::new(limit);
        let mut rounds = 0;
        loop {
            let mut seen = 0;
            let thrown = |ball| {
                seen = ball;
                ball % 2 == 1 || end.load(Ordering::Relaxed) != 0
            };
            await_ball(ball, &mut spin, stop, rounds, limit, thrown)?;
            if seen % 2 == 0 {
                return Ok(rounds);
            }
            ball.store(seen.wrapping_add(1), Ordering::Release); // SYNC POINT: ball
            rounds += 1;
        }
    }
}

/// Looks at the ball until it `is_here`. Acquire and Release are not needed for a lone word; they are here because a
/// message pays for them too (nothing on x86-64, a barrier instruction's worth on arm64).
#[inline]
fn await_ball(
    ball: &AtomicU64,
    spin: &mut Spin,
    stop: &AtomicBool,
    rounds: u64,
    limit: Duration,
    mut is_here: impl FnMut(u64) -> bool,
) -> Result<(), FloorError> {
    loop {
        let seen = ball.load(Ordering::Acquire); // SYNC POINT: ball
        if is_here(seen) {
            return Ok(());
        }
        if stop.load(Ordering::Relaxed) {
            return Err(FloorError::Stopped { rounds });
        }
        if !spin.turn() {
            return Err(FloorError::TimedOut { rounds, limit });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    fn ends(name: &str) -> (tempfile::TempDir, Pinger, Ponger) {
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(scratch.path()).unwrap();
        let name = name.parse().unwrap();
        let pinger = Pinger::create(&directory, &name).unwrap();
        let ponger = Ponger::open(&directory, &name).unwrap();
        (scratch, pinger, ponger)
    }

    #[test]
    fn every_recorded_round_is_a_round_trip_of_the_peer() {
        let (_scratch, mut pinger, mut ponger) = ends("floor");
        let peer = std::thread::spawn(move || ponger.pong(LIMIT, &AtomicBool::new(false)));
        let mut recorded = 0;
        for _call in 0..2 {
            pinger.ping(100, LIMIT, &AtomicBool::new(false), |_ns| recorded += 1).unwrap();
        }
        drop(pinger);
        assert_eq!(recorded, 200);
        assert_eq!(peer.join().unwrap(), Ok(2 * (WARM_UP_ROUNDS + 100)));
    }

    #[test]
    fn a_missing_peer_ends_the_wait_with_an_error() {
        let (_scratch, mut pinger, mut ponger) = ends("floor");
        let limit = Duration::from_millis(5);
        let timed_out = FloorError::TimedOut { rounds: 0, limit };
        assert_eq!(ponger.pong(limit, &AtomicBool::new(false)), Err(timed_out));
        assert_eq!(pinger.ping(1, limit, &AtomicBool::new(false), |_| ()), Err(timed_out));
        let stopped = AtomicBool::new(true);
        assert_eq!(pinger.ping(1, LIMIT, &stopped, |_| ()), Err(FloorError::Stopped { rounds: 0 }));
    }
}
