//! How a topic is made and joined.

use std::path::PathBuf;
use std::time::Duration;

use horus_shm::directory::Directory;
use horus_shm::endpoint::{Joining, Making};
use horus_shm::error::OpenError;
use horus_shm::layout::Policy;
use horus_shm::map::Access;
use horus_shm::wait::Waiting;

/// How a topic is made, and how its ends behave. What concerns the making ([`reliable`](Self::reliable),
/// [`latest`](Self::latest), [`publishers`](Self::publishers), [`group`](Self::group)) must be the same for all
/// publishers; a subscriber takes the topic as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    capacity: usize,
    policy: Policy,
    publishers: usize,
    access: Access,
    directory: Option<PathBuf>,
    history: usize,
    waiting: Waiting,
    is_stamping: bool,
}

impl Options {
    /// A topic that loses nothing: when `capacity` messages of a publisher wait for the slowest subscriber, sending is
    /// refused.
    ///
    /// `capacity` is a power of two from 1 to 2^20.
    pub fn reliable(capacity: usize) -> Self {
        Self {
            capacity,
            policy: Policy::Reliable,
            publishers: 1,
            access: Access::default(),
            directory: None,
            history: 0,
            waiting: Waiting::Spin,
            is_stamping: false,
        }
    }

    /// A topic whose publishers never wait: each overwrites the oldest of its `capacity` messages, and subscribers count
    /// what they missed.
    ///
    /// `capacity` is a power of two from 1 to 2^20; with 1, a subscriber is likely to meet the publisher in the slot.
    pub fn latest(capacity: usize) -> Self {
        Self { policy: Policy::Latest, ..Self::reliable(capacity) }
    }

    /// Makes room for so many publishers at a time, 1 to 64; 1 if not said otherwise. Each costs the memory of `capacity`
    /// messages.
    #[must_use]
    pub fn publishers(mut self, publishers: usize) -> Self {
        self.publishers = publishers;
        self
    }

    /// Lets the members of a group publish and subscribe too (mode 0660); otherwise only the user who made the topic can.
    #[must_use]
    pub fn group(mut self, group: u32) -> Self {
        self.access = Access { mode: 0o660, group: Some(group) };
        self
    }

    /// Keeps the topic in this directory instead of `$HORUS_SHM_DIR` or `/dev/shm/horus`.
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Has a subscriber receive, first of all, up to so many of the last messages that each publisher sent before it
    /// joined: at most the capacity, and of them those that were not overwritten before they are read.
    #[must_use]
    pub fn history(mut self, messages: usize) -> Self {
        self.history = messages;
        self
    }

    /// How to wait: a subscriber for messages, a publisher for room. Busily, if not said otherwise.
    #[must_use]
    pub fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    /// Has a publisher stamp every message with the time of sending, which
    /// [`Received::sent_ns`](horus_shm::ring::Received::sent_ns) tells. Not done if not asked for: reading the clock costs
    /// more than sending a small message.
    #[must_use]
    pub fn stamped(mut self) -> Self {
        self.is_stamping = true;
        self
    }

    /// What happens when the topic is full.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// Messages that the topic holds of each publisher.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn is_stamping(&self) -> bool {
        self.is_stamping
    }

    pub(crate) fn how_to_wait(&self) -> Waiting {
        self.waiting
    }

    pub(crate) fn making(&self) -> Making {
        Making { capacity: self.capacity, policy: self.policy, access: self.access, publishers: self.publishers }
    }

    pub(crate) fn joining(&self, wait: Wait) -> Joining {
        let wait = match wait {
            Wait::No => Duration::ZERO,
            Wait::UpTo(limit) => limit,
        };
        Joining { wait, history: self.history as u64, waiting: self.waiting }
    }

    pub(crate) fn open_directory(&self) -> Result<Directory, OpenError> {
        self.directory.as_ref().map_or_else(Directory::from_environment, Directory::at)
    }
}

/// Whether to wait for a topic that nobody publishes yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It must be there.
    No,
    /// Wait at most this long, looking once a millisecond.
    UpTo(Duration),
}
