//! Which nodes are calm: their cycles in time have nothing to look at but their own times, and take the short way.
//!
//! The short way does not know what the long way does for the nodes that are left out here. So every field of a [`Runner`] is named below:
//! one that is added does not compile before this page says whether the short way may pass it by.

use super::{Parts, Runner};
use crate::figures::State;

impl Runner<'_> {
    /// Whether the next cycle may take the short way, as far as this one can tell: it has to be in time, too.
    pub(super) fn is_calm_now(&self) -> bool {
        let Self {
            parts,
            state,
            untold,
            window,
            // The short way changes these as the long one does.
            figures: _,
            tally: _,
            number: _,
            grid: _,
            cycle: _,
            // An event's release is not the grid's, and `finish` compares the two.
            is_pending: _,
            not_before: _,
            last_event: _,
            // Of budgets, which are looked at below.
            cpu_time_before: _,
            over_budget: _,
            // The answer itself. A monitor that takes the node's place changes it in `publish`.
            is_calm: _,
        } = self;
        let Parts {
            observer,
            phase_ns,
            budget_ns,
            // A reaction to misses stands in the state, or in the window before it.
            on_miss: _,
            // Whether releases are left, and whether the cycle was in time, `finish` asks for each cycle.
            releases: _,
            timing: _,
            // Both ways begin behind these: step, publishing, stale inputs, note of the cycle.
            node: _,
            inputs: _,
            outlets: _,
            params: _,
            is_logical: _,
            // It notes each cycle before the ways part, and takes misses alone after that.
            recorder: _,
            // Of events.
            trigger: _,
            min_inter_arrival_ns: _,
            // What did not fit in there is untold.
            changes: _,
            // The cycle has it.
            log: _,
        } = parts;
        let is_running = match state {
            State::Running => true,
            // Releases are left out behind each of its cycles.
            State::Degraded => false,
            // It does not stay: the first step ends it, a person, or the loop.
            State::Starting | State::Safe | State::Stopped | State::Ended => false,
        };
        is_running
            // Without a grid there is no next release to come to.
            && phase_ns.is_some()
            // CPU time is compared with the budget in every cycle.
            && budget_ns.is_none()
            // Hears of every cycle.
            && observer.is_none()
            // A change that found the ring full is offered to it again in every cycle.
            && untold.is_none()
            // A cycle in time moves the misses before it towards the window's end.
            && !window.has_misses()
    }
}
