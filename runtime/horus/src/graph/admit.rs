//! Whether the nodes of some programs meet their deadlines on a machine: what they declare, made tasks of the
//! [`admission`] analysis.
//!
//! A node is analysed when its demand is known: a real-time policy, a declared budget, one CPU, and releases that have a shortest
//! distance. Of every other node it is said why not, and which predictions hold only while it does not run.
//!
//! # What it does not do
//! It asks nothing of the programs, and it does not know threads that are no nodes. What the analysis itself rests on
//! stands in [`admission`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use super::circle::{self, Asking, Circle};
use super::jitter::{self, CpuJitter};
use super::{ChainInfo, NodeInfo, ProcessInfo};
use crate::admission::span::Span;
use crate::admission::{self, Admission, Arrival, ChainError, JitterSource, Task, TaskError};
use crate::cpus::{self, CpuChoice, CpuChoiceError, CpuList};
use crate::startup::{SchedulingPolicy, SchedulingPolicyError};

/// What the analysis needs to know of a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Where its `/sys` is.
    root: PathBuf,
    /// The release jitters that were measured in this boot, at most one a CPU.
    pub jitters: Vec<CpuJitter>,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        Self::at(Path::new("/"))
    }

    /// The machine whose files are below `root`.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), jitters: jitter::read(&root.join(jitter::FILE.trim_start_matches('/'))) }
    }

    /// Where a task may be moved to: isolated CPUs, or all if there are none.
    fn movable(&self) -> Vec<u32> {
        let isolated = cpus::isolated(&self.root);
        let cpus = if isolated.is_empty() { cpus::housekeeping(&self.root) } else { isolated };
        cpus.iter().collect()
    }
}

/// Why the nodes cannot be analysed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum AdmitError {
    /// What a node says of its CPU is no choice.
    #[error("node {node}: {source}")]
    Cpu {
        /// The node.
        node: String,
        /// Why not.
        source: CpuChoiceError,
    },
    /// What a node says of its scheduling policy is none.
    #[error("node {node}: {source}")]
    SchedulingPolicy {
        /// The node.
        node: String,
        /// Why not.
        source: SchedulingPolicyError,
    },
    /// The set makes no sense.
    #[error(transparent)]
    Tasks(#[from] TaskError),
}

/// Why a node is not analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing is promised to a fair share.
    SchedulingPolicyOther,
    /// What it needs is not known.
    NoBudget,
    /// Events may come at any rate.
    NoInterArrival,
    /// A grid and events both release it, so its releases have no shortest distance.
    PeriodAndEvents,
    /// The kernel moves it.
    SeveralCpus(CpuList),
    /// The machine has none of the CPUs that it asks for: it cannot start.
    NoSuchCpu(CpuChoice),
}

impl Reason {
    /// Whether the node cannot even start.
    pub fn is_refusal(&self) -> bool {
        // A role that the machine does not have is told at the start, and the node runs.
        matches!(self, Self::NoSuchCpu(CpuChoice::Number(_) | CpuChoice::Range(..)))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SchedulingPolicyOther => out.write_str("scheduling policy other"),
            Self::NoBudget => out.write_str("no budget declared"),
            Self::NoInterArrival => {
                out.write_str("released by events without a minimum inter-arrival time (min_inter_arrival)")
            }
            Self::PeriodAndEvents => out.write_str("released by its period and by events"),
            Self::SeveralCpus(cpus) => write!(out, "may run on several CPUs ({cpus})"),
            Self::NoSuchCpu(cpu) => write!(out, "this machine has no CPU '{cpu}'"),
        }
    }
}

/// A node that is not analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAnalysed {
    /// Its name, as a task's.
    pub name: String,
    /// Why not.
    pub reason: Reason,
    /// The analysed nodes that it may hold up: what is predicted for them holds only while it does not run.
    pub holds_up: Vec<String>,
}

/// What is predicted for a chain of nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPrediction {
    /// Its nodes, by their tasks' names.
    pub nodes: Vec<String>,
    /// What it may take; zero where nothing was asked for.
    pub limit: Duration,
    /// The longest time from the first release to the last completion, or why there is none.
    pub predicted: Result<Duration, String>,
    /// Whether it is longer than the limit, or without an end.
    pub is_refused: bool,
}

/// What the analysis says of nodes. Prints as the screen of `horus node check`.
#[must_use = "a refusal that no code looks at refuses nothing"]
#[derive(Clone, Debug, PartialEq)]
pub struct Admitted {
    /// The nodes that were analysed.
    pub admission: Admission,
    /// The others.
    pub not_analysed: Vec<NotAnalysed>,
    /// The chains of all programs.
    pub chains: Vec<ChainPrediction>,
    /// Nodes that ask each other in a circle.
    pub circles: Vec<Circle>,
    /// The CPUs of analysed nodes whose release jitter was not measured and is taken as 0.
    pub unmeasured: CpuList,
    /// The jitters of CPUs of analysed nodes that are not counted, because their run came to no verdict.
    pub not_counted: Vec<CpuJitter>,
    /// Whether no CPU's release jitter was measured in this boot.
    pub has_no_report: bool,
    /// For each node of each program: the bound on its response.
    predicted: Vec<Vec<Option<Duration>>>,
}

impl Admitted {
    /// Whether nothing is refused: no node, no chain, no circle of calls, and no CPU is missing.
    pub fn is_admitted(&self) -> bool {
        self.admission.is_admitted()
            && !self.chains.iter().any(|chain| chain.is_refused)
            && !self.circles.iter().any(Circle::is_refused)
            && !self.not_analysed.iter().any(|node| node.reason.is_refusal())
    }

    /// The longest response of node number `node` of program number `process`, in the order in which they were given. `None` where
    /// there is no bound, or where it holds only while a node that was not analysed does not run.
    pub fn predicted(&self, process: usize, node: usize) -> Option<Duration> {
        *self.predicted.get(process)?.get(node)?
    }
}

/// Predicts the responses of all nodes of `processes`, which run together on `machine`.
///
/// Nodes with the same number of a thread share it if they are of one program. A node's task is named as the node; where there are
/// several programs, `PROGRAM/NODE`.
///
/// # Errors
/// When what a node says makes no sense.
pub fn admit(processes: &[ProcessInfo], machine: &Machine) -> Result<Admitted, AdmitError> {
    let placed = place(processes, machine)?;
    let tasks: Vec<Task> = placed.iter().filter_map(|node| node.task.clone().ok()).collect();
    let admission = admission::analyse(&tasks, &machine.movable())?;
    let not_analysed: Vec<NotAnalysed> = placed.iter().filter_map(|node| not_analysed(node, &placed)).collect();
    let is_held_up = |name: &String| not_analysed.iter().any(|node| node.holds_up.contains(name));
    let bound = |node: &Placed| {
        let assessment = admission.assessments().iter().find(|assessment| assessment.task.name == node.name)?;
        assessment.worst_response().filter(|_| !is_held_up(&node.name))
    };
    let mut predicted: Vec<Vec<_>> = processes.iter().map(|process| vec![None; process.nodes.len()]).collect();
    placed.iter().for_each(|node| predicted[node.process][node.number] = bound(node));
    let chains = processes.iter().flat_map(|process| process.chains.iter().map(move |chain| (process, chain)));
    let is_alone = processes.len() == 1;
    let chains = chains.map(|(process, chain)| predict(chain, process, is_alone, &admission, &not_analysed)).collect();
    let is_used = |jitter: &&CpuJitter| tasks.iter().any(|task| task.cpu == jitter.cpu);
    let not_counted: Vec<_> =
        machine.jitters.iter().filter(|jitter| !jitter.has_verdict).filter(is_used).cloned().collect();
    let is_unmeasured = |task: &&Task| {
        task.jitter_source == JitterSource::Unknown && !not_counted.iter().any(|jitter| jitter.cpu == task.cpu)
    };
    let unmeasured = tasks.iter().filter(is_unmeasured).map(|task| task.cpu).collect();
    let has_no_report = machine.jitters.is_empty();
    let circles = circles(processes, &placed);
    Ok(Admitted { admission, not_analysed, chains, circles, unmeasured, not_counted, has_no_report, predicted })
}

/// Nodes that ask each other in a circle. A program of another namespace is named with that, as `lab:balance`.
fn circles(processes: &[ProcessInfo], placed: &[Placed]) -> Vec<Circle> {
    let asking = placed.iter().map(|node| Asking {
        name: &node.name,
        namespace: processes[node.process].name.split_once(':').map_or("", |(namespace, _)| namespace),
        real_time: node.policy.is_real_time().then_some(node.info.scheduling_policy.as_str()),
        asks: &node.info.asks,
        serves: &node.info.serves,
    });
    circle::circles(&asking.collect::<Vec<_>>())
}

/// A node on its CPUs.
struct Placed<'a> {
    process: usize,
    number: usize,
    info: &'a NodeInfo,
    name: String,
    policy: SchedulingPolicy,
    cpus: CpuList,
    /// Its task, or why it is none.
    task: Result<Task, Reason>,
}

fn place<'a>(processes: &'a [ProcessInfo], machine: &Machine) -> Result<Vec<Placed<'a>>, AdmitError> {
    let mut threads = Vec::new();
    let mut placed = Vec::new();
    for (process, program) in processes.iter().enumerate() {
        for (number, info) in program.nodes.iter().enumerate() {
            let name = task_name(program, &info.name, processes.len() == 1);
            let choice: CpuChoice =
                info.cpu.parse().map_err(|source| AdmitError::Cpu { node: name.clone(), source })?;
            let policy: SchedulingPolicy = info
                .scheduling_policy
                .parse()
                .map_err(|source| AdmitError::SchedulingPolicy { node: name.clone(), source })?;
            let cpus = choice.resolve(&machine.root);
            let thread = (process, info.thread);
            let index = threads.iter().position(|known| *known == thread).unwrap_or_else(|| {
                threads.push(thread);
                threads.len() - 1
            });
            let task = task(info, &name, policy, choice, &cpus)
                .map(|task| Task { thread: u32::try_from(index).unwrap_or(u32::MAX), ..with_jitter(task, machine) });
            placed.push(Placed { process, number, info, name, policy, cpus, task });
        }
    }
    Ok(placed)
}

fn task_name(process: &ProcessInfo, node: &str, is_alone: bool) -> String {
    if is_alone { node.to_owned() } else { format!("{}/{node}", process.name) }
}

/// The task of a node, but for its thread and its jitter.
fn task(
    info: &NodeInfo,
    name: &str,
    policy: SchedulingPolicy,
    choice: CpuChoice,
    cpus: &CpuList,
) -> Result<Task, Reason> {
    if cpus.is_empty() {
        return Err(Reason::NoSuchCpu(choice));
    }
    let policy = match policy {
        SchedulingPolicy::Inherited | SchedulingPolicy::Other => return Err(Reason::SchedulingPolicyOther),
        SchedulingPolicy::Fifo(priority) => admission::TaskPolicy::Fifo(priority.get()),
        SchedulingPolicy::RoundRobin(priority) => admission::TaskPolicy::RoundRobin(priority.get()),
        SchedulingPolicy::Deadline => admission::TaskPolicy::Deadline,
    };
    if info.budget_ns == 0 {
        return Err(Reason::NoBudget);
    }
    let time = Duration::from_nanos;
    let arrival = match (info.period_ns, &info.on, info.min_inter_arrival_ns) {
        (0, _, 0) => return Err(Reason::NoInterArrival),
        (0, _, gap) => Arrival::Sporadic { min_inter_arrival: time(gap) },
        (period, None, _) => Arrival::Periodic { period: time(period) },
        (_, Some(_), _) => return Err(Reason::PeriodAndEvents),
    };
    let mut only = cpus.iter();
    match (only.next(), only.next()) {
        (Some(cpu), None) => Ok(Task::new(name, cpu, policy, arrival, time(info.budget_ns), info.deadline())),
        _ => Err(Reason::SeveralCpus(cpus.clone())),
    }
}

fn with_jitter(task: Task, machine: &Machine) -> Task {
    match machine.jitters.iter().find(|jitter| jitter.cpu == task.cpu && jitter.has_verdict) {
        Some(CpuJitter { jitter, date, .. }) => {
            Task { jitter: *jitter, jitter_source: JitterSource::Report { date: date.clone() }, ..task }
        }
        None => Task { jitter_source: JitterSource::Unknown, ..task },
    }
}

fn not_analysed(node: &Placed, all: &[Placed]) -> Option<NotAnalysed> {
    let reason = node.task.clone().err()?;
    let analysed = all.iter().filter(|other| other.task.is_ok() && node.may_hold_up(other));
    let holds_up = analysed.map(|other| other.name.clone()).collect();
    Some(NotAnalysed { name: node.name.clone(), reason, holds_up })
}

impl Placed<'_> {
    /// Whether an analysed node may have to wait for this one.
    fn may_hold_up(&self, other: &Placed) -> bool {
        let shares_cpu = !self.cpus.intersection(&other.cpus).is_empty();
        let shares_thread = (self.process, self.info.thread) == (other.process, other.info.thread);
        shares_cpu && (shares_thread || self.policy.is_before(other.policy))
    }
}

impl SchedulingPolicy {
    /// Whether a thread of this policy may run before one of `other`, or beside it in turns.
    fn is_before(self, other: Self) -> bool {
        let level = |policy| match policy {
            Self::Inherited | Self::Other => 0,
            Self::Fifo(priority) | Self::RoundRobin(priority) => priority.get(),
            Self::Deadline => u8::MAX,
        };
        self.is_real_time() && level(self) >= level(other)
    }
}

fn predict(
    chain: &ChainInfo,
    process: &ProcessInfo,
    is_alone: bool,
    admission: &Admission,
    not_analysed: &[NotAnalysed],
) -> ChainPrediction {
    let nodes: Vec<String> = chain.nodes.iter().map(|node| task_name(process, node, is_alone)).collect();
    let limit = Duration::from_nanos(chain.end_to_end_ns);
    let chain = |predicted, is_refused| ChainPrediction { nodes: nodes.clone(), limit, predicted, is_refused };
    if let Some(node) = not_analysed.iter().find(|node| nodes.contains(&node.name)) {
        return chain(Err(format!("{} is not analysed", node.name)), false);
    }
    if let Some(node) = not_analysed.iter().find(|node| nodes.iter().any(|name| node.holds_up.contains(name))) {
        return chain(Err(format!("{} is not analysed and may hold it up", node.name)), false);
    }
    let names: Vec<&str> = nodes.iter().map(String::as_str).collect();
    match admission.end_to_end(&names) {
        Ok(age) => {
            let predicted = age - first_wait(admission, names[0]);
            chain(Ok(predicted), !limit.is_zero() && predicted > limit)
        }
        Err(error @ ChainError::NotAdmitted(_)) => chain(Err(error.to_string()), false), // its node is refused
        Err(error) => chain(Err(error.to_string()), !limit.is_zero()),
    }
}

/// How long an input waits for the first node's release: a part of the age of data, and not of the time from that release on.
fn first_wait(admission: &Admission, first: &str) -> Duration {
    let assessment = admission.assessments().iter().find(|assessment| assessment.task.name == first);
    match assessment.map(|assessment| assessment.task.arrival) {
        Some(Arrival::Periodic { period }) => period,
        _ => Duration::ZERO,
    }
}

impl fmt::Display for ChainPrediction {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, limit, predicted, is_refused } = self;
        let (nodes, limit) = (nodes.join(", "), Span(*limit));
        match predicted {
            Ok(time) if *is_refused => {
                write!(out, "refused: the chain {nodes} may take {} end to end, its limit is {limit}", Span(*time))
            }
            Ok(time) if self.limit.is_zero() => {
                write!(out, "the chain {nodes} takes at most {} end to end", Span(*time))
            }
            Ok(time) => write!(out, "admitted: the chain {nodes} takes {} <= {limit} end to end", Span(*time)),
            Err(reason) if *is_refused => write!(out, "refused: the chain {nodes} has no bound: {reason}"),
            Err(reason) => write!(out, "no bound: the chain {nodes}: {reason}"),
        }
    }
}

impl fmt::Display for NotAnalysed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, reason, holds_up } = self;
        let word = if reason.is_refusal() { "refused" } else { "not analysed" };
        write!(out, "{word}: {name}: {reason}")?;
        if holds_up.is_empty() {
            return Ok(());
        }
        write!(out, "; what is said of {} holds only while it does not run", holds_up.join(", "))
    }
}

impl fmt::Display for Admitted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_analysed = !self.admission.assessments().is_empty();
        let mut lines = Vec::new();
        if is_analysed && (self.is_admitted() || !self.admission.is_admitted()) {
            lines.push(self.admission.to_string());
        }
        lines.extend(self.chains.iter().map(ToString::to_string));
        lines.extend(self.circles.iter().map(ToString::to_string));
        lines.extend(self.not_analysed.iter().map(ToString::to_string));
        if is_analysed && self.has_no_report {
            lines.push("no determinism report of this boot: release jitter is taken as 0".to_owned());
        } else if !self.unmeasured.is_empty() {
            let cpus = &self.unmeasured;
            lines.push(format!("no determinism report of CPU {cpus} in this boot: its release jitter is taken as 0"));
        }
        for CpuJitter { cpu, jitter, date, .. } in &self.not_counted {
            lines.push(format!(
                "the determinism report of {date} has no verdict on CPU {cpu}: its release jitter of {} is not counted",
                Span(*jitter)
            ));
        }
        out.write_str(&lines.join("\n"))
    }
}

#[cfg(test)]
mod tests;
