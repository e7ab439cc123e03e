//! What is known of one boot of a version on trial: what failed in it, and what became of its determinism report.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One boot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// The kernel's identifier of the boot, as reports have it.
    pub id: String,
    /// What was not as it should be, in the order in which it was found.
    pub faults: Vec<Fault>,
    /// Its determinism report.
    pub report: Report,
}

impl Boot {
    /// A boot that has just begun.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), faults: Vec::new(), report: Report::Awaited }
    }

    /// The faults that speak against the version.
    pub fn counted(&self) -> impl Iterator<Item = &Fault> {
        self.faults.iter().filter(|fault| fault.excuse.is_none())
    }
}

/// What became of a boot's determinism report. Several runs of a boot are one report: the first valid one, so that none is replaced by a better
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Report {
    /// The boot goes on, and its report is still to come.
    Awaited,
    /// The boot ended before its report, such as by a power cut.
    Cut,
    /// The meter or the machine's conditions were not sound. It says nothing about the version.
    Invalid {
        /// Why, in the report's words.
        reason: String,
    },
    /// A valid run.
    Valid {
        /// 99.9 % of the responses of the phase `node-load` are not above this, in nanoseconds.
        p999_ns: u64,
    },
}

/// Something that was not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// What kind of thing.
    pub kind: Kind,
    /// Which one.
    pub name: String,
    /// Why it does not speak against the version; `None` where it does.
    pub excuse: Option<Excuse>,
}

/// What can be at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A unit that systemd lists as failed. One that failed and runs again is none.
    Unit,
    /// A node whose unit failed, such as by not being ready in the time that it has.
    Node,
    /// A rule of the audit that passed under the old version, and fails.
    Rule,
}

/// Why a fault is not the version's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Excuse {
    /// The user stopped or disabled it.
    Stopped,
    /// What it needs is not plugged in: a cable, a disk, a device.
    Unplugged,
    /// It was so under the old version too.
    AsBefore,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Unit => write!(f, "unit {} failed", self.name),
            Kind::Node => write!(f, "node {} failed or did not become ready", self.name),
            Kind::Rule => write!(f, "rule {} of the audit, which passed under the old version, failed", self.name),
        }
    }
}
