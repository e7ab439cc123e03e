//! Our participant, and what of it all our endpoints share. It is made anew when RustDDS ended its threads.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;

use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, DomainParticipantStatusListener, Publisher, QosPolicies, RTPSEntity,
    Subscriber, Topic, TopicKind,
};

use super::adapter::{Plain, Raw};
use super::events::Events;
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
    pub listener: DomainParticipantStatusListener,
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
        Ok(Self { turn, listener, nodes, events, publisher, subscriber, threads, waker, participant })
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

    fn topic(&self, endpoint: &Endpoint, quality: &QosPolicies) -> Result<Topic, String> {
        let (name, type_name) = (dds_topic(&endpoint.topic), dds_message(&endpoint.type_name));
        self.participant.create_topic(name, type_name, quality, TopicKind::NoKey).map_err(|error| error.to_string())
    }
}
