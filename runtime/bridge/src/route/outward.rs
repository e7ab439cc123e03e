//! A topic that goes to ROS: watched from outside, converted, handed over.
//!
//! A message for which the other side has no room stays here and is offered again. The topic goes on meanwhile; what it overwrites is
//! counted as missed.

use std::path::Path;

use horus::message::layout::Layout;
use horus::zerocopy::IntoBytes;
use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::observe::{Observation, Start};
use horus_shm::ends::{Payload, bytes};
use horus_shm::error::OpenError;
use horus_shm::segment::header::Header;
use horus_shm::segment::layout;

use super::mark::{self, Mark};
use super::{Counts, Delivery, Endpoint, Sent, Sink, Transport, Way};
use crate::cdr::Writer;
use crate::clock::Offset;
use crate::config::{DeliveryPolicy, ToRos};
use crate::convert::{Context, Ours, Pairing, layout_of};

/// Messages that are carried of a topic that was removed; its publishers may go on in it.
const LAST_MESSAGES: usize = 1 << 16;

/// A topic that goes to ROS.
pub struct Outward {
    /// Its name here.
    pub name: TopicName,
    /// What became of its messages.
    pub counts: Counts,
    config: ToRos,
    reading: Option<Reading>,
    trouble: Option<String>,
}

struct Reading {
    observation: Observation,
    /// What `counts.missed` was when this observation began.
    missed_before: u64,
    /// Words, so that every message of ours is aligned in it.
    message: Vec<u64>,
    bytes: usize,
    is_of_bytes: bool,
    pairing: Pairing,
    context: Context,
    cdr: Vec<u8>,
    /// The message in `cdr` waits for room, with its stamp and the lane of its publisher.
    waiting: Option<(u64, usize)>,
    sink: Box<dyn Sink>,
    /// By it another bridge of this machine knows that its messages are this topic's.
    mark: Option<Mark>,
}

impl Outward {
    /// A topic that was not looked at yet.
    pub fn new(name: TopicName, config: ToRos) -> Self {
        Self { name, counts: Counts::default(), config, reading: None, trouble: None }
    }

    /// Looks whether the topic is there, and is still the one that is read.
    pub fn look(&mut self, directory: &Directory, transport: &mut dyn Transport, start: Start) {
        let offset = Offset::now();
        if let Some(reading) = &mut self.reading {
            reading.context.offset = offset;
            let sender = reading.sink.sender();
            reading.sink.look();
            if sender != reading.sink.sender() {
                let file = directory.file(&self.name);
                reading.mark =
                    Mark::set(&mark::sending(&reading.sink.sender(), &file.to_string_lossy())).ok().flatten();
            }
            if reading.observation.is_current() {
                return;
            }
            self.carry(LAST_MESSAGES); // of the one that was removed
            self.reading = None;
        }
        match open(&directory.file(&self.name), start) {
            Ok(None) => {}
            Ok(Some(observation)) => match self.begin(observation, directory, transport, offset) {
                Ok(reading) => self.reading = Some(reading),
                Err(reason) => self.trouble = Some(reason),
            },
            Err(error) => self.trouble = Some(error.to_string()),
        }
    }

    fn begin(
        &self,
        observation: Observation,
        directory: &Directory,
        transport: &mut dyn Transport,
        offset: Offset,
    ) -> Result<Reading, String> {
        let header = observation.header();
        let ours = ours(header).ok_or("the topic's header does not describe its message")?;
        let pairing = pair(transport, &ours, self.config.type_name.as_deref(), true)?;
        let policy = policy(header);
        let bytes = message_bytes(header);
        let mut delivery = Delivery::new(Way::ToRos(bytes), policy, header.shape.capacity(), &self.config.quality);
        if header.is_latched {
            delivery = delivery.latched(header.shape.lanes(), &self.config.quality);
        }
        let endpoint = Endpoint {
            topic: self.config.topic.clone(),
            type_name: pairing.ros.top.name.clone(),
            hash: pairing.hash.clone(),
            delivery,
            bytes,
            layout: ours.text(),
            file: directory.file(&self.name).to_string_lossy().into_owned(),
        };
        let sink = transport.advertise(&endpoint)?;
        let frame = self.config.frame.clone().unwrap_or_else(|| self.name.to_string());
        let mark = Mark::set(&mark::sending(&sink.sender(), &endpoint.file)).map_err(|error| error.to_string())?;
        Ok(Reading {
            mark,
            is_of_bytes: header.is_of_bytes(),
            missed_before: self.counts.missed,
            observation,
            message: vec![0; bytes.div_ceil(8)],
            bytes,
            pairing,
            context: Context { offset, frame },
            cdr: Vec::new(),
            waiting: None,
            sink,
        })
    }

    /// Carries at most so many messages; true if that was all that can be carried now.
    pub fn carry(&mut self, limit: usize) -> bool {
        let Self { reading: Some(reading), counts, trouble, .. } = self else { return true };
        for _ in 0..limit {
            if reading.waiting.is_none() && !reading.next(counts, trouble) {
                return true;
            }
            let Some((stamp_ns, lane)) = reading.waiting else { continue };
            match reading.sink.send(&reading.cdr, stamp_ns, lane) {
                Sent::Taken => counts.carried += 1,
                Sent::Lost => counts.lost += 1,
                Sent::Full => return true,
            }
            reading.waiting = None;
        }
        false
    }

    /// What went wrong since this was asked last.
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// What it is bridged as, once it is.
    pub fn pairing(&self) -> Option<&Pairing> {
        self.reading.as_ref().map(|reading| &reading.pairing)
    }

    /// What ROS calls it.
    pub fn ros_topic(&self) -> &str {
        &self.config.topic
    }
}

impl Reading {
    /// Takes the next message and converts it; false if there is none.
    fn next(&mut self, counts: &mut Counts, trouble: &mut Option<String>) -> bool {
        let place = &mut self.message.as_mut_bytes()[..self.bytes];
        let received = if self.is_of_bytes {
            let taken = self.observation.try_take_bytes(place);
            taken.map(|received| (received.message.min(self.bytes), received.sent_ns, received.publisher))
        } else {
            self.observation.try_take(place).map(|received| (self.bytes, received.sent_ns, received.publisher))
        };
        counts.missed = self.missed_before + self.observation.missed();
        let Some((length, stamp_ns, lane)) = received else { return false };
        let message = &self.message.as_bytes()[..length];
        match self.pairing.write(message, &mut Writer::new(&mut self.cdr), &self.context) {
            Ok(()) => self.waiting = Some((stamp_ns, lane)),
            Err(error) => {
                counts.refused += 1;
                *trouble = Some(error.to_string());
            }
        }
        true
    }
}

/// Watches a topic from `start` on. What lies in a latched topic is new to who comes late, as the bridge does.
fn open(path: &Path, start: Start) -> Result<Option<Observation>, OpenError> {
    let found = Observation::open(path, start)?;
    match found {
        Some(found) if found.header().is_latched && start == Start::Back(0) => Observation::open(path, Start::Back(1)),
        found => Ok(found),
    }
}

/// Pairs a topic's message with one of ROS, or with itself where the other end is one of us.
pub(super) fn pair(
    transport: &dyn Transport,
    ours: &Ours,
    ros: Option<&str>,
    is_to_ros: bool,
) -> Result<Pairing, String> {
    match transport.is_ros() {
        true => Pairing::new(ours, ros, is_to_ros).map_err(|error| error.to_string()),
        false => Ok(Pairing::same(ours)),
    }
}

/// What a topic carries, by its header.
pub(super) fn ours(header: &Header) -> Option<Ours> {
    if header.is_of_bytes() {
        return Some(Ours::Bytes(message_bytes(header)));
    }
    layout_of(&header.type_name, header.layout_hash, &header.description)
        .or_else(|| known(&header.type_name).filter(|layout| layout.hash() == header.layout_hash))
        .map(Ours::Layout)
}

/// A message of the field.
pub(super) fn known(type_name: &str) -> Option<Layout> {
    let definition = horus::messages::ALL.iter().find(|definition| definition.type_name == type_name)?;
    Some((definition.layout)())
}

pub(super) fn policy(header: &Header) -> DeliveryPolicy {
    match header.policy {
        layout::DeliveryPolicy::Latest => DeliveryPolicy::Latest,
        layout::DeliveryPolicy::Reliable => DeliveryPolicy::Reliable,
    }
}

pub(super) fn message_bytes(header: &Header) -> usize {
    let payload = Payload { bytes: header.shape.payload_bytes(), align: header.shape.payload_align() };
    if header.is_of_bytes() { bytes::maximum(payload) } else { payload.bytes }
}
