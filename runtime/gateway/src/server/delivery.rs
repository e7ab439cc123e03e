//! Who gets what: messages as they come, and before them those of the log.

use rustix::event::epoll;

use super::client::{Channel, Client, Gone};
use super::{Server, topic};
use crate::frame::batch::{self, ITEM_HEAD_BYTES, Item};
use crate::frame::words::{Ack, WhenFull};
use crate::frame::{Head, Type, head};
use crate::log::Reader;

/// Bytes of a log that go into one frame.
const REPLAY_BYTES: usize = 64 << 10;

/// An acknowledgement that waits until the log has done what it promises.
pub struct Acknowledgement {
    pub client: usize,
    pub channel: u32,
    /// The number of the frame that asked for it.
    pub frame: u64,
    pub topic: usize,
    pub ack: Ack,
}

impl Server {
    /// Hands out what the topics have ready, and then the acknowledgements of it.
    pub(super) fn deliver(&mut self) {
        let mut slow = Vec::new();
        for index in 0..self.topics.len() {
            let (ready, committed) = self.topics[index].delivery();
            for delivery in ready {
                for (id, channel) in &self.topics[index].subscribers {
                    let Some(client) = &mut self.clients[*id] else { continue };
                    // Who is still replaying gets it from the log.
                    let Some(Channel::Out { when_full, replay: None, .. }) = client.channels.get(channel) else {
                        continue;
                    };
                    let when_full = *when_full;
                    if push(client, *channel, &delivery, when_full).is_err() {
                        slow.push(*id);
                    }
                    self.dirty.push(*id);
                }
            }
            let is_committed = committed.is_ok();
            for acknowledgement in self.acknowledgements.extract_if(.., |waiting| waiting.topic == index) {
                let Acknowledgement { client: id, channel, frame, mut ack, .. } = acknowledgement;
                if !is_committed {
                    (ack.lost, ack.taken) = (ack.lost + ack.taken, 0);
                }
                let Some(client) = &mut self.clients[id] else { continue };
                if client.answer(Type::Ack, channel, frame, &ack.payload()).is_err() {
                    slow.push(id);
                }
                self.dirty.push(id);
            }
        }
        slow.into_iter().for_each(|id| self.remove(id, &Gone::Slow));
    }

    /// Gives those who began in the past what they have room for; true if one of them has room for more. To be called when everything
    /// that is in the logs was delivered: who is through gets the next message as it comes.
    pub(super) fn replay(&mut self) -> bool {
        let mut is_more = false;
        let mut at = 0;
        while let Some((id, number)) = self.replaying.get(at).copied() {
            match self.replay_one(id, number) {
                Some(has_room) => {
                    is_more |= has_room;
                    at += 1;
                }
                None => {
                    self.replaying.swap_remove(at);
                }
            }
        }
        is_more
    }

    /// One frame of a log for one channel; `None` when it is through, otherwise whether there is room for more.
    fn replay_one(&mut self, id: usize, number: u32) -> Option<bool> {
        let client = self.clients.get_mut(id)?.as_mut()?;
        let Some(Channel::Out { topic, replay, when_full }) = client.channels.get_mut(&number) else { return None };
        let (log, when_full) = (self.topics[*topic].log.as_mut()?, *when_full);
        let reader = replay.as_mut()?;
        if !client.queue.has_room() {
            return Some(false);
        }
        let limit = REPLAY_BYTES.min(self.config.limits.payload_bytes);
        let (delivery, is_through) = next_frame(reader, log, limit);
        if is_through {
            *replay = None;
        }
        if let Some(delivery) = delivery {
            // There is room: it is half empty, and a frame is at most half of it.
            let _ = push(client, number, &delivery, when_full);
            self.dirty.push(id);
        }
        (!is_through).then_some(true)
    }

    /// Writes to every client that something waits for.
    pub(super) fn write(&mut self) {
        self.dirty.sort_unstable();
        self.dirty.dedup();
        let mut gone = Vec::new();
        for id in self.dirty.drain(..) {
            let Some(client) = self.clients.get_mut(id).and_then(Option::as_mut) else { continue };
            let wants_to_write = match client.write() {
                Ok(is_done) => !is_done,
                Err(why) => {
                    gone.push((id, why));
                    continue;
                }
            };
            if wants_to_write != client.is_waiting_to_write {
                client.is_waiting_to_write = wants_to_write;
                let writing = if wants_to_write { epoll::EventFlags::OUT } else { epoll::EventFlags::empty() };
                let event = epoll::EventData::new_u64(id as u64);
                if let Err(error) = epoll::modify(&self.epoll, &client.socket, event, epoll::EventFlags::IN | writing) {
                    gone.push((id, Gone::Broken(error.into())));
                }
            }
        }
        gone.into_iter().for_each(|(id, why)| self.remove(id, &why));
    }
}

fn push(
    client: &mut Client,
    channel: u32,
    delivery: &topic::Delivery,
    when_full: WhenFull,
) -> Result<(), super::queue::Overflow> {
    let head = head(&Head { channel, ..delivery.head }, &delivery.payload);
    client.queue.push(head, &delivery.payload, delivery.messages, when_full)
}

/// The next messages of a log in one frame, and whether these were all.
fn next_frame(reader: &mut Reader, log: &mut crate::log::Log, limit: usize) -> (Option<topic::Delivery>, bool) {
    let mut payload = Vec::new();
    let (mut first, mut messages) = (None, 0);
    let is_through = loop {
        let Some(read) = reader.next(log) else { break true };
        let item = Item { sequence: read.sequence, stamp_ns: read.stamp_ns, message: read.message };
        first = first.or(Some((read.sequence, read.stamp_ns)));
        batch::push(&mut payload, &item);
        messages += 1;
        if payload.len() + ITEM_HEAD_BYTES + read.message.len() > limit {
            break false; // the next one may be as long
        }
    };
    let delivery = first.map(|(sequence, stamp_ns)| topic::Delivery {
        head: Head { kind: Type::Batch, flags: 0, channel: 0, sequence, stamp_ns },
        payload: payload.into(),
        messages,
    });
    (delivery, is_through)
}
