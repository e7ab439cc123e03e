//! A lane of a topic, taken in time, to publish one message if it must be.

use horus_shm::ends::inspect::inspect;
use horus_shm::ends::{Kind, Making, Payload, Publication};

use crate::time::MonotonicTime;
use crate::topic::{Directory, TopicName};

/// A publisher of one message that is known beforehand.
pub(super) struct Seat {
    publication: Publication,
    message: Vec<u8>,
}

impl Seat {
    /// Becomes a further publisher of a topic that exists.
    pub fn take(directory: &Directory, topic: &str, message: Vec<u8>) -> crate::Result<Self> {
        let name: TopicName = topic.parse()?;
        let found = inspect(&directory.file(&name))?;
        let header = found.ok_or_else(|| crate::Error::new(format!("there is no topic {topic}")))?.header;
        let shape = header.shape;
        if shape.payload_bytes() != message.len() {
            return Err(crate::Error::new(format!(
                "topic {topic} carries {} bytes, not {}",
                shape.payload_bytes(),
                message.len()
            )));
        }
        let kind =
            Kind { type_name: &header.type_name, layout_hash: header.layout_hash, description: &header.description };
        let making = Making {
            capacity: shape.capacity(),
            policy: header.policy,
            access: directory.access()?,
            publishers: shape.lanes(),
            wakes: header.wakes,
        };
        let payload = Payload { bytes: shape.payload_bytes(), align: shape.payload_align() };
        Ok(Self { publication: Publication::open(directory, &name, kind, payload, &making)?, message })
    }

    /// Publishes it.
    pub fn publish(&mut self, now: MonotonicTime) {
        if let Ok(mut loan) = self.publication.loan() {
            loan.copy_from_slice(&self.message);
            loan.publish(now.as_nanos());
        }
    }
}
