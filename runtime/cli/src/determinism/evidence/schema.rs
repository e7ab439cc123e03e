//! The report file: schema `horus-report/2`, one file a run.
//!
//! Readers may rely on every key named here being present; a figure that was not measured is `null`, never 0, and only
//! counts of samples are 0 then. New keys may be added within version 2; a key that changes its meaning makes version 3. All times are integers in nanoseconds.
//!
//! Version 1 had one file a boot and no identity: what it lacks is `null` or empty here, and it is never added up with others.

use horus_measure::merge::Releases;
use horus_measure::meter::Meter;
use serde::{Deserialize, Serialize};

use crate::audit::Outcome;
use crate::boot::Boot;

use super::identity::Identity;
use super::interval::Intervals;

/// Name and version of the file format.
pub const SCHEMA: &str = "horus-report/2";

/// All versions that are read.
pub const READ: [&str; 2] = ["horus-report/1", SCHEMA];

/// One determinism run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`], or in an older file one of [`READ`].
    pub schema: String,
    /// A random identifier of this run, 32 hexadecimal digits; empty in version 1.
    #[serde(default)]
    pub run_id: String,
    /// The kernel's identifier of this boot, 32 hexadecimal digits as journald prints it.
    pub boot_id: String,
    /// Start of the run: UTC, RFC 3339.
    pub time: String,
    /// What the run was allowed to take, in seconds.
    pub duration_s: f64,
    /// Image name and version from os-release, else the distribution's name.
    pub image: String,
    /// Kernel release and version, as `uname -rv` prints them.
    pub kernel: String,
    /// The kernel's command line.
    pub cmdline: String,
    /// Name of the hypervisor; `null` on real hardware.
    #[serde(rename = "virtual")]
    pub hypervisor: Option<String>,
    /// Of which system this run speaks; `null` in version 1.
    #[serde(default)]
    pub identity: Option<Identity>,
    /// Whether the kernel was traced during the run, which costs every cycle something; `null` where that could not be seen.
    #[serde(default)]
    pub is_traced: Option<bool>,
    /// Whether meter and conditions were sound; says nothing about the figures.
    pub valid: bool,
    /// Why the run is not valid; empty when it is.
    pub invalid_reasons: Vec<String>,
    /// What the figures say about the machine.
    pub verdict: Verdict,
    /// Why the verdict is what it is: one sentence.
    pub verdict_reason: String,
    /// The audit of the machine's tuning.
    pub audit: Outcome,
    /// The proof that the meter sees a stall.
    pub self_test: SelfTest,
    /// What was measured, in the order in which it was measured.
    pub phases: Vec<Phase>,
    /// Both node phases together, the figures that the claim is made of.
    pub total: Total,
    /// Units that systemd lists as failed.
    pub failed_units: Vec<FailedUnit>,
    /// Units that failed and that systemd restarted; failed ones are above, and what a person started again is not counted.
    #[serde(default)]
    pub restarted_units: Vec<RestartedUnit>,
    /// Processes and units that were killed for want of memory in this boot.
    #[serde(default)]
    pub memory_kills: MemoryKills,
    /// What the boot had to tell about the disk and about boots before it.
    #[serde(default)]
    pub boot: Boot,
    /// Why this report is in RAM and not where it belongs; `null` where it is on the data partition.
    #[serde(default)]
    pub stored_in_ram: Option<String>,
    /// Configuration that could not be used: file, line and remedy.
    pub problems: Vec<String>,
    /// The command that loaded the housekeeping CPUs.
    pub load_command: String,
    /// Versions of the programs that took part.
    pub tools: Vec<Tool>,
}

/// What a valid run on real hardware says about the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No deadline was missed, no fatal audit finding, no failed or restarted unit.
    Pass,
    /// Something above was not so.
    Fail,
    /// The run cannot tell: it is not valid, or the machine is virtual.
    None,
}

impl Verdict {
    /// The word in the report file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::None => "none",
        }
    }
}

/// A known stall was injected into the metered loop; the meter must report it in that cycle and at least as long.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SelfTest {
    /// How long the stall was.
    pub injected_ns: u64,
    /// The worst response time that the meter reported.
    pub found_ns: u64,
    /// The cycle with the stall.
    pub injected_cycle: u64,
    /// The cycle that the meter reported as worst.
    pub found_cycle: u64,
    /// Whether the meter may be believed.
    pub passed: bool,
    /// Why not.
    pub reason: Option<String>,
    /// Every attempt in its order; the figures above are those of the last one.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
}

impl SelfTest {
    /// Attempts before the last one: each failed because the machine stalled by itself.
    pub fn retried(&self) -> &[Attempt] {
        self.attempts.split_last().map_or(&[], |(_, earlier)| earlier)
    }
}

/// One attempt of the self-test.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// How long the stall was.
    pub injected_ns: u64,
    /// The worst response time that the meter reported.
    pub found_ns: u64,
    /// Why the attempt failed; `null` when it did not.
    pub reason: Option<String>,
}

/// One measurement under one condition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Phase {
    /// `node`, `message` or `cyclictest`, a dash, then `quiet` or `load`.
    pub name: String,
    /// False when the phase could not run; then `reason` says why, every figure is `null` and `samples` is 0.
    pub measured: bool,
    /// Why nothing was measured.
    pub reason: Option<String>,
    /// What differed from what was asked for, for example a scheduling policy that was not granted.
    pub notes: Vec<String>,
    /// What in this phase makes the whole run not valid, for example an echo process that ended badly.
    #[serde(default)]
    pub invalid_reasons: Vec<String>,
    /// The CPU of the measuring thread.
    pub cpu: Option<u32>,
    /// The CPU of the other process of a message phase.
    pub peer_cpu: Option<u32>,
    /// How busy the housekeeping CPUs were during the phase, in percent.
    #[serde(default)]
    pub busy_percent: Option<f64>,
    /// Scheduling policy and priority, for example `FIFO/80`.
    pub policy: Option<String>,
    /// Distance of two releases.
    pub period_ns: Option<u64>,
    /// A response later than this after its release is a miss.
    pub deadline_ns: Option<u64>,
    /// Releases of a node, round trips of a message phase, cycles of cyclictest; 0 when nothing was measured.
    pub samples: u64,
    /// Late and skipped releases.
    pub misses: Option<u64>,
    /// The longest run of consecutive misses.
    pub max_consecutive: Option<u64>,
    /// Releases that passed while the node was still busy; each also counts as a miss.
    pub skipped: Option<u64>,
    /// Response times beyond the period.
    pub overruns: Option<u64>,
    /// Response time of a node, half a round trip of a message, wake-up latency of cyclictest.
    #[serde(flatten)]
    pub latency: Latency,
    /// Wake-up less release: node phases only.
    pub release_jitter: Option<Latency>,
    /// Samples behind `release_jitter`: the releases that were served.
    #[serde(default)]
    pub release_jitter_samples: Option<u64>,
    /// Upper 95 % confidence bound of the miss probability.
    pub miss_bound_95: Option<f64>,
    /// Messages that never came back.
    pub lost: Option<u64>,
    /// Round trips after each sleep that are no samples, see docs/measuring.md: message phases only.
    #[serde(default)]
    pub warm_up_trips: Option<u64>,
    /// The longest half round trip among them.
    #[serde(default)]
    pub warm_up_max_ns: Option<u64>,
    /// The lower of two measurements: half round trip of one bare cache line between the same two CPUs, the hardware's floor.
    pub floor_p50_ns: Option<u64>,
    /// `p50_ns / floor_p50_ns`; `null` when the two measurements of the floor do not agree.
    pub floor_ratio: Option<f64>,
    /// Every non-empty class of the histogram behind `latency`: upper value in nanoseconds, and how many samples.
    pub histogram: Vec<(u64, u64)>,
    /// The same behind `release_jitter`.
    #[serde(default)]
    pub jitter_histogram: Vec<(u64, u64)>,
    /// The most misses in any 100 consecutive releases: node phases only.
    #[serde(default)]
    pub max_misses_in_100: Option<u64>,
    /// The worst of each second: node phases only.
    #[serde(default)]
    pub intervals: Option<Intervals>,
}

/// Quantiles of a distribution; a quantile with fewer than ten samples beyond it is `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Half of the samples are not above this.
    pub p50_ns: Option<u64>,
    /// 90 % of the samples are not above this.
    pub p90_ns: Option<u64>,
    /// 99 % of the samples are not above this.
    pub p99_ns: Option<u64>,
    /// 99.9 % of the samples are not above this.
    pub p999_ns: Option<u64>,
    /// 99.99 % of the samples are not above this.
    pub p9999_ns: Option<u64>,
    /// The largest sample, exact.
    pub max_ns: Option<u64>,
}

/// Both node phases together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Total {
    /// Releases; 0 when no node phase ran.
    pub samples: u64,
    /// Late and skipped releases; `null` when no node phase ran.
    pub misses: Option<u64>,
    /// The longest run of consecutive misses in either phase; `null` when no node phase ran.
    pub max_consecutive: Option<u64>,
    /// The longest response time; `null` when no node phase ran.
    pub max_ns: Option<u64>,
    /// Upper 95 % confidence bound of the miss probability in the worst phase: an average over loads holds under none
    /// of them. `null` when no node phase ran.
    pub miss_bound_95: Option<f64>,
    /// The phase that this is the bound of.
    #[serde(default)]
    pub miss_bound_phase: Option<String>,
}

/// A failed unit and the end of its log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FailedUnit {
    /// The unit's name.
    pub unit: String,
    /// Its last log lines, oldest first.
    pub log: Vec<String>,
}

/// A unit that failed in this boot and was started again, and the end of its log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestartedUnit {
    /// The unit's name.
    pub unit: String,
    /// How often it failed.
    pub failures: u64,
    /// Its state now, such as `active` or `activating`.
    pub state: String,
    /// Its last log lines, oldest first.
    pub log: Vec<String>,
}

/// Who was killed for want of memory. The kernel names processes and systemd units, so one kill is usually in both lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryKills {
    /// Processes by their names, from the kernel's log.
    pub processes: Vec<MemoryKill>,
    /// Units, from systemd.
    pub units: Vec<MemoryKill>,
}

impl MemoryKills {
    /// How many kills there were: the longer of both lists, because one may lack what the other has.
    pub fn count(&self) -> u64 {
        let sum = |kills: &[MemoryKill]| kills.iter().map(|kill| kill.count).sum::<u64>();
        sum(&self.processes).max(sum(&self.units))
    }

    /// Everybody's name with how often it was, in one line.
    pub fn names(&self) -> String {
        let name = |kill: &MemoryKill| match kill.count {
            1 => kill.name.clone(),
            count => format!("{} ({count} times)", kill.name),
        };
        self.processes.iter().chain(&self.units).map(name).collect::<Vec<_>>().join(", ")
    }
}

/// One name in [`MemoryKills`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryKill {
    /// Of the process or unit.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// A program that took part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it says its version is.
    pub version: String,
}

impl Phase {
    /// A phase that could not run, and why.
    pub fn not_measured(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { name: name.into(), reason: Some(reason.into()), ..Self::default() }
    }

    /// What kind of phase this is, as its name says.
    pub fn kind(&self) -> Kind {
        let is = |kind: &Kind| self.name.strip_prefix(kind.name()).is_some_and(|rest| rest.starts_with('-'));
        Kind::ALL.into_iter().find(is).unwrap_or(Kind::Witness)
    }

    /// Whether this is one of the phases that deadlines are judged by.
    pub fn is_node(&self) -> bool {
        self.kind() == Kind::Node
    }

    /// Releases and misses of a node phase that was measured.
    pub fn releases(&self) -> Option<Releases> {
        let (misses, longest_run) = (self.misses?, self.max_consecutive.unwrap_or(0));
        (self.is_node() && self.measured).then_some(Releases { judged: self.samples, misses, longest_run })
    }
}

/// What is measured in each half of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A node with a period and a deadline.
    Node,
    /// Messages between two processes.
    Message,
    /// cyclictest.
    Witness,
}

impl Kind {
    /// All kinds, in the order in which they are measured.
    pub const ALL: [Self; 3] = [Self::Node, Self::Message, Self::Witness];

    /// The first part of a phase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Message => "message",
            Self::Witness => "cyclictest",
        }
    }

    /// What the phase's times are of.
    pub fn figure(self) -> &'static str {
        match self {
            Self::Node => "response",
            Self::Message => "half trip",
            Self::Witness => "latency",
        }
    }
}

impl Latency {
    /// What a meter states.
    pub fn of(meter: &Meter) -> Self {
        Self::from_quantiles(|quantile| meter.quantile(quantile), meter.max_ns())
    }

    /// Fills the reported quantiles from `at`.
    pub fn from_quantiles(at: impl Fn(f64) -> Option<u64>, max_ns: Option<u64>) -> Self {
        Self { p50_ns: at(0.5), p90_ns: at(0.9), p99_ns: at(0.99), p999_ns: at(0.999), p9999_ns: at(0.9999), max_ns }
    }
}
