//! The living nodes on the topics of a directory, each at one moment.

use std::path::Path;
use std::time::Duration;

use horus::cpus::{CpuChoice, CpuList};
use horus::figures::{self, NodeFigures, ProcessFigures, State};
use horus::graph::NodeInfo;
use horus::time::MonotonicTime;
use horus_measure::bound::miss_bound_95;
use horus_shm::directory::{Directory, Location};
use serde::Serialize;

/// A step that has run for so long hangs, unless its node's deadline is longer; so does a grid that has stood still for so long, unless ten of its
/// periods are longer.
const SHORTEST_HANG: Duration = Duration::from_secs(1);

/// A node at one moment.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// Its program.
    pub program: String,
    /// The number of its process, in the process's own namespace.
    pub process: u32,
    /// What it asked for, and its topics.
    pub asked: NodeInfo,
    /// What it did.
    pub figures: Figures,
}

/// What a node did. Times are in nanoseconds; `null` where nothing is known.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    /// `starting`, `running`, `degraded`, `safe state`, `stopped` or `ended`.
    pub state: &'static str,
    /// Whether a monitor took its place.
    pub is_taken_over: bool,
    /// How long the step that runs now has been running.
    pub step_ns: Option<u64>,
    /// How long no cycle has begun, where one should have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub still_ns: Option<u64>,
    /// Releases that pass while a step hangs or no cycle begins: they are missed already, and contained in the counts below.
    pub passing: u64,
    /// The number of its thread, in the process's own namespace.
    pub tid: u32,
    /// The CPU that its last cycle ended on.
    pub cpu: Option<u32>,
    /// Cycles that ended, and releases that were skipped.
    pub releases: u64,
    /// Cycles that ended.
    pub cycles: u64,
    /// Releases that were skipped.
    pub skipped: u64,
    /// Late cycles and skipped releases.
    pub misses: u64,
    /// Those since the look before, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed_lately: Option<u64>,
    /// The longest run of misses.
    pub max_consecutive: u64,
    /// Upper 95 % confidence bound of the miss probability.
    pub miss_bound_95: f64,
    /// Half of the responses are not longer; up to 6 % too long. `null` unless ten were longer.
    pub response_p50_ns: Option<u64>,
    /// 99.9 % of the responses are not longer; likewise.
    pub response_p999_ns: Option<u64>,
    /// The longest response.
    pub response_max_ns: Option<u64>,
    /// The largest release jitter.
    pub jitter_max_ns: Option<u64>,
    /// The most CPU time of a cycle; of nodes with a budget.
    pub cpu_time_max_ns: Option<u64>,
    /// Cycles that exceeded the budget.
    pub over_budget: u64,
    /// Messages that its steps set and that were not published.
    pub lost: u64,
    /// Messages that were overwritten before its inputs read them.
    pub missed: u64,
}

/// All nodes of `directory`, by program and in the order of their declaration.
pub fn running(directory: Option<&Directory>) -> Result<Vec<Node>, String> {
    let Some(directory) = directory else { return Ok(Vec::new()) };
    let processes = figures::list(directory).map_err(|error| error.to_string())?;
    let now = MonotonicTime::now();
    Ok(processes.iter().flat_map(|process| nodes(process, now)).collect())
}

/// What runs in all namespaces: the CPUs are the same.
#[derive(Default)]
pub struct Everywhere {
    /// The nodes of the namespace that was asked about.
    pub own: Vec<Node>,
    /// Those of the other namespaces.
    pub others: Vec<Elsewhere>,
    /// That there are namespaces of which nothing is known, in a sentence.
    pub unseen: Option<String>,
}

/// A node of another namespace.
#[derive(Clone, Debug, Serialize)]
pub struct Elsewhere {
    /// Its namespace.
    pub namespace: String,
    /// Whether it may run on a CPU of a node of this one.
    pub shares_cpu: bool,
    /// The node.
    pub node: Node,
}

/// All nodes of all namespaces.
pub fn everywhere(location: &Location) -> Everywhere {
    let found = figures::Everywhere::look(location);
    let now = MonotonicTime::now();
    let own: Vec<Node> = found.own.iter().flat_map(|process| nodes(process, now)).collect();
    let cpus = |node: &Node| {
        node.asked.cpu.parse().map_or_else(|_| CpuList::default(), |cpu: CpuChoice| cpu.resolve(Path::new("/")))
    };
    let used: Vec<CpuList> = own.iter().map(cpus).collect();
    let others = found.others.iter().flat_map(|(namespace, process)| {
        nodes(process, now).into_iter().map(|node| {
            let may_run = cpus(&node);
            let shares_cpu = used.iter().any(|used| !used.intersection(&may_run).is_empty());
            Elsewhere { namespace: namespace.to_string(), shares_cpu, node }
        })
    });
    Everywhere { others: others.collect(), own, unseen: found.unseen() }
}

fn nodes(process: &ProcessFigures, now: MonotonicTime) -> Vec<Node> {
    let info = process.info();
    let node = |(number, asked): (usize, &NodeInfo)| {
        Some(Node {
            program: info.name.clone(),
            process: process.process,
            asked: asked.clone(),
            figures: Figures::of(&process.node(number)?, asked, now),
        })
    };
    info.nodes.iter().enumerate().filter_map(node).collect()
}

impl Figures {
    fn of(figures: &NodeFigures, asked: &NodeInfo, now: MonotonicTime) -> Self {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let max = nanos(figures.max_response);
        let ran = |nanos| (figures.cycles > 0).then_some(nanos);
        // The histogram's buckets end behind their longest time.
        let quantile = |quantile| figures.responses.quantile(quantile).map(|nanos| nanos.min(max));
        let hang = Hang::of(figures, asked, now);
        // What stands on a board is what a process alleges, so that no sum of it may overflow.
        let misses = figures.misses.saturating_add(hang.missed);
        let releases = figures.cycles.saturating_add(figures.skipped).saturating_add(hang.missed);
        Self {
            state: figures.state.name(),
            is_taken_over: figures.is_taken_over,
            step_ns: figures.step_began.map(|began| now.as_nanos().saturating_sub(began.as_nanos())),
            still_ns: hang.still_ns,
            passing: hang.missed,
            tid: figures.tid,
            cpu: (figures.cycles > 0).then_some(figures.cpu),
            releases,
            cycles: figures.cycles,
            skipped: figures.skipped,
            misses,
            missed_lately: None,
            max_consecutive: figures.max_consecutive.max(hang.missed),
            miss_bound_95: miss_bound_95(misses, releases),
            response_p50_ns: quantile(0.5),
            response_p999_ns: quantile(0.999),
            response_max_ns: ran(max),
            jitter_max_ns: ran(nanos(figures.max_jitter)),
            cpu_time_max_ns: ran(nanos(figures.max_cpu_time)).filter(|_| asked.budget_ns > 0),
            over_budget: figures.over_budget,
            lost: figures.lost,
            missed: figures.missed,
        }
    }
}

/// A step that hangs, or a grid that stands still: its loop counts what it missed when it goes on, and who looks counts it now.
#[derive(Debug, Default)]
struct Hang {
    /// How long no cycle has begun, if that is too long.
    still_ns: Option<u64>,
    /// The cycle that is late, and the releases behind it that have passed.
    missed: u64,
}

impl Hang {
    fn of(figures: &NodeFigures, asked: &NodeInfo, now: MonotonicTime) -> Self {
        let has_grid = asked.period_ns > 0 && figures.release > MonotonicTime::default();
        if !has_grid || ![State::Running, State::Degraded, State::Safe].contains(&figures.state) {
            return Self::default();
        }
        let since_release = now.as_nanos().saturating_sub(figures.release.as_nanos());
        let late = |late: u64| Self { still_ns: None, missed: 1 + late.saturating_sub(1) / asked.period_ns };
        match figures.step_began {
            Some(began) if hangs(now.as_nanos().saturating_sub(began.as_nanos()), asked) => late(since_release),
            Some(_) => Self::default(),
            // A node that left releases out says by no word how many.
            None if figures.state == State::Degraded => Self::default(),
            None => {
                let patience = asked.period_ns.saturating_mul(10).max(SHORTEST_HANG.as_nanos() as u64);
                match since_release > patience {
                    true => Self { still_ns: Some(since_release), ..late(since_release - asked.period_ns) },
                    false => Self::default(),
                }
            }
        }
    }
}

/// Whether a step that has run for so long hangs.
fn hangs(step_ns: u64, asked: &NodeInfo) -> bool {
    step_ns > asked.deadline_ns.max(SHORTEST_HANG.as_nanos() as u64)
}

impl Node {
    /// `PROGRAM/NODE`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.program, self.asked.name)
    }

    /// What it does, in words, and whether messages of its outputs were lost; a step that hangs and a monitor that took over are said
    /// first.
    pub fn state(&self) -> String {
        let doing = self.doing();
        match self.figures.lost {
            0 => doing,
            lost => format!("{doing}, {} messages lost", horus_measure::units::count(lost)),
        }
    }

    fn doing(&self) -> String {
        let figures = &self.figures;
        let time = |nanos| horus_measure::units::time(Duration::from_nanos(nanos));
        let hung = figures
            .step_ns
            .filter(|nanos| hangs(*nanos, &self.asked))
            .map(|nanos| format!("hangs for {}", time(nanos)));
        let hung = hung.or_else(|| figures.still_ns.map(|nanos| format!("stands still for {}", time(nanos))));
        match (figures.is_taken_over, hung) {
            (true, Some(hung)) => format!("taken over, {hung}"),
            (true, None) => "taken over".to_owned(),
            (false, Some(hung)) => hung,
            (false, None) => figures.state.to_owned(),
        }
    }

    /// Finds out what it missed since the look that gave `before`.
    pub fn compare(&mut self, before: &[Self]) {
        let is_same = |other: &&Self| (other.process, other.name()) == (self.process, self.name());
        let known = before.iter().find(is_same).map_or(0, |before| before.figures.misses);
        self.figures.missed_lately = Some(self.figures.misses.saturating_sub(known));
    }

    /// Whether a person should look at it now.
    pub fn is_bad(&self) -> bool {
        let good = [State::Starting, State::Running, State::Ended].map(State::name);
        self.figures.missed_lately.is_some_and(|misses| misses > 0)
            || self.figures.lost > 0
            || !good.contains(&self.doing().as_str())
    }

    /// The share of its budget that its longest cycle used, in percent.
    pub fn budget_percent(&self) -> Option<f64> {
        let used = self.figures.cpu_time_max_ns?;
        (self.asked.budget_ns > 0).then(|| used as f64 * 100.0 / self.asked.budget_ns as f64)
    }
}

#[cfg(test)]
mod tests;
