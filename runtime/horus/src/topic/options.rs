//! How a topic is made and joined.

use std::path::PathBuf;

use horus_shm::directory::{Directory, Group};
use horus_shm::ends::{Joining, Making};
use horus_shm::error::OpenError;
use horus_shm::segment::file::Access;
use horus_shm::segment::header::Needs;
use horus_shm::segment::layout::DeliveryPolicy;
use horus_shm::wait::WaitStrategy;

/// Messages that a topic holds when nobody says how many.
const DEFAULT_CAPACITY: usize = 16;
/// Messages that a latched topic holds at least: the newest, the one that is being written, and those that two subscribers read in their place.
const LATCHED_CAPACITY: usize = 4;

/// How a topic is made, and how its ends behave.
///
/// They say what a program needs at least. A topic of another delivery policy is refused, and so is one with less room, unless nobody has
/// published it yet: then it is remade with as much. [`Options::default`] asks for no room in particular, and a subscriber
/// takes any policy by it. Who makes the topic by it makes one of `latest` that holds 16 messages and has room for one publisher: a
/// publisher, an output of a node, and `horus topic pub` alike.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    policy: Option<DeliveryPolicy>,
    capacity: Option<usize>,
    publishers: Option<usize>,
    group: Option<Group>,
    directory: Option<PathBuf>,
    history: usize,
    wait_strategy: Option<WaitStrategy>,
    is_stamping: bool,
    never_wakes: bool,
    is_latched: bool,
}

impl Options {
    /// A topic that loses nothing: when `capacity` messages of a publisher wait for the slowest subscriber, sending is
    /// refused.
    ///
    /// `capacity` is a power of two from 1 to 2^20.
    pub fn reliable(capacity: usize) -> Self {
        Self { policy: Some(DeliveryPolicy::Reliable), capacity: Some(capacity), ..Self::default() }
    }

    /// A topic whose publishers never wait: each overwrites the oldest of its `capacity` messages, and subscribers count
    /// what they missed.
    ///
    /// `capacity` is a power of two from 1 to 2^20; with 1, a subscriber is likely to meet the publisher in the slot.
    pub fn latest(capacity: usize) -> Self {
        Self { policy: Some(DeliveryPolicy::Latest), capacity: Some(capacity), ..Self::default() }
    }

    /// Makes room for so many publishers at a time, 1 to 63; 1 if not said otherwise. Each costs the memory of `capacity`
    /// messages. A monitor needs none: it has a place of its own in every topic.
    #[must_use]
    pub fn publishers(mut self, publishers: usize) -> Self {
        self.publishers = Some(publishers);
        self
    }

    /// Lets the members of a group, by name or number, publish and subscribe too (mode 0660).
    ///
    /// If not said here, the group is that of `$HORUS_GROUP`, or that of the topics' directory if it has mode 2770; otherwise
    /// only the user who makes the topic can use it.
    #[must_use]
    pub fn group(mut self, group: impl Into<Group>) -> Self {
        self.group = Some(group.into());
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

    /// The wait strategy: how a subscriber waits for messages, a publisher for room. If not said otherwise, as [`WaitStrategy::default`].
    ///
    /// On an isolated CPU of its own, `WaitStrategy::Spin` is the fastest.
    #[must_use]
    pub fn wait_strategy(mut self, wait_strategy: WaitStrategy) -> Self {
        self.wait_strategy = Some(wait_strategy);
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

    /// Makes a topic whose publishers wake nobody, so that sending never makes a system call. Its subscribers look for
    /// messages busily or by the clock, once a millisecond if they do not say otherwise.
    #[must_use]
    pub fn never_wake(mut self) -> Self {
        self.never_wakes = true;
        self
    }

    /// `topic`, in the directory and for the group that are said here.
    pub(crate) fn place_of(&self, topic: Self) -> Self {
        Self { directory: self.directory.clone(), group: self.group.clone(), ..topic }
    }

    /// Has who comes late get the newest message of every publisher, living or gone: for what is said once, such as a map or the
    /// description of a robot. ROS 2 calls it transient local.
    ///
    /// A publisher that says so makes a topic that stays when all its users are gone, until the machine starts anew or
    /// `horus topic clean --latched` removes it. A subscriber that says so receives the newest message of each lane first, as with
    /// [`history(1)`](Self::history). A publisher that takes a gone one's lane takes its place: its first message is then the newest.
    ///
    /// The topic holds four messages at least, so that a publisher killed in the middle of one leaves the one before, also while two
    /// subscribers [borrow](crate::topic::Subscriber::borrow) others.
    #[must_use]
    pub fn latched(mut self) -> Self {
        self.is_latched = true;
        self
    }

    /// These, with the delivery policy and the capacity of `other`.
    /// The group, the directory and the wait strategy of these, and nothing else of them.
    pub(crate) fn place_and_waiting(self) -> Self {
        let Self { group, directory, wait_strategy, .. } = self;
        Self { group, directory, wait_strategy, ..Self::default() }
    }

    pub(crate) fn with_policy_of(self, other: Self) -> Self {
        Self { policy: other.policy, capacity: other.capacity, ..self }
    }

    pub(crate) fn is_stamping(&self) -> bool {
        self.is_stamping
    }

    /// How a publisher waits for room.
    pub(crate) fn how_to_wait(&self) -> WaitStrategy {
        self.wait_strategy.unwrap_or_default()
    }

    pub(crate) fn making(&self, directory: &Directory) -> Result<Making, OpenError> {
        let access = match &self.group {
            Some(group) => Access { mode: 0o660, group: Some(group.number()?) },
            None => directory.access()?,
        };
        let enough = |capacity: usize| if self.is_latched { capacity.max(LATCHED_CAPACITY) } else { capacity };
        Ok(Making {
            capacity: enough(self.capacity.unwrap_or(DEFAULT_CAPACITY)),
            least: enough(self.capacity.unwrap_or(0)),
            policy: self.policy.unwrap_or(DeliveryPolicy::Latest),
            access,
            publishers: self.publishers.unwrap_or(1),
            wakes: !self.never_wakes,
            is_latched: self.is_latched,
        })
    }

    pub(crate) fn joining(&self, directory: &Directory) -> Result<Joining, OpenError> {
        Ok(Joining {
            needs: Needs { policy: self.policy, capacity: self.capacity.unwrap_or(0), waking: false },
            making: self.making(directory)?,
            history: if self.is_latched { self.history.max(1) } else { self.history } as u64,
            wait_strategy: self.wait_strategy,
        })
    }

    pub(crate) fn open_directory(&self) -> Result<Directory, OpenError> {
        self.directory.as_ref().map_or_else(Directory::from_environment, Directory::at)
    }
}
