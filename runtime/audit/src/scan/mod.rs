//! Scans: readers for what does not stand in one file, each a function that lists what it found.
//!
//! Most list offenders, so that a rule expects `nothing`; a scan that cannot look says so and is never "nothing found".

mod cpus;
mod disks;
mod interrupts;
mod log;
mod tasks;

use crate::facts::Facts;
use crate::pattern;
use crate::tree::{Tree, Unread};
use crate::value::{Found, Reading, Value};

/// A scan by name.
#[derive(Clone, Debug)]
pub enum Scan {
    /// Processes of this name (pattern).
    Process(String),
    /// One of the scans without a parameter, and how much it reads.
    Named(Function, Effort),
}

/// A scan's function: the tree, the facts, and the patterns of names to leave out.
pub type Function = fn(&Tree, &Facts, &[String]) -> Result<Found, Unread>;

/// How much a scan reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// A few small files: cheap enough to be read again and again.
    Quick,
    /// All processes, the kernel's log, or what does not change while the machine runs.
    Long,
}

/// Every scan that a rule can name.
const SCANS: [(&str, Function, Effort); 10] = [
    ("stray-interrupts", interrupts::stray, Effort::Quick),
    ("realtime-tasks", tasks::realtime_priorities, Effort::Long),
    ("memory-lock-limits", tasks::memory_lock_limits, Effort::Long),
    ("offloaded-rcu", tasks::not_offloaded, Effort::Long),
    ("busy-siblings", cpus::busy_siblings, Effort::Long),
    ("idle-exit-latency", cpus::idle_exit_latency, Effort::Quick),
    ("variable-frequency", cpus::variable_frequency, Effort::Quick),
    ("swap", cpus::swap, Effort::Quick),
    ("unknown-parameters", log::unknown_parameters, Effort::Long),
    ("other-disks", disks::others, Effort::Long),
];

impl Scan {
    /// The scan called `name`.
    ///
    /// # Errors
    /// A sentence with the names that exist.
    pub fn named(name: &str) -> Result<Self, String> {
        let known = SCANS.iter().find(|(known, ..)| *known == name);
        known.map(|(_, function, effort)| Self::Named(*function, *effort)).ok_or_else(|| {
            let names: Vec<&str> = SCANS.iter().map(|(name, ..)| *name).collect();
            format!("unknown scan '{name}'; there are {}", names.join(", "))
        })
    }

    /// Whether it reads a few small files, and not all processes or the kernel's log.
    pub fn is_quick(&self) -> bool {
        matches!(self, Self::Named(_, Effort::Quick))
    }

    /// Looks.
    pub fn run(&self, tree: &Tree, facts: &Facts, ignore: &[String]) -> Reading {
        let found = match self {
            Self::Process(name) => tasks::processes(tree, facts, name),
            Self::Named(function, _) => function(tree, facts, ignore),
        };
        found.map_or_else(Reading::Unknown, Reading::Found)
    }
}

/// Whether one of `patterns` matches `name`.
fn listed(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|pattern| pattern::matches(pattern, name))
}

/// A finding with nothing but its name.
fn named(name: impl Into<String>) -> Value {
    Value::new(name, "")
}
