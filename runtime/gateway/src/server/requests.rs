//! What a client may ask, and the answer.

use horus_sys::clock::monotonic_ns;

use super::Server;
use super::client::{Channel, Client, Gone};
use super::delivery::Acknowledgement;
use super::topic::Published;
use crate::frame::words::{Ack, Advertise, Begin, Subscribe, Topic, Welcome};
use crate::frame::{Decoder, Frame, Type, WANTS_ACK, batch, words};
use crate::log::From;

impl Server {
    /// Reads what a client sent, and does it.
    pub(super) fn serve(&mut self, id: usize) {
        let Some(mut client) = self.clients.get_mut(id).and_then(Option::take) else { return };
        let outcome = self.read_client(id, &mut client);
        self.clients[id] = Some(client);
        self.dirty.push(id);
        self.deliver();
        if let Err(why) = outcome {
            self.remove(id, &why);
        }
    }

    fn read_client(&mut self, id: usize, client: &mut Client) -> Result<(), Gone> {
        while client.read()? {
            // Frames are lent by the decoder, and answered by the rest of the client.
            let mut decoder = std::mem::replace(&mut client.decoder, Decoder::new(0));
            let mut outcome = Ok(());
            while outcome.is_ok()
                && let Some(frame) = decoder.next()
            {
                outcome = self.handle(id, client, &frame);
            }
            client.decoder = decoder;
            outcome?;
            if !client.socket.has_unread() {
                break; // the kernel tells of the rest
            }
        }
        Ok(())
    }

    fn handle(&mut self, id: usize, client: &mut Client, frame: &Frame<'_>) -> Result<(), Gone> {
        client.heard_ns = monotonic_ns();
        let Frame { head, payload } = frame;
        if !client.is_greeted && head.kind != Type::Hello {
            return Err(Gone::Mistaken("its first frame was no hello"));
        }
        match head.kind {
            Type::Hello => self.greet(client, payload),
            Type::Subscribe => {
                let outcome = Subscribe::read(payload).ok_or_else(|| "the payload is no subscription".to_owned());
                let outcome = outcome.and_then(|wanted| self.subscribe(id, client, head.channel, wanted));
                self.reply(client, head.channel, head.sequence, outcome)
            }
            Type::Advertise => {
                let outcome = Advertise::read(payload).ok_or_else(|| "the payload is no advertisement".to_owned());
                let outcome = outcome.and_then(|wanted| self.advertise(client, head.channel, &wanted));
                self.reply(client, head.channel, head.sequence, outcome)
            }
            Type::Close => {
                self.close(id, client, head.channel);
                Ok(())
            }
            Type::Message | Type::Batch => self.publish(id, client, frame),
            Type::Heartbeat => Ok(()),
            Type::Welcome | Type::Topic | Type::Refused | Type::Ack => {
                Err(Gone::Mistaken("it sent a frame that only the gateway sends"))
            }
        }
    }

    fn greet(&mut self, client: &mut Client, payload: &[u8]) -> Result<(), Gone> {
        if client.is_greeted {
            return Err(Gone::Mistaken("it said hello twice"));
        }
        let name = words::read_text(payload).ok_or(Gone::Mistaken("its hello has no name"))?;
        let printable: String = name.chars().filter(|character| !character.is_control()).take(64).collect();
        let certificate =
            client.socket.certificate().map_or_else(String::new, |digits| format!(",certificate={digits}"));
        client.name = format!("{}{certificate} ({printable})", client.name);
        client.is_greeted = true;
        let limits = &self.config.limits;
        let (heartbeat_ms, max_payload) = (limits.heartbeat_ms, limits.payload_bytes as u32);
        let welcome = Welcome { instance: self.instance, heartbeat_ms, max_payload };
        Ok(client.answer(Type::Welcome, 0, 0, &welcome.payload())?)
    }

    fn reply(
        &mut self,
        client: &mut Client,
        channel: u32,
        sequence: u64,
        outcome: Result<Topic, String>,
    ) -> Result<(), Gone> {
        match outcome {
            Ok(topic) => Ok(client.answer(Type::Topic, channel, sequence, &topic.payload())?),
            Err(why) => {
                self.account.refused();
                Ok(client.refuse(channel, sequence, &why)?)
            }
        }
    }

    /// The place of a topic that the settings allow in this direction.
    fn allowed(&self, client: &Client, channel: u32, topic: &str, is_in: bool) -> Result<usize, String> {
        if client.channels.contains_key(&channel) {
            return Err(format!("channel {channel} is in use: close it first"));
        }
        if client.channels.len() >= self.config.limits.channels {
            return Err(format!("a client has at most {} channels", self.config.limits.channels));
        }
        let index = self.names.get(topic).copied().ok_or_else(|| format!("topic {topic:?} is not served here"))?;
        let direction = self.topics[index].config.direction;
        match is_in {
            true if !direction.is_in() => Err(format!("topic {topic} only goes out: its direction is \"out\"")),
            false if !direction.is_out() => Err(format!("topic {topic} only comes in: its direction is \"in\"")),
            _ => Ok(index),
        }
    }

    fn subscribe(&mut self, id: usize, client: &mut Client, channel: u32, wanted: Subscribe) -> Result<Topic, String> {
        let index = self.allowed(client, channel, &wanted.topic, false)?;
        let topic = &mut self.topics[index];
        let from = match wanted.begin {
            Begin::Now => None,
            Begin::Sequence(sequence) => Some(From::Sequence(sequence)),
            Begin::Unix(time) => Some(From::Unix(time)),
        };
        let replay = match (from, &mut topic.log) {
            (None, _) => None,
            (Some(from), Some(log)) => Some(log.reader(from)),
            (Some(_), None) if topic.config.log.is_some() => {
                return Err(format!(
                    "the log of topic {} could not be opened, as the gateway's journal says: subscribe from now",
                    wanted.topic
                ));
            }
            (Some(_), None) => return Err(format!("topic {} has no log: subscribe from now", wanted.topic)),
        };
        if replay.is_some() {
            self.replaying.push((id, channel));
        }
        topic.subscribers.push((id, channel));
        let answer = topic.description();
        client.channels.insert(channel, Channel::Out { topic: index, when_full: wanted.when_full, replay });
        Ok(answer)
    }

    fn advertise(&mut self, client: &mut Client, channel: u32, wanted: &Advertise) -> Result<Topic, String> {
        let index = self.allowed(client, channel, &wanted.topic, true)?;
        let topic = &mut self.topics[index];
        topic.advertise(&self.directory)?;
        let description = topic.description();
        if wanted.layout_hash != 0 && wanted.layout_hash != description.layout_hash {
            return Err(format!(
                "topic {} carries {} with layout {:016x}, and the client's messages have {:016x}: both need the same definition",
                wanted.topic,
                description.text.lines().next().unwrap_or_default(),
                description.layout_hash,
                wanted.layout_hash,
            ));
        }
        client.channels.insert(channel, Channel::In { topic: index });
        Ok(description)
    }

    fn close(&mut self, id: usize, client: &mut Client, channel: u32) {
        if let Some(Channel::Out { topic, .. }) = client.channels.remove(&channel) {
            self.topics[topic].subscribers.retain(|subscriber| *subscriber != (id, channel));
            self.replaying.retain(|replaying| *replaying != (id, channel));
        }
    }

    fn publish(&mut self, id: usize, client: &mut Client, frame: &Frame<'_>) -> Result<(), Gone> {
        let Frame { head, payload } = frame;
        let Some(Channel::In { topic: index }) = client.channels.get(&head.channel) else {
            return Ok(client.refuse(head.channel, head.sequence, "nothing is advertised on this channel")?);
        };
        let index = *index;
        let topic = &mut self.topics[index];
        // A batch is looked at whole before its first message is sent.
        let one = batch::Item { sequence: 0, stamp_ns: head.stamp_ns, message: payload };
        let (single, several) = match head.kind {
            Type::Message => (Some(one), None),
            _ => match batch::items(payload) {
                Some(items) => (None, Some(items)),
                None => return Ok(client.refuse(head.channel, head.sequence, "the payload is no batch")?),
            },
        };
        let items = || single.into_iter().chain(several.iter().cloned().flatten());
        if let Some(wrong) = items().find(|item| !topic.fits(item.message.len())) {
            let why =
                format!("a message of {} bytes is none of topic {}; nothing was sent", wrong.message.len(), topic.name);
            return Ok(client.refuse(head.channel, head.sequence, &why)?);
        }
        let mut ack = Ack { sequence: 0, taken: 0, lost: 0 };
        for item in items() {
            // What has no stamp came when its frame came: the clock is read once for a batch.
            let stamp_ns = if item.stamp_ns == 0 { client.heard_ns } else { item.stamp_ns };
            match topic.publish(item.message, stamp_ns) {
                Published::Taken(sequence) => (ack.sequence, ack.taken) = (sequence, ack.taken + 1),
                Published::Lost => ack.lost += 1,
            }
        }
        client.taken += u64::from(ack.taken);
        if head.flags & WANTS_ACK != 0 {
            let (channel, frame) = (head.channel, head.sequence);
            self.acknowledgements.push(Acknowledgement { client: id, channel, frame, topic: index, ack });
        }
        Ok(())
    }

    /// Tells all subscribers of a topic what it is now.
    pub(super) fn describe(&mut self, index: usize) {
        let payload = self.topics[index].description().payload();
        for (id, channel) in &self.topics[index].subscribers {
            if let Some(client) = &mut self.clients[*id] {
                // One whose queue is full of answers does not read them; the next one ends it.
                let _ = client.answer(Type::Topic, *channel, 0, &payload);
                self.dirty.push(*id);
            }
        }
    }
}
