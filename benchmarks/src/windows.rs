//! A benchmark whose tasks take turns: each is measured for a short window, then the next one, and so on, many times.
//!
//! Virtual CPUs wander, and what is compared should wander together. So a ratio is taken within one round of windows, and the median of all rounds is
//! told with its quarters. A cell holds the samples of all windows of its task; [`Suite`](crate::suite::Suite) measures one task after the other.

use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;

use clap::Parser;

use horus_measure::floor::around::Floors;

use crate::cell::Cell;
use crate::files;
use crate::floor::measure;
use crate::host::Host;
use crate::measured::Measured;
use crate::options::{Effort, Options};
use crate::peer::ARGUMENT;
use crate::pinning::{Cpus, pin_to};
use crate::report::{Report, SCHEMA};
use crate::samples::Samples;
use crate::stage::{Stage, scratch};
use crate::suite::{Suite, Task, describe};
use crate::transport::{Failure, Meeting};

/// Rounds of a run, and of a quick one.
const ROUNDS: u32 = 20;
const QUICK_ROUNDS: u32 = 5;
/// Environment variable: so many rounds, for who only wants to see that all works.
const ROUNDS_VARIABLE: &str = "HORUS_BENCH_ROUNDS";

/// The medians of a task's windows, one a round; `None` where a window had too few samples.
pub type Medians = Vec<Option<f64>>;

/// A benchmark program whose tasks take turns.
pub struct InWindows {
    /// Its name, which its result files have too.
    pub name: &'static str,
    /// What to measure. Must be the same list in every process.
    pub tasks: fn() -> Vec<Task>,
    /// Sentences over all cells and the medians of their windows.
    pub summary: fn(&[Cell], &[Medians]) -> Vec<String>,
}

/// What was measured of a task so far.
struct Row {
    task: usize,
    samples: Option<Samples>,
    measured: Measured,
    medians: Medians,
    /// The floor before each window.
    floors: Vec<f64>,
}

impl InWindows {
    /// The whole program. Exit status: 0 all cells were measured and nothing was corrupt, 1 otherwise.
    pub fn main(&self) -> ExitCode {
        let arguments: Vec<String> = std::env::args().collect();
        if arguments.get(1).is_some_and(|first| first == ARGUMENT) {
            // A peer does not know in which order tasks are measured.
            return Suite { name: self.name, tasks: self.tasks, summary: |_| Vec::new() }.main();
        }
        match self.run(&Options::parse()) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{}: {error}", self.name);
                ExitCode::FAILURE
            }
        }
    }

    fn run(&self, options: &Options) -> Result<bool, Failure> {
        let cpus = options.cpus.unwrap_or_else(Cpus::default_pair);
        let host = Host::look(cpus, options.quick);
        pin_to(cpus.second)?; // may it run there?
        pin_to(cpus.first)?;
        let scratch = scratch()?;
        let tasks = (self.tasks)();
        let wanted =
            |task: &Task| options.only.as_ref().is_none_or(|text| describe(&task.heading).contains(text.as_str()));
        let mut rows: Vec<Row> = (0..tasks.len()).filter(|number| wanted(&tasks[*number])).map(Row::new).collect();
        let (usual, effort) = if options.quick { (QUICK_ROUNDS, Effort::QUICK) } else { (ROUNDS, Effort::FULL) };
        let rounds = std::env::var(ROUNDS_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(usual).max(1);
        let mut failed = Vec::new();
        for round in 0..rounds {
            eprintln!("{}: round {} of {rounds}", self.name, round + 1);
            rows.retain_mut(|row| {
                let task = &tasks[row.task];
                let meeting = Meeting { name: format!("t{}w{round}", row.task), directory: scratch.path().to_owned() };
                let stage = Stage { cpus, effort: effort.window_of(rounds), meeting, task: row.task };
                row.measure(task, &stage)
                    .inspect_err(|error| {
                        let what = describe(&task.heading);
                        eprintln!("{}: {what}: {error}", self.name);
                        failed.push(format!("{what}: {error}"));
                    })
                    .is_ok()
            });
        }
        let cells: Vec<Cell> = rows.iter_mut().map(|row| row.cell(&tasks[row.task])).collect();
        let medians: Vec<Medians> = rows.iter().map(|row| row.medians.clone()).collect();
        let report = Report {
            schema: SCHEMA.to_owned(),
            benchmark: self.name.to_owned(),
            host,
            summary: (self.summary)(&cells, &medians),
            cells,
            failed,
        };
        if let Some(directory) = &options.out {
            let samples: Vec<_> = rows.iter().map(|row| row.samples.clone()).collect();
            files::write(&report, &samples, directory)?;
            fs::write(directory.join(format!("{}.windows.csv", self.name)), windows(&report.cells, &rows))?;
        }
        if options.json {
            println!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            print!("{}", report.document());
        }
        Ok(report.failed.is_empty() && report.cells.iter().all(|cell| cell.counts.corrupt == 0))
    }
}

impl Row {
    fn new(task: usize) -> Self {
        Self { task, samples: None, measured: Measured::default(), medians: Vec::new(), floors: Vec::new() }
    }

    fn measure(&mut self, task: &Task, stage: &Stage) -> Result<(), Failure> {
        self.floors.push(measure(stage)?);
        let window = (task.measure)(stage)?;
        self.medians.push(window.samples.as_ref().and_then(|samples| samples.quantile(0.5)));
        self.measured.counts.add(&window.counts);
        match (&mut self.samples, window.samples) {
            (Some(all), Some(new)) => all.meter.add(&new.meter),
            (none, new) => *none = new,
        }
        self.measured.note = window.note;
        Ok(())
    }

    /// The cell of all windows. Its floors are the lowest and the highest of them; a ratio to their mean is for a first look only.
    fn cell(&mut self, task: &Task) -> Cell {
        self.measured.samples.clone_from(&self.samples);
        let floors = self.floors.iter().copied();
        let around =
            Floors { before_ns: floors.clone().fold(f64::INFINITY, f64::min), after_ns: floors.fold(0.0, f64::max) };
        Cell::new(&task.heading, &self.measured, around, 1)
    }
}

/// Each window's floor and median, as CSV.
fn windows(cells: &[Cell], rows: &[Row]) -> String {
    let mut text = "system,wait,round,floor_ns,p50_ns\n".to_owned();
    for (cell, row) in cells.iter().zip(rows) {
        for (round, (floor, median)) in row.floors.iter().zip(&row.medians).enumerate() {
            let median = median.map_or_else(String::new, |ns| format!("{ns:.1}"));
            let _ = writeln!(text, "{},{},{},{floor:.1},{median}", cell.heading.system, cell.heading.wait, round + 1);
        }
    }
    text
}

/// One task's medians over another's, round by round: the lower quarter, the median and the upper quarter of the ratios. `None` without a common round.
pub fn ratio(own: &Medians, other: &Medians) -> Option<[f64; 3]> {
    let mut ratios: Vec<f64> = own.iter().zip(other).filter_map(|(own, other)| Some((*own)? / (*other)?)).collect();
    ratios.sort_by(f64::total_cmp);
    let last = ratios.len().checked_sub(1)?;
    Some([last / 4, last / 2, last - last / 4].map(|place| ratios[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_taken_within_a_round() {
        let own = vec![Some(10.0), Some(40.0), None, Some(30.0)];
        let other = vec![Some(10.0), Some(20.0), Some(1.0), Some(30.0)];
        assert_eq!(ratio(&own, &other), Some([1.0, 1.0, 2.0]));
        assert_eq!(ratio(&own, &vec![None]), None);
    }
}
