//! Tasks: who runs with real-time priority, where, and with which limits.

use horus::cpus::CpuList;

use super::{listed, named};
use crate::audit::facts::{CpuSet, Facts};
use crate::audit::pattern;
use crate::audit::read::{Found, Value};
use crate::audit::tree::{Tree, Unread};

/// Scheduling policies by their numbers in `sched.h`.
const FIFO: u32 = 1;
const ROUND_ROBIN: u32 = 2;
const DEADLINE: u32 = 6;
/// Flag of kernel threads in `/proc/PID/stat` (`PF_KTHREAD` in the kernel's `sched.h`).
const KERNEL_THREAD: u64 = 0x0020_0000;

/// One thread of a process or of the kernel.
pub struct Task {
    /// Process identifier.
    pub pid: u32,
    /// Thread identifier.
    pub tid: u32,
    /// Name of at most 15 characters.
    pub name: String,
    /// Whether it belongs to the kernel.
    pub is_kernel: bool,
    /// 1 to 99 for FIFO and round robin, 100 for deadline (which outranks them), 0 for all else.
    pub priority: u32,
}

/// All tasks of the machine.
///
/// # Errors
/// When `/proc` cannot be read or shows no process at all, as in a recorded tree without any.
pub fn all(tree: &Tree) -> Result<Vec<Task>, Unread> {
    let mut tasks = Vec::new();
    for pid in tree.names("/proc")?.iter().filter(|name| name.parse::<u32>().is_ok()) {
        // A process that ended since the directory was read is not a gap.
        for tid in tree.names(&format!("/proc/{pid}/task")).unwrap_or_default() {
            let stat = tree.text(&format!("/proc/{pid}/task/{tid}/stat")).ok();
            tasks.extend(stat.and_then(|stat| parse(pid, &tid, &stat)));
        }
    }
    if tasks.is_empty() { Err(Unread("no process is visible below /proc".to_owned())) } else { Ok(tasks) }
}

/// Reads `/proc/PID/task/TID/stat`: the name is in parentheses and may hold any character, fields count from 1.
fn parse(pid: &str, tid: &str, stat: &str) -> Option<Task> {
    let (head, tail) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = tail.split_whitespace().collect();
    let field = |number: usize| fields.get(number - 3);
    let flags: u64 = field(9)?.parse().ok()?;
    let rt_priority: u32 = field(40)?.parse().ok()?;
    let priority = match field(41)?.parse().ok()? {
        FIFO | ROUND_ROBIN => rt_priority,
        DEADLINE => 100,
        _ => 0,
    };
    let (pid, tid) = (pid.parse().ok()?, tid.parse().ok()?);
    Some(Task { pid, tid, name, is_kernel: flags & KERNEL_THREAD != 0, priority })
}

impl Task {
    /// The CPUs that the task may run on; none when it ended meanwhile.
    fn cpus(&self, tree: &Tree) -> CpuList {
        let status = tree.text(&format!("/proc/{}/task/{}/status", self.pid, self.tid)).unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        list.and_then(|list| list.trim().parse().ok()).unwrap_or_default()
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let zeros = "0 ".repeat(30);
        let task = parse("7", "8", &format!("8 (a) b (c) S 1 1 1 0 -1 2097216 {zeros}80 1 0")).unwrap();
        assert_eq!((task.name.as_str(), task.priority, task.is_kernel), ("a) b (c", 80, true));
    }

    #[test]
    fn deadline_outranks_every_fifo_priority() {
        let zeros = "0 ".repeat(30);
        assert_eq!(parse("7", "7", &format!("7 (sugov:0) S 1 1 1 0 -1 0 {zeros}0 6 0")).unwrap().priority, 100);
        assert_eq!(parse("7", "7", &format!("7 (sh) S 1 1 1 0 -1 0 {zeros}0 0 0")).unwrap().priority, 0);
    }
}
