//! One topic or service in one direction, whatever carries it beyond this machine.

mod account;
mod action;
mod exchange;
mod frames;
mod inward;
mod mark;
mod numbers;
mod outward;
mod parameters;
mod place;
mod serve;
mod service;

use crate::config::{DeliveryPolicy, Durability, Quality, Reliability};

pub use account::{Account, Counts};
pub use action::{GivenAction, TakenAction};
pub use exchange::{CallId, Called, Exchange, Requested, Served, ServiceEndpoint};
pub use frames::{FramesIn, FramesOut, OfRos};
pub use inward::Inward;
pub use mark::Mark;
pub use numbers::{CIRCLE, Numbers, Sender};
pub use outward::Outward;
pub use parameters::Parameters;
pub use place::{Place, Shared};
#[cfg(feature = "zenoh")]
pub(crate) use serve::OVER_DDS;
pub use serve::{Server, Transport};
pub use service::{Given, Taken};

/// What becomes of a message that is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is on its way.
    Taken,
    /// There is no room at the moment: the same message is offered again later.
    Full,
    /// It cannot be sent at all.
    Lost,
}

/// Where messages go.
pub trait Sink {
    /// Takes a message: CDR with its four bytes in front. `stamp_ns` is when it was sent here, on CLOCK_MONOTONIC, and `lane` is that of
    /// its publisher.
    fn send(&mut self, message: &[u8], stamp_ns: u64, lane: usize) -> Sent;

    /// What stands for this sender in its messages.
    fn sender(&self) -> Sender;

    /// Asked now and then: what has to be done beside the messages.
    fn look(&mut self) {}
}

/// What was there to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// Nothing.
    Nothing,
    /// A message, or one that cannot be read.
    Message,
    /// A message that comes back to where it was sent from: it is not to be published.
    Circle,
    /// A message that came before, or was counted as lost: it is not to be published, and counts nothing.
    Again,
}

/// Where messages come from.
pub trait Source {
    /// Hands the next message over, as CDR without the four bytes in front. `None` is given for a message that came and cannot be read.
    fn take(&mut self, into: &mut dyn FnMut(Option<&[u8]>)) -> Took;

    /// Whether there is surely none to take; asked with each turn.
    fn is_empty(&self) -> bool {
        false
    }

    /// How many messages were lost on the way, and how many came after a later one, as far as that is known.
    fn damage(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Asked now and then: what has to be done beside the messages.
    fn look(&mut self) {}

    /// What is wrong with what came since this was asked last.
    fn trouble(&mut self) -> Option<String> {
        None
    }
}

/// What both ends are told of a topic's delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Whether lost messages are sent again.
    pub is_reliable: bool,
    /// Whether who comes later gets the last messages.
    pub is_transient_local: bool,
    /// How many messages are kept.
    pub depth: usize,
    /// Whether the settings say so; if not, a wire that cannot do it well may do less.
    pub is_said: bool,
    /// Whether messages may wait for a line that is full: those of a reliable topic, and where the settings say reliable.
    pub may_wait: bool,
    /// Whether of each publisher the newest message is kept for who comes later, and no other.
    pub is_latched: bool,
}

/// Which way a topic goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// To ROS, messages of so many bytes.
    ToRos(usize),
    /// From ROS.
    FromRos,
}

/// A message up to so long goes in one datagram, and is sent again at little cost.
const SMALL: usize = 64_000;

impl Delivery {
    /// What follows from a topic's policy and capacity, unless the settings say otherwise. To ROS, small messages are offered reliably,
    /// because most subscriptions ask for that and get nothing from best effort. Else `latest` is best effort and `reliable` is
    /// reliable. As many messages are kept as the topic holds.
    pub fn new(way: Way, policy: DeliveryPolicy, capacity: usize, quality: &Quality) -> Self {
        let is_small = matches!(way, Way::ToRos(bytes) if bytes <= SMALL);
        let usual = if policy == DeliveryPolicy::Reliable || is_small {
            Reliability::Reliable
        } else {
            Reliability::BestEffort
        };
        let reliability = quality.reliability.unwrap_or(usual);
        let is_reliable = reliability == Reliability::Reliable;
        Self {
            is_reliable,
            may_wait: is_reliable && (policy == DeliveryPolicy::Reliable || quality.reliability.is_some()),
            is_transient_local: quality.durability == Some(Durability::TransientLocal),
            depth: quality.depth.unwrap_or(capacity).clamp(1, MAX_DEPTH),
            is_said: quality.reliability.is_some(),
            is_latched: false,
        }
    }

    /// As it is where our topic is latched, with room for so many publishers: transient local and reliable, and of each publisher its
    /// newest message, unless the settings say otherwise.
    #[must_use]
    pub fn latched(self, publishers: usize, quality: &Quality) -> Self {
        if quality.durability == Some(Durability::Volatile) {
            return self;
        }
        let is_reliable = quality.reliability != Some(Reliability::BestEffort);
        let depth = quality.depth.unwrap_or(publishers).clamp(1, MAX_DEPTH);
        // Such messages are rare, so a wire that has trouble with many long ones can carry them.
        Self {
            is_transient_local: true,
            is_reliable,
            is_said: true,
            is_latched: quality.depth.is_none(),
            depth,
            ..self
        }
    }
}

/// The most messages that are kept for who is slow or late.
const MAX_DEPTH: usize = 1 << 16;

/// A topic of ROS, as it is announced.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Its name, with its leading slash.
    pub topic: String,
    /// Its message: `sensor_msgs/msg/Imu`.
    pub type_name: String,
    /// The message's hash.
    pub hash: String,
    /// How it is delivered.
    pub delivery: Delivery,
    /// Bytes of a message here: how much memory it takes to keep one.
    pub bytes: usize,
    /// The layout of our message, as text; empty for bytes.
    pub layout: String,
    /// The file of our topic: by it a bridge knows what another one sends of the same topic.
    pub file: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delivery_follows_the_topic_unless_the_settings_say_otherwise() {
        let quality = Quality::default();
        let latest = Delivery {
            is_reliable: false,
            is_transient_local: false,
            depth: 16,
            is_said: false,
            may_wait: false,
            is_latched: false,
        };
        assert_eq!(Delivery::new(Way::FromRos, DeliveryPolicy::Latest, 16, &quality), latest);
        assert_eq!(Delivery::new(Way::ToRos(SMALL + 1), DeliveryPolicy::Latest, 16, &quality), latest);
        let small = Delivery { is_reliable: true, ..latest };
        assert_eq!(Delivery::new(Way::ToRos(SMALL), DeliveryPolicy::Latest, 16, &quality), small);
        let reliable = Delivery { may_wait: true, ..small };
        assert_eq!(Delivery::new(Way::FromRos, DeliveryPolicy::Reliable, 16, &quality), reliable);
        let best_effort = Quality { reliability: Some(Reliability::BestEffort), ..quality };
        assert!(!Delivery::new(Way::ToRos(1), DeliveryPolicy::Reliable, 16, &best_effort).is_reliable);
        let said = Quality {
            reliability: Some(Reliability::Reliable),
            durability: Some(Durability::TransientLocal),
            depth: Some(usize::MAX),
        };
        let wanted = Delivery { is_transient_local: true, depth: MAX_DEPTH, is_said: true, ..reliable };
        assert_eq!(Delivery::new(Way::FromRos, DeliveryPolicy::Latest, 16, &said), wanted);
    }

    #[test]
    fn a_latched_topic_is_transient_local_and_reliable_unless_the_settings_say_otherwise() {
        let quality = Quality::default();
        let of = |quality: &Quality| {
            Delivery::new(Way::ToRos(SMALL + 1), DeliveryPolicy::Latest, 16, quality).latched(3, quality)
        };
        let latched = of(&quality);
        assert!(latched.is_transient_local && latched.is_reliable && latched.is_latched && latched.is_said);
        assert_eq!((latched.depth, latched.may_wait), (3, false));
        let volatile = of(&Quality { durability: Some(Durability::Volatile), ..quality });
        assert!(!volatile.is_transient_local && !volatile.is_latched);
        let deep = of(&Quality { depth: Some(8), ..quality });
        assert!(deep.is_transient_local && !deep.is_latched && deep.depth == 8, "the last ones of all publishers");
        assert!(!of(&Quality { reliability: Some(Reliability::BestEffort), ..quality }).is_reliable);
    }
}
