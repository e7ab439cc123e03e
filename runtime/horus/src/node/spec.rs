//! What a node asks for: when it runs, for how long, where, and what becomes of a miss.

use std::collections::BTreeMap;
use std::time::Duration;

use thiserror::Error;

use super::{Action, MAX_WITHIN, OnMiss};
use crate::cpus::CpuChoice;
use crate::deadline::{Timing, TimingError};
use crate::startup::SchedulingPolicy;

/// The promise and the wishes of one node. [`App::node`](crate::app::App::node) lends it to be filled in; `node.toml` has the
/// last word on most of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    pub(crate) name: String,
    pub(crate) period: Option<Duration>,
    pub(crate) phase: Duration,
    pub(crate) on: Option<String>,
    pub(crate) min_inter_arrival: Option<Duration>,
    pub(crate) budget: Option<Duration>,
    pub(crate) deadline: Option<Duration>,
    pub(crate) cpu: CpuChoice,
    pub(crate) scheduling_policy: SchedulingPolicy,
    pub(crate) on_miss: OnMiss,
    pub(crate) is_logical: bool,
    pub(crate) stale_after: Option<Duration>,
    /// Of single inputs, by their topics.
    pub(crate) stale_after_of: BTreeMap<String, Duration>,
    pub(crate) monitor_limit: Option<Duration>,
}

/// Why a node cannot be what it asks for. The name of the node stands before it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SpecError {
    /// It would never run.
    #[error("has neither a period nor an event: give it .period(ms(10)), or .on(\"TOPIC\") with one of its inputs")]
    NeverReleased,
    /// Period and deadline do not fit.
    #[error("{0}")]
    Timing(#[from] TimingError),
    /// It is triggered by what it does not listen to.
    #[error("is triggered by topic {0}, which is none of its inputs: open app.input(\"{0}\") before app.node(…)")]
    NoSuchInput(String),
    /// The budget is longer than the deadline.
    #[error("budget {budget:?} is longer than deadline {deadline:?}: a cycle that uses it up is late")]
    Budget {
        /// The budget.
        budget: Duration,
        /// The deadline.
        deadline: Duration,
    },
    /// A budget of no time at all.
    #[error(
        "budget 0 s is no time for a step: give what its longest cycle takes, as its account and `horus top` show it, or leave it out"
    )]
    NoBudget,
    /// A window without room for its misses.
    #[error("reacts after {after} misses within {within} releases: choose 1 to {within}, within 1 to {MAX_WITHIN}")]
    Window {
        /// At the how manieth miss.
        after: u32,
        /// Of how many releases.
        within: u32,
    },
    /// A limit of the monitor that is out of range.
    #[error("monitor_limit {limit:?} is out of range: choose {shortest:?}, its deadline, to {longest:?}")]
    MonitorLimit {
        /// The limit.
        limit: Duration,
        /// The shortest one.
        shortest: Duration,
        /// The longest one.
        longest: Duration,
    },
    /// A limit of the monitor for a node that it does not watch.
    #[error(
        "has a monitor_limit, and the monitor watches only nodes with a period that react by their safe state: add on_miss = {{ safe_state = … }}, \
         or leave the limit out"
    )]
    MonitorLimitOfNone,
    /// An input that is always stale.
    #[error("stale_after 0 s would be told in every cycle: choose a longer time, or leave it out")]
    StaleAtOnce,
    /// A limit for what it does not listen to.
    #[error("has a stale_after for topic {0}, which is none of its inputs: {1}")]
    StaleAfterOfNone(String, String),
    /// A minimum inter-arrival time of events that there are not.
    #[error(
        "has a min_inter_arrival and no event: it is the minimum inter-arrival time of releases by .on(\"TOPIC\"); leave it out"
    )]
    InterArrivalOfNone,
    /// A rate that is none.
    #[error("degrades to one release of {0}: choose 2 to {MAX_EVERY}")]
    Degrade(u32),
    /// Releases of which it is unknown when they come.
    #[error("leaves releases out after a miss, and is released by events: choose another reaction")]
    EventsLeftOut,
    /// Outputs at the deadline need a grid.
    #[error("has logical execution time and no period: only a grid makes its data flow the same each time")]
    LogicalEvent,
}

impl SpecError {
    /// The words of `node.toml` that it is about, the most likely one first.
    pub(crate) fn words(&self) -> &'static [&'static str] {
        match self {
            Self::NeverReleased | Self::LogicalEvent | Self::NoSuchInput(_) => &[],
            Self::Timing(TimingError::Period(_)) => &["period", "min_inter_arrival", "deadline"],
            Self::Timing(_) => &["deadline", "period", "min_inter_arrival"],
            Self::Budget { .. } => &["budget", "deadline", "period"],
            Self::NoBudget => &["budget"],
            Self::Window { .. } | Self::Degrade(_) | Self::EventsLeftOut => &["on_miss"],
            Self::MonitorLimit { .. } | Self::MonitorLimitOfNone => &["monitor_limit"],
            Self::StaleAtOnce | Self::StaleAfterOfNone(..) => &["stale_after"],
            Self::InterArrivalOfNone => &["min_inter_arrival"],
        }
    }
}

impl Spec {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            period: None,
            phase: Duration::ZERO,
            on: None,
            min_inter_arrival: None,
            budget: None,
            deadline: None,
            cpu: CpuChoice::Any,
            scheduling_policy: SchedulingPolicy::Inherited,
            on_miss: OnMiss::default(),
            is_logical: false,
            stale_after: None,
            stale_after_of: BTreeMap::new(),
            monitor_limit: None,
        }
    }

    /// Releases it once a period, on the grid that all nodes of the machine with this period share.
    pub fn period(&mut self, period: Duration) -> &mut Self {
        self.period = Some(period);
        self
    }

    /// As [`period`](Self::period), in releases a second.
    pub fn rate(&mut self, hertz: f64) -> &mut Self {
        // A rate of 0 or less, or none at all, becomes a period that is refused.
        self.period(Duration::try_from_secs_f64(1.0 / hertz).unwrap_or(Duration::ZERO))
    }

    /// Moves its grid by so much against that of other nodes.
    pub fn phase(&mut self, phase: Duration) -> &mut Self {
        self.phase = phase;
        self
    }

    /// Releases it when a message comes on this topic, which is one of its inputs. The release is the time of the oldest message
    /// that has come; where its publisher stamps none, the time at which it was found.
    pub fn on(&mut self, topic: impl Into<String>) -> &mut Self {
        self.on = Some(topic.into());
        self
    }

    /// The minimum inter-arrival time: the shortest time between two releases by events. An event that comes sooner is served at its end.
    pub fn min_inter_arrival(&mut self, shortest: Duration) -> &mut Self {
        self.min_inter_arrival = Some(shortest);
        self
    }

    /// The CPU time that a cycle may take; not zero, and no longer than the deadline.
    pub fn budget(&mut self, budget: Duration) -> &mut Self {
        self.budget = Some(budget);
        self
    }

    /// The time from release to completion that counts as in time; the period if not said otherwise.
    pub fn deadline(&mut self, deadline: Duration) -> &mut Self {
        self.deadline = Some(deadline);
        self
    }

    /// The CPU that it runs on.
    pub fn cpu(&mut self, cpu: CpuChoice) -> &mut Self {
        self.cpu = cpu;
        self
    }

    /// The scheduling policy: how the kernel chooses its thread.
    pub fn scheduling_policy(&mut self, policy: SchedulingPolicy) -> &mut Self {
        self.scheduling_policy = policy;
        self
    }

    /// What becomes of a miss.
    pub fn on_miss(&mut self, on_miss: impl Into<OnMiss>) -> &mut Self {
        self.on_miss = on_miss.into();
        self
    }

    /// Logical execution time: its inputs are those of its release, and its outputs are those of its deadline, whenever in
    /// between it really runs. So the data flow does not depend on execution times.
    ///
    /// Outputs are stamped with the deadline, and every [`Input`](crate::port::Input) hides what is stamped later than it may
    /// see. A plain [`Subscriber`](crate::topic::Subscriber) sees it at once.
    pub fn logical_execution_time(&mut self) -> &mut Self {
        self.is_logical = true;
        self
    }

    /// After how long without a message any of its inputs is stale, which the journal tells; not zero. 100 periods and 1 s at least if not
    /// said otherwise.
    pub fn stale_after(&mut self, limit: Duration) -> &mut Self {
        self.stale_after = Some(limit);
        self
    }

    /// As [`stale_after`](Self::stale_after), for the input of one topic; the others keep theirs.
    pub fn stale_after_of(&mut self, topic: impl Into<String>, limit: Duration) -> &mut Self {
        self.stale_after_of.insert(topic.into(), limit);
        self
    }

    /// How long after its release a cycle may be under way before the monitor publishes what is safe: from the deadline to 100 periods, or
    /// 1 s where that is longer. A period and the budget, or a tenth of the period if that is longer, where nothing is said.
    pub fn monitor_limit(&mut self, limit: Duration) -> &mut Self {
        self.monitor_limit = Some(limit);
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Period and deadline. Where only events release the node, the period is their minimum inter-arrival time.
    pub(crate) fn timing(&self) -> Result<Timing, SpecError> {
        let (period, deadline) = match (self.period, self.min_inter_arrival, self.deadline) {
            (Some(period), _, deadline) => (period, deadline.unwrap_or(period)),
            (None, _, _) if self.on.is_none() => return Err(SpecError::NeverReleased),
            (None, Some(shortest), deadline) => (shortest, deadline.unwrap_or(shortest)),
            (None, None, Some(deadline)) => (deadline, deadline),
            (None, None, None) => (DEFAULT_EVENT_DEADLINE, DEFAULT_EVENT_DEADLINE),
        };
        Ok(Timing::new(period, deadline)?)
    }

    /// Checks all that can be checked without a machine.
    pub(crate) fn check(&self) -> Result<Timing, SpecError> {
        let timing = self.timing()?;
        if self.budget.is_some_and(|budget| budget.is_zero()) {
            return Err(SpecError::NoBudget);
        }
        if let Some(budget) = self.budget.filter(|budget| *budget > timing.deadline()) {
            return Err(SpecError::Budget { budget, deadline: timing.deadline() });
        }
        if self.stale_after.iter().chain(self.stale_after_of.values()).any(Duration::is_zero) {
            return Err(SpecError::StaleAtOnce);
        }
        if self.min_inter_arrival.is_some() && self.on.is_none() {
            return Err(SpecError::InterArrivalOfNone);
        }
        let OnMiss { action, after, within } = self.on_miss;
        if !(1..=MAX_WITHIN).contains(&within) || !(1..=within).contains(&after) {
            return Err(SpecError::Window { after, within });
        }
        match action {
            Action::Degrade(every) if !(2..=MAX_EVERY).contains(&every) => return Err(SpecError::Degrade(every)),
            Action::Degrade(_) | Action::Skip if self.on.is_some() => return Err(SpecError::EventsLeftOut),
            _ => {}
        }
        if let Some(limit) = self.monitor_limit {
            let Some(period) = self.period.filter(|_| action == Action::SafeState) else {
                return Err(SpecError::MonitorLimitOfNone);
            };
            let longest = (period * LONGEST_MONITOR_PERIODS).max(LONGEST_MONITOR_LIMIT);
            if !(timing.deadline()..=longest).contains(&limit) {
                return Err(SpecError::MonitorLimit { limit, shortest: timing.deadline(), longest });
            }
        }
        if self.is_logical && self.period.is_none() {
            return Err(SpecError::LogicalEvent);
        }
        Ok(timing)
    }
}

/// The longest limit of the monitor, in periods.
const LONGEST_MONITOR_PERIODS: u32 = 100;

/// The longest limit of the monitor for all nodes.
const LONGEST_MONITOR_LIMIT: Duration = Duration::from_secs(1);

/// The lowest rate that a node may degrade to: one release of so many.
const MAX_EVERY: u32 = 1_000;

/// The deadline of a node that only events release and that names none.
const DEFAULT_EVENT_DEADLINE: Duration = Duration::from_secs(1);
