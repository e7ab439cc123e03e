//! The floor beside every figure: one cache line thrown between the same two CPUs, before and after each cell.
//!
//! A cell whose floors differ is measured again: [`horus_measure::floor::around`] says why.

use std::sync::atomic::{AtomicU64, Ordering};

use horus_measure::floor::around::Floors;
use horus_measure::floor::{FloorError, Pinger, Ponger};
use horus_shm::directory::Directory;

use crate::patience::{PATIENCE, Stuck};
use crate::samples::Samples;
use crate::stage::Stage;
use crate::threads::on_both_cpus;
use crate::transport::Failure;

/// Two floors that differ by more than this fraction of the smaller one are of two different machines.
pub const TOLERANCE: f64 = 0.15;

/// How often a cell is measured before the last attempt is kept and marked as unsteady.
pub const MAX_ATTEMPTS: u32 = 5;

/// The median time of one line from CPU to CPU, in nanoseconds; it includes half a clock read, as the cells do.
pub fn measure(stage: &Stage) -> Result<f64, Failure> {
    let mut samples = Samples::new(1);
    play(stage, stage.effort.floor_rounds, |ns| samples.record(ns))?;
    samples.quantile(0.5).ok_or_else(|| "too few rounds for a median of the floor".into())
}

/// Throws the line `rounds` times to and fro and hands every time of one way to `record`, in nanoseconds.
///
/// Both ends are threads of this process; the line does not know the difference.
pub fn play(stage: &Stage, rounds: u64, record: impl FnMut(u64)) -> Result<(), Failure> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let name = format!("floor-{}", NUMBER.fetch_add(1, Ordering::Relaxed)).parse()?;
    let directory = Directory::at(&stage.meeting.directory)?;
    let mut pinger = Pinger::create(&directory, &name)?;
    let mut ponger = Ponger::open(&directory, &name)?;
    // Two CPUs settle in some microseconds; ends that share one take turns, and each turn is a time slice.
    let rounds = if stage.cpus.shared() { 20 } else { rounds };
    let own = move |stop: &_| match pinger.ping(rounds, PATIENCE, stop, record) {
        Err(FloorError::Stopped { .. }) => Err(Stuck::Stopped.into()),
        pinged => Ok(pinged?), // and the pinger goes, which tells the ponger that there will be no more
    };
    on_both_cpus(stage, own, |stop| Ok(ponger.pong(PATIENCE, stop)?)).map(drop)
}

/// Whether both floors were measured under the same conditions, as far as they can tell.
pub fn steady(floors: &Floors) -> bool {
    floors.apart() <= 1.0 + TOLERANCE
}

/// Whether a message between the two CPUs can have taken `ns`: none is faster than a cache line. One that was came when
/// the CPUs were nearer than at both floors.
pub fn allow(floors: &Floors, ns: f64) -> bool {
    ns >= (1.0 - TOLERANCE) * floors.lower_ns()
}

/// A cell that was measured between two floors.
#[derive(Debug)]
pub struct Between<T> {
    /// The cell.
    pub measured: T,
    /// The floors around it.
    pub floors: Floors,
    /// How often it was measured.
    pub attempts: u32,
    /// Whether the floors agree with each other and with the cell.
    pub steady: bool,
}

/// Measures a cell between two floors, again while it is not `plausible` between them, at most [`MAX_ATTEMPTS`] times.
pub fn between_floors<T>(
    mut floor: impl FnMut() -> Result<f64, Failure>,
    mut cell: impl FnMut(u32) -> Result<T, Failure>,
    plausible: impl Fn(&T, &Floors) -> bool,
) -> Result<Between<T>, Failure> {
    let mut before_ns = floor()?;
    for attempts in 1.. {
        let measured = cell(attempts)?;
        let floors = Floors { before_ns, after_ns: floor()? };
        let steady = plausible(&measured, &floors);
        if steady || attempts >= MAX_ATTEMPTS {
            return Ok(Between { measured, floors, attempts, steady });
        }
        before_ns = floors.after_ns;
    }
    unreachable!("the loop returns at the last attempt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floors_that_differ_by_more_than_15_percent_are_unsteady() {
        let steady = |before_ns, after_ns| super::steady(&Floors { before_ns, after_ns });
        assert!(steady(100.0, 115.0) && steady(115.0, 100.0) && steady(60.0, 60.0));
        assert!(!steady(100.0, 116.0) && !steady(116.0, 100.0) && !steady(60.0, 255.0));
    }

    fn attempts(floors: &[f64]) -> (u32, Floors, u32) {
        let mut floors = floors.iter();
        let mut cells = 0;
        let next = || floors.next().copied().ok_or_else(|| "measured more floors than planned".into());
        let cell = |attempt| {
            cells += 1;
            Ok(attempt)
        };
        let Between { measured: last, floors: around, attempts, steady } =
            between_floors(next, cell, |_, floors| super::steady(floors)).unwrap();
        assert_eq!((cells, floors.len(), steady), (attempts, 0, super::steady(&around)));
        (last, around, attempts)
    }

    #[test]
    fn a_cell_is_repeated_until_its_floors_agree() {
        assert_eq!(attempts(&[60.0, 62.0]).2, 1);
        let (last, around, count) = attempts(&[60.0, 250.0, 60.0, 61.0]);
        assert_eq!((last, count), (3, 3));
        assert_eq!(around, Floors { before_ns: 60.0, after_ns: 61.0 });
    }

    #[test]
    fn the_fifth_attempt_is_kept_however_it_was() {
        let (last, around, count) = attempts(&[60.0, 250.0, 60.0, 250.0, 60.0, 250.0]);
        assert_eq!((last, count, super::steady(&around)), (5, 5, false));
    }

    #[test]
    fn a_message_faster_than_both_floors_is_measured_again() {
        let mut times = [40.0, 130.0].into_iter();
        let cell = |_attempt| times.next().ok_or_else(|| "once too often".into());
        let between = between_floors(|| Ok(120.0), cell, |ns, floors| allow(floors, *ns)).unwrap();
        assert_eq!((between.measured, between.attempts, between.steady), (130.0, 2, true));
        let hopeless = between_floors(|| Ok(120.0), |_| Ok(40.0), |ns, floors| allow(floors, *ns)).unwrap();
        assert_eq!((hopeless.attempts, hopeless.steady), (MAX_ATTEMPTS, false));
    }

    #[test]
    fn the_floor_of_this_machine_can_be_measured() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        assert!(measure(&Stage::for_tests(directory.path())).unwrap() > 0.0);
    }
}
