//! A topic of small messages in a directory of its own.
#![allow(dead_code)] // each test binary uses a part

use std::path::PathBuf;

use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::{Joining, Kind, Making, Payload, Publication, Subscription};
use horus_shm::error::OpenError;
use horus_shm::segment::file::Access;
use horus_shm::segment::header::Needs;
use horus_shm::segment::layout::DeliveryPolicy;
use horus_shm::wait::WaitStrategy;

/// What the messages say.
pub type Message = [u64; 4];
pub const KIND: Kind<'static> = Kind { type_name: "test/Message", layout_hash: 7, description: "" };
pub const MAKING: Making = Making {
    capacity: 4,
    least: 4,
    policy: DeliveryPolicy::Reliable,
    access: Access { mode: 0o600, group: None },
    publishers: 1,
    wakes: true,
    is_latched: false,
};
pub const JOINING: Joining = Joining {
    needs: Needs { policy: None, capacity: 0, waking: false },
    making: MAKING,
    history: 0,
    wait_strategy: Some(WaitStrategy::Spin),
};

pub struct Scratch {
    pub directory: Directory,
    pub name: TopicName,
    pub files: tempfile::TempDir,
}

impl Scratch {
    pub fn new() -> Self {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let directory = Directory::at(files.path()).unwrap();
        Self { directory, name: "topic".parse().unwrap(), files }
    }

    pub fn file(&self) -> PathBuf {
        self.directory.file(&self.name)
    }

    pub fn files(&self) -> usize {
        std::fs::read_dir(self.directory.path()).unwrap().count()
    }

    pub fn publish(&self) -> Result<Publication, OpenError> {
        self.publish_as(&MAKING)
    }

    pub fn publish_as(&self, making: &Making) -> Result<Publication, OpenError> {
        Publication::open(&self.directory, &self.name, KIND, Payload::of::<Message>(), making)
    }

    pub fn subscribe(&self) -> Result<Subscription, OpenError> {
        self.subscribe_as(JOINING)
    }

    pub fn subscribe_as(&self, joining: Joining) -> Result<Subscription, OpenError> {
        self.subscribe_to(KIND, Payload::of::<Message>(), joining)
    }

    pub fn subscribe_to(&self, kind: Kind<'_>, payload: Payload, joining: Joining) -> Result<Subscription, OpenError> {
        Subscription::open(&self.directory, &self.name, kind, payload, joining)
    }
}

/// The message that is nothing but a number.
pub fn message(number: u64) -> Message {
    [number; 4]
}

/// The numbers of all messages that are there, each of which must be whole.
pub fn received(subscription: &mut Subscription) -> Vec<u64> {
    let take = || {
        let received = subscription.try_recv::<Message>()?;
        assert_eq!(received.message, message(received.message[0]), "a torn message");
        Some(received.message[0])
    };
    std::iter::from_fn(take).collect()
}
