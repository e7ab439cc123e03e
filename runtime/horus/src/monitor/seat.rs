//! A lane of a topic, taken in time, to publish one message if it must be.

use std::os::unix::fs::MetadataExt;

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
    /// Becomes a further publisher of a topic that exists, in the place of a process of user and group `owner`: if these may write
    /// to it.
    pub fn take(directory: &Directory, topic: &str, message: &[u8], owner: (u32, u32)) -> crate::Result<Self> {
        let name: TopicName = topic.parse()?;
        let file = std::fs::metadata(directory.file(&name))?;
        let (is_its, is_its_groups) = (file.uid() == owner.0, file.gid() == owner.1 && file.mode() & 0o020 != 0);
        if !is_its && !is_its_groups && owner.0 != 0 {
            return Err(crate::Error::new(format!(
                "topic {topic} belongs to another user, and to no group of this one"
            )));
        }
        if file.blocks().saturating_mul(512) < file.len() {
            // To map it would fill them, at this process's expense.
            return Err(crate::Error::new(format!(
                "topic {topic} has holes, which no topic of this crate has: remove it"
            )));
        }
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
        Ok(Self {
            publication: Publication::open(directory, &name, kind, payload, &making)?,
            message: message.to_owned(),
        })
    }

    /// Publishes it.
    pub fn publish(&mut self, now: MonotonicTime) {
        if let Ok(mut loan) = self.publication.loan() {
            loan.copy_from_slice(&self.message);
            loan.publish(now.as_nanos());
        }
    }
}
