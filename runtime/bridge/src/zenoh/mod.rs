//! rmw_zenoh's wire: ROS 2 over Zenoh, with its keys, its attachment, and the tokens by which nodes and topics are seen.
//!
//! Written from rmw_zenoh's design and tried with pyzeros; a real rmw_zenoh_cpp was not to be had (docs/ros2.md).

mod attachment;
mod fleet;
mod keys;
mod queue;
mod session;
mod watch;

use std::sync::Arc;
use std::thread::Thread;

use bytes::BytesMut;
use horus::journal::Priority;
use zenoh::Wait;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::{CongestionControl, Reliability};
use zenoh::sample::Sample;

use crate::cdr::ENCAPSULATION;
use crate::clock::Offset;
use crate::route::{Endpoint, OVER_DDS, Sender, Sent, Shared, Sink, Source, Took, Transport};
use attachment::Attachment;
pub use fleet::Fleet;
use keys::{Entity, Keys};
use queue::Queue;
pub use session::{Links, open, open_until};
use watch::Watch;

/// A session that looks like a node of ROS 2.
pub struct Zenoh {
    session: zenoh::Session,
    keys: Keys,
    watch: Watch,
    server: Thread,
    /// The node is seen as long as this lives.
    _node: LivelinessToken,
}

impl Zenoh {
    /// Becomes a node; what arrives unparks this thread.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn join(session: zenoh::Session, domain: u16, node: &str) -> Result<Self, String> {
        let keys = Keys::new(domain, &session.zid().to_string(), node);
        let token = session.liveliness().declare_token(keys.node()).wait().map_err(|error| error.to_string())?;
        let watch = Watch::new(&session, domain)?;
        Ok(Self { session, keys, watch, server: std::thread::current(), _node: token })
    }
}

impl Transport for Zenoh {
    fn advertise(&mut self, endpoint: &Endpoint) -> Result<Box<dyn Sink>, String> {
        let (key, token) = (self.keys.data(endpoint), self.keys.entity(Entity::Publisher, endpoint));
        self.watch.add(endpoint);
        Ok(Box::new(Writer::declare(&self.session, key, token, endpoint).map_err(|error| error.to_string())?))
    }

    fn subscribe(&mut self, endpoint: &Endpoint, place: Option<&Shared>) -> Result<Box<dyn Source>, String> {
        let place = place.ok_or(OVER_DDS)?;
        let (key, token) = (self.keys.data(endpoint), self.keys.entity(Entity::Subscription, endpoint));
        self.watch.add(endpoint);
        let reader = Reader::declare(&self.session, key, token, endpoint, place.clone(), self.server.clone());
        Ok(Box::new(reader.map_err(|error| error.to_string())?))
    }

    fn events(&mut self, tell: &mut dyn FnMut(&str, Priority, String)) {
        self.watch.tell(tell);
    }
}

struct Writer {
    publisher: Publisher<'static>,
    gid: [u8; 16],
    next: i64,
    /// Allocated anew only while Zenoh still holds what was in it.
    payload: BytesMut,
    _token: LivelinessToken,
}

impl Writer {
    /// Publishes under a key, and is seen under a token, which also gives it its number.
    fn declare(session: &zenoh::Session, key: String, token: String, endpoint: &Endpoint) -> zenoh::Result<Self> {
        let is_reliable = endpoint.delivery.is_reliable;
        let publisher = session
            .declare_publisher(key)
            .congestion_control(if endpoint.delivery.may_wait {
                CongestionControl::Block
            } else {
                CongestionControl::Drop
            })
            .reliability(if is_reliable { Reliability::Reliable } else { Reliability::BestEffort })
            .wait()?;
        let gid = keys::gid(&token);
        let token = session.liveliness().declare_token(token).wait()?;
        Ok(Self { publisher, gid, next: 1, payload: BytesMut::new(), _token: token })
    }
}

impl Sink for Writer {
    fn send(&mut self, message: &[u8], stamp_ns: u64, _lane: usize) -> Sent {
        let stamp_ns = if stamp_ns == 0 { horus_sys::clock::monotonic_ns() } else { stamp_ns };
        let source_ns = i64::try_from(stamp_ns).unwrap_or(0).saturating_add(Offset::now().0);
        let attachment = Attachment { sequence: self.next, source_ns, gid: self.gid };
        self.next += 1;
        self.payload.extend_from_slice(message);
        match self.publisher.put(self.payload.split().freeze()).attachment(attachment.write()).wait() {
            Ok(()) => Sent::Taken,
            Err(_) => Sent::Lost,
        }
    }

    fn sender(&self) -> Sender {
        self.gid
    }
}

struct Reader {
    queue: Arc<Queue>,
    _subscriber: Subscriber<()>,
    _token: LivelinessToken,
}

impl Reader {
    /// Subscribes to a key, and is seen under a token. What comes goes to `place` on Zenoh's own thread; where it has to wait, `server` is
    /// unparked.
    fn declare(
        session: &zenoh::Session,
        key: String,
        token: String,
        endpoint: &Endpoint,
        place: Shared,
        server: Thread,
    ) -> zenoh::Result<Self> {
        let queue = Arc::new(Queue::new(endpoint));
        let sender = queue.clone();
        let came = move |sample: Sample| {
            let attachment = sample.attachment().and_then(|bytes| Attachment::read(&bytes.to_bytes()));
            let message = sample.payload().to_bytes();
            // In this order everywhere: the place, then the queue. What waits goes first.
            let mut place = place.lock();
            if !sender.follow(attachment) {
                return place.refuse_circle();
            }
            if !sender.is_empty() || !place.put(without_encapsulation(&message)) {
                sender.push(&message);
                server.unpark();
            }
        };
        let subscriber = session.declare_subscriber(key).callback(came).wait()?;
        let token = session.liveliness().declare_token(token).wait()?;
        Ok(Self { queue, _subscriber: subscriber, _token: token })
    }
}

impl Source for Reader {
    fn take(&mut self, into: &mut dyn FnMut(Option<&[u8]>)) -> Took {
        let Some(message) = self.queue.pop() else { return Took::Nothing };
        into(without_encapsulation(&message));
        self.queue.give_back(message);
        Took::Message
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    fn trouble(&mut self) -> Option<String> {
        self.queue.has_unnumbered().then(|| {
            "messages come without the number that rmw_zenoh puts beside them: they are carried, and what is lost of them is not counted"
                .to_owned()
        })
    }

    fn damage(&self) -> (u64, u64) {
        self.queue.damage()
    }
}

/// A message without its four bytes in front; `None` when they say that it is something else. The last two of them are options, which mean
/// nothing to who reads.
fn without_encapsulation(message: &[u8]) -> Option<&[u8]> {
    message.strip_prefix(&ENCAPSULATION[..2])?.get(2..)
}
