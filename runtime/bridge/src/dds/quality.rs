//! Delivery as DDS says it.

use rustdds::policy::{Deadline, Durability, History, Reliability, ResourceLimits};
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
/// Requests, or replies, of a service that are kept.
const CALLS: usize = 1024;
/// RustDDS sends eight fragments of 256 bytes again every ten milliseconds: a third of a second for a lost datagram of 64 kB, while pictures
/// go on coming. Where a deadline is offered, it does so five times in it, every millisecond at most (docs/decisions/0068).
const DEADLINE: Duration = Duration::from_millis(5);

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
    // While no subscription hears, RustDDS keeps for late ones as many as may wait, however small the depth is.
    let most = if delivery.is_transient_local { depth.max(WINDOW).min(most) } else { most };
    let quality = builder(delivery, delivery.is_reliable, depth, most);
    if delivery.is_reliable && endpoint.bytes > DATAGRAM {
        return quality.modify_by(&QosPolicyBuilder::new().deadline(Deadline(DEADLINE)).build());
    }
    quality
}

/// For what comes in.
pub fn of_reader(endpoint: &Endpoint) -> QosPolicies {
    let (delivery, most) = (&endpoint.delivery, most(endpoint));
    let is_reliable = delivery.is_reliable && (endpoint.bytes <= DATAGRAM || delivery.is_said);
    // What does not fit is lost, even on a reliable topic.
    builder(delivery, is_reliable, if is_reliable { most } else { delivery.depth.min(most) }, most)
}

/// For the requests and the replies of services: reliable, and nothing for who comes late, as ROS 2's default for services has it. Requests
/// of more calls than this wait until they are taken, and a client that crashed is waited for until so many replies are unacknowledged.
pub fn of_service(bytes: usize) -> QosPolicies {
    let most = (MEMORY / bytes.max(1)).clamp(2, CALLS);
    let delivery = Delivery {
        is_reliable: true,
        is_transient_local: false,
        depth: most,
        is_said: true,
        may_wait: true,
        is_latched: false,
    };
    builder(&delivery, true, most, most)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(bytes: usize, is_reliable: bool) -> Endpoint {
        let delivery = Delivery {
            is_reliable,
            is_transient_local: false,
            depth: 8,
            is_said: true,
            may_wait: is_reliable,
            is_latched: false,
        };
        let [topic, type_name, hash, layout, file] = ["/a", "a/msg/B", "", "", ""].map(str::to_owned);
        Endpoint { topic, type_name, hash, delivery, bytes, layout, file }
    }

    #[test]
    fn what_is_lost_of_a_long_reliable_message_is_sent_again_every_millisecond() {
        let deadline = |bytes, is_reliable| of_writer(&endpoint(bytes, is_reliable), false).deadline();
        assert_eq!(deadline(DATAGRAM + 1, true), Some(Deadline(DEADLINE)));
        assert_eq!((deadline(DATAGRAM, true), deadline(DATAGRAM + 1, false)), (None, None));
        // A reader that asked for one would get nothing from a publisher that offers none, as rclpy's does.
        assert_eq!(of_reader(&endpoint(DATAGRAM + 1, true)).deadline(), None);
        let quality = of_writer(&endpoint(DATAGRAM + 1, true), true);
        assert_eq!(quality.durability(), Some(Durability::TransientLocal), "the rest is kept");
        assert_eq!(quality.history(), Some(History::KeepLast { depth: 8 }));
    }
}
