//! What a person should know: the log lines of a witness.

use std::fmt;

use horus::cpus::CpuList;

use crate::tracefs::events::Missing;

/// Something for the log.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Notice {
    /// These CPUs are traced from now on.
    Started {
        /// Which.
        cpus: CpuList,
    },
    /// An event that this kernel does not have.
    Missing(Missing),
    /// A CPU is not traced.
    NotTraced {
        /// Which; all of them where there is none.
        cpu: Option<u32>,
        /// Why, and what to do.
        reason: String,
    },
    /// A frozen trace could not be read.
    NotRead {
        /// Which CPU's.
        cpu: u32,
        /// Why.
        reason: String,
    },
    /// A frozen trace could not be kept. Its miss was answered all the same.
    NotKept {
        /// Why.
        reason: String,
    },
    /// A trace was frozen and no program asked about it.
    Thawed {
        /// Which CPU's.
        cpu: u32,
    },
    /// A program's connection was ended.
    Ended {
        /// Its process.
        process: u32,
        /// What it did.
        reason: String,
    },
}

impl Notice {
    /// Whether a person should look at it.
    pub fn is_warning(&self) -> bool {
        !matches!(self, Self::Started { .. } | Self::Thawed { .. })
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { cpus } if cpus.is_empty() => write!(f, "no CPU is traced"),
            Self::Started { cpus } => write!(f, "CPUs {cpus} are traced"),
            Self::Missing(missing) => missing.fmt(f),
            Self::NotTraced { cpu: Some(cpu), reason } => write!(f, "CPU {cpu} is not traced: {reason}"),
            Self::NotTraced { cpu: None, reason } => write!(f, "nothing is traced: {reason}"),
            Self::NotRead { cpu, reason } => write!(f, "the trace of CPU {cpu} cannot be read: {reason}"),
            Self::NotKept { reason } => write!(f, "a trace is not kept: {reason}"),
            Self::Thawed { cpu } => {
                write!(f, "the trace of CPU {cpu} was frozen, and no program asked about it: it goes on")
            }
            Self::Ended { process, reason } => write!(f, "the connection of process {process} is ended: {reason}"),
        }
    }
}
