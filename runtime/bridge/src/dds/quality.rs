//! Delivery as DDS says it.

use rustdds::policy::{Durability, History, Reliability, ResourceLimits};
use rustdds::{Duration, QosPolicies, QosPolicyBuilder};

use crate::route::{Delivery, Endpoint};

/// Messages that are kept until the bridge has published them, or until all have them: a thousand a second for longer than the 20 seconds
/// for which Fast DDS takes a subscription that crashed for a living one.
const MOST: usize = 1 << 15;
/// The memory that they may take, of each topic; of two messages at least, however long they are.
const MEMORY: usize = 64 << 20;
/// Messages that wait for an acknowledgement on a topic that keeps few: with fewer, each would wait for the one before it.
const WINDOW: usize = 32;
/// What goes into one datagram. RustDDS takes fragments that are sent again for a new message and stops after 128 of those
/// (docs/decisions/0035), so longer messages are not asked for again unless the settings say so.
const DATAGRAM: usize = 64_000;

/// Nothing said.
pub fn none() -> QosPolicies {
    QosPolicyBuilder::new().build()
}

/// For what goes out. A write never waits: what finds no room is offered again, while other topics go on.
/// What it keeps for who comes late is said apart.
pub fn of_writer(endpoint: &Endpoint, is_transient_local: bool) -> QosPolicies {
    let delivery = &Delivery { is_transient_local, ..endpoint.delivery };
    let most = most(endpoint);
    let depth = delivery.depth.min(most);
    // While nobody hears, RustDDS keeps for who comes late as many as may wait, however small the depth is.
    let most = if delivery.is_transient_local { depth.max(WINDOW).min(most) } else { most };
    builder(delivery, delivery.is_reliable, depth, most)
}

/// For what comes in.
pub fn of_reader(endpoint: &Endpoint) -> QosPolicies {
    let (delivery, most) = (&endpoint.delivery, most(endpoint));
    let is_reliable = delivery.is_reliable && (endpoint.bytes <= DATAGRAM || delivery.is_said);
    // What does not fit is lost, even on a reliable topic.
    builder(delivery, is_reliable, if is_reliable { most } else { delivery.depth.min(most) }, most)
}

/// Messages that may be kept, at most.
pub fn most(endpoint: &Endpoint) -> usize {
    (MEMORY / endpoint.bytes.max(1)).clamp(2, MOST)
}

fn builder(delivery: &Delivery, is_reliable: bool, depth: usize, most: usize) -> QosPolicies {
    let reliability = match is_reliable {
        true => Reliability::Reliable { max_blocking_time: Duration::ZERO },
        false => Reliability::BestEffort,
    };
    let durability = if delivery.is_transient_local { Durability::TransientLocal } else { Durability::Volatile };
    let most = most as i32; // 32 768 at most
    QosPolicyBuilder::new()
        .reliability(reliability)
        .durability(durability)
        .history(History::KeepLast { depth: depth as i32 })
        .resource_limits(ResourceLimits { max_samples: most, max_instances: 1, max_samples_per_instance: most })
        .build()
}
