//! What a test publishes and looks at: topics of every kind of payload.

use std::any::Any;

use horus_shm::directory::Directory;
use horus_shm::ends::inspect::inspect;
use horus_shm::ends::{Kind, Payload as Size};
use horus_shm::segment::layout::DeliveryPolicy;

use super::{CAPACITY, VirtualWorld};
use crate::topic::{Options, Payload, Publisher, Received, Sendable, Subscriber};

impl VirtualWorld {
    /// As [`publish`](Self::publish), for every [kind](crate::topic::payload) of payload: `shape` is what both ends say of the messages, such as
    /// [`Bytes::up_to(256)`](crate::topic::Bytes::up_to).
    ///
    /// # Errors
    /// When the topic cannot be opened, a program of this world publishes it, or it is full; when the message is longer than its maximum, or a
    /// value cannot be serialized.
    ///
    /// # Panics
    /// When the bytes for a [`Raw`](crate::topic::Raw) topic are not as many as its layout says.
    pub fn publish_as<P: Payload + ?Sized + 'static>(
        &mut self,
        topic: &str,
        shape: P::Shape<'_>,
        message: impl Sendable<P>,
    ) -> crate::Result {
        let options = match self.publishers.contains_key(topic) {
            true => Options::default(), // not looked at
            false => self.as_readers_ask(topic)?,
        };
        self.publish_as_with(topic, options, shape, message)
    }

    /// As [`publish_with`](Self::publish_with), for every kind of payload.
    ///
    /// # Errors
    /// As [`publish_as`](Self::publish_as), and so are the panics.
    pub fn publish_as_with<P: Payload + ?Sized + 'static>(
        &mut self,
        topic: &str,
        options: Options,
        shape: P::Shape<'_>,
        message: impl Sendable<P>,
    ) -> crate::Result {
        if !self.publishers.contains_key(topic) {
            let publisher = Publisher::<P>::open_as(topic, shape, options.directory(self.directory.path()))?;
            self.publishers.insert(topic.to_owned(), Used::by::<P>(shape, publisher)?);
        }
        let now_ns = self.simulation.now().as_nanos();
        let used = self.publishers.get_mut(topic).expect("it is there by now");
        let publisher = used.end::<P, Publisher<P>>(topic, shape)?;
        publisher.try_send_stamped(message, now_ns).map_err(|not_sent| {
            if !P::is_full(&not_sent) {
                return crate::Error::new(not_sent.to_string());
            }
            let capacity = publisher.capacity();
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

    /// As [`last`](Self::last), for every kind of payload: a message, bytes, or a value and why there is none. The world keeps it until the next
    /// look.
    ///
    /// # Errors
    /// When the topic cannot be opened, or has another type of message.
    pub fn last_as<P: Payload<Owned: Send> + ?Sized + 'static>(
        &mut self,
        topic: &str,
        shape: P::Shape<'_>,
    ) -> crate::Result<Option<&P::Owned>> {
        Ok(self.last_received_as::<P>(topic, shape)?.map(|received| &received.message))
    }

    /// As [`last_as`](Self::last_as), with what is known beside the message.
    ///
    /// # Errors
    /// As there.
    pub fn last_received_as<P: Payload<Owned: Send> + ?Sized + 'static>(
        &mut self,
        topic: &str,
        shape: P::Shape<'_>,
    ) -> crate::Result<Option<&Received<P::Owned>>> {
        if !self.subscribers.contains_key(topic) {
            let options = Options::default().history(1).directory(self.directory.path());
            let seen = Seen::<P> { subscriber: Subscriber::open_as(topic, shape, options)?, last: None };
            self.subscribers.insert(topic.to_owned(), Used::by::<P>(shape, seen)?);
        }
        let used = self.subscribers.get_mut(topic).expect("it is there by now");
        let Seen { subscriber, last } = used.end::<P, Seen<P>>(topic, shape)?;
        while let Some(received) = subscriber.try_recv() {
            *last = Some(P::owned(received));
        }
        Ok(last.as_ref())
    }
}

/// A topic that a test uses, by an end of the kind that it used first.
pub(super) struct Used {
    messages: Messages,
    end: Box<dyn Any + Send>,
}

/// What is known of a topic's messages beside their kind.
#[derive(PartialEq, Eq)]
struct Messages {
    type_name: String,
    layout_hash: u64,
    /// Of all of a payload: of bytes, it says the maximum.
    bytes: usize,
}

impl Messages {
    fn of<P: Payload + ?Sized>(shape: P::Shape<'_>) -> crate::Result<Self> {
        let of = |kind: Kind<'_>, size: Size| {
            Ok(Self { type_name: kind.type_name.to_owned(), layout_hash: kind.layout_hash, bytes: size.bytes })
        };
        Ok(P::with_kind(shape, of)?)
    }
}

impl Used {
    fn by<P: Payload + ?Sized>(shape: P::Shape<'_>, end: impl Send + 'static) -> crate::Result<Self> {
        Ok(Self { messages: Messages::of::<P>(shape)?, end: Box::new(end) })
    }

    /// The end, for the kind and the messages that it was opened for.
    fn end<P: Payload + ?Sized, E: 'static>(&mut self, topic: &str, shape: P::Shape<'_>) -> crate::Result<&mut E> {
        let is_same = self.messages == Messages::of::<P>(shape)?;
        self.end.downcast_mut().filter(|_| is_same).ok_or_else(|| {
            crate::Error::new(format!(
                "this test used topic {topic} with another type of message, kind of payload or maximum before: use the same one"
            ))
        })
    }
}

/// A topic that a test looks at.
struct Seen<P: Payload + ?Sized> {
    subscriber: Subscriber<P>,
    last: Option<Received<P::Owned>>,
}
