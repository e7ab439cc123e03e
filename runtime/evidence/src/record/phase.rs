//! A phase in a report: what was measured under one condition.

use horus_measure::merge::Releases;
use horus_measure::meter::Meter;
use serde::{Deserialize, Serialize};

use super::interval::Intervals;

/// One measurement under one condition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Phase {
    /// What was measured (a [`Kind`]'s name), a dash, and more: `node-quiet`, `message-load`, `cyclictest-default-cpu`.
    pub name: String,
    /// False when the phase could not run; then `reason` says why, every figure is `null` and `samples` is 0.
    pub measured: bool,
    /// Why nothing was measured.
    pub reason: Option<String>,
    /// What loaded the housekeeping CPUs, by its name in the configuration; `null` where nothing did, and in older files.
    #[serde(default)]
    pub load: Option<String>,
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
    /// Releases of a node, round trips of a message phase, cycles of cyclictest, windows of hwlat, readings of the control; 0 when
    /// nothing was measured.
    pub samples: u64,
    /// Late and skipped releases.
    pub misses: Option<u64>,
    /// The longest run of consecutive misses.
    pub max_consecutive: Option<u64>,
    /// Releases that passed while the node was still busy; each also counts as a miss.
    pub skipped: Option<u64>,
    /// Response times beyond the period.
    pub overruns: Option<u64>,
    /// Response time of a node or of an answer with a deadline, half a round trip of a message, wake-up latency of cyclictest, a
    /// stall that hwlat saw, the distance of two readings of the clock.
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

impl Phase {
    /// A phase that could not run, and why.
    pub(crate) fn not_measured(name: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { name: name.into(), reason: Some(reason.into()), ..Self::default() }
    }

    /// What kind of phase this is, as its name says.
    pub fn kind(&self) -> Kind {
        let is = |kind: &Kind| self.name.strip_prefix(kind.name()).is_some_and(|rest| rest.starts_with('-'));
        Kind::ALL.into_iter().find(is).unwrap_or(Kind::Witness)
    }

    /// Whether this is one of the phases that deadlines are judged by.
    pub(crate) fn is_node(&self) -> bool {
        self.kind() == Kind::Node
    }

    /// What its times are of.
    pub fn figure(&self) -> &'static str {
        match self.kind() {
            Kind::Node => "response",
            Kind::Message if self.deadline_ns.is_some() => "answer",
            Kind::Message => "half trip",
            Kind::Witness => "latency",
            Kind::Hwlat => "stall",
            Kind::Control => "gap",
        }
    }

    /// Releases and misses of a phase with a deadline that was measured: of a node, or of messages that have one.
    pub fn releases(&self) -> Option<Releases> {
        let (misses, longest_run) = (self.misses?, self.max_consecutive.unwrap_or(0));
        self.measured.then_some(Releases { judged: self.samples, misses, longest_run })
    }
}

/// What a phase measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A node with a period and a deadline.
    Node,
    /// Messages between two processes.
    Message,
    /// cyclictest.
    Witness,
    /// Stalls from below the kernel, by its hwlat tracer.
    Hwlat,
    /// The negative control: the meter with nothing to measure.
    Control,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Node, Self::Message, Self::Witness, Self::Hwlat, Self::Control];

    /// The first part of a phase's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Node => "node",
            Self::Message => "message",
            Self::Witness => "cyclictest",
            Self::Hwlat => "hwlat",
            Self::Control => "control",
        }
    }
}

impl Latency {
    /// What a meter states.
    pub fn of(meter: &Meter) -> Self {
        Self::from_quantiles(|quantile| meter.quantile(quantile), meter.max_ns())
    }

    /// Fills the reported quantiles from `at`.
    pub(crate) fn from_quantiles(at: impl Fn(f64) -> Option<u64>, max_ns: Option<u64>) -> Self {
        Self { p50_ns: at(0.5), p90_ns: at(0.9), p99_ns: at(0.99), p999_ns: at(0.999), p9999_ns: at(0.9999), max_ns }
    }
}
