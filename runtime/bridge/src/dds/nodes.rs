//! Which nodes of ROS 2 endpoints belong to: what every participant tells the others on `ros_discovery_info`.
//!
//! DDS itself knows no nodes. Without this the topics are there, and `ros2 node list` is empty.

use bytes::Bytes;
use rustdds::dds::CreateError;
use rustdds::no_key::DataWriter;
use rustdds::policy::{Durability, History, Reliability};
use rustdds::{DomainParticipant, Duration, GUID, Publisher, QosPolicyBuilder, RTPSEntity, TopicKind};

use super::adapter::{Plain, Raw};
use crate::cdr::{ENCAPSULATION, Writer};

/// A node and its endpoints.
struct Node {
    name: String,
    readers: Vec<GUID>,
    writers: Vec<GUID>,
}

/// The bridge's node, and those that stand for programs here.
pub struct Nodes {
    writer: DataWriter<Raw, Plain>,
    participant: GUID,
    /// The bridge's is the first.
    nodes: Vec<Node>,
}

impl Nodes {
    /// Announces a node without endpoints.
    pub fn announce(participant: &DomainParticipant, publisher: &Publisher, name: &str) -> Result<Self, CreateError> {
        let quality = QosPolicyBuilder::new()
            .reliability(Reliability::Reliable { max_blocking_time: Duration::ZERO })
            .durability(Durability::TransientLocal)
            .history(History::KeepLast { depth: 1 })
            .build();
        let (topic, type_name) = ("ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_");
        let topic = participant.create_topic(topic.to_owned(), type_name.to_owned(), &quality, TopicKind::NoKey)?;
        let writer = publisher.create_datawriter_no_key(&topic, Some(quality))?;
        let nodes = vec![Node { name: name.to_owned(), readers: Vec::new(), writers: Vec::new() }];
        let nodes = Self { writer, participant: participant.guid(), nodes };
        nodes.tell();
        Ok(nodes)
    }

    /// The bridge's node has one more publisher.
    pub fn add_writer(&mut self, guid: GUID) {
        self.add_writer_of(None, guid);
    }

    /// A node has one more publisher; that of the bridge if none is named.
    pub fn add_writer_of(&mut self, node: Option<&str>, guid: GUID) {
        self.node(node).writers.push(guid);
        self.tell();
    }

    /// A publisher is not used any more.
    pub fn remove_writer(&mut self, guid: GUID) {
        self.nodes.iter_mut().for_each(|node| node.writers.retain(|writer| *writer != guid));
        self.tell_after_removal();
    }

    /// The bridge's node has one more subscription.
    pub fn add_reader(&mut self, guid: GUID) {
        self.add_reader_of(None, guid);
    }

    /// A node has one more subscription; that of the bridge if none is named.
    pub fn add_reader_of(&mut self, node: Option<&str>, guid: GUID) {
        self.node(node).readers.push(guid);
        self.tell();
    }

    /// A subscription is not used any more.
    pub fn remove_reader(&mut self, guid: GUID) {
        self.nodes.iter_mut().for_each(|node| node.readers.retain(|reader| *reader != guid));
        self.tell_after_removal();
    }

    fn node(&mut self, name: Option<&str>) -> &mut Node {
        let found = name.and_then(|name| self.nodes.iter().position(|node| node.name == name));
        let index = match (name, found) {
            (None, _) => 0,
            (Some(_), Some(index)) => index,
            (Some(name), None) => {
                self.nodes.push(Node { name: name.to_owned(), readers: Vec::new(), writers: Vec::new() });
                self.nodes.len() - 1
            }
        };
        &mut self.nodes[index]
    }

    /// A node that stands for a program goes with its last endpoint.
    fn tell_after_removal(&mut self) {
        let mut is_first = true;
        self.nodes.retain(|node| std::mem::take(&mut is_first) || !node.readers.is_empty() || !node.writers.is_empty());
        self.tell();
    }

    fn tell(&self) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        writer.u8s(&self.participant.to_bytes());
        writer.count(self.nodes.len());
        for node in &self.nodes {
            writer.text("/");
            writer.text(&node.name);
            for guids in [&node.readers, &node.writers] {
                writer.count(guids.len());
                guids.iter().for_each(|guid| writer.u8s(&guid.to_bytes()));
            }
        }
        // A telling that finds no room is made up for by the next one; there are not many.
        let _ = self.writer.write(Raw(Bytes::copy_from_slice(&bytes[ENCAPSULATION.len()..])), None);
    }
}
