//! A line of the result, as text and as CSV.

use horus_benchmarks::gateway::system::GATEWAY;
use horus_measure::meter::Meter;
use serde::Serialize;

use super::crowd::Memory;
use super::inside::Step;
use super::load::Outcome;
use super::plan::Plan;

/// A line. Times are in nanoseconds; a quantile is there where ten samples lie beyond it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    figure: String,
    system: String,
    /// Which repetition.
    run: u32,
    rate: Option<f64>,
    bytes: usize,
    batch: usize,
    sent: Option<u64>,
    lost: Option<u64>,
    twice: Option<u64>,
    out_of_order: Option<u64>,
    wrong: Option<u64>,
    sent_per_s: Option<f64>,
    delivered_per_s: Option<f64>,
    samples: u64,
    p50_ns: Option<f64>,
    p90_ns: Option<f64>,
    p99_ns: Option<f64>,
    p999_ns: Option<f64>,
    p9999_ns: Option<f64>,
    max_ns: Option<f64>,
    /// One cache line from CPU to CPU, before and after.
    floor_before_ns: f64,
    floor_after_ns: f64,
    target_ns: Option<f64>,
    /// The most memory of the gateway, and what its settings allow.
    memory_bytes: Option<u64>,
    memory_bound_bytes: Option<u64>,
}

impl Row {
    /// What a way did.
    pub fn of_way(figure: &str, system: &str, run: u32, plan: &Plan, outcome: &Outcome) -> Self {
        let per_s = |messages: u64, ns: u64| Some(messages as f64 / (ns.max(1) as f64 / 1e9));
        Self {
            figure: figure.to_owned(),
            system: system.to_owned(),
            run,
            rate: (plan.rate > 0.0).then_some(plan.rate),
            bytes: plan.bytes,
            batch: plan.batch,
            sent: Some(outcome.sent),
            lost: Some(outcome.sent - outcome.received),
            twice: Some(outcome.twice),
            out_of_order: Some(outcome.out_of_order),
            wrong: Some(outcome.wrong),
            sent_per_s: per_s(outcome.sent, outcome.sending_ns),
            delivered_per_s: per_s(outcome.received, outcome.delivering_ns),
            ..Self::default()
        }
        .with(&outcome.latency, 1.0)
    }

    /// What a step costs.
    pub fn of_step(run: u32, step: &Step) -> Self {
        let row = Self {
            figure: step.name.to_owned(),
            system: GATEWAY.to_owned(),
            run,
            bytes: 64,
            batch: 1,
            target_ns: step.target_ns,
            ..Self::default()
        };
        row.with(&step.picoseconds, 1_000.0)
    }

    fn with(mut self, meter: &Meter, unit: f64) -> Self {
        let quantile = |quantile| meter.quantile(quantile).map(|value| value as f64 / unit);
        self.samples = meter.samples();
        [self.p50_ns, self.p90_ns, self.p99_ns, self.p999_ns, self.p9999_ns] =
            [0.5, 0.9, 0.99, 0.999, 0.9999].map(quantile);
        self.max_ns = meter.max_ns().map(|value| value as f64 / unit);
        self
    }

    /// The floors around it.
    pub fn between(self, floor_before_ns: f64, floor_after_ns: f64) -> Self {
        Self { floor_before_ns, floor_after_ns, ..self }
    }

    /// What the gateway's memory was.
    pub fn with_memory(self, memory: &Memory) -> Self {
        Self { memory_bytes: Some(memory.most), memory_bound_bytes: Some(memory.bound), ..self }
    }

    /// Whether every message arrived once, in order and whole.
    pub fn is_complete(&self) -> bool {
        [self.lost, self.twice, self.out_of_order, self.wrong].iter().flatten().sum::<u64>() == 0
    }

    /// For people.
    pub fn text(&self) -> String {
        let time = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), horus_benchmarks::report::nanoseconds);
        let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), horus_benchmarks::report::rate);
        let count = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
        format!(
            "{:28} {:18} p50 {:>8}  p99 {:>9}  p99.9 {:>10}  max {:>11}  delivered {:>8}/s  lost {}  twice {}  floor {} {}{}",
            self.figure,
            self.system,
            time(self.p50_ns),
            time(self.p99_ns),
            time(self.p999_ns),
            time(self.max_ns),
            rate(self.delivered_per_s),
            count(self.lost),
            count(self.twice),
            time(Some(self.floor_before_ns)),
            time(Some(self.floor_after_ns)),
            self.target_ns.map_or_else(String::new, |target| format!("  (target {target})")),
        )
    }
}
