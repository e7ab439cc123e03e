//! How the ends of a service are opened.

use std::path::PathBuf;

use super::{CLIENTS, MAX_CALLS};
use crate::topic::{self, Group, WaitStrategy};

/// Clients that a service has room for at most.
const MOST_CLIENTS: usize = 63;

/// What a server and a client say of a service beside the types. Both may say nothing: `Options::default()`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    topic: topic::Options,
    clients: usize,
    is_shared: bool,
    parts: usize,
}

impl Options {
    /// Has a server make room for so many clients at a time, 8 to 63; 8 if not said otherwise. A client that comes before the server makes
    /// room for 8.
    #[must_use]
    pub fn clients(mut self, clients: usize) -> Self {
        self.clients = clients;
        self
    }

    /// Lets up to 8 servers serve the service: each request goes to one of them. All of its servers and clients say so, or none of them.
    ///
    /// A client asks the living server that has the fewest of its calls, and of several each in turn. When one is killed, its calls end with
    /// [`CallError::Died`](super::CallError::Died), and the others go on. A client may have 16 calls at each server.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    /// As [`topic::Options::group`]: lets the members of a group call, or serve.
    #[must_use]
    pub fn group(mut self, group: impl Into<Group>) -> Self {
        self.topic = self.topic.group(group);
        self
    }

    /// As [`topic::Options::directory`].
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.topic = self.topic.directory(directory);
        self
    }

    /// How a server waits for requests, and a client for answers; see [`topic::Options::wait_strategy`].
    #[must_use]
    pub fn wait_strategy(mut self, wait_strategy: WaitStrategy) -> Self {
        self.topic = self.topic.wait_strategy(wait_strategy);
        self
    }

    /// Has a client have room for so many parts that it has not looked at, in place of 15.
    pub(crate) fn parts(mut self, parts: usize) -> Self {
        self.parts = parts;
        self
    }

    /// With the group, the directory and the wait strategy of a topic's options. The rest of them a service says by itself.
    pub fn of_topic(topic: topic::Options) -> Self {
        Self { topic: topic.place_and_waiting(), ..Self::default() }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// These, with the group, the directory and the wait strategy of a topic's options.
    pub(crate) fn in_topic(mut self, topic: topic::Options) -> Self {
        self.topic = topic.place_and_waiting();
        self
    }

    /// The topic of the requests.
    pub(crate) fn requests(&self) -> topic::Options {
        // At least 8, so that a client which comes later finds what it asks for.
        self.topic.clone().with_policy_of(topic::Options::reliable(MAX_CALLS)).publishers(self.clients.max(CLIENTS))
    }

    /// The topic of what the clients count.
    pub(super) fn figures(&self) -> topic::Options {
        self.topic.clone().with_policy_of(topic::Options::latest(2)).publishers(MOST_CLIENTS)
    }

    /// A topic of answers.
    pub(super) fn answers(&self) -> topic::Options {
        // Beside the parts: an end of each call, and that the server started or stops.
        let messages = (self.parts + MAX_CALLS + 1).max(2 * MAX_CALLS);
        self.topic.clone().with_policy_of(topic::Options::reliable(messages))
    }

    /// The topic whose only publisher is the server.
    pub(super) fn seat(&self) -> topic::Options {
        self.topic.clone().with_policy_of(topic::Options::latest(2))
    }
}
