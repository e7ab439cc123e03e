//! What the system answered: every wish with what the kernel says when it is asked again.

use std::fmt;
use std::time::Duration;

use thiserror::Error;

use crate::graph::NodeInfo;
use crate::journal::{self, Entry, Priority};

/// The answer to one wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Granted; holds what the kernel says when asked again.
    Granted(String),
    /// Refused.
    Refused {
        /// What the system said.
        reason: String,
        /// What a user can do about it.
        remedy: String,
    },
}

/// One wish and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guarantee {
    /// What kind of guarantee: `cpu`, `scheduling-policy`, `memory`, `idle-states` or `rt-time-limit`.
    pub name: &'static str,
    /// What was asked for.
    pub asked: String,
    /// What came of it.
    pub answer: Answer,
}

impl Guarantee {
    /// Whether the wish was granted.
    pub fn is_granted(&self) -> bool {
        matches!(self.answer, Answer::Granted(_))
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, asked, answer } = self;
        match answer {
            Answer::Granted(found) => write!(out, "granted {name}: asked {asked}, kernel says {found}"),
            Answer::Refused { reason, remedy } => write!(out, "REFUSED {name}: asked {asked}: {reason}; {remedy}"),
        }
    }
}

/// The wishes and their answers, in the order in which they were tried. What was not asked for is not listed.
#[must_use = "a refusal that no code looks at is silent"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Granted {
    guarantees: Vec<Guarantee>,
}

/// Something that was asked for was refused, and the caller wants all or nothing.
#[derive(Debug, Error)]
#[error("not started, because the system does not grant what the node needs:\n{0}")]
pub struct Incomplete(pub Granted);

impl FromIterator<Guarantee> for Granted {
    fn from_iter<I: IntoIterator<Item = Guarantee>>(guarantees: I) -> Self {
        Self { guarantees: guarantees.into_iter().collect() }
    }
}

impl Granted {
    /// These answers, and then those.
    pub fn and(mut self, later: Self) -> Self {
        self.guarantees.extend(later.guarantees);
        self
    }

    /// Every wish with its answer.
    pub fn guarantees(&self) -> &[Guarantee] {
        &self.guarantees
    }

    /// The wishes that were refused.
    pub fn refused(&self) -> impl Iterator<Item = &Guarantee> {
        self.guarantees.iter().filter(|guarantee| !guarantee.is_granted())
    }

    /// Whether everything that was asked for was granted.
    pub fn is_complete(&self) -> bool {
        self.refused().next().is_none()
    }

    /// Refuses to go on where something was refused, for a node that shall not start without.
    ///
    /// # Errors
    /// When something was refused; the error lists every answer.
    pub fn complete(&self) -> Result<(), Incomplete> {
        if self.is_complete() { Ok(()) } else { Err(Incomplete(self.clone())) }
    }

    /// The `NODE_START` journal entry: one line a guarantee, a warning when one is missing.
    #[doc(hidden)] // its parameter is what programs of HORUS's own know of a node
    pub fn entry(&self, node: &NodeInfo) -> Entry {
        let refused: Vec<_> = self.refused().map(|guarantee| guarantee.name).collect();
        let name = &node.name;
        let release = match &node.on {
            Some(topic) if node.period_ns == 0 => format!("on topic {topic}"),
            Some(topic) => format!("period {:?} and on topic {topic}", Duration::from_nanos(node.period_ns)),
            None => format!("period {:?}", Duration::from_nanos(node.period_ns)),
        };
        let (priority, verdict) = match (self.guarantees.is_empty(), refused.is_empty()) {
            (true, _) => (Priority::Info, "on a best-effort basis".to_owned()),
            (false, true) => (Priority::Info, "with everything it asked for".to_owned()),
            (false, false) => (Priority::Warning, format!("WITHOUT {}", refused.join(", "))),
        };
        Entry::new(
            journal::id::NODE_START,
            priority,
            format!("node {name} starts {verdict}: {release}, deadline {:?}\n{self}", node.deadline()),
        )
        .field("HORUS_NODE", name)
        .field("HORUS_PERIOD_NS", node.period_ns)
        .field("HORUS_DEADLINE_NS", node.deadline_ns)
        .field("HORUS_GUARANTEES", self)
        .field("HORUS_REFUSED", if refused.is_empty() { "none".to_owned() } else { refused.join(" ") })
    }
}

impl fmt::Display for Granted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.guarantees.is_empty() {
            return out.write_str("no guarantee was asked for");
        }
        for (index, guarantee) in self.guarantees.iter().enumerate() {
            write!(out, "{}{guarantee}", if index == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}
