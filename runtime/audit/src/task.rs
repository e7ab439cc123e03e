//! The tasks of the audited machine: what each is and how it is scheduled.

use horus::cpus::CpuList;
use horus::task::{KernelPolicy, TaskStat};

use crate::tree::{Tree, Unread};

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

/// One task from its `stat`.
fn parse(pid: &str, tid: &str, stat: &str) -> Option<Task> {
    let stat = TaskStat::parse(stat)?;
    let priority = match stat.policy {
        KernelPolicy::Fifo | KernelPolicy::RoundRobin => stat.rt_priority,
        KernelPolicy::Deadline => 100,
        _ => 0,
    };
    let (pid, tid) = (pid.parse().ok()?, tid.parse().ok()?);
    Some(Task { pid, tid, name: stat.name.to_owned(), is_kernel: stat.is_kernel(), priority })
}

impl Task {
    /// The CPUs that the task may run on; none when it ended meanwhile.
    pub fn cpus(&self, tree: &Tree) -> CpuList {
        let status = tree.text(&format!("/proc/{}/task/{}/status", self.pid, self.tid)).unwrap_or_default();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
        list.and_then(|list| list.trim().parse().ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadline_outranks_every_fifo_priority() {
        let zeros = "0 ".repeat(30);
        assert_eq!(parse("7", "7", &format!("7 (sugov:0) S 1 1 1 0 -1 0 {zeros}0 6 0")).unwrap().priority, 100);
        assert_eq!(parse("7", "8", &format!("8 (a) S 1 1 1 0 -1 0 {zeros}80 1 0")).unwrap().priority, 80);
        assert_eq!(parse("7", "7", &format!("7 (sh) S 1 1 1 0 -1 0 {zeros}0 0 0")).unwrap().priority, 0);
    }
}
