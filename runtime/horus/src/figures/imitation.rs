//! Figures of a program that does not run: for tests of what reads figures.

use std::sync::Arc;
use std::time::Duration;

use horus_shm::board::Board;
use horus_shm::directory::Directory;

use super::{Sheet, State};
use crate::deadline::{CycleRecord, Tally, Timing};
use crate::graph::ProcessInfo;
use crate::time::MonotonicTime;

/// A program that only has figures. They go when it is dropped.
pub struct Imitation {
    sheet: Arc<Sheet>,
    timings: Vec<Timing>,
    tallies: Vec<Tally>,
}

impl Imitation {
    /// Begins the figures of `info` in `directory`.
    ///
    /// # Errors
    /// When its name is taken, or when what it says of its nodes' times makes no sense.
    pub fn begin(directory: &Directory, info: &ProcessInfo) -> crate::Result<Self> {
        let text = serde_json::to_string(info)?;
        let board = Board::make(directory, &info.name.parse()?, Sheet::words(info.nodes.len(), &text))?;
        let board = board.ok_or_else(|| crate::Error::new(format!("{} has figures already", info.name)))?;
        let distance =
            |node: &crate::graph::NodeInfo| if node.period_ns > 0 { node.period_ns } else { node.min_inter_arrival_ns };
        let timing = |node| Timing::new(Duration::from_nanos(distance(node)), node.deadline());
        Ok(Self {
            sheet: Sheet::on(board, info.nodes.len(), &text),
            timings: info.nodes.iter().map(timing).collect::<Result<_, _>>()?,
            tallies: vec![Tally::default(); info.nodes.len()],
        })
    }

    /// Node number `node` ends a cycle.
    pub fn cycle(&mut self, node: usize, cycle: &CycleRecord) {
        let _ = self.tallies[node].add(&self.timings[node], cycle);
        let figures = self.sheet.of(node);
        figures.end(cycle.completion, cycle.completion_cpu, cycle.response_nanos(), &self.tallies[node]);
        figures.count_misses(&self.tallies[node]);
    }

    /// A cycle took so much CPU time.
    pub fn used(&self, node: usize, cpu_time: Duration, is_over_budget: bool) {
        self.sheet.of(node).used(u64::try_from(cpu_time.as_nanos()).unwrap_or(u64::MAX), is_over_budget);
    }

    /// Its outputs lost so many messages, and its inputs missed so many.
    pub fn messages(&self, node: usize, lost: u64, missed: u64) {
        self.sheet.of(node).set_messages(lost, missed);
    }

    /// What the node does.
    pub fn state(&self, node: usize, state: State) {
        self.sheet.of(node).set_state(state);
    }

    /// A step began and has not ended.
    pub fn step(&self, node: usize, began: MonotonicTime) {
        self.sheet.of(node).begin(0, began, began, 0);
    }
}
