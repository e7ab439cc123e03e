//! A topic that comes from ROS: read into the place of the topic's next message, and published.
//!
//! Where a reliable topic is full, messages wait on the other side.

use std::sync::Arc;

use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::inspect::inspect;
use horus_shm::ends::{Kind, Making, Payload, Publication, bytes};
use horus_shm::error::OpenError;
use horus_shm::segment::layout;

use super::outward::{known, message_bytes, ours, pair, policy};
use super::place::{Next, Place, Shared};
use super::{Counts, Delivery, Endpoint, Source, Transport, Way};
use crate::clock::Offset;
use crate::config::{DeliveryPolicy, Durability, FromRos};
use crate::convert::{Context, Ours, Pairing};

/// Messages that a topic holds when the bridge makes it and the user does not say how many.
const CAPACITY: usize = 16;
/// A publisher that is killed in the middle of a message leaves the one before, as `Options::latched` promises.
const LEAST_OF_LATCHED: usize = 4;

/// A topic that comes from ROS.
pub struct Inward {
    /// Its name here.
    pub name: TopicName,
    /// What became of its messages.
    pub counts: Counts,
    config: FromRos,
    writing: Option<Writing>,
    is_full: bool,
    trouble: Option<String>,
}

struct Writing {
    place: Shared,
    pairing: Arc<Pairing>,
    source: Box<dyn Source>,
    /// What was counted with the places before this one.
    before: Counts,
}

impl Inward {
    /// A topic that was not opened yet.
    pub fn new(name: TopicName, config: FromRos) -> Self {
        Self { name, counts: Counts::default(), config, writing: None, is_full: false, trouble: None }
    }

    /// Becomes a publisher of the topic, if it is none, and looks whether the topic is still there.
    pub fn look(&mut self, directory: &Directory, transport: &mut dyn Transport) {
        let offset = Offset::now();
        if let Some(writing) = &mut self.writing {
            writing.source.look();
            let mut place = writing.place.lock();
            place.context.offset = offset;
            if let Some(text) = place.trouble.take().or_else(|| writing.source.trouble()) {
                self.trouble = Some(text);
            }
            let is_there = place.publication.check().is_ok();
            drop(place);
            self.count();
            if is_there {
                return;
            }
            self.writing = None; // it has a lane of the topic that was removed
        }
        match self.begin(directory, transport, offset) {
            Ok(writing) => self.writing = Some(writing),
            Err(reason) => self.trouble = Some(reason),
        }
    }

    fn begin(&self, directory: &Directory, transport: &mut dyn Transport, offset: Offset) -> Result<Writing, String> {
        let (publication, ours) = self.open(directory, transport)?;
        let header = publication.segment().header();
        let pairing = Arc::new(pair(transport, &ours, self.config.type_name.as_deref(), false)?);
        let mut delivery = Delivery::new(Way::FromRos, policy(header), header.shape.capacity(), &self.config.quality);
        if header.is_latched {
            delivery = delivery.latched(header.shape.lanes(), &self.config.quality);
        }
        let endpoint = Endpoint {
            topic: self.config.topic.clone(),
            type_name: pairing.ros.top.name.clone(),
            hash: pairing.hash.clone(),
            delivery,
            bytes: message_bytes(header),
            layout: ours.text(),
            file: directory.file(&self.name).to_string_lossy().into_owned(),
        };
        let (is_of_bytes, bytes) = (header.is_of_bytes(), message_bytes(header));
        let context = Context { offset, frame: String::new() };
        let place = Shared::new(Place {
            publication,
            is_of_bytes,
            bytes,
            pairing: pairing.clone(),
            context,
            carried: 0,
            refused: 0,
            trouble: None,
        });
        let source = transport.subscribe(&endpoint, Some(&place))?;
        Ok(Writing { place, pairing, source, before: self.counts })
    }

    fn open(&self, directory: &Directory, transport: &mut dyn Transport) -> Result<(Publication, Ours), String> {
        let text = |error: OpenError| error.to_string();
        let FromRos { message, bytes: maximum, capacity, publishers, .. } = &self.config;
        let access = directory.access().map_err(text)?;
        if let Some(found) = inspect(&directory.file(&self.name)).map_err(text)? {
            let header = &found.header;
            let ours = ours(header).ok_or("the topic's header does not describe its message")?;
            let shape = header.shape;
            let kind = Kind {
                type_name: &header.type_name,
                layout_hash: header.layout_hash,
                description: &header.description,
            };
            let payload = Payload { bytes: shape.payload_bytes(), align: shape.payload_align() };
            let (capacity, publishers) = (shape.capacity(), 1);
            let making = Making {
                capacity,
                least: 0,
                policy: header.policy,
                access,
                publishers,
                wakes: header.wakes,
                is_latched: false,
            };
            let publication = Publication::open(directory, &self.name, kind, payload, &making).map_err(text)?;
            return Ok((publication, ours));
        }
        let policy = match self.config.delivery_policy {
            DeliveryPolicy::Latest => layout::DeliveryPolicy::Latest,
            DeliveryPolicy::Reliable => layout::DeliveryPolicy::Reliable,
        };
        let (capacity, publishers) = (capacity.unwrap_or(CAPACITY), publishers.unwrap_or(1));
        let is_latched = self.config.quality.durability == Some(Durability::TransientLocal);
        let capacity = if is_latched { capacity.max(LEAST_OF_LATCHED) } else { capacity };
        let making = Making { capacity, least: 0, policy, access, publishers, wakes: true, is_latched };
        let ours = match (message, maximum) {
            (Some(message), _) => {
                Ours::Layout(known(message).ok_or_else(|| {
                    format!("{message} is no message of the field: start the topic's own program first")
                })?)
            }
            (None, Some(maximum)) => Ours::Bytes(*maximum),
            (None, None) => transport.describe(&self.config.topic).ok_or_else(|| match transport.is_ros() {
                true => format!(
                    "no program has made the topic: start its program, or say what it is, --from-ros {}={}:horus/CmdVel",
                    self.config.topic, self.name
                ),
                false => {
                    format!("no program has made the topic, and no appliance has said yet what {} is", self.config.topic)
                }
            })?,
        };
        let (description, payload) = match &ours {
            Ours::Layout(layout) => (layout.description(), layout.payload()),
            Ours::Bytes(maximum) => (String::new(), bytes::payload(*maximum).map_err(text)?),
        };
        let layout_hash = if let Ours::Layout(layout) = &ours { layout.hash() } else { 0 };
        let kind = Kind { type_name: ours.name(), layout_hash, description: &description };
        let publication = Publication::open(directory, &self.name, kind, payload, &making).map_err(text)?;
        Ok((publication, ours))
    }

    /// Carries at most so many messages that wait; true if that was all that can be carried now.
    pub fn carry(&mut self, limit: usize) -> bool {
        self.is_full = false;
        let Some(Writing { place, source, .. }) = &mut self.writing else { return true };
        for _ in 0..limit {
            if source.is_empty() {
                return true;
            }
            let mut place = place.lock();
            match place.next(|into| source.take(into)) {
                Next::Went => {}
                Next::Nothing => return true,
                Next::Full => {
                    // A dead subscriber holds a reliable topic no longer than this.
                    if place.publication.reap() == 0 {
                        self.is_full = true;
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Whether messages wait for room in the topic, which is not told when there is some.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// Brings the figures up to date.
    pub fn count(&mut self) {
        let Some(Writing { place, source, before, .. }) = &self.writing else { return };
        let place = place.lock();
        let (lost, reordered) = source.damage();
        let counts = &mut self.counts;
        (counts.carried, counts.refused) = (before.carried + place.carried, before.refused + place.refused);
        (counts.lost, counts.reordered) = (before.lost + lost, before.reordered + reordered);
    }

    /// What went wrong since this was asked last.
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// What it is bridged as, once it is.
    pub fn pairing(&self) -> Option<&Pairing> {
        self.writing.as_ref().map(|writing| &*writing.pairing)
    }

    /// What ROS calls it.
    pub fn ros_topic(&self) -> &str {
        &self.config.topic
    }
}
