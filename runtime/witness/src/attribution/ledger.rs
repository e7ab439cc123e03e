//! The sums: how much of the window each owner had.

use std::collections::BTreeMap;
use std::ops::Range;

use super::owner::{Cpu, Fault, Owner};
use crate::event::Task;

/// What one owner had.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sum {
    /// In nanoseconds.
    pub ns: u64,
    /// How often it began in the window, for what is counted.
    pub times: u64,
}

/// What all owners had, up to a moment.
#[derive(Debug)]
pub struct Ledger {
    /// Everything before this is charged.
    pub at: u64,
    /// What each owner had.
    pub sums: BTreeMap<Owner, Sum>,
    /// The longest piece that no owner had.
    pub silence: Option<Range<u64>>,
    /// The faults that [`Owner::Fault`] numbers.
    pub faults: Vec<Fault>,
    /// Threads by number.
    pub tasks: BTreeMap<u32, Task>,
    /// The piece that no owner had, which may go on.
    quiet: Range<u64>,
}

impl Ledger {
    /// Nothing is charged before `at`.
    pub fn new(at: u64) -> Self {
        Self { at, sums: BTreeMap::new(), silence: None, faults: Vec::new(), tasks: BTreeMap::new(), quiet: at..at }
    }

    /// Charges the time up to `until` to an owner. Each moment is charged once: nothing happens for what is charged already.
    pub fn charge(&mut self, until: u64, owner: Owner) {
        let Some(ns) = until.checked_sub(self.at).filter(|ns| *ns > 0) else { return };
        if owner == Owner::Nobody {
            let start = if self.quiet.end == self.at { self.quiet.start } else { self.at };
            self.quiet = start..until;
            let longest = self.silence.as_ref().map_or(0, |silence| silence.end - silence.start);
            if until - start > longest {
                self.silence = Some(self.quiet.clone());
            }
        }
        self.sums.entry(owner).or_default().ns += ns;
        self.at = until;
    }

    /// Counts a beginning.
    pub fn count(&mut self, owner: Owner) {
        self.sums.entry(owner).or_default().times += 1;
    }

    /// With the names that the events gave.
    pub fn named(mut self, cpu: Cpu) -> Self {
        self.faults = cpu.faults;
        self.tasks = cpu.tasks;
        self
    }
}
