//! The monitor's lane of a topic, taken in time, to publish one message if it must be.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use horus_shm::ends::inspect::inspect;
use horus_shm::ends::{Kind, Payload, Publication};

use crate::time::MonotonicTime;
use crate::topic::{Directory, TopicName};

/// A publisher of one message that is known beforehand.
pub(super) struct Seat {
    /// The lane, which all nodes share that the monitor may have to publish for on this topic.
    publication: Arc<Mutex<Publication>>,
    message: Vec<u8>,
}

/// The monitor's lanes that it has.
pub(super) struct Seats {
    directory: Directory,
    taken: RefCell<BTreeMap<TopicName, Weak<Mutex<Publication>>>>,
}

impl Seats {
    /// Those on the topics of a directory: none yet.
    pub fn new(directory: Directory) -> Self {
        Self { directory, taken: RefCell::default() }
    }

    /// Takes the monitor's lane of a topic that is published, in the place of a process of user and group `owner`: if these may write
    /// to it.
    pub fn take(&self, topic: &str, message: &[u8], owner: (u32, u32)) -> crate::Result<Seat> {
        let (name, directory): (TopicName, _) = (topic.parse()?, &self.directory);
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
        let payload = Payload { bytes: shape.payload_bytes(), align: shape.payload_align() };
        let mut taken = self.taken.borrow_mut();
        let shared = taken.get(&name).and_then(Weak::upgrade).filter(|shared| {
            let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.payload() == payload && shared.check().is_ok()
        });
        let publication = match shared {
            Some(shared) => shared,
            None => {
                let opened = Publication::in_the_monitors_lane(directory, &name, kind, payload)?;
                let opened = opened.ok_or_else(|| crate::Error::new(format!("topic {topic} is not published yet")))?;
                let opened = Arc::new(Mutex::new(opened));
                taken.retain(|_, shared| shared.strong_count() > 0);
                taken.insert(name, Arc::downgrade(&opened));
                opened
            }
        };
        Ok(Seat { publication, message: message.to_owned() })
    }
}

impl Seat {
    /// Whether the lane's last message is this one, and was published at `since` or later: by a monitor before this one.
    pub fn was_published(&self, since: MonotonicTime) -> bool {
        let publication = self.publication.lock().unwrap_or_else(PoisonError::into_inner);
        publication.last().is_some_and(|(message, sent_ns)| message == self.message && sent_ns >= since.as_nanos())
    }

    /// Publishes it.
    pub fn publish(&mut self, now: MonotonicTime) {
        let mut publication = self.publication.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(mut loan) = publication.loan() {
            loan.copy_from_slice(&self.message);
            loan.publish(now.as_nanos());
        }
    }
}
