//! How a run divides its time and its CPUs: the one place where the shares stand.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use horus::cpus::{self, CpuList};

/// Both halves of a run, in this order.
pub const LOADS: [Load; 2] = [Load::Quiet, Load::Load];

/// What runs on the housekeeping CPUs during a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Whatever the machine does after its boot has settled.
    Quiet,
    /// The configured load.
    Load,
}

impl fmt::Display for Load {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Quiet => "quiet",
            Self::Load => "load",
        })
    }
}

/// What each phase may take. Two of a hundred parts remain for starting and ending processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// The self-test, all attempts together.
    pub self_test: Duration,
    /// One node phase: the longest, because its samples carry the claim.
    pub node: Duration,
    /// One message phase without its two floors.
    pub message: Duration,
    /// One measurement of the cache-line floor; there are two in each message phase.
    pub floor: Duration,
    /// One cyclictest phase.
    pub witness: Duration,
    /// From starting the load until it is measured under.
    pub load_start: Duration,
}

impl Shares {
    /// Divides `total`.
    pub fn of(total: Duration) -> Self {
        let percent = |share: u32| total * share / 100;
        Self {
            self_test: percent(2),
            node: percent(27),
            message: percent(8),
            floor: percent(1),
            witness: percent(10),
            load_start: percent(2),
        }
    }

    /// Everything together: never more than what was divided.
    #[cfg(test)]
    pub fn sum(&self) -> Duration {
        self.self_test + (self.node + self.message + 2 * self.floor + self.witness) * 2 + self.load_start
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
    use super::*;

    fn split(isolated: &str, housekeeping: &str) -> Places {
        Places::split(&isolated.parse().unwrap(), housekeeping.parse().unwrap())
    }

    #[test]
    fn a_run_takes_no_longer_than_it_was_told() {
        for seconds in [2, 3, 10, 60, 3600] {
            let total = Duration::from_secs(seconds);
            assert!(Shares::of(total).sum() <= total, "{seconds} s");
        }
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
