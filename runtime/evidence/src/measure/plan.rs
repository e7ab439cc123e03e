//! How a run divides its time and its CPUs.

use std::path::Path;
use std::time::Duration;

use horus::cpus::{self, CpuList};

use crate::config::phases::{IDLE, PhasePlan};

/// Parts of a hundred of the time for the self-test.
const SELF_TEST: u32 = 2;

/// Parts of a hundred for starting all loads.
const LOAD_STARTS: u32 = 2;

/// Parts of a hundred for all phases. The rest is for starting and ending processes.
const PHASES: u32 = 94;

/// A load works long before that, however long the run is.
const LONGEST_SETTLE: Duration = Duration::from_secs(5);

/// How long each part of a run takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// The self-test, all attempts together.
    pub self_test: Duration,
    /// From starting a load until it is measured under.
    pub load_start: Duration,
    /// Each phase.
    pub phases: Vec<Duration>,
}

impl Times {
    /// Divides `total` by the shares of `phases`.
    pub fn of(total: Duration, phases: &[PhasePlan]) -> Self {
        let sum = phases.iter().map(|phase| phase.share).sum::<u32>().max(1);
        let starts = phases.chunk_by(|one, next| one.load == next.load).filter(|group| group[0].load != IDLE).count();
        Self {
            self_test: total * SELF_TEST / 100,
            load_start: (total * LOAD_STARTS / 100 / starts.max(1) as u32).min(LONGEST_SETTLE),
            phases: phases.iter().map(|phase| total * (PHASES * phase.share) / (100 * sum)).collect(),
        }
    }

    /// What the phases from number `from` on take together.
    pub fn left(&self, from: usize) -> Duration {
        self.phases.iter().skip(from).sum()
    }
}

/// Which CPU does what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Where the node, cyclictest and the near side of messages run; `None` leaves it to the kernel.
    pub node: Option<u32>,
    /// Whether that CPU is isolated: only there may a real-time thread spin.
    pub node_is_isolated: bool,
    /// Where the far side of messages runs; `None` when the machine has a single CPU.
    pub peer: Option<u32>,
    /// Whether that CPU is isolated.
    pub peer_is_isolated: bool,
    /// Where everything else runs, the load too; never empty.
    pub housekeeping: CpuList,
}

impl Places {
    /// Reads the CPU split of this machine. `root` is `/`, except in tests.
    pub fn of_machine(root: &Path) -> Self {
        let isolated = cpus::isolated(root);
        let housekeeping = cpus::housekeeping(root);
        // With every CPU isolated nothing would be left for the load: then it shares the first one.
        let online: CpuList = isolated.iter().chain(housekeeping.iter()).collect();
        let housekeeping = if housekeeping.is_empty() { online.iter().take(1).collect() } else { housekeeping };
        Self::split(&isolated, housekeeping)
    }

    fn split(isolated: &CpuList, housekeeping: CpuList) -> Self {
        // The last isolated CPU is the spare one: units place their nodes from the first upwards.
        let node = isolated.iter().next_back().or_else(|| housekeeping.iter().next_back());
        let other = |cpus: &CpuList| cpus.iter().rev().find(|cpu| Some(*cpu) != node);
        let isolated_peer = other(isolated);
        Self {
            node,
            node_is_isolated: node.is_some_and(|cpu| isolated.contains(cpu)),
            peer: isolated_peer.or_else(|| other(&housekeeping)),
            peer_is_isolated: isolated_peer.is_some(),
            housekeeping,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::phases::of_boot;

    use super::*;

    fn split(isolated: &str, housekeeping: &str) -> Places {
        Places::split(&isolated.parse().unwrap(), housekeeping.parse().unwrap())
    }

    #[test]
    fn a_boots_run_takes_no_longer_than_it_was_told_and_its_node_most() {
        let phases = of_boot();
        for seconds in [2, 3, 10, 60, 3600] {
            let total = Duration::from_secs(seconds);
            let times = Times::of(total, &phases);
            assert!(times.self_test + times.load_start + times.left(0) <= total, "{seconds} s");
        }
        let times = Times::of(Duration::from_secs(60), &phases);
        let seconds = |number: usize| times.phases[number].as_secs_f64();
        assert_eq!([seconds(0), seconds(1), seconds(5)], [16.2, 6.0, 6.0], "27, 10 and 10 of a hundred");
        assert_eq!(times.left(6), Duration::ZERO);
    }

    #[test]
    fn each_load_is_started_once_for_the_phases_that_follow_each_other_under_it() {
        let phase = |load: &str| PhasePlan { load: load.to_owned(), ..of_boot()[0].clone() };
        let phases = ["idle", "cpu", "cpu", "io", "idle"].map(phase);
        assert_eq!(Times::of(Duration::from_secs(100), &phases).load_start, Duration::from_secs(1));
    }

    #[test]
    fn the_node_gets_the_last_isolated_cpu_and_its_peer_another_isolated_one_if_there_is() {
        let places = split("2-3", "0-1");
        assert_eq!((places.node, places.peer), (Some(3), Some(2)));
        assert!(places.node_is_isolated && places.peer_is_isolated);
    }

    #[test]
    fn with_one_isolated_cpu_the_peer_runs_on_housekeeping_and_counts_as_such() {
        let places = split("1", "0");
        assert_eq!((places.node, places.peer), (Some(1), Some(0)));
        assert!(places.node_is_isolated && !places.peer_is_isolated);
    }

    #[test]
    fn without_isolation_any_two_cpus_serve_and_none_counts_as_isolated() {
        let places = split("", "0-1");
        assert_eq!((places.node, places.peer), (Some(1), Some(0)));
        assert!(!places.node_is_isolated && !places.peer_is_isolated);
    }

    #[test]
    fn a_single_cpu_has_no_peer() {
        assert_eq!(split("", "0").peer, None);
    }
}
