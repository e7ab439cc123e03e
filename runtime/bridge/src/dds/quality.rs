//! Delivery as DDS says it.

use rustdds::policy::{Durability, History, Reliability, ResourceLimits};
use rustdds::{Duration, QosPolicies, QosPolicyBuilder};

use crate::route::Delivery;

/// Messages that a reader keeps until the bridge has published them: more than a burst, because what does not fit is lost even on a
/// reliable topic.
const READER_DEPTH: i32 = 8192;

/// Nothing said.
pub fn none() -> QosPolicies {
    QosPolicyBuilder::new().build()
}

/// For what goes out. A write never waits: what finds no room is offered again, while other topics go on.
pub fn of(delivery: &Delivery) -> QosPolicies {
    builder(delivery).history(History::KeepLast { depth: depth(delivery) }).build()
}

/// For what comes in.
pub fn of_reader(delivery: &Delivery) -> QosPolicies {
    let depth = if delivery.is_reliable { READER_DEPTH } else { depth(delivery) };
    let limits = ResourceLimits { max_samples: depth, max_instances: 1, max_samples_per_instance: depth };
    builder(delivery).history(History::KeepLast { depth }).resource_limits(limits).build()
}

fn depth(delivery: &Delivery) -> i32 {
    i32::try_from(delivery.depth).unwrap_or(i32::MAX)
}

fn builder(delivery: &Delivery) -> QosPolicyBuilder {
    let reliability = match delivery.is_reliable {
        true => Reliability::Reliable { max_blocking_time: Duration::ZERO },
        false => Reliability::BestEffort,
    };
    let durability = if delivery.is_transient_local { Durability::TransientLocal } else { Durability::Volatile };
    QosPolicyBuilder::new().reliability(reliability).durability(durability)
}
