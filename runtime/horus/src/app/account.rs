//! What a node did, when its program has ended.

use std::fmt;
use std::time::Duration;

use horus_sys::clock::is_virtual;

use crate::deadline::Tally;
use crate::executor::Runner;
use crate::figures::State;
use crate::port::Lost;

/// The account of one node.
#[derive(Clone, Debug)]
pub struct NodeAccount {
    /// Its name.
    pub name: String,
    /// Its cycles and misses.
    pub tally: Tally,
    /// What it did last.
    pub state: State,
    /// How often its inputs became stale.
    pub stale_inputs: u64,
    /// The longest of these times.
    pub longest_stale: Duration,
    /// Messages that its steps set and its outputs did not publish.
    pub lost: Lost,
    /// Messages that were overwritten before its inputs read them.
    pub missed: u64,
}

impl NodeAccount {
    pub(super) fn of(name: String, runner: &Runner) -> Self {
        let (stale_inputs, longest_stale) = runner.stale_inputs();
        let (lost, missed) = runner.losses();
        Self { name, tally: *runner.tally(), state: runner.state(), stale_inputs, longest_stale, lost, missed }
    }
}

impl fmt::Display for NodeAccount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, tally, state, stale_inputs, longest_stale, lost, missed } = self;
        write!(
            out,
            "{name}: {} releases, {} deadline misses, {} of them skipped releases, longest run {}; max response {:?}, max jitter {:?}",
            tally.releases(),
            tally.misses,
            tally.skipped,
            tally.max_consecutive,
            tally.max_response,
            tally.max_jitter,
        )?;
        // In virtual time a step takes no time: that nothing was missed says nothing about a machine.
        match is_virtual() {
            true => write!(out, "; in virtual time")?,
            false => write!(out, "; P(miss) < {} (95 %)", rounded_up(tally.miss_bound_95()))?,
        }
        if *stale_inputs > 0 {
            write!(out, ", {stale_inputs} stale inputs, longest {longest_stale:?}")?;
        }
        if lost.total() > 0 {
            write!(out, "; messages not published: {lost}")?;
        }
        if *missed > 0 {
            write!(out, "; messages missed: {missed}")?;
        }
        match state {
            State::Starting | State::Running | State::Ended => Ok(()),
            state => write!(out, "; at its end: {}", state.name()),
        }
    }
}

/// Two digits that are not below `bound`: a bound that is rounded down claims more than was measured.
fn rounded_up(bound: f64) -> String {
    let digits = 10_f64.powi(1 - bound.log10().floor() as i32);
    // Less than a rounding error of the division: 0.5 stays 5.0e-1.
    let rounded = (bound * digits * (1.0 - 1e-12)).ceil() / digits;
    format!("{:.1e}", rounded.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_is_never_rounded_down() {
        for (bound, text) in [(0.5, "5.0e-1"), (0.0501, "5.1e-2"), (1.0, "1.0e0"), (2.996e-6, "3.0e-6")] {
            assert_eq!(rounded_up(bound), text);
        }
    }
}
