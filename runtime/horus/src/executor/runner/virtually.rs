//! What a virtual machine asks of a node, whose releases it makes itself.

use super::Runner;
use crate::deadline::Tally;
use crate::time::MonotonicTime;

impl Runner<'_> {
    /// Whether it serves a release, and does not leave it out after misses.
    pub fn serves(&mut self, release: MonotonicTime) -> bool {
        if self.parts.phase_ns.is_some() && self.parts.releases > 0 && release > self.grid {
            self.miss_until(release);
        }
        self.parts.releases > 0 && (self.parts.phase_ns.is_none() || release == self.grid || self.is_pending)
    }

    /// The account with what a step that has not ended by `now` has missed by then.
    pub fn tally_by(&self, now: MonotonicTime) -> Tally {
        let mut tally = self.tally;
        let timing = &self.parts.timing;
        if self.figures.step_began().is_some() && !timing.is_met_by(now.nanos_since(self.cycle.release)) {
            let by_grid = self.parts.phase_ns.is_some() && self.cycle.release == self.grid;
            let left = self.parts.releases.saturating_sub(1);
            let passed = if by_grid { timing.releases_skipped(self.cycle.release, now).min(left) } else { 0 };
            tally.miss_so_far(passed);
        }
        tally
    }

    /// Takes releases as missed that the virtual machine passed over: one that falls on the instant at which the cycle before it ends.
    fn miss_until(&mut self, release: MonotonicTime) {
        let period = self.parts.timing.period_nanos();
        let passed = (release.nanos_since(self.grid) / period).min(self.parts.releases - 1);
        self.tally.leave_out(passed);
        self.figures.count_misses(&self.tally);
        self.parts.releases -= passed;
        self.number += passed;
        self.grid = self.grid.plus_nanos(passed * period);
    }
}
