//! ROS 2's default wire: DDS, by RustDDS. Payloads go through as they are; what RustDDS would serialise is done already.

mod adapter;
mod events;
mod kept;
mod late;
mod nodes;
mod quality;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
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
use crate::route::{Endpoint, Numbers, Sender, Sent, Shared, Sink, Source, Took, Transport};
use adapter::{Decoder, Plain, Raw};
use events::Events;
use kept::Kept;
use late::{Asking, Late, Make};
use nodes::Nodes;

/// A participant of a DDS domain that looks like a node of ROS 2.
pub struct Dds {
    participant: DomainParticipant,
    publisher: Publisher,
    subscriber: Subscriber,
    listener: DomainParticipantStatusListener,
    /// Shared with the writers of topics that come in two kinds.
    known: Rc<RefCell<Known>>,
    asking: Asking,
    kept: Kept,
    waker: Waker,
}

/// What others are told of our endpoints, and what we know of them.
struct Known {
    nodes: Nodes,
    events: Events,
}

impl Known {
    fn add_writer(&mut self, writer: &DataWriter<Raw, Plain>, endpoint: &Endpoint) {
        self.nodes.add_writer(writer.guid());
        self.events.add(writer.guid(), endpoint);
    }
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
        let known = Rc::new(RefCell::new(Known { nodes, events: Events::default() }));
        let (asking, kept) = (Asking::default(), Kept::new());
        Ok(Self { participant, publisher, subscriber, listener, known, asking, kept, waker })
    }

    fn topic(&self, endpoint: &Endpoint, quality: &QosPolicies) -> Result<Topic, String> {
        let (name, type_name) = (dds_topic(&endpoint.topic), dds_message(&endpoint.type_name));
        self.participant.create_topic(name, type_name, quality, TopicKind::NoKey).map_err(|error| error.to_string())
    }
}

impl Transport for Dds {
    fn advertise(&mut self, endpoint: &Endpoint) -> Result<Box<dyn Sink>, String> {
        let quality = quality::of_writer(endpoint, false);
        let topic = self.topic(endpoint, &quality)?;
        let (publisher, known, endpoint) = (self.publisher.clone(), self.known.clone(), endpoint.clone());
        let delivery = endpoint.delivery;
        let name = dds_topic(&endpoint.topic);
        let depth = delivery.depth.min(quality::most(&endpoint));
        let make: Make = Box::new(move |is_transient_local| {
            let quality = quality::of_writer(&endpoint, is_transient_local);
            let writer = publisher.create_datawriter_no_key::<Raw, Plain>(&topic, Some(quality));
            let writer = writer.map_err(|error| error.to_string())?;
            known.borrow_mut().add_writer(&writer, &endpoint);
            Ok(writer)
        });
        let is_given = delivery.is_transient_local && self.asking.is_any(&name);
        let writer = make(is_given)?;
        // One that is neither keeps no more than its depth.
        let kept = (delivery.is_reliable || delivery.is_transient_local).then(|| self.kept.clone());
        let late = delivery.is_transient_local.then(|| Late {
            topic: name,
            asking: self.asking.clone(),
            depth,
            make,
            is_given,
            last: VecDeque::new(),
            due: VecDeque::new(),
            before: Vec::new(),
        });
        Ok(Box::new(Writer { writer, payload: BytesMut::new(), kept, late, known: self.known.clone() }))
    }

    fn subscribe(&mut self, endpoint: &Endpoint, _: &Shared) -> Result<Box<dyn Source>, String> {
        let quality = quality::of_reader(endpoint);
        let topic = self.topic(endpoint, &quality)?;
        let reader = self.subscriber.create_simple_datareader_no_key::<(), Plain>(&topic, Some(quality));
        let reader = reader.map_err(|error| error.to_string())?;
        reader.set_waker(Some(self.waker.clone()));
        let mut known = self.known.borrow_mut();
        known.nodes.add_reader(reader.guid());
        known.events.add(reader.guid(), endpoint);
        Ok(Box::new(Reader { reader, waker: self.waker.clone(), numbers: Numbers::new(&endpoint.file) }))
    }

    fn events(&mut self, tell: &mut dyn FnMut(&str, Priority, String)) {
        while let Some(event) = self.listener.try_recv_status() {
            self.asking.follow(&event);
            self.known.borrow().events.tell(&event, tell);
        }
    }
}

struct Writer {
    writer: DataWriter<Raw, Plain>,
    /// Allocated anew only while RustDDS still holds what was in it.
    payload: BytesMut,
    kept: Option<Kept>,
    /// For who comes late, if it shall get something.
    late: Option<Late>,
    known: Rc<RefCell<Known>>,
}

impl Writer {
    /// Hands over what has to go before the next message; false if there is no room for it now.
    fn send_due(&mut self) -> bool {
        let Some(late) = &mut self.late else { return true };
        while let Some(message) = late.due.front() {
            if self.kept.as_ref().is_some_and(|kept| !kept.take(message.len())) {
                return false;
            }
            if let Err(WriteError::WouldBlock { .. }) = self.writer.write(Raw(message.clone()), None) {
                return false;
            }
            late.due.pop_front();
        }
        true
    }
}

impl Sink for Writer {
    fn send(&mut self, message: &[u8], _stamp_ns: u64) -> Sent {
        if !self.send_due() {
            return Sent::Full;
        }
        if self.kept.as_ref().is_some_and(|kept| !kept.take(message.len())) {
            return Sent::Full;
        }
        // RustDDS puts the four bytes in front by itself.
        self.payload.extend_from_slice(&message[ENCAPSULATION.len()..]);
        let message: Bytes = self.payload.split().freeze();
        match self.writer.write(Raw(message.clone()), None) {
            Ok(()) => {
                if let Some(late) = &mut self.late {
                    late.taken(message);
                }
                Sent::Taken
            }
            Err(WriteError::WouldBlock { .. }) => Sent::Full,
            Err(_) => Sent::Lost,
        }
    }

    fn sender(&self) -> Sender {
        self.writer.guid().to_bytes()
    }

    fn look(&mut self) {
        self.send_due();
        let Some(late) = &mut self.late else { return };
        // One that cannot be made is tried again with the next look.
        if let Some(Ok(next)) = late.next() {
            let before = std::mem::replace(&mut self.writer, next);
            self.known.borrow_mut().nodes.remove_writer(before.guid());
            late.before.push((before, Instant::now()));
        }
    }
}

struct Reader {
    reader: SimpleDataReader<(), Plain>,
    waker: Waker,
    numbers: Numbers,
}

impl Source for Reader {
    fn take(&mut self, into: &mut dyn FnMut(Option<&[u8]>)) -> Took {
        self.reader.drain_read_notifications();
        self.reader.set_waker(Some(self.waker.clone()));
        let into = RefCell::new(into);
        match self.reader.try_take_one_with(Decoder(&into)) {
            Ok(None) => Took::Nothing,
            Ok(Some(message)) => {
                let number = i64::from(message.sequence_number);
                if self.numbers.follow(message.writer_guid.to_bytes(), number) { Took::Message } else { Took::Circle }
            }
            Err(_) => {
                self.numbers.unread();
                into.borrow_mut()(None);
                Took::Message
            }
        }
    }

    fn damage(&self) -> (u64, u64) {
        self.numbers.damage()
    }
}

/// By number: what is known of an endpoint of ours.
type Ours = BTreeMap<rustdds::GUID, Endpoint>;
