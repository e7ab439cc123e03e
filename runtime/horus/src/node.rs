//! What a node is: work with a promise about time, and what it is told in each of its cycles.
//!
//! ```
//! use horus::prelude::*;
//!
//! struct Balance { imu: Input<Imu>, cmd: Output<CmdVel> }
//!
//! impl Node for Balance {
//!     fn step(&mut self, _: &Cycle) {
//!         if let Some(imu) = self.imu.latest() {
//!             self.cmd.set(CmdVel { forward: imu.angular_velocity.y, turn: 0.0 });
//!         }
//!     }
//!     fn safe_state(&mut self, _: &Cycle) {
//!         self.cmd.set(CmdVel::STOP);
//!     }
//! }
//! ```
//!
//! A closure is a node without a safe state.

mod reaction;
mod spec;

pub use crate::figures::State;
pub(crate) use reaction::Window;
pub use reaction::{Action, MAX_WITHIN, OnMiss, SafeState};
pub use spec::{Spec, SpecError};

use crate::log::{Level, Line, Log, TextError, Value};
use crate::time::MonotonicTime;

/// Work that is done in cycles, with what it needs for it.
///
/// Must not allocate, log, lock or wait. There is no error to return, because no code can handle one here: count it and let a
/// thread without a deadline report it.
pub trait Node {
    /// Does one cycle's work. What it sets on its outputs is published when it returns.
    fn step(&mut self, cycle: &Cycle);

    /// Sets what keeps the robot safe, in place of a step.
    ///
    /// It is called once before the first release, and what it sets then is remembered and not published: the process that
    /// watches over a node that hangs publishes that. So it sets the same each time, and waits for nothing.
    fn safe_state(&mut self, cycle: &Cycle) {
        let _ = cycle;
    }
}

impl<F: FnMut(&Cycle)> Node for F {
    fn step(&mut self, cycle: &Cycle) {
        self(cycle);
    }
}

/// What a step of another language unwinds with (`std::panic::resume_unwind`) when it cannot go on, as a step in Rust panics.
#[derive(Clone, Debug, thiserror::Error)]
#[error("failed: {0}")]
pub struct StepFailed(pub String);

/// What a node is told about the cycle that it is in.
#[derive(Debug)]
pub struct Cycle {
    /// `k` of `r_k`; a skipped release uses up its number, so a gap is visible to the node.
    pub number: u64,
    /// `r_k`, the point of the grid, or the time of the event: what control laws should use, because it carries no jitter.
    pub release: MonotonicTime,
    /// When the loop was running again.
    pub wake: MonotonicTime,
    /// `r_k + D`: when the work must be done.
    pub deadline: MonotonicTime,
    pub(crate) log: Log,
}

impl Cycle {
    /// A cycle of no node, for a test that calls a step by itself. What the step logs goes nowhere.
    pub fn new(number: u64, release: MonotonicTime, wake: MonotonicTime, deadline: MonotonicTime) -> Self {
        Self { number, release, wake, deadline, log: Log::default() }
    }

    /// Has a line written to the journal by a thread beside the loop: `cycle.log(warn!("wheel {} slips", wheel))`. Here its values are copied
    /// alone: no allocation, no lock, no system call. A line that finds no room is counted and told; see [`log`](mod@crate::log).
    #[inline]
    pub fn log(&self, line: Line<'_>) {
        self.log.put(self.number, self.release, &line);
    }

    /// As [`log`](Self::log), of a text that is known at run time: other languages bring it.
    ///
    /// # Errors
    /// [`TextError`]: the text is none of a line with so many values. The journal is told that in place of the line.
    pub fn try_log(&self, level: Level, text: &str, values: &[Value<'_>]) -> Result<(), TextError> {
        Line::checked(level, text, values).map(|line| self.log(line)).inspect_err(|error| {
            let why = error.to_string();
            self.log(crate::error!("cannot log \"{}\": {}", text, why));
        })
    }
}
