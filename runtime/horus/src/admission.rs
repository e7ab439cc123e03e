//! Whether a set of tasks meets its deadlines, found out before it runs.
//!
//! [`analyse`] takes the tasks of one machine and predicts the longest response of each. A task whose bound is beyond
//! its deadline is *refused*, with the parts of the bound and with changes that would make it fit. Nothing here asks
//! the machine: the same figures give the same answer everywhere.
//!
//! ```
//! use std::time::Duration;
//! use horus::admission::{Arrival, TaskPolicy, Task, analyse};
//!
//! let us = Duration::from_micros;
//! let every = |period| Arrival::Periodic { period };
//! let mut control = Task::new("control", 3, TaskPolicy::Fifo(80), every(us(1_000)), us(150), us(800));
//! control.jitter = us(120);
//! let mut vision = Task::new("vision", 3, TaskPolicy::Fifo(85), every(us(10_000)), us(643), us(10_000));
//! vision.thread = 1;
//!
//! let admission = analyse(&[control, vision], &[2, 3])?;
//! let refused = admission.refusals().next().expect("150 + 120 + 643 is more than 800");
//! assert_eq!((refused.task.name.as_str(), refused.worst_response()), ("control", Some(us(913))));
//! assert!(admission.to_string().ends_with("try: move vision to CPU 2, or give control a priority above 85"));
//! # Ok::<(), horus::admission::TaskError>(())
//! ```
//!
//! # How it decides
//! | policy | test |
//! |---|---|
//! | `fifo`, `rr` | response time `R_i = J_i + w`, where `w` is the longest time that the CPU is busy with this priority and above |
//! | `deadline` | processor demand by QPA, and at most 95 % of the CPU; these tasks run before all `fifo` and `rr` tasks |
//! | `other` | none: nothing is guaranteed |
//!
//! The sources of the formulas and the reasons why they hold here stand in `admission/busy_period.rs` and
//! `admission/demand.rs`. A test simulates 10,000 random sets (`simulation.rs`) and finds no response
//! above its bound.
//!
//! # What a prediction rests on
//! - **The figures are true.** A budget that was observed is the largest that was seen, not the largest that can be.
//! - **The tasks are all there is** on their CPUs at their priorities. Interrupts and kernel threads above them are
//!   part of the jitter that was measured, or must be listed as tasks. So must the kernel's fair server where it may
//!   run.
//! - **A thread that runs does not sleep** before its job is complete, except for the blocking that is declared.
//! - **A thread runs at the highest priority of its tasks**, and one job after the other.
//!
//! # Trade-offs
//! - The bound holds for any phases. A set whose phases keep its tasks apart may be refused although it would fit.
//! - A bound beyond the period counts the earlier jobs of the task. It is never too low, and it may be much too high.
//! - There is no response time for `deadline` tasks, only the answer whether each meets its deadline.

mod busy_period;
mod chain;
mod check;
mod demand;
mod prediction;
mod remedy;
mod screen;
pub(crate) mod span;
mod task;

use std::time::Duration;

pub use self::chain::ChainError;
pub use self::check::{MAX_TASKS, TaskError};
pub use self::demand::MAX_DEADLINE_UTILISATION;
pub use self::prediction::{Assessment, Cause, Interference, Overload, Part, Prediction, Relation};
pub use self::remedy::Remedy;
pub use self::task::{Arrival, BudgetSource, JitterSource, Task, TaskPolicy};

/// What the analysis says about a set of tasks. Prints as the screen of `horus node check`.
#[must_use = "a refusal that no code looks at refuses nothing"]
#[derive(Clone, Debug, PartialEq)]
pub struct Admission {
    assessments: Vec<Assessment>,
}

/// Remedies are sought for so many refused tasks, the first ones: each search analyses the set several times.
const MAX_REMEDIED: usize = 16;

/// Predicts the responses of `tasks`, and for the first 16 refused ones tries what would make them fit. `cpus` are the CPUs that a
/// task may be moved to; a task that is moved keeps its jitter.
///
/// # Errors
/// When a task or the set makes no sense, such as a budget beyond the deadline.
pub fn analyse(tasks: &[Task], cpus: &[u32]) -> Result<Admission, TaskError> {
    check::check(tasks)?;
    let mut assessments = assess_all(tasks);
    let refused: Vec<_> = (0..assessments.len()).filter(|&index| assessments[index].is_refused()).collect();
    for index in refused.into_iter().take(MAX_REMEDIED) {
        assessments[index].remedies = remedy::find(index, &assessments, cpus);
    }
    Ok(Admission { assessments })
}

impl Admission {
    /// All tasks, in the order in which they were given.
    pub fn assessments(&self) -> &[Assessment] {
        &self.assessments
    }

    /// The tasks that cannot be promised their deadlines.
    pub fn refusals(&self) -> impl Iterator<Item = &Assessment> {
        self.assessments.iter().filter(|assessment| assessment.is_refused())
    }

    /// Whether no task is refused.
    pub fn is_admitted(&self) -> bool {
        self.refusals().next().is_none()
    }
}

/// What one task asks of its CPU, in nanoseconds. Checked tasks have no time above
/// [`MAX_PERIOD`](crate::deadline::MAX_PERIOD), so the sums and products of this module stay far below 64 bits.
#[derive(Clone, Copy, Debug)]
struct Load {
    budget: u64,
    deadline: u64,
    distance: u64,
    jitter: u64,
}

impl Load {
    fn of(task: &Task) -> Self {
        Self {
            budget: nanos(task.budget),
            deadline: nanos(task.deadline),
            distance: nanos(task.arrival.distance()),
            jitter: nanos(task.jitter),
        }
    }

    fn utilisation(&self) -> f64 {
        self.budget as f64 / self.distance as f64
    }

    /// The most jobs that become ready within any `length`.
    fn jobs_within(&self, length: u64) -> u64 {
        (length + self.jitter).div_ceil(self.distance)
    }

    /// `D - J`: what is left of the deadline when a job wakes up as late as it may.
    fn demand_deadline(&self) -> u64 {
        self.deadline.saturating_sub(self.jitter)
    }

    /// The most jobs that become ready and are due within any `length`.
    fn jobs_due_within(&self, length: u64) -> u64 {
        length.checked_sub(self.demand_deadline()).map_or(0, |behind_first| behind_first / self.distance + 1)
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The analysis of a checked set, without remedies.
fn assess_all(tasks: &[Task]) -> Vec<Assessment> {
    let levels = levels(tasks);
    (0..tasks.len()).map(|index| assess(index, tasks, &levels)).collect()
}

/// The priority of each task's thread.
fn levels(tasks: &[Task]) -> Vec<Option<u8>> {
    tasks.iter().map(|task| thread_priority(task, tasks)).collect()
}

fn assess(index: usize, tasks: &[Task], levels: &[Option<u8>]) -> Assessment {
    let task = &tasks[index];
    let prediction = match task.policy {
        TaskPolicy::Other => Prediction::NoGuarantee,
        TaskPolicy::Deadline => predict_by_demand(task, tasks),
        TaskPolicy::Fifo(_) | TaskPolicy::RoundRobin(_) => predict_response(task, levels[index], tasks, levels),
    };
    Assessment { task: task.clone(), prediction, remedies: Vec::new() }
}

fn predict_by_demand(task: &Task, tasks: &[Task]) -> Prediction {
    let peers: Vec<&Task> =
        tasks.iter().filter(|peer| (peer.cpu, peer.policy) == (task.cpu, TaskPolicy::Deadline)).collect();
    let loads: Vec<Load> = peers.iter().map(|peer| Load::of(peer)).collect();
    let blocked = peers.iter().max_by_key(|peer| peer.blocking).filter(|peer| !peer.blocking.is_zero());
    let overload = demand::overload(blocked.map_or(0, |peer| nanos(peer.blocking)), &loads);
    let jobs = |load: &Load| match overload {
        Some(Overload::Interval { length, .. }) => load.jobs_due_within(nanos(length)),
        _ => 1,
    };
    let mut parts: Vec<Part> =
        peers.iter().zip(&loads).map(|(peer, load)| interference(peer, jobs(load), Relation::Above)).collect();
    largest_first(&mut parts);
    parts.extend(blocked.map(|peer| blocking(peer)));
    Prediction::Demand { overload, parts }
}

/// `levels` holds the priority of each task's thread, `level` that of this task's.
fn predict_response(task: &Task, level: Option<u8>, tasks: &[Task], levels: &[Option<u8>]) -> Prediction {
    let with_relation = |(other, other_level): (_, &_)| Some((other, relation(task, level, other, *other_level)?));
    let before: Vec<(&Task, Relation)> = tasks.iter().zip(levels).filter_map(with_relation).collect();
    let load = Load::of(task);
    let loads: Vec<Load> = before.iter().map(|(other, _)| Load::of(other)).chain([load]).collect();
    // Who is of the same priority and is held up holds up this task too.
    let same_level = before.iter().filter(|(_, relation)| *relation != Relation::Above).map(|(other, _)| *other);
    let blocked = same_level.chain([task]).max_by_key(|task| task.blocking).filter(|task| !task.blocking.is_zero());
    let busy = busy_period::longest(blocked.map_or(0, |task| nanos(task.blocking)), &loads);

    let jobs = |load: &Load| busy.map_or(1, |busy| load.jobs_within(busy));
    let mut others: Vec<Part> = before
        .iter()
        .zip(&loads)
        .map(|((other, relation), load)| interference(other, jobs(load), *relation))
        .filter(|part| !part.time.is_zero())
        .collect();
    largest_first(&mut others);
    let earlier = task.budget * jobs_as_factor(jobs(&load) - 1);
    let own = [(task.budget, Cause::OwnBudget), (earlier, Cause::OwnEarlierJobs), (task.jitter, Cause::Jitter)];
    let own = own.into_iter().filter(|(time, _)| !time.is_zero()).map(|(time, cause)| Part { time, cause });
    let parts = own.chain(blocked.map(blocking)).chain(others).collect();
    match busy {
        Some(busy) => Prediction::Response { worst: task.jitter + Duration::from_nanos(busy), parts },
        None => Prediction::NoBound { utilisation: loads.iter().map(Load::utilisation).sum(), parts },
    }
}

/// The priority that the task's thread runs at: the highest of its tasks.
fn thread_priority(task: &Task, tasks: &[Task]) -> Option<u8> {
    tasks.iter().filter(|other| other.shares_thread_with(task)).filter_map(|other| other.policy.priority()).max()
}

/// Why `other` can go before `task`; `None` when it cannot. The levels are the priorities of their threads.
fn relation(task: &Task, level: Option<u8>, other: &Task, other_level: Option<u8>) -> Option<Relation> {
    if other.cpu != task.cpu || other.name == task.name || other.policy == TaskPolicy::Other {
        return None;
    }
    if other.shares_thread_with(task) {
        return Some(Relation::SameThread);
    }
    match other_level {
        None => Some(Relation::Above), // a DEADLINE task
        priority if priority > level => Some(Relation::Above),
        priority if priority == level => Some(Relation::Equal),
        Some(_) => None,
    }
}

fn interference(task: &Task, jobs: u64, relation: Relation) -> Part {
    let &Task { policy, budget, budget_source, arrival, .. } = task;
    let name = task.name.clone();
    let cause = Interference { task: name, policy, budget, budget_source, arrival, jobs, relation };
    Part { time: budget * jobs_as_factor(jobs), cause: Cause::Interference(cause) }
}

fn blocking(task: &Task) -> Part {
    Part { time: task.blocking, cause: Cause::Blocking { of: task.name.clone() } }
}

/// A number of jobs within the longest busy period, which is ten minutes: at most 6 x 10^7.
fn jobs_as_factor(jobs: u64) -> u32 {
    u32::try_from(jobs).unwrap_or(u32::MAX)
}

fn largest_first(parts: &mut [Part]) {
    parts.sort_by_key(|part| std::cmp::Reverse(part.time));
}

#[cfg(test)]
mod chains_never_too_low;
#[cfg(test)]
mod never_too_low;
#[cfg(test)]
mod tests;
