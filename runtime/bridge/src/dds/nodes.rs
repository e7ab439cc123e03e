//! Which node of ROS 2 an endpoint belongs to: what every participant tells the others on `ros_discovery_info`.
//!
//! DDS itself knows no nodes. Without this the topics are there, and `ros2 node list` is empty.

use bytes::Bytes;
use rustdds::dds::CreateError;
use rustdds::no_key::DataWriter;
use rustdds::policy::{Durability, History, Reliability};
use rustdds::{DomainParticipant, Duration, GUID, Publisher, QosPolicyBuilder, RTPSEntity, TopicKind};

use super::adapter::{Plain, Raw};
use crate::cdr::{ENCAPSULATION, Writer};

/// The bridge's node and its endpoints.
pub struct Nodes {
    writer: DataWriter<Raw, Plain>,
    participant: GUID,
    name: String,
    readers: Vec<GUID>,
    writers: Vec<GUID>,
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
        let nodes = Self {
            writer,
            participant: participant.guid(),
            name: name.to_owned(),
            readers: Vec::new(),
            writers: Vec::new(),
        };
        nodes.tell();
        Ok(nodes)
    }

    /// The node has one more publisher.
    pub fn add_writer(&mut self, guid: GUID) {
        self.writers.push(guid);
        self.tell();
    }

    /// A publisher of the node is not used any more.
    pub fn remove_writer(&mut self, guid: GUID) {
        self.writers.retain(|writer| *writer != guid);
        self.tell();
    }

    /// The node has one more subscription.
    pub fn add_reader(&mut self, guid: GUID) {
        self.readers.push(guid);
        self.tell();
    }

    fn tell(&self) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        writer.u8s(&self.participant.to_bytes());
        writer.count(1);
        writer.text("/");
        writer.text(&self.name);
        for guids in [&self.readers, &self.writers] {
            writer.count(guids.len());
            guids.iter().for_each(|guid| writer.u8s(&guid.to_bytes()));
        }
        // A telling that finds no room is made up for by the next one; there are not many.
        let _ = self.writer.write(Raw(Bytes::copy_from_slice(&bytes[ENCAPSULATION.len()..])), None);
    }
}
