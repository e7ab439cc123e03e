//! One measured cell as it stands in the result files.

use horus_measure::floor::around::Floors;
use serde::{Deserialize, Serialize};

use crate::floor::steady;
pub use crate::measured::Measured;
use crate::samples::Samples;
use crate::tally::Counts;

/// What the times of most cells are of: a message on its way from one end to the other.
pub const ONE_WAY: &str = "one way";

/// How most receivers wait.
pub const BUSY: &str = "busy";

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it; N is in the fields `publishers` and `subscribers`")]
pub enum Path {
    #[serde(rename = "same-thread")]
    SameThread,
    #[serde(rename = "thread-1:1")]
    Thread1To1,
    #[serde(rename = "thread-1:N")]
    Thread1ToN,
    #[serde(rename = "thread-N:1")]
    ThreadNTo1,
    #[serde(rename = "thread-N:N")]
    ThreadNToN,
    #[serde(rename = "process-1:1")]
    Process1To1,
    #[serde(rename = "process-1:N")]
    Process1ToN,
    #[serde(rename = "process-N:1")]
    ProcessNTo1,
    #[serde(rename = "process-N:N")]
    ProcessNToN,
}

impl Path {
    /// As it stands in the result files.
    pub fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

/// What a cell is about, known before it is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[must_use]
pub struct Heading {
    /// Who sends to whom.
    pub path: Path,
    /// The system that was measured; rivals by their names.
    pub system: String,
    /// Bytes of a message.
    pub bytes: usize,
    /// What the messages are, where it is not just bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Publishers of the topic.
    pub publishers: usize,
    /// Subscribers of the topic.
    pub subscribers: usize,
    /// What the times are of: `one way`, `send + receive`, and so on.
    pub unit: String,
    /// How a receiver waits: `busy`, or how it sleeps.
    pub wait: String,
    /// What a reader must know to read the figures right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// `seed` where the loop is another project's, as it was: no comparison like for like.
    #[serde(rename = "loop", default, skip_serializing_if = "Option::is_none")]
    pub loop_of: Option<String>,
}

impl Heading {
    /// Whether the times are of a message on its way from one CPU to the other, which the floor bounds.
    pub fn crosses_cpus(&self) -> bool {
        self.path != Path::SameThread && self.unit == ONE_WAY
    }

    /// Whether both ends wait busily meanwhile, so that the times are spread by nothing but the machine.
    pub fn is_busy_crossing(&self) -> bool {
        self.crosses_cpus() && self.wait == BUSY
    }

    /// What the messages are and what was timed, where it is not just bytes one way.
    pub fn kind(&self) -> String {
        let unit = Some(self.unit.as_str()).filter(|unit| *unit != ONE_WAY);
        [self.message.as_deref(), unit].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The same with a name for the messages.
    pub fn message(self, message: &str) -> Self {
        Self { message: Some(message.to_owned()), ..self }
    }

    /// The same with so many publishers and subscribers.
    pub fn ends(self, publishers: usize, subscribers: usize) -> Self {
        Self { publishers, subscribers, ..self }
    }

    /// The same with times of something else than one way.
    pub fn unit(self, unit: &str) -> Self {
        Self { unit: unit.to_owned(), ..self }
    }

    /// The same with receivers that wait so.
    pub fn wait(self, wait: &str) -> Self {
        Self { wait: wait.to_owned(), ..self }
    }

    /// The same with a remark.
    pub fn note(self, note: &str) -> Self {
        Self { note: Some(note.to_owned()), ..self }
    }

    /// One publisher, one subscriber, times of one way, busy waiting.
    pub fn new(path: Path, system: &str, bytes: usize) -> Self {
        Self {
            path,
            system: system.to_owned(),
            bytes,
            message: None,
            publishers: 1,
            subscribers: 1,
            unit: ONE_WAY.to_owned(),
            wait: BUSY.to_owned(),
            note: None,
            loop_of: None,
        }
    }
}

/// A line of the results. Times are nanoseconds; `null` where a figure was not measured or would be an anecdote.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// What the cell is about.
    #[serde(flatten)]
    pub heading: Heading,
    /// Median time of a cache line between the same CPUs just before.
    pub floor_before_ns: f64,
    /// The same just after.
    pub floor_after_ns: f64,
    /// Half of the messages took at most this.
    pub p50_ns: Option<f64>,
    /// 99 % of the messages took at most this.
    pub p99_ns: Option<f64>,
    /// 99.9 %.
    pub p999_ns: Option<f64>,
    /// 99.99 %.
    pub p9999_ns: Option<f64>,
    /// The longest, exactly.
    pub max_ns: Option<f64>,
    /// The median divided by the mean of both floors.
    pub p50_over_floor: Option<f64>,
    /// What became of the messages.
    #[serde(flatten)]
    pub counts: Counts,
    /// Messages a second in a run of its own, one way, from the first to the last received.
    pub per_second: Option<f64>,
    /// How many times were taken.
    pub samples: u64,
    /// How often the cell was measured until both floors agreed.
    pub attempts: u32,
    /// Whether they agreed in the end, with each other and with the times.
    pub steady: bool,
}

impl Cell {
    /// What the cell's times are divided by: the mean of both floors.
    pub fn floor_ns(&self) -> f64 {
        f64::midpoint(self.floor_before_ns, self.floor_after_ns)
    }

    /// Writes down what was measured between two floors.
    pub fn new(heading: &Heading, measured: &Measured, floors: Floors, attempts: u32) -> Self {
        let samples = measured.samples.as_ref();
        let quantile = |quantile| samples.and_then(|samples| samples.quantile(quantile)).map(rounded);
        let p50_ns = quantile(0.5);
        let mut heading = heading.clone();
        heading.note = match (heading.note, measured.note.clone()) {
            (Some(one), Some(other)) => Some(format!("{one}; {other}")),
            (one, other) => one.or(other),
        };
        Self {
            heading,
            floor_before_ns: rounded(floors.before_ns),
            floor_after_ns: rounded(floors.after_ns),
            p50_ns,
            p99_ns: quantile(0.99),
            p999_ns: quantile(0.999),
            p9999_ns: quantile(0.9999),
            max_ns: samples.and_then(Samples::max).map(rounded),
            p50_over_floor: p50_ns.map(|p50| rounded(p50 / floors.mean_ns())),
            counts: measured.counts,
            per_second: measured.per_second.map(f64::round),
            samples: samples.map_or(0, |samples| samples.meter.samples()),
            attempts,
            steady: steady(&floors),
        }
    }
}

/// Thousandths are beyond what any figure here is good for.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_has_every_field_of_the_schema() {
        let mut samples = Samples::new(2);
        (0..1000).for_each(|_| samples.record(140));
        let counts = Counts { sent: 5, received: 4, lost: 1, corrupt: 0, repeated: 0 };
        let measured = Measured { samples: Some(samples), counts, per_second: Some(1e6), note: Some("why".to_owned()) };
        let floors = Floors { before_ns: 60.0, after_ns: 64.0 };
        let cell = Cell::new(&Heading::new(Path::Process1To1, "horus", 16), &measured, floors, 2);
        let expected = serde_json::json!({
            "path": "process-1:1", "system": "horus", "bytes": 16, "publishers": 1, "subscribers": 1, "unit": "one way",
            "wait": "busy", "note": "why", "floor_before_ns": 60.0, "floor_after_ns": 64.0, "p50_ns": 70.0, "p99_ns": 70.0,
            "p999_ns": null, "p9999_ns": null, "max_ns": 70.0, "p50_over_floor": 1.129, "sent": 5, "received": 4, "lost": 1,
            "corrupt": 0, "repeated": 0, "per_second": 1e6, "samples": 1000, "attempts": 2, "steady": true
        });
        assert_eq!(serde_json::to_value(&cell).unwrap(), expected);
    }
}
