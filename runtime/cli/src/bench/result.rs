//! What was measured, as text and as JSON.

use std::fmt;
use std::time::Duration;

use horus_measure::units::{rate, time};
use serde::Serialize;

use super::inject::{Injected, Plan};
use super::receive::Received;

/// Quantiles that are stated where enough messages lie beyond them.
const QUANTILES: [(f64, &str); 5] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9"), (0.9999, "p99.99")];

/// The figures of one way.
#[derive(Serialize)]
pub struct Result {
    sent: u64,
    received: u64,
    lost: u64,
    twice: u64,
    out_of_order: u64,
    wrong: u64,
    /// Messages a second from the first that was sent to the last that came.
    delivered_per_s: f64,
    sent_per_s: f64,
    /// Nanoseconds by quantile; empty without a rate, when nothing says when a message was to be sent.
    latency_ns: Vec<(&'static str, u64)>,
    /// The histogram: upper value in nanoseconds and count of each class.
    classes: Vec<(u64, u64)>,
}

impl Result {
    pub fn new(plan: Plan, injected: Injected, received: Received) -> Self {
        let Received { latency, messages, twice, out_of_order, wrong, last_ns, .. } = received;
        let per_s = |messages: u64, until_ns: u64| {
            messages as f64 / (until_ns.saturating_sub(injected.began_ns).max(1) as f64 / 1e9)
        };
        let stated = QUANTILES.iter().filter_map(|(quantile, name)| Some((*name, latency.quantile(*quantile)?)));
        let has_latency = plan.rate > 0.0;
        let stated: Vec<_> = stated.chain(latency.max_ns().map(|max| ("max", max))).filter(|_| has_latency).collect();
        Self {
            sent: injected.sent,
            received: messages,
            lost: injected.sent - messages,
            twice,
            out_of_order,
            wrong,
            delivered_per_s: per_s(messages, last_ns),
            sent_per_s: per_s(injected.sent, injected.ended_ns),
            latency_ns: stated,
            classes: if has_latency { latency.classes() } else { Vec::new() },
        }
    }

    /// Whether every message arrived once and in order.
    pub fn is_complete(&self) -> bool {
        self.lost + self.twice + self.out_of_order + self.wrong == 0
    }
}

impl fmt::Display for Result {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sent, received, lost, twice, out_of_order, wrong, .. } = self;
        let (sending, delivering) = (rate(self.sent_per_s), rate(self.delivered_per_s));
        writeln!(out, "  sent {sent} at {sending}, received {received} at {delivering}")?;
        writeln!(out, "  lost {lost}, twice {twice}, out of order {out_of_order}, wrong {wrong}")?;
        if !self.latency_ns.is_empty() {
            let stated = self.latency_ns.iter().map(|(name, ns)| format!("{name} {}", time(Duration::from_nanos(*ns))));
            writeln!(out, "  latency {}", stated.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}
