//! Our participant, and what of it all our endpoints share. It is made anew when RustDDS ended its threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;

use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, DomainParticipantStatusEvent, DomainParticipantStatusListener, GUID,
    Publisher, QosPolicies, RTPSEntity, StatusEvented, Subscriber, Topic, TopicKind,
};

use super::adapter::{Plain, Raw};
use super::events::Events;
use super::matches::{Matches, Waiting};
use super::nodes::Nodes;
use super::quality;
use super::threads::Threads;
use crate::names::{dds_message, dds_topic};
use crate::route::Endpoint;

/// A participant of a domain, and what others are told of its endpoints.
pub struct Joined {
    /// How many there were before it: endpoints of another one are dead.
    pub turn: u32,
    /// What happens out there.
    listener: DomainParticipantStatusListener,
    waiting: Waiting,
    matches: Matches,
    /// Writers of replies whose service is not there any more, by what DDS calls the topic and its message.
    left: BTreeMap<(String, String), DataWriter<Raw, Plain>>,
    pub nodes: Nodes,
    pub events: Events,
    publisher: Publisher,
    subscriber: Subscriber,
    threads: Threads,
    waker: Waker,
    participant: DomainParticipant,
}

/// Unparks the thread that serves.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Joined {
    /// Joins the domain, after `turn` participants before this one; what arrives unparks this thread.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn new(domain: u16, node: &str, turn: u32) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| format!("cannot join DDS domain {domain}: {error}");
        let (made, threads) = Threads::of(|| DomainParticipantBuilder::new(domain).build());
        let participant = made.map_err(|error| text(&error))?;
        let nothing = quality::none();
        let publisher = participant.create_publisher(&nothing).map_err(|error| text(&error))?;
        let subscriber = participant.create_subscriber(&nothing).map_err(|error| text(&error))?;
        let nodes = Nodes::announce(&participant, &publisher, node).map_err(|error| text(&error))?;
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let (listener, events) = (participant.status_listener(), Events::default());
        let (waiting, matches, left) = (Waiting::new(), Matches::default(), BTreeMap::new());
        Ok(Self {
            turn,
            listener,
            waiting,
            matches,
            left,
            nodes,
            events,
            publisher,
            subscriber,
            threads,
            waker,
            participant,
        })
    }

    /// Whether it still hears and says something.
    pub fn lives(&self) -> bool {
        self.threads.live()
    }

    /// What unparks the thread that serves.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Announces a topic that goes out.
    pub fn writer(&mut self, endpoint: &Endpoint, is_transient_local: bool) -> Result<DataWriter<Raw, Plain>, String> {
        let quality = quality::of_writer(endpoint, is_transient_local);
        let topic = self.topic(endpoint, &quality)?;
        let writer = self.publisher.create_datawriter_no_key::<Raw, Plain>(&topic, Some(quality));
        let writer = writer.map_err(|error| error.to_string())?;
        self.nodes.add_writer(writer.guid());
        self.events.add(writer.guid(), endpoint);
        Ok(writer)
    }

    /// Asks for a topic that comes in.
    pub fn reader(&mut self, endpoint: &Endpoint) -> Result<SimpleDataReader<(), Plain>, String> {
        let quality = quality::of_reader(endpoint);
        let topic = self.topic(endpoint, &quality)?;
        let reader = self.subscriber.create_simple_datareader_no_key::<(), Plain>(&topic, Some(quality));
        let reader = reader.map_err(|error| error.to_string())?;
        reader.set_waker(Some(self.waker()));
        self.nodes.add_reader(reader.guid());
        self.events.add(reader.guid(), endpoint);
        Ok(reader)
    }

    /// Sends the requests of a service, or its replies: `of` is what DDS calls the topic and its message.
    pub fn service_writer(
        &mut self,
        of: (String, String),
        bytes: usize,
        node: Option<&str>,
    ) -> Result<DataWriter<Raw, Plain>, String> {
        if let Some(left) = self.left.remove(&of) {
            return Ok(left);
        }
        let quality = quality::of_service(bytes);
        let topic = self.topic_of(of, &quality)?;
        let writer = self.publisher.create_datawriter_no_key::<Raw, Plain>(&topic, Some(quality));
        let writer = writer.map_err(|error| error.to_string())?;
        self.nodes.add_writer_of(node, writer.guid());
        Ok(writer)
    }

    /// Has ROS see that a service is not there any more: a writer of replies is left of it, which the service has when it comes again.
    ///
    /// That a reader and a writer of RustDDS 0.15 went, Fast DDS does not see: it looks for their number where RustDDS does not write it. But
    /// rmw_fastrtps takes a service for one that is there only if as many hear its requests as send replies.
    pub fn take_back(&mut self, of: (String, String), bytes: usize, node: Option<&str>) {
        if let Ok(writer) = self.service_writer(of.clone(), bytes, node) {
            self.left.insert(of, writer);
        }
    }

    /// Hears the requests of a service, or its replies.
    pub fn service_reader(
        &mut self,
        of: (String, String),
        bytes: usize,
        node: Option<&str>,
    ) -> Result<SimpleDataReader<(), Plain>, String> {
        let quality = quality::of_service(bytes);
        let topic = self.topic_of(of, &quality)?;
        let reader = self.subscriber.create_simple_datareader_no_key::<(), Plain>(&topic, Some(quality));
        let reader = reader.map_err(|error| error.to_string())?;
        reader.set_waker(Some(self.waker()));
        self.nodes.add_reader_of(node, reader.guid());
        Ok(reader)
    }

    /// The next event that was not told yet.
    pub fn event(&mut self) -> Option<DomainParticipantStatusEvent> {
        self.follow();
        self.waiting.pop_front()
    }

    /// Whether DDS has brought a writer of ours together with a reader out there.
    pub fn is_matched(&mut self, ours: GUID, theirs: GUID) -> bool {
        self.follow();
        self.matches.has(ours, theirs)
    }

    /// Whether a participant out there hears the requests of this writer and replies to this reader.
    pub fn is_served(&mut self, writer: GUID, reader: GUID) -> bool {
        self.follow();
        self.matches.is_served(writer, reader)
    }

    fn follow(&mut self) {
        use DomainParticipantStatusEvent as Event;
        while let Some(event) = self.listener.try_recv_status() {
            match &event {
                Event::RemoteReaderMatched { local_writer, remote_reader } => {
                    self.matches.come(*local_writer, *remote_reader);
                }
                Event::RemoteWriterMatched { local_reader, remote_writer } => {
                    self.matches.come(*local_reader, *remote_writer);
                }
                Event::ReaderLost { guid, .. } | Event::WriterLost { guid, .. } => self.matches.go(*guid),
                Event::ParticipantLost { id, .. } => self.matches.leave(|theirs| theirs.prefix == *id),
                _ => {}
            }
            self.waiting.push_back(event);
        }
    }

    fn topic(&self, endpoint: &Endpoint, quality: &QosPolicies) -> Result<Topic, String> {
        self.topic_of((dds_topic(&endpoint.topic), dds_message(&endpoint.type_name)), quality)
    }

    fn topic_of(&self, (name, type_name): (String, String), quality: &QosPolicies) -> Result<Topic, String> {
        self.participant.create_topic(name, type_name, quality, TopicKind::NoKey).map_err(|error| error.to_string())
    }
}
