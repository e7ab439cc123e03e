//! How the ends of an action are opened.

use std::path::PathBuf;

use super::MAX_GOALS;
use crate::service;
use crate::topic::{self, Group, WaitStrategy};

/// What becomes of a goal that comes while as many run as may run at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preemption {
    /// The new one is rejected.
    #[default]
    Refuse,
    /// It is accepted, and waits until its turn comes.
    Queue,
    /// It takes the place of the one that has run longest, which is aborted; one that is canceling ends as canceled.
    Replace,
}

/// What becomes of the goals of a client that is killed, ends, or is dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientGone {
    /// They are canceled, as if a client had asked for it: the server's program ends them.
    #[default]
    Cancel,
    /// They go on.
    Continue,
}

/// What a server and a client say of an action beside its types. Both may say nothing: `Options::default()`.
///
/// What a server says alone: preemption, how many goals run at a time, and what becomes of goals whose client is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub(super) service: service::Options,
    pub(super) topic: topic::Options,
    pub(super) preemption: Preemption,
    pub(super) at_once: usize,
    pub(super) client_gone: ClientGone,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            service: service::Options::default(),
            topic: topic::Options::default(),
            preemption: Preemption::default(),
            at_once: 1,
            client_gone: ClientGone::default(),
        }
    }
}

impl From<Preemption> for Options {
    fn from(preemption: Preemption) -> Self {
        Self::default().preemption(preemption)
    }
}

impl From<&Self> for Options {
    fn from(options: &Self) -> Self {
        options.clone()
    }
}

impl Options {
    /// What becomes of a goal that comes while as many run as may run at a time; refused if not said otherwise.
    #[must_use]
    pub fn preemption(mut self, preemption: Preemption) -> Self {
        self.preemption = preemption;
        self
    }

    /// How many goals run at a time, 1 to 16; 1 if not said otherwise.
    #[must_use]
    pub fn at_once(mut self, goals: usize) -> Self {
        self.at_once = goals.clamp(1, MAX_GOALS);
        self
    }

    /// What becomes of the goals of a client that is gone; they are canceled if not said otherwise.
    #[must_use]
    pub fn client_gone(mut self, client_gone: ClientGone) -> Self {
        self.client_gone = client_gone;
        self
    }

    /// As [`service::Options::clients`]: room for so many clients at a time, 8 to 63.
    #[must_use]
    pub fn clients(mut self, clients: usize) -> Self {
        self.service = self.service.clients(clients);
        self
    }

    /// As [`topic::Options::group`]: lets the members of a group send goals, or serve.
    #[must_use]
    pub fn group(self, group: impl Into<Group>) -> Self {
        let topic = self.topic.clone().group(group);
        self.of_topic(topic)
    }

    /// As [`topic::Options::directory`].
    #[must_use]
    pub fn directory(self, directory: impl Into<PathBuf>) -> Self {
        let topic = self.topic.clone().directory(directory);
        self.of_topic(topic)
    }

    /// How a server waits for goals, and a client for what comes of them; see [`topic::Options::wait_strategy`].
    #[must_use]
    pub fn wait_strategy(self, wait_strategy: WaitStrategy) -> Self {
        let topic = self.topic.clone().wait_strategy(wait_strategy);
        self.of_topic(topic)
    }

    /// With the group, the directory and the wait strategy of a topic's options. The rest of them an action says by itself.
    #[must_use]
    pub fn of_topic(mut self, topic: topic::Options) -> Self {
        let topic = topic.place_and_waiting();
        self.service = self.service.in_topic(topic.clone());
        self.topic = topic;
        self
    }

    /// The topic of feedbacks.
    pub(crate) fn feedback(&self) -> topic::Options {
        self.topic.clone().with_policy_of(topic::Options::latest(64))
    }

    /// The topic that says where all goals stand. Who comes late gets the newest.
    pub(crate) fn status(&self) -> topic::Options {
        self.topic.clone().with_policy_of(topic::Options::latest(16)).history(1)
    }

    /// Of the service of goals: each goal that a client may have says in parts that it is accepted, that it runs and that it is to end.
    pub(crate) fn service(&self) -> service::Options {
        self.service.clone().parts(3 * MAX_GOALS - 1)
    }
}
