//! A benchmark program: a list of tasks, run one after the other, each between two floors.

use std::process::ExitCode;

use clap::Parser;

use crate::cell::{Cell, Heading, Measured, Path};
use crate::files;
use crate::floor::{allow, between_floors, measure, steady};
use crate::host::Host;
use crate::options::{Effort, Options};
use crate::peer::{ARGUMENT, Role};
use crate::pinning::{Cpus, pin_to};
use crate::report::{Report, SCHEMA};
use crate::samples::{Samples, TWO_PLACEMENTS, spread};
use crate::stage::{Stage, scratch};
use crate::transport::{Content, Failure, Meeting, Processes, Threads};
use crate::{processes, threads};

type Measure = Box<dyn Fn(&Stage) -> Result<Measured, Failure>>;
type BePeer = Box<dyn Fn(&Role) -> Result<(), Failure>>;

/// How a receiver waits that does not wait busily.
pub const ASLEEP: &str = "asleep in the kernel";

/// Something to measure: becomes one cell.
#[must_use]
pub struct Task {
    pub(crate) heading: Heading,
    pub(crate) measure: Measure,
    be_peer: Option<BePeer>,
    is_once: bool,
}

impl Task {
    /// A task within this process.
    pub fn new(heading: Heading, measure: impl Fn(&Stage) -> Result<Measured, Failure> + 'static) -> Self {
        Self { heading, measure: Box::new(measure), be_peer: None, is_once: false }
    }

    /// The same between ends that sleep: time for the peer to fall asleep passes before each round trip.
    pub fn asleep(self) -> Self {
        self.effort(Effort::asleep).about(|heading| Heading { wait: ASLEEP.to_owned(), ..heading }.message("asleep"))
    }

    /// The same, measured once whatever the floors are: for runs of which none may be replaced by a better one.
    pub fn once(self) -> Self {
        Self { is_once: true, ..self }
    }

    /// The same with another effort.
    pub fn effort(self, change: impl Fn(Effort) -> Effort + 'static) -> Self {
        let measure = self.measure;
        let changed = move |stage: &Stage| measure(&Stage { effort: change(stage.effort), ..stage.clone() });
        Self { measure: Box::new(changed), ..self }
    }

    /// A task whose `measure` starts peers, which do `be_peer`.
    pub fn with_peer(mut self, be_peer: impl Fn(&Role) -> Result<(), Failure> + 'static) -> Self {
        self.be_peer = Some(Box::new(be_peer));
        self
    }

    /// The same with another heading.
    pub fn about(self, change: impl FnOnce(Heading) -> Heading) -> Self {
        Self { heading: change(self.heading), ..self }
    }

    /// The same with a remark.
    pub fn note(self, note: &str) -> Self {
        self.about(|heading| heading.note(note))
    }

    /// System `T` in one thread.
    pub fn same_thread<T: Threads<M> + 'static, M: Content>() -> Self {
        let heading = Heading::new(Path::SameThread, T::SYSTEM, size_of::<M>());
        Self::new(heading.unit("send + receive"), threads::same_thread::<T, M>)
    }

    /// System `T` between two threads.
    pub fn threads<T: Threads<M> + 'static, M: Content>() -> Self {
        Self::new(Heading::new(Path::Thread1To1, T::SYSTEM, size_of::<M>()), threads::thread_to_thread::<T, M>)
    }

    /// Round trips of system `P` between two processes, and no run in one direction: for calls, of which none goes without an answer.
    pub fn calls<P: Processes<M> + 'static, M: Content>() -> Self {
        let heading = Heading::new(Path::Process1To1, P::SYSTEM, size_of::<M>());
        Self::new(heading, processes::calls::<P, M>).with_peer(processes::be_the_peer::<P, M>)
    }

    /// System `P` between two processes.
    pub fn processes<P: Processes<M> + 'static, M: Content>() -> Self {
        let heading = Heading::new(Path::Process1To1, P::SYSTEM, size_of::<M>());
        Self::new(heading, processes::process_to_process::<P, M>).with_peer(processes::be_the_peer::<P, M>)
    }
}

/// A benchmark program.
pub struct Suite {
    /// Its name, which its result files have too.
    pub name: &'static str,
    /// What to measure, in this order. Must be the same list in every process.
    pub tasks: fn() -> Vec<Task>,
    /// Sentences over all cells.
    pub summary: fn(&[Cell]) -> Vec<String>,
}

impl Suite {
    /// The whole program. Exit status: 0 all cells were measured and nothing was corrupt, 1 otherwise.
    pub fn main(&self) -> ExitCode {
        let arguments: Vec<String> = std::env::args().collect();
        let outcome = match arguments.get(1) {
            Some(first) if first == ARGUMENT => self.be_peer(&arguments[2..]).map(|()| true),
            _ => self.run(&Options::parse()),
        };
        match outcome {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) => ExitCode::FAILURE,
            Err(error) => {
                eprintln!("{}: {error}", self.name);
                ExitCode::FAILURE
            }
        }
    }

    fn be_peer(&self, arguments: &[String]) -> Result<(), Failure> {
        let role = Role::from_arguments(arguments)?;
        let tasks = (self.tasks)();
        let be_peer = tasks.get(role.task).and_then(|task| task.be_peer.as_ref()).ok_or("no such task for a peer")?;
        be_peer(&role)
    }

    fn run(&self, options: &Options) -> Result<bool, Failure> {
        let cpus = options.cpus.unwrap_or_else(Cpus::default_pair);
        if cpus.shared() {
            eprintln!(
                "{}: both ends share CPU {}: times are the scheduler's, not the message path's",
                self.name, cpus.first
            );
        }
        let host = Host::look(cpus, options.quick);
        pin_to(cpus.second)?; // may it run there?
        pin_to(cpus.first)?;
        let scratch = scratch()?;
        let mut report = Report {
            schema: SCHEMA.to_owned(),
            benchmark: self.name.to_owned(),
            host,
            cells: Vec::new(),
            summary: Vec::new(),
            failed: Vec::new(),
        };
        let mut samples = Vec::new();
        for (number, task) in (self.tasks)().iter().enumerate() {
            let what = describe(&task.heading);
            if options.only.as_ref().is_some_and(|text| !what.contains(text)) {
                continue;
            }
            eprintln!("{}: {what}", self.name);
            let meeting = Meeting { name: format!("t{number}"), directory: scratch.path().to_owned() };
            let stage =
                Stage { cpus, effort: if options.quick { Effort::QUICK } else { Effort::FULL }, meeting, task: number };
            match run_task(task, &stage) {
                Ok((cell, taken)) => {
                    report.cells.push(cell);
                    samples.push(taken);
                }
                Err(error) => {
                    eprintln!("{}: {what}: {error}", self.name);
                    report.failed.push(format!("{what}: {error}"));
                }
            }
        }
        report.summary = (self.summary)(&report.cells);
        if let Some(directory) = &options.out {
            files::write(&report, &samples, directory)?;
        }
        if options.json {
            println!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            print!("{}", report.document());
        }
        Ok(report.failed.is_empty() && report.cells.iter().all(|cell| cell.counts.corrupt == 0))
    }
}

/// What a task is called on the command line and in messages.
pub(crate) fn describe(heading: &Heading) -> String {
    let Heading { path, system, bytes, publishers, subscribers, unit, .. } = heading;
    let message = heading.message.as_deref().map_or_else(String::new, |message| format!("{message}, "));
    format!("{}, {system}, {message}{bytes} bytes, {publishers} to {subscribers}, {unit}", path.name())
}

fn run_task(task: &Task, stage: &Stage) -> Result<(Cell, Option<Samples>), Failure> {
    let floor = || measure(stage);
    let cell = |attempt| {
        let meeting = stage.meeting.of(&format!("a{attempt}"));
        (task.measure)(&Stage { meeting, ..stage.clone() })
    };
    let between = between_floors(floor, cell, |measured, floors| {
        let samples = measured.samples.as_ref();
        let median = samples.and_then(|samples| samples.quantile(0.5));
        let spread = samples.map_or(1.0, |samples| spread(samples.meter.histogram()));
        let one_placement = !task.heading.is_busy_crossing() || spread <= TWO_PLACEMENTS;
        let possible = !task.heading.crosses_cpus() || median.is_none_or(|ns| allow(floors, ns));
        let is_timed = samples.is_some() || measured.per_second.is_some();
        !is_timed || task.is_once || steady(floors) && (stage.cpus.shared() || one_placement && possible)
    })?;
    let cell = Cell::new(&task.heading, &between.measured, between.floors, between.attempts);
    Ok((Cell { steady: between.steady && (!task.is_once || cell.steady), ..cell }, between.measured.samples))
}
