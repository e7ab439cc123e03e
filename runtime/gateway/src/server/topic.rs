//! One topic that is served: watched from outside, written to its log, sent to its subscribers, and published.
//!
//! Every message of the topic that the gateway knows of has a number, also one that was overwritten before the gateway looked. So a
//! gap in the numbers is a loss, and nothing else is.

use std::rc::Rc;

use horus_shm::directory::{Directory, TopicName};
use horus_shm::ends::inspect::inspect;
use horus_shm::ends::observe::{Observation, Start};
use horus_shm::ends::{Kind, Making, Payload, Publication, bytes};
use horus_shm::segment::header::Header;
use horus_shm::segment::layout::DeliveryPolicy;
use horus_sys::clock::monotonic_ns;

use super::config::{self, definition};
use super::trouble::Trouble;
use crate::frame::batch::{self, ITEM_HEAD_BYTES, Item};
use crate::frame::words;
use crate::frame::{Head, Type};
use crate::log::{Log, LogError};

/// A topic that is served.
pub struct Served {
    pub name: TopicName,
    pub config: config::Topic,
    pub log: Option<Log>,
    /// Clients and their channels that get its messages.
    pub subscribers: Vec<(usize, u32)>,
    pub counts: Counts,
    reading: Option<Reading>,
    publication: Option<Publication>,
    /// Whether a client has become a publisher of it: then the gateway stays one.
    is_advertised: bool,
    /// What the topic was when it was read last: its log may be asked for when it is gone.
    known: Option<Header>,
    /// The number of the next message, without a log.
    next: u64,
    turn: Turn,
    ready: Vec<Delivery>,
    payload_bytes: usize,
    /// What is wrong.
    pub trouble: Trouble,
}

/// What was done with a topic's messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages read from the topic.
    pub read: u64,
    /// Messages that were overwritten before they were read.
    pub missed: u64,
    /// Messages that are lost from the log, or may be.
    pub unlogged: u64,
    /// How often the disk did not take what was written to the log.
    pub disk_failures: u64,
    /// Messages of clients that were published.
    pub published: u64,
    /// Messages of clients for which the topic had no room.
    pub refused: u64,
}

struct Reading {
    observation: Observation,
    missed: u64,
    buffer: Vec<u8>,
    is_of_bytes: bool,
}

/// Messages that go out together.
#[derive(Default)]
struct Turn {
    payload: Vec<u8>,
    messages: u64,
    sequence: u64,
    stamp_ns: u64,
}

/// A frame for every subscriber.
pub struct Delivery {
    pub head: Head,
    pub payload: Rc<[u8]>,
    pub messages: u64,
}

/// What became of a message that a client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// It has this number; 0 where the gateway does not read the topic.
    Taken(u64),
    /// There was no room, or it could not be logged.
    Lost,
}

impl Served {
    /// A topic that was not looked at yet.
    pub fn new(name: TopicName, config: config::Topic, payload_bytes: usize) -> Self {
        Self {
            name,
            config,
            log: None,
            subscribers: Vec::new(),
            counts: Counts::default(),
            reading: None,
            publication: None,
            is_advertised: false,
            known: None,
            next: 1,
            turn: Turn::default(),
            ready: Vec::new(),
            payload_bytes,
            trouble: Trouble::default(),
        }
    }

    /// Whether its messages are read here.
    pub fn is_read(&self) -> bool {
        self.config.direction.is_out() || self.config.log.is_some()
    }

    /// Its log could not be opened: it is served without.
    pub fn goes_without_log(&mut self, why: &LogError) {
        self.trouble.set(format!("{why}; it is served without its log until the gateway is started again"));
    }

    /// Looks whether the topic is there, and is still the one that is read; true if it is another one than before. `start` is where to
    /// begin if it was not there before.
    pub fn look(&mut self, directory: &Directory, start: Start) -> bool {
        if self.is_advertised {
            if let Some(Err(why)) = self.publication.as_ref().map(Publication::check) {
                self.trouble.set(why.to_string());
            }
            if let Err(why) = self.claim(directory) {
                self.trouble.set(why); // what clients send is lost until this is mended
            }
        }
        let is_current = self.reading.as_ref().is_some_and(|reading| reading.observation.is_current());
        if !self.is_read() || is_current {
            return false;
        }
        if self.reading.is_some() {
            self.collect_held(); // the last messages of the one that was removed
            self.reading = None;
        }
        match Observation::open(&directory.file(&self.name), start) {
            Ok(None) => {}
            Ok(Some(observation)) => self.read_from(observation),
            Err(error) => self.trouble.set(error.to_string()),
        }
        self.reading.is_some()
    }

    fn read_from(&mut self, observation: Observation) {
        let is_of_bytes = observation.header().is_of_bytes();
        let room = message_bytes(observation.header());
        if room + ITEM_HEAD_BYTES > self.payload_bytes {
            self.trouble.set(format!("its messages have {room} bytes: raise limits.payload_bytes"));
            return;
        }
        let header = observation.header();
        let kind = crate::log::Kind { type_name: header.type_name.clone(), layout_hash: header.layout_hash };
        if let Some(log) = &mut self.log
            && let Err(error) = log.set_kind(kind)
        {
            self.trouble.set(error.to_string());
        }
        self.known = Some(observation.header().clone());
        self.reading = Some(Reading { observation, missed: 0, buffer: vec![0; room], is_of_bytes });
    }

    /// Reads at most so many messages, numbers them, logs them and puts them up for delivery; true if that was all there is. `own` is
    /// the message whose number is wanted, by lane and number there: it is the last one that is read.
    pub fn collect(&mut self, limit: usize, own: Option<(usize, u64)>) -> (bool, Option<Published>) {
        for _ in 0..limit {
            let Some(reading) = &mut self.reading else { return (true, None) };
            let Reading { observation, buffer, is_of_bytes, .. } = reading;
            let received = if *is_of_bytes {
                observation.try_take_bytes(buffer)
            } else {
                let bytes = buffer.len();
                observation.try_take(buffer).map(|received| received_bytes(received, bytes))
            };
            let missed = observation.missed();
            let newly = missed - std::mem::replace(&mut reading.missed, missed);
            if newly > 0 {
                self.skip(newly);
            }
            let Some(received) = received else { return (true, None) };
            let taken = self.take(received.message, received.sent_ns, received.publisher);
            if own == Some((received.publisher, received.sequence)) {
                return (false, Some(taken)); // what comes behind it is read in this turn as well, when all were asked
            }
        }
        (false, None)
    }

    /// Reads what the topic holds now, and not what comes meanwhile: a publisher that never pauses is not waited for.
    pub fn collect_held(&mut self) {
        let held = self.reading.as_ref().map_or(0, |reading| {
            let shape = &reading.observation.header().shape;
            (0..shape.lanes()).map(|lane| shape.capacity_of(lane)).sum()
        });
        self.collect(held, None);
    }

    fn skip(&mut self, messages: u64) {
        self.counts.missed += messages;
        self.next += messages;
        if let Some(log) = &mut self.log {
            log.skip(messages);
        }
    }

    /// The message at the front of the buffer.
    fn take(&mut self, bytes: usize, sent_ns: u64, publisher: usize) -> Published {
        let Some(reading) = &self.reading else { return Published::Lost };
        let message = &reading.buffer[..bytes];
        let stamp_ns = if sent_ns == 0 { monotonic_ns() } else { sent_ns };
        self.counts.read += 1;
        let (sequence, is_logged) = match &mut self.log {
            None => {
                let is_missing = self.config.log.is_some();
                self.counts.unlogged += u64::from(is_missing);
                (self.next, !is_missing)
            }
            Some(log) => match log.append(message, stamp_ns, publisher as u16) {
                Ok(sequence) => (sequence, true),
                Err(error) => {
                    let sequence = log.next_sequence();
                    log.skip(1);
                    self.counts.unlogged += 1;
                    self.trouble.set(error.to_string());
                    (sequence, false)
                }
            },
        };
        self.next = sequence + 1;
        if !self.subscribers.is_empty() {
            if self.turn.payload.len() + ITEM_HEAD_BYTES + bytes > self.payload_bytes {
                end_turn(&mut self.turn, &mut self.ready);
            }
            if self.turn.messages == 0 {
                (self.turn.sequence, self.turn.stamp_ns) = (sequence, stamp_ns);
            }
            self.turn.messages += 1;
            batch::push(&mut self.turn.payload, &Item { sequence, stamp_ns, message });
        }
        if is_logged { Published::Taken(sequence) } else { Published::Lost }
    }

    /// What is to be delivered now; the log has done what it promises of it.
    ///
    /// # Errors
    /// When the disk does not take what must be on it before anybody is told. It is delivered all the same.
    pub fn delivery(&mut self) -> (Vec<Delivery>, Result<(), LogError>) {
        let committed = self.keep(Log::commit);
        end_turn(&mut self.turn, &mut self.ready);
        (std::mem::take(&mut self.ready), committed)
    }

    /// Has the log keep its promise, and counts what it cannot.
    fn keep(&mut self, promise: impl FnOnce(&mut Log) -> Result<(), LogError>) -> Result<(), LogError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let before = log.counts().doubtful;
        let kept = promise(log);
        let trouble = log.trouble();
        let counts = log.counts();
        self.counts.unlogged += counts.doubtful - before;
        self.counts.disk_failures = counts.sync_failures;
        if let Some(error) = kept.as_ref().err().or(trouble.as_ref()) {
            self.trouble.set(error.to_string());
        }
        kept
    }

    /// The end: the log has what it was given, or it is told.
    pub fn end(&mut self) {
        let _ = self.keep(Log::end); // in the journal
    }

    /// Becomes a publisher of the topic, which is made if the settings say as what.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn advertise(&mut self, directory: &Directory) -> Result<(), String> {
        self.claim(directory)?;
        self.is_advertised = true;
        if self.reading.is_none() {
            self.look(directory, Start::First);
        }
        Ok(())
    }

    /// Takes a lane of the topic, unless it has one that is worth something.
    fn claim(&mut self, directory: &Directory) -> Result<(), String> {
        if self.publication.as_ref().is_some_and(|publication| publication.check().is_ok()) {
            return Ok(());
        }
        self.publication = None; // it has a lane of the topic that was removed or cut off
        self.publication = Some(self.open(directory)?);
        Ok(())
    }

    fn open(&self, directory: &Directory) -> Result<Publication, String> {
        let text = |error: horus_shm::error::OpenError| error.to_string();
        let found = inspect(&directory.file(&self.name)).map_err(text)?;
        let access = directory.access().map_err(text)?;
        let config::Topic { capacity, publishers, .. } = self.config;
        let (kind, payload, making);
        let description;
        if let Some(found) = &found {
            let Header { shape, policy, type_name, layout_hash, description, wakes, .. } = &found.header;
            kind = Kind { type_name, layout_hash: *layout_hash, description };
            payload = Payload { bytes: shape.payload_bytes(), align: shape.payload_align() };
            let (capacity, publishers) = (shape.capacity(), 1);
            making =
                Making { capacity, least: 0, policy: *policy, access, publishers, wakes: *wakes, is_latched: false };
        } else {
            making = Making {
                capacity,
                least: 0,
                policy: DeliveryPolicy::Latest,
                access,
                publishers,
                wakes: true,
                is_latched: false,
            };
            if let Some(definition) = self.config.type_name.as_deref().and_then(definition) {
                description = (definition.description)();
                let (type_name, layout_hash) = (definition.type_name, definition.layout_hash);
                kind = Kind { type_name, layout_hash, description: &description };
                payload = Payload { bytes: definition.bytes, align: definition.align };
            } else if let Some(maximum) = self.config.bytes {
                kind = Kind { type_name: horus::topic::Bytes::TYPE_NAME, layout_hash: 0, description: "" };
                payload = bytes::payload(maximum).map_err(text)?;
            } else {
                return Err(
                    "no program has made the topic, and the gateway's settings do not say of what type it is".into()
                );
            }
        }
        Publication::open(directory, &self.name, kind, payload, &making).map_err(text)
    }

    /// Whether a message of so many bytes can be published.
    pub fn fits(&self, message: usize) -> bool {
        self.publication.as_ref().is_some_and(|publication| {
            let header = publication.segment().header();
            let room = message_bytes(header);
            if header.is_of_bytes() { message <= room } else { message == room }
        })
    }

    /// Publishes a message that [`fits`](Self::fits), and reads it back where the topic is read.
    pub fn publish(&mut self, message: &[u8], stamp_ns: u64) -> Published {
        let Some(publication) = &mut self.publication else { return Published::Lost };
        let stamp_ns = if stamp_ns == 0 { monotonic_ns() } else { stamp_ns };
        let send = |publication: &mut Publication| {
            if publication.segment().header().is_of_bytes() {
                publication.try_send_bytes(message, stamp_ns).ok()
            } else {
                publication.try_send_whole(message, stamp_ns).ok()
            }
        };
        // A dead subscriber holds a reliable topic no longer than this.
        let sent = send(publication).or_else(|| if publication.reap() > 0 { send(publication) } else { None });
        let lane = publication.lane();
        let Some(number) = sent else {
            self.counts.refused += 1;
            return Published::Lost;
        };
        self.counts.published += 1;
        if self.reading.is_none() {
            return Published::Taken(0);
        }
        // Read at once: what comes next could overwrite it.
        self.collect(usize::MAX, Some((lane, number))).1.unwrap_or(Published::Lost)
    }

    /// What a client is told of the topic; without a text when it was not there yet.
    pub fn description(&self) -> words::Topic {
        let reading = self.reading.as_ref().map(|reading| reading.observation.header());
        let published = self.publication.as_ref().map(|publication| publication.segment().header());
        let header = reading.or(published).or(self.known.as_ref());
        let text = header.map(|header| format!("{}\n{}", header.type_name, header.description));
        words::Topic {
            layout_hash: header.map_or(0, |header| header.layout_hash),
            next: self.undelivered().unwrap_or_else(|| self.next()),
            first: self.log.as_ref().map_or(0, Log::first_sequence),
            message_bytes: header.map_or(0, |header| message_bytes(header) as u32),
            is_of_bytes: header.is_some_and(Header::is_of_bytes),
            text: text.unwrap_or_default(),
        }
    }

    /// The number of the first message that waits for its delivery.
    fn undelivered(&self) -> Option<u64> {
        let ready = self.ready.first().map(|delivery| delivery.head.sequence);
        ready.or((self.turn.messages > 0).then_some(self.turn.sequence))
    }

    /// The number of the next message.
    pub fn next(&self) -> u64 {
        self.log.as_ref().map_or(self.next, Log::next_sequence)
    }
}

fn message_bytes(header: &Header) -> usize {
    let payload = Payload { bytes: header.shape.payload_bytes(), align: header.shape.payload_align() };
    if header.is_of_bytes() { bytes::maximum(payload) } else { payload.bytes }
}

fn received_bytes(received: horus_shm::ring::Received<()>, bytes: usize) -> horus_shm::ring::Received<usize> {
    let horus_shm::ring::Received { sequence, sent_ns, publisher, .. } = received;
    horus_shm::ring::Received { message: bytes, sequence, sent_ns, publisher }
}

fn end_turn(turn: &mut Turn, ready: &mut Vec<Delivery>) {
    if turn.messages == 0 {
        return;
    }
    let Turn { payload, messages, sequence, stamp_ns } = turn;
    let (kind, bytes) =
        if *messages == 1 { (Type::Message, &payload[ITEM_HEAD_BYTES..]) } else { (Type::Batch, &payload[..]) };
    let head = Head { kind, flags: 0, channel: 0, sequence: *sequence, stamp_ns: *stamp_ns };
    ready.push(Delivery { head, payload: bytes.into(), messages: *messages });
    payload.clear();
    *messages = 0;
}
