//! Tasks: who runs with real-time priority, where, and with which limits.

use super::{listed, named};
use crate::facts::{CpuSet, Facts};
use crate::pattern;
use crate::task::Task;
use crate::tree::{Tree, Unread};
use crate::value::{Found, Value};

impl Task {
    /// Whether one of `patterns` names the task or a control group above it (`horus.slice`, `arm.service`).
    fn is_listed(&self, tree: &Tree, patterns: &[String]) -> bool {
        let groups = || tree.text(&format!("/proc/{}/cgroup", self.pid)).unwrap_or_default();
        listed(patterns, &self.name) || groups().split(['/', '\n']).any(|group| listed(patterns, group))
    }

    fn label(&self) -> String {
        format!("{} ({})", self.name, self.tid)
    }
}

/// The real-time tasks that may run on isolated CPUs.
fn on_isolated<'a>(tree: &Tree, facts: &'a Facts) -> Result<Vec<&'a Task>, Unread> {
    let isolated = facts.cpus(CpuSet::Isolated)?;
    let tasks = facts.tasks(tree)?.iter().filter(|task| task.priority > 0);
    Ok(tasks.filter(|task| !task.cpus(tree).intersection(&isolated).is_empty()).collect())
}

/// The priority of each real-time task that may run on an isolated CPU and is not in `ignore`, the highest first; one 0
/// if there is none.
pub fn realtime_priorities(tree: &Tree, facts: &Facts, ignore: &[String]) -> Result<Found, Unread> {
    let tasks = on_isolated(tree, facts)?;
    let (known, mut foreign): (Vec<&Task>, Vec<&Task>) =
        tasks.into_iter().partition(|task| task.is_listed(tree, ignore));
    foreign.sort_by_key(|task| std::cmp::Reverse(task.priority));
    let mut values: Vec<Value> =
        foreign.iter().map(|task| Value::new(task.label(), task.priority.to_string())).collect();
    if values.is_empty() {
        values.push(Value::new("no foreign real-time task", "0"));
    }
    let note = (!known.is_empty()).then(|| format!("{} known tasks left out", known.len()));
    Ok(Found { note, ..Found::findings(values) })
}

/// The limit on locked memory of each process with a real-time thread on an isolated CPU.
pub fn memory_lock_limits(tree: &Tree, facts: &Facts, ignore: &[String]) -> Result<Found, Unread> {
    let mut found = Found::findings(Vec::new());
    let mut seen = Vec::new();
    for task in on_isolated(tree, facts)?.iter().filter(|task| !task.is_kernel && !task.is_listed(tree, ignore)) {
        if seen.contains(&task.pid) {
            continue;
        }
        seen.push(task.pid);
        let limit = tree.text(&format!("/proc/{}/limits", task.pid)).map(|limits| {
            let line = limits.lines().find_map(|line| line.strip_prefix("Max locked memory")).unwrap_or_default();
            line.split_whitespace().next().unwrap_or_default().to_owned()
        });
        match limit {
            Ok(limit) => found.values.push(Value::new(task.label(), limit)),
            Err(unread) => found.gaps.push(unread),
        }
    }
    match seen.is_empty() {
        true => Err(Unread("no process runs a real-time thread on an isolated CPU now".to_owned())),
        false => Ok(found),
    }
}

/// Isolated CPUs without a `rcuo*/CPU` thread: the kernel runs their RCU callbacks on them.
pub fn not_offloaded(tree: &Tree, facts: &Facts, _ignore: &[String]) -> Result<Found, Unread> {
    let isolated = facts.cpus(CpuSet::Isolated)?;
    let tasks = facts.tasks(tree)?;
    let offloaded = |cpu: u32| tasks.iter().any(|task| pattern::matches(&format!("rcuo?/{cpu}"), &task.name));
    let values = isolated.iter().filter(|cpu| !offloaded(*cpu)).map(|cpu| named(format!("cpu{cpu}"))).collect();
    Ok(Found::findings(values))
}

/// The processes whose name matches `name`.
pub fn processes(tree: &Tree, facts: &Facts, name: &str) -> Result<Found, Unread> {
    let tasks = facts.tasks(tree)?.iter().filter(|task| task.pid == task.tid && pattern::matches(name, &task.name));
    Ok(Found::findings(tasks.map(|task| named(task.label())).collect()))
}
