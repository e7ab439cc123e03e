//! The phases of a run as data: what is measured, under which load, and for which share of the time.

use std::time::Duration;

use horus::deadline::Timing;

use crate::record::schema::Kind;

/// The load of a phase in which the machine does nothing beyond its ordinary work.
pub const IDLE: &str = "idle";

/// The load that the key `load` of a file sets.
pub const LOAD: &str = "load";

/// A load that leaves the housekeeping CPUs idle for more than half of the time is none, unless its table says otherwise.
pub(crate) const LEAST_BUSY_PERCENT: u8 = 50;

/// One phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhasePlan {
    /// What the report calls it: the name of what is measured, a dash, and more.
    pub name: String,
    /// What is measured.
    pub measure: Measure,
    /// What the housekeeping CPUs do: [`IDLE`], or the name of a load.
    pub load: String,
    /// Its part of the time, in relation to the shares of the other phases.
    pub share: u32,
}

/// What a phase measures. A period that is not there is that of the whole configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// A node with a period and a deadline.
    Node(Option<Timing>),
    /// Messages: one after the other, or with a period and a deadline for each answer.
    Message(Option<Timing>),
    /// cyclictest.
    Cyclictest {
        /// Distance of two wake-ups.
        interval: Option<Duration>,
        /// Whether it leaves the machine's power management alone (`--default-system`).
        default_system: bool,
    },
    /// The kernel's detector of stalls below it.
    Hwlat,
    /// The meter with nothing to measure.
    Control,
}

/// A program that loads the housekeeping CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Program and arguments, with placeholders.
    pub command: Vec<String>,
    /// A load that keeps the housekeeping CPUs less busy is none.
    pub least_busy_percent: u8,
}

impl Load {
    /// A load with the usual condition.
    pub fn new(command: Vec<String>) -> Self {
        Self { command, least_busy_percent: LEAST_BUSY_PERCENT }
    }
}

/// The phases of a boot's run: first quiet, then under load; the node longest, because its samples carry the claim.
pub fn of_boot() -> Vec<PhasePlan> {
    let halves = [("quiet", IDLE), (LOAD, LOAD)];
    let measures = || {
        let cyclictest = Measure::Cyclictest { interval: None, default_system: false };
        [(Measure::Node(None), 27), (Measure::Message(None), 10), (cyclictest, 10)]
    };
    let phases = |(half, load): (&str, &str)| {
        measures().map(|(measure, share)| PhasePlan {
            name: format!("{}-{half}", measure.kind().name()),
            measure,
            load: load.to_owned(),
            share,
        })
    };
    halves.into_iter().flat_map(phases).collect()
}

impl Measure {
    /// What kind of phase the report has for it.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Node(_) => Kind::Node,
            Self::Message(_) => Kind::Message,
            Self::Cyclictest { .. } => Kind::Witness,
            Self::Hwlat => Kind::Hwlat,
            Self::Control => Kind::Control,
        }
    }
}

/// The phases in one line, for the identity of a run: another set measures another thing.
pub fn describe(phases: &[PhasePlan]) -> String {
    let timing = |timing: &Option<Timing>| match timing {
        Some(timing) => format!(" {}/{}", timing.period_nanos(), timing.deadline_nanos()),
        None => String::new(),
    };
    let describe = |phase: &PhasePlan| {
        let how = match &phase.measure {
            Measure::Node(own) | Measure::Message(own) => timing(own),
            Measure::Cyclictest { interval, default_system } => {
                let interval = interval.map(|interval| format!(" {}", interval.as_nanos())).unwrap_or_default();
                format!("{interval}{}", if *default_system { " default-system" } else { "" })
            }
            Measure::Hwlat | Measure::Control => String::new(),
        };
        format!("{}{how} {} {}", phase.name, phase.load, phase.share)
    };
    phases.iter().map(describe).collect::<Vec<_>>().join("; ")
}
