//! What a test publishes and looks at when types are known only at run time.

use std::path::Path;

use horus_shm::directory::{Directory, Scope};
use horus_shm::ends::inspect::inspect;
use horus_shm::segment::layout::DeliveryPolicy;

use super::{CAPACITY, Scratch, VirtualWorld};
use crate::app::{App, Settings};
use crate::message::layout::Layout;
use crate::topic::{Options, Publisher, Raw, Subscriber};

impl VirtualWorld {
    /// As [`publish`](Self::publish), for messages of a layout.
    ///
    /// # Errors
    /// When the topic cannot be opened, or a program of this world publishes it, or the message has the wrong size.
    pub fn publish_raw(&mut self, topic: &str, layout: &Layout, message: &[u8]) -> crate::Result {
        let options = match self.publishers.contains_key(topic) {
            true => Options::default(), // not looked at
            false => self.as_readers_ask(topic)?,
        };
        self.publish_raw_with(topic, options, layout, message)
    }

    /// As [`publish_with`](Self::publish_with), for messages of a layout.
    ///
    /// # Errors
    /// As [`publish_raw`](Self::publish_raw).
    pub fn publish_raw_with(
        &mut self,
        topic: &str,
        options: Options,
        layout: &Layout,
        message: &[u8],
    ) -> crate::Result {
        check_size(layout, message.len())?;
        if !self.publishers.contains_key(topic) {
            let publisher = Publisher::<Raw>::open_as(topic, layout, options.directory(self.directory.path()))?;
            self.publishers.insert(topic.to_owned(), Sending { publisher, hash: layout.hash() });
        }
        let now_ns = self.simulation.now().as_nanos();
        let known = self.publishers.get_mut(topic).filter(|known| known.hash == layout.hash());
        let sending = known.ok_or_else(|| other_type(topic))?;
        sending.publisher.try_send_stamped(message, now_ns).map_err(|_full| {
            let capacity = sending.publisher.capacity();
            crate::Error::new(format!(
                "it holds {capacity} messages that its readers have not read: let time pass (run_for), or make it larger"
            ))
        })
    }

    /// What a publisher has to make of a topic so that it suits the inputs that are there: a reliable topic as it is, and any other with
    /// room enough for a test.
    fn as_readers_ask(&self, topic: &str) -> crate::Result<Options> {
        let file = Directory::at(self.directory.path())?.file(&topic.parse()?);
        Ok(match inspect(&file)?.map(|found| (found.header.policy, found.header.shape.capacity())) {
            Some((DeliveryPolicy::Reliable, capacity)) => Options::reliable(capacity),
            Some((DeliveryPolicy::Latest, capacity)) => Options::latest(capacity.max(CAPACITY)),
            None => Options::latest(CAPACITY),
        })
    }

    /// As [`last`](Self::last), for messages of a layout: whether there is one, which is then in `into`.
    ///
    /// # Errors
    /// When the topic cannot be opened, has another type of message, or `into` has the wrong size.
    pub fn last_raw(&mut self, topic: &str, layout: &Layout, into: &mut [u8]) -> crate::Result<bool> {
        check_size(layout, into.len())?;
        if !self.subscribers.contains_key(topic) {
            let options = Options::default().history(1).directory(self.directory.path());
            let seen = Seen {
                subscriber: Subscriber::<Raw>::open_as(topic, layout, options)?,
                last: None,
                hash: layout.hash(),
            };
            self.subscribers.insert(topic.to_owned(), seen);
        }
        let known = self.subscribers.get_mut(topic).filter(|seen| seen.hash == layout.hash());
        let seen = known.ok_or_else(|| other_type(topic))?;
        while seen.subscriber.try_recv_into(into).is_some() {
            seen.last = Some(into.to_vec());
        }
        if let Some(last) = &seen.last {
            into.copy_from_slice(last);
        }
        Ok(seen.last.is_some())
    }
}

/// The nodes of a world that are still being declared, for who cannot do so in one function.
pub struct Unbuilt {
    pub(super) app: App,
    // Dropped last: the topics are in it.
    pub(super) directory: Scratch,
}

impl Unbuilt {
    /// No nodes yet; with the settings of a `node.toml`, if there is one.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn new(settings: Option<&Path>) -> crate::Result<Self> {
        Self::with(settings.map_or_else(|| Ok(Settings::default()), Settings::read)?)
    }

    pub(super) fn with(settings: Settings) -> crate::Result<Self> {
        let directory = Scratch::new()?;
        Ok(Self { app: App::in_virtual_time(directory.path().to_owned(), settings), directory })
    }

    /// What declares them.
    pub fn app(&mut self) -> &mut App {
        &mut self.app
    }

    /// Until it is dropped, the topics that this thread opens are the world's: for as long as nodes are declared.
    pub fn inside(&self) -> Scope {
        Scope::enter(self.directory.path())
    }

    /// The world with these nodes.
    ///
    /// # Errors
    /// Those of the program: what is wrong with its graph.
    pub fn build(self) -> crate::Result<VirtualWorld> {
        VirtualWorld::of(self)
    }
}

/// A topic that a test publishes.
pub(super) struct Sending {
    publisher: Publisher<Raw>,
    hash: u64,
}

/// A topic that a test looks at.
pub(super) struct Seen {
    subscriber: Subscriber<Raw>,
    last: Option<Vec<u8>>,
    hash: u64,
}

fn check_size(layout: &Layout, bytes: usize) -> crate::Result {
    let wanted = layout.payload().bytes;
    if bytes == wanted {
        return Ok(());
    }
    Err(crate::Error::new(format!("the message has {bytes} bytes, and one of {} has {wanted}", layout.type_name())))
}

fn other_type(topic: &str) -> crate::Error {
    crate::Error::new(format!("this test used topic {topic} with another type of message before: use the same one"))
}
