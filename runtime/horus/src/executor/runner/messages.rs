//! What became of the messages of a node, for its account.

use super::{Parts, Runner};
use crate::port::Lost;

impl Runner<'_> {
    /// How often its inputs became stale, and the longest time.
    pub fn stale_inputs(&self) -> (u64, std::time::Duration) {
        self.parts.inputs.iter().fold(Default::default(), |(count, longest), input| {
            let totals = input.watch.totals();
            (count + totals.stale_times(), longest.max(totals.longest()))
        })
    }

    /// What its outputs did not publish, and what its inputs missed.
    pub fn losses(&self) -> (Lost, u64) {
        let Parts { inputs, outlets, .. } = &self.parts;
        (
            outlets.iter().map(|outlet| outlet.counts().now()).sum(),
            inputs.iter().map(|input| input.sight.missed()).sum(),
        )
    }
}
