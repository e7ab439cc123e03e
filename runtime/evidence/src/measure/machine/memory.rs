//! Processes that were killed for want of memory in this boot: what the kernel's log says, and what systemd says of units.
//!
//! The kernel names processes, systemd names units; the same kill is usually in both lists, so they are not added up.

use std::collections::BTreeMap;

use crate::child;
use crate::record::schema::{MemoryKill, MemoryKills};

use super::events::{ANSWER, Events, systemd_runs};

/// What each such line of the kernel's log holds, for the machine's memory as for a control group's: `Out of memory: Killed
/// process 512 (stress-ng-vm) total-vm:…`, `Memory cgroup out of memory: Killed process …`.
const KILLED: &str = "Killed process ";

/// The kills of this boot.
///
/// # Errors
/// When the journal, which holds the kernel's log, cannot be asked.
pub fn kills(events: &Events) -> Result<MemoryKills, String> {
    if !systemd_runs() {
        return Ok(MemoryKills::default());
    }
    // The kernel writes these lines as errors. Whatever else it says, megabytes at times, is not asked for.
    let log = child::output("journalctl", &["-b", "-k", "-q", "-p", "err", "-o", "cat"], ANSWER)?;
    Ok(MemoryKills { processes: counted(killed_processes(&log)), units: counted(events.memory_kills()) })
}

/// How often processes of each name were killed.
fn killed_processes(log: &str) -> BTreeMap<String, u64> {
    let mut processes = BTreeMap::new();
    for line in log.lines().filter(|line| line.to_ascii_lowercase().contains("out of memory")) {
        // A name may hold anything, brackets too.
        let name = line.split_once(KILLED).and_then(|(_, rest)| rest.split_once('(')?.1.rsplit_once(") total-vm"));
        if let Some((name, _)) = name {
            *processes.entry(name.to_owned()).or_default() += 1;
        }
    }
    processes
}

fn counted(kills: BTreeMap<String, u64>) -> Vec<MemoryKill> {
    kills.into_iter().map(|(name, count)| MemoryKill { name, count }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lines_are_counted_by_the_name_of_the_process() {
        let log = "\
Out of memory: Killed process 512 (stress-ng-vm) total-vm:210000kB, anon-rss:65536kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:200kB oom_score_adj:1000
Memory cgroup out of memory: Killed process 601 (odd) name) total-vm:9000kB, anon-rss:1kB
oom_reaper: reaped process 512 (stress-ng-vm), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB
Out of memory (oom_kill_allocating_task): Killed process 700 (stress-ng-vm) total-vm:210000kB
a driver says that it is out of memory
";
        let kills = counted(killed_processes(log));
        let of = |name: &str, count| MemoryKill { name: name.to_owned(), count };
        assert_eq!(kills, [of("odd) name", 1), of("stress-ng-vm", 2)]);
        assert!(killed_processes("").is_empty());
    }
}
