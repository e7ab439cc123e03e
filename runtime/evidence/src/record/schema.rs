//! The report file: schema `horus-report/2`, one file a run.
//!
//! Readers may rely on every key named here being present; a figure that was not measured is `null`, never 0, and only
//! counts of samples are 0 then. New keys may be added within version 2; a key that changes its meaning makes version 3. All times are integers in nanoseconds.
//!
//! Version 1 had one file a boot and no identity: what it lacks is `null` or empty here, and it is never added up with others.

use horus_audit::Outcome;
use horus_audit::boot::Boot;
use serde::{Deserialize, Serialize};

use super::identity::Identity;
pub use super::phase::{Kind, Latency, Phase};

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
    pub(crate) fn retried(&self) -> &[Attempt] {
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
