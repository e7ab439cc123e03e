//! The longest time that a CPU is busy with work of one priority and above: the bound for fixed priorities.
//!
//! A *level-P busy period* (Lehoczky, "Fixed priority scheduling of periodic task sets with arbitrary deadlines", RTSS
//! 1990) begins when work of priority P or above becomes ready on a CPU that had none, and ends when none is left. Its
//! longest form is the smallest `w` with
//!
//! ```text
//! w = B + sum over the tasks j of priority P and above of ceil((w + J_j) / T_j) C_j
//! ```
//!
//! because at most `ceil((w + J_j) / T_j)` jobs of `j` become ready in a stretch of length `w` (Audsley et al.,
//! "Applying new scheduling theory to static priority pre-emptive scheduling", 1993). A job of priority P becomes ready
//! in a busy period and is complete at its end, so `R_i = J_i + w`.
//!
//! # Why all tasks of one priority have one bound
//! The argument asks only that the CPU never idles while such work is ready. It does not ask who goes first. So it
//! covers the queue of SCHED_FIFO, the turns of SCHED_RR, and a thread that runs one job to its end before the next. An
//! equation that knew the order could admit no more: once `R_j <= T_j` holds for all tasks of the priority, each of
//! them counts with one job only, and each can have all others in front of it.
//!
//! # The task's own earlier jobs
//! The usual equation (Joseph and Pandya, "Finding response times in a real-time system", The Computer Journal 29(5),
//! 1986) counts one job of task `i`. This one counts all. Where `R_i <= T_i` the two have the same solution. Beyond
//! `T_i` the usual one says too little where late releases are queued. The loops of this crate skip such releases, and
//! no simulation has shown a difference. The larger bound is kept, because it needs no such argument and the task is
//! refused in any case.

use super::Load;
use crate::deadline::MAX_PERIOD;

/// Steps after which the search gives up and the task is refused.
const MAX_STEPS: usize = 10_000;
/// The longest busy period that is looked for: ten of the longest periods.
const MAX_LENGTH: u64 = 10 * MAX_PERIOD.as_nanos() as u64;

/// What rounding may add to a sum of shares of a CPU.
pub(super) const ROUNDING: f64 = 1e-9;

/// The length of the longest busy period in nanoseconds, or `None` when it has no end within the bounds of the search.
pub(super) fn longest(blocking: u64, loads: &[Load]) -> Option<u64> {
    if loads.iter().map(Load::utilisation).sum::<f64>() > 1.0 + ROUNDING {
        return None; // w grows without an end
    }
    // The first guess, one job of each, is below the solution, and the steps only rise: so the first solution met is
    // the smallest.
    let mut length = blocking + loads.iter().map(|load| load.budget).sum::<u64>();
    for _ in 0..MAX_STEPS {
        if length > MAX_LENGTH {
            return None;
        }
        let next = blocking + loads.iter().map(|load| load.jobs_within(length) * load.budget).sum::<u64>();
        if next == length {
            return Some(length);
        }
        length = next;
    }
    None
}
