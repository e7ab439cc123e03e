//! A topic watched from outside: its messages by copy, and how many there are, without a place in it.
//!
//! No peer waits for an observer, wakes it, or knows of it; see [`crate::ring::observe`]. It takes no place, so any number can
//! watch, and the topic's last user removes the file under it. It looks when it likes: who looks too seldom misses messages, of
//! which [`missed`](Observation::missed) says how many.

use std::path::Path;

use super::bytes;
use super::inspect::map;
use super::opening::{Payload, damaged};
use crate::error::OpenError;
use crate::peers::identity::Identity;
use crate::peers::publishers;
use crate::ring::observe::{Unseen, observe};
use crate::ring::{Consumer, Fate, MAX_SEQUENCE, Memory, Received, Taken, copy, fate, payload_word};
use crate::segment::Segment;
use crate::segment::generation;
use crate::segment::header::Header;
use crate::segment::lane::MappedLane;
use crate::segment::layout::DeliveryPolicy;
use crate::sync::{Arc, AtomicU64, Ordering};

/// Where an observer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the next message, or up to so many before it that are still there.
    Back(u64),
    /// With the first message ever, for who was there before the topic; what is gone already counts as missed.
    First,
}

/// What an observer counted in a lane since it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The lane's number.
    pub lane: usize,
    /// Messages sent.
    pub sent: u64,
    /// How many of them may have been numbers without a message: those of slots that subscribers held in place, which were
    /// overwritten before this observer looked. Zero, but for large messages of a `latest` topic that is counted too seldom.
    pub unsure: u64,
}

/// A topic that is watched.
pub struct Observation {
    lanes: Box<[Watched]>,
    segment: Arc<Segment>,
    /// The lane that is looked at first: the one after that which was read last.
    turn: usize,
}

struct Watched {
    reader: Consumer<Unseen<MappedLane>>,
    /// The lane's position when it was counted last.
    counted_to: u64,
    count: Count,
}

impl Observation {
    /// Watches the topic in the file `path`; `None` when there is no such file.
    ///
    /// # Errors
    /// When the file is no topic, or may not be opened.
    pub fn open(path: &Path, start: Start) -> Result<Option<Self>, OpenError> {
        let Some((segment, _stat)) = map(path)? else { return Ok(None) };
        let Header { shape, policy, .. } = *segment.header();
        let lanes: Vec<_> = (0..shape.lanes()).map(|lane| MappedLane::new(segment.clone(), lane)).collect();
        let positions: Vec<_> = lanes.iter().map(|lane| lane.position().load(Ordering::Relaxed)).collect();
        let history = if let Start::Back(messages) = start { messages } else { u64::MAX };
        let readers = observe(lanes, policy, history);
        let highest = positions.iter().max().copied().unwrap_or(MAX_SEQUENCE);
        let readers = readers.ok_or_else(|| damaged(&segment, highest))?.into_vec().into_iter();
        let lanes = readers.zip(positions).enumerate().map(|(lane, (mut reader, position))| {
            let counted_to = if start == Start::First { 0 } else { position };
            if start == Start::First {
                reader.count_from_the_first();
            }
            Watched { reader, counted_to, count: Count { lane, sent: 0, unsure: 0 } }
        });
        Ok(Some(Self { lanes: lanes.collect(), segment, turn: 0 }))
    }

    /// The next message of any lane, copied to `into`; `None` when there is none. Wait-free; no allocation, no system call.
    ///
    /// # Panics
    /// When `into` is longer than a message of the topic.
    pub fn try_take(&mut self, into: &mut [u8]) -> Option<Received<()>> {
        let Payload { bytes, align } = self.payload();
        assert!(into.len() <= bytes);
        self.poll(|slot| copy::load_over(&slot[payload_word(align)..], into))
    }

    /// As [`try_take`](Self::try_take) on a topic of bytes ([`bytes::payload`]): copies the first bytes of the message, as many
    /// as `into` has room for, and says how long the whole message is.
    ///
    /// # Panics
    /// When messages of the topic have no room for a length.
    pub fn try_take_bytes(&mut self, into: &mut [u8]) -> Option<Received<usize>> {
        let maximum = bytes::maximum(self.payload());
        let mut length = 0;
        let received = self.poll(|slot| {
            let (alleged, bytes) = bytes::parts(slot);
            length = bytes::believed(alleged.load(Ordering::Relaxed), maximum);
            let wanted = length.min(into.len());
            copy::load_over(bytes, &mut into[..wanted]);
        })?;
        let Received { sequence, sent_ns, publisher, .. } = received;
        Some(Received { message: length, sequence, sent_ns, publisher })
    }

    fn poll(&mut self, mut copy: impl FnMut(&[AtomicU64])) -> Option<Received<()>> {
        let used = self.segment.used_lanes().load(Ordering::Relaxed); // as in `Subscription::poll`
        let lanes = self.lanes.len();
        for lane in (self.turn..lanes).chain(0..self.turn).filter(|lane| used >> lane & 1 == 1) {
            if let Some(Taken { sequence, sent_ns }) = self.lanes[lane].reader.take(&mut copy) {
                self.turn = (lane + 1) % lanes;
                return Some(Received { message: (), sequence, sent_ns, publisher: lane });
            }
        }
        None
    }

    /// How many messages were overwritten before this observer got to them, since it began.
    pub fn missed(&self) -> u64 {
        self.lanes.iter().fold(0, |sum, lane| lane.reader.missed().saturating_add(sum))
    }

    /// Counts the messages that were sent since this observer began, in the lanes that were ever used: from the lanes'
    /// positions, so that none is missed. A few loads a lane.
    ///
    /// Where subscribers can hold large messages in place, publishers pass numbers over. Those are told by the stamps of their slots,
    /// so count there at least once while as many messages are sent as the topic holds.
    pub fn count(&mut self) -> Vec<Count> {
        let used = self.segment.used_lanes().load(Ordering::Relaxed);
        let Header { shape, policy, .. } = *self.segment.header();
        // With one slot there is no other to go on to, and nothing is ever passed over.
        let passes_over = policy == DeliveryPolicy::Latest && shape.is_held() && shape.capacity() > 1;
        let lanes = self.lanes.iter_mut().filter(|lane| used >> lane.count.lane & 1 == 1);
        lanes.map(|lane| lane.count(passes_over)).collect()
    }

    /// The living publishers: the lane of each and who it says it is. A system call for each lane.
    ///
    /// # Errors
    /// When the kernel refuses to tell who has a lock.
    pub fn publishers(&self) -> Result<Vec<(usize, Identity)>, OpenError> {
        publishers(&self.segment)
    }

    /// Whether the topic still has its name, its shape and all its bytes. If not, another file may have the name by now, the topic was
    /// remade, or its file was cut off: who opens it again is told. Two system calls.
    pub fn is_current(&self) -> bool {
        generation::now(self.segment.generation_word()) == self.segment.generation() && self.segment.check().is_ok()
    }

    /// Type, policy, capacity, and everything else that does not change.
    pub fn header(&self) -> &Header {
        self.segment.header()
    }

    /// Size and alignment of a message.
    pub fn payload(&self) -> Payload {
        let shape = self.header().shape;
        Payload { bytes: shape.payload_bytes(), align: shape.payload_align() }
    }
}

impl Watched {
    fn count(&mut self, passes_over: bool) -> Count {
        let lane = self.reader.memory().lane();
        let mut position = lane.position().load(Ordering::Relaxed).min(MAX_SEQUENCE).max(self.counted_to);
        let mut nothing = 0;
        if passes_over {
            let kept = position.saturating_sub(lane.capacity()).max(self.counted_to);
            self.count.unsure += kept - self.counted_to;
            for number in kept..position {
                match fate(lane, number) {
                    Fate::Sent => {}
                    Fate::PassedOver => nothing += 1,
                    Fate::Gone => self.count.unsure += 1,
                    Fate::Coming => {
                        position = number; // the position was seen before the stamp: left to the next count
                        break;
                    }
                }
            }
        }
        self.count.sent += position - self.counted_to - nothing;
        self.counted_to = position;
        self.count
    }
}
