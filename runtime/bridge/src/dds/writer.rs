//! A topic that goes out.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use rustdds::RTPSEntity;
use rustdds::dds::WriteError;
use rustdds::no_key::DataWriter;

use super::adapter::{Plain, Raw};
use super::joined::Joined;
use super::kept::Kept;
use super::late::{Asking, Late};
use super::quality;
use crate::cdr::ENCAPSULATION;
use crate::names::dds_topic;
use crate::route::{Endpoint, Sender, Sent, Sink};

/// Sends a topic's messages.
pub struct Writer {
    writer: DataWriter<Raw, Plain>,
    endpoint: Endpoint,
    joined: Rc<RefCell<Joined>>,
    /// The participant that the writer is of.
    turn: u32,
    /// Allocated anew only while RustDDS still holds what was in it.
    payload: BytesMut,
    kept: Option<Kept>,
    /// For who comes late, if it shall get something.
    late: Option<Late>,
}

impl Writer {
    /// Announces a topic.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn new(
        endpoint: &Endpoint,
        joined: &Rc<RefCell<Joined>>,
        asking: &Asking,
        kept: &Kept,
    ) -> Result<Self, String> {
        let (delivery, name) = (endpoint.delivery, dds_topic(&endpoint.topic));
        let is_given = delivery.is_transient_local && asking.is_any(&name);
        let writer = joined.borrow_mut().writer(endpoint, is_given)?;
        let depth = delivery.depth.min(quality::most(endpoint));
        Ok(Self {
            writer,
            turn: joined.borrow().turn,
            endpoint: endpoint.clone(),
            joined: joined.clone(),
            payload: BytesMut::new(),
            // One that is neither keeps no more than its depth.
            kept: (delivery.is_reliable || delivery.is_transient_local).then(|| kept.clone()),
            late: delivery.is_transient_local.then(|| Late::new(name, asking, depth, delivery.is_latched, is_given)),
        })
    }

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

    /// A writer takes the place of this one: of a participant that ended, or of another kind than is asked for now.
    fn follow(&mut self) {
        let mut joined = self.joined.borrow_mut();
        let is_dead = self.turn != joined.turn;
        let is_wanted = self.late.as_mut().is_some_and(Late::is_wanted);
        let is_as_wanted = |late: &Late| late.is_given == is_wanted && !late.is_exhausted();
        if !is_dead && self.late.as_ref().is_none_or(is_as_wanted) {
            return;
        }
        // One that cannot be made is tried again with the next look.
        let Ok(next) = joined.writer(&self.endpoint, is_wanted) else { return };
        let before = std::mem::replace(&mut self.writer, next);
        if !is_dead {
            joined.nodes.remove_writer(before.guid());
        }
        self.turn = joined.turn;
        if let Some(late) = &mut self.late {
            // One that keeps the last messages would give its old ones to who comes, beside the newest: the next one has these.
            let is_stale = self.endpoint.delivery.is_latched && late.is_given;
            late.begin(is_wanted);
            if !is_dead && !is_stale {
                late.before.push((before, Instant::now()));
            }
        }
    }
}

impl Sink for Writer {
    fn send(&mut self, message: &[u8], _stamp_ns: u64, lane: usize) -> Sent {
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
                    late.taken(message, lane);
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
        self.follow();
    }
}
