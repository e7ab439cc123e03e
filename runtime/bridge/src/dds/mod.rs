//! ROS 2's default wire: DDS, by RustDDS. Payloads go through as they are; what RustDDS would serialise is done already.

mod adapter;
mod events;
mod kept;
mod nodes;
mod quality;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;

use bytes::BytesMut;
use horus::journal::Priority;
use rustdds::StatusEvented;
use rustdds::dds::WriteError;
use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, DomainParticipantStatusListener, Publisher, QosPolicies, RTPSEntity,
    Subscriber, Topic, TopicKind,
};

use crate::cdr::ENCAPSULATION;
use crate::names::{dds_message, dds_topic};
use crate::route::{Endpoint, Sent, Shared, Sink, Source, Transport};
use adapter::{Decoder, Plain, Raw};
use events::Events;
use kept::Kept;
use nodes::Nodes;

/// A participant of a DDS domain that looks like a node of ROS 2.
pub struct Dds {
    participant: DomainParticipant,
    publisher: Publisher,
    subscriber: Subscriber,
    listener: DomainParticipantStatusListener,
    nodes: Nodes,
    events: Events,
    kept: Kept,
    waker: Waker,
}

/// Unparks the thread that serves.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl Dds {
    /// Joins the domain; what arrives unparks this thread.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn join(domain: u16, node: &str) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| format!("cannot join DDS domain {domain}: {error}");
        let participant = DomainParticipantBuilder::new(domain).build().map_err(|error| text(&error))?;
        let nothing = quality::none();
        let publisher = participant.create_publisher(&nothing).map_err(|error| text(&error))?;
        let subscriber = participant.create_subscriber(&nothing).map_err(|error| text(&error))?;
        let nodes = Nodes::announce(&participant, &publisher, node).map_err(|error| text(&error))?;
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let listener = participant.status_listener();
        let events = Events::default();
        Ok(Self { participant, publisher, subscriber, listener, nodes, events, kept: Kept::new(), waker })
    }

    fn topic(&self, endpoint: &Endpoint, quality: &QosPolicies) -> Result<Topic, String> {
        let (name, type_name) = (dds_topic(&endpoint.topic), dds_message(&endpoint.type_name));
        self.participant.create_topic(name, type_name, quality, TopicKind::NoKey).map_err(|error| error.to_string())
    }
}

impl Transport for Dds {
    fn advertise(&mut self, endpoint: &Endpoint) -> Result<Box<dyn Sink>, String> {
        let quality = quality::of_writer(endpoint);
        let topic = self.topic(endpoint, &quality)?;
        let writer = self.publisher.create_datawriter_no_key::<Raw, Plain>(&topic, Some(quality));
        let writer = writer.map_err(|error| error.to_string())?;
        self.nodes.add_writer(writer.guid());
        self.events.add(writer.guid(), endpoint);
        // One that is neither keeps no more than its depth.
        let is_kept = endpoint.delivery.is_reliable || endpoint.delivery.is_transient_local;
        let kept = is_kept.then(|| self.kept.clone());
        Ok(Box::new(Writer { writer, payload: BytesMut::new(), kept }))
    }

    fn subscribe(&mut self, endpoint: &Endpoint, _: &Shared) -> Result<Box<dyn Source>, String> {
        let quality = quality::of_reader(endpoint);
        let topic = self.topic(endpoint, &quality)?;
        let reader = self.subscriber.create_simple_datareader_no_key::<(), Plain>(&topic, Some(quality));
        let reader = reader.map_err(|error| error.to_string())?;
        reader.set_waker(Some(self.waker.clone()));
        self.nodes.add_reader(reader.guid());
        self.events.add(reader.guid(), endpoint);
        Ok(Box::new(Reader { reader, waker: self.waker.clone() }))
    }

    fn events(&mut self, tell: &mut dyn FnMut(&str, Priority, String)) {
        while let Some(event) = self.listener.try_recv_status() {
            self.events.tell(&event, tell);
        }
    }
}

struct Writer {
    writer: DataWriter<Raw, Plain>,
    /// Allocated anew only while RustDDS still holds what was in it.
    payload: BytesMut,
    kept: Option<Kept>,
}

impl Sink for Writer {
    fn send(&mut self, message: &[u8], _stamp_ns: u64) -> Sent {
        if self.kept.as_ref().is_some_and(|kept| !kept.take(message.len())) {
            return Sent::Full;
        }
        // RustDDS puts the four bytes in front by itself.
        self.payload.extend_from_slice(&message[ENCAPSULATION.len()..]);
        match self.writer.write(Raw(self.payload.split().freeze()), None) {
            Ok(()) => Sent::Taken,
            Err(WriteError::WouldBlock { .. }) => Sent::Full,
            Err(_) => Sent::Lost,
        }
    }
}

struct Reader {
    reader: SimpleDataReader<(), Plain>,
    waker: Waker,
}

impl Source for Reader {
    fn take(&mut self, into: &mut dyn FnMut(Option<&[u8]>)) -> bool {
        self.reader.drain_read_notifications();
        self.reader.set_waker(Some(self.waker.clone()));
        let into = RefCell::new(into);
        match self.reader.try_take_one_with(Decoder(&into)) {
            Ok(None) => false,
            Ok(Some(_)) => true,
            Err(_) => {
                into.borrow_mut()(None);
                true
            }
        }
    }
}

/// By number: what is known of an endpoint of ours.
type Ours = BTreeMap<rustdds::GUID, Endpoint>;
