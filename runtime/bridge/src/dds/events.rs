//! Who comes and goes out there, and who asks for what we do not give.

use horus::journal::Priority;
use rustdds::dds::statusevents::EndpointDescription;
use rustdds::policy::{Durability, Reliability};
use rustdds::{DomainParticipantStatusEvent, GUID, QosPolicies};

use super::Ours;
use crate::names::{dds_message, dds_topic};
use crate::route::Endpoint;

/// What ROS 2 puts a message's hash behind, in the user data of an endpoint.
const HASH: &str = "typehash=";

/// Our endpoints, by which events are told in the words of the settings.
#[derive(Default)]
pub struct Events(Ours);

impl Events {
    /// We have one more endpoint.
    pub fn add(&mut self, guid: GUID, endpoint: &Endpoint) {
        self.0.insert(guid, endpoint.clone());
    }

    /// Tells of an event, if it is worth it.
    pub fn tell(&self, event: &DomainParticipantStatusEvent, tell: &mut dyn FnMut(&str, Priority, String)) {
        use DomainParticipantStatusEvent as Event;
        if is_between_our_own(event) {
            return;
        }
        match event {
            Event::RemoteReaderQosIncompatible { local_writer, requested_qos, offered_qos, .. } => {
                // Of a transient-local topic, a writer that gives it is made when a subscription asks for it.
                let gives = |ours: &&Endpoint| {
                    ours.delivery.is_transient_local && is_reliability_fit(requested_qos, offered_qos)
                };
                if let Some(ours) = self.0.get(local_writer).filter(|ours| !gives(ours)) {
                    let text = mismatch("a subscription asks for", requested_qos, "is offered", offered_qos);
                    tell(&ours.topic, Priority::Warning, text);
                }
            }
            Event::RemoteWriterQosIncompatible { local_reader, requested_qos, offered_qos, .. } => {
                if let Some(ours) = self.0.get(local_reader) {
                    let text = mismatch("the bridge asks for", requested_qos, "is offered by a publisher", offered_qos);
                    tell(&ours.topic, Priority::Warning, text);
                }
            }
            Event::ReaderDetected { reader } => self.detected(reader, "a subscription", tell),
            Event::WriterDetected { writer } => self.detected(writer, "a publisher", tell),
            Event::RemoteReaderMatched { local_writer, .. } => {
                if let Some(ours) = self.0.get(local_writer) {
                    tell(&ours.topic, Priority::Info, "a subscription came".to_owned());
                }
            }
            Event::RemoteWriterMatched { local_reader, .. } => {
                if let Some(ours) = self.0.get(local_reader) {
                    tell(&ours.topic, Priority::Info, "a publisher came".to_owned());
                }
            }
            _ => {}
        }
    }

    /// Another program's endpoint of one of our topics: does it mean the same message?
    fn detected(&self, theirs: &EndpointDescription, who: &str, tell: &mut dyn FnMut(&str, Priority, String)) {
        let Some(ours) = self.0.values().find(|ours| dds_topic(&ours.topic) == theirs.topic_name) else { return };
        let type_name = dds_message(&ours.type_name);
        if theirs.type_name != type_name {
            let text =
                format!("{who} means {}, and here it is {type_name}: no message goes between them", theirs.type_name);
            return tell(&ours.topic, Priority::Warning, text);
        }
        let data = String::from_utf8_lossy(&theirs.user_data);
        let hash = data.split(';').find_map(|word| word.strip_prefix(HASH));
        if let Some(hash) = hash.filter(|hash| *hash != ours.hash && hash.starts_with("RIHS01_")) {
            let text = format!(
                "{who} has another definition of {}: {hash}, and here it is {}; messages may be misread",
                ours.type_name, ours.hash
            );
            tell(&ours.topic, Priority::Warning, text);
        }
    }
}

/// Frames go to ROS and come from there on one topic, and what the bridge sends there it hears, too.
fn is_between_our_own(event: &DomainParticipantStatusEvent) -> bool {
    use DomainParticipantStatusEvent as Event;
    match event {
        Event::RemoteReaderQosIncompatible { local_writer: ours, remote_reader: theirs, .. }
        | Event::RemoteReaderMatched { local_writer: ours, remote_reader: theirs }
        | Event::RemoteWriterQosIncompatible { local_reader: ours, remote_writer: theirs, .. }
        | Event::RemoteWriterMatched { local_reader: ours, remote_writer: theirs } => ours.prefix == theirs.prefix,
        _ => false,
    }
}

fn is_reliability_fit(requested: &QosPolicies, offered: &QosPolicies) -> bool {
    let is_reliable = |quality: &QosPolicies| matches!(quality.reliability(), Some(Reliability::Reliable { .. }));
    !is_reliable(requested) || is_reliable(offered)
}

/// What does not fit, by name, and what to do about it.
fn mismatch(asks: &str, requested: &QosPolicies, offers: &str, offered: &QosPolicies) -> String {
    let durability = |quality: &QosPolicies| quality.durability().unwrap_or(Durability::Volatile);
    if !is_reliability_fit(requested, offered) {
        return format!(
            "reliability does not fit: {asks} reliable, and best effort {offers}: write reliability = \"reliable\" for a topic to ROS, \
             \"best_effort\" for one from ROS"
        );
    }
    if durability(requested) > durability(offered) {
        return format!(
            "durability does not fit: {asks} {:?}, and {:?} {offers}: write durability = \"transient_local\" for a topic to ROS, \
             \"volatile\" for one from ROS",
            durability(requested),
            durability(offered)
        );
    }
    format!("{asks} {requested:?}, and {offered:?} {offers}")
}
