//! Services over DDS, as rmw_fastrtps has them: a topic of requests and one of replies.
//!
//! ```text
//! client                                          server
//!   writer rq/NAMERequest ──── request no. 7 ────▶ reader      inline QoS: related_sample_identity = (reader of replies, unknown)
//!   reader rr/NAMEReply   ◀─── reply ─────────────  writer      inline QoS: related_sample_identity = (that reader, 7)
//! ```
//!
//! A request is known by the number that DDS gave it and by the reader that its client names, or by its writer if it names none. A reply
//! to a reader that the writer does not know yet would be lost, so it waits until DDS has brought the two together.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use bytes::Bytes;
use rustdds::dds::WriteError;
use rustdds::no_key::{DataWriter, SimpleDataReader};
use rustdds::rpc::SampleIdentity;
use rustdds::with_key::WriteOptionsBuilder;
use rustdds::{GUID, RTPSEntity, SequenceNumber};

use super::adapter::{Decoder, Heard, Plain, Raw};
use super::joined::Joined;
use crate::cdr::ENCAPSULATION;
use crate::names::{dds_message, dds_service};
use crate::route::{CallId, Called, Requested, Sender, Sent, Served, ServiceEndpoint};

/// The bit by which RTPS tells the number of a reader from that of a writer (RTPS 2.5, table 9.1).
const READER: u8 = 0x04;

/// Both topics of a service, from one side.
struct Ends {
    endpoint: ServiceEndpoint,
    joined: Rc<RefCell<Joined>>,
    writer: DataWriter<Raw, Plain>,
    reader: SimpleDataReader<(), Plain>,
    /// The participant that they are of.
    turn: u32,
    is_server: bool,
}

impl Ends {
    fn new(endpoint: &ServiceEndpoint, joined: &Rc<RefCell<Joined>>, is_server: bool) -> Result<Self, String> {
        let (writer, reader, turn) = Self::make(endpoint, &mut joined.borrow_mut(), is_server)?;
        Ok(Self { endpoint: endpoint.clone(), joined: joined.clone(), writer, reader, turn, is_server })
    }

    #[allow(clippy::type_complexity, reason = "a writer and a reader, as they stand above")]
    fn make(
        endpoint: &ServiceEndpoint,
        joined: &mut Joined,
        is_server: bool,
    ) -> Result<(DataWriter<Raw, Plain>, SimpleDataReader<(), Plain>, u32), String> {
        let [read, written] = match (topics(endpoint), is_server) {
            ([requests, replies], true) => [requests, replies],
            ([requests, replies], false) => [replies, requests],
        };
        let node = endpoint.node.as_deref();
        // In this order: who sees the writer of a server can be sure that requests are heard.
        let reader = joined.service_reader(read, endpoint.bytes, node)?;
        let writer = joined.service_writer(written, endpoint.bytes, node)?;
        Ok((writer, reader, joined.turn))
    }

    /// False when they were made anew, because DDS ended.
    fn follow(&mut self) -> bool {
        let mut joined = self.joined.borrow_mut();
        if self.turn == joined.turn {
            return true;
        }
        // Those that cannot be made are tried again with the next look.
        if let Ok((writer, reader, turn)) = Self::make(&self.endpoint, &mut joined, self.is_server) {
            (self.writer, self.reader, self.turn) = (writer, reader, turn);
        }
        false
    }

    fn write(&self, message: &[u8], related: SampleIdentity) -> Result<SampleIdentity, Sent> {
        let options = WriteOptionsBuilder::new().related_sample_identity(related).build();
        let message = Bytes::copy_from_slice(&message[ENCAPSULATION.len()..]);
        self.writer.write_with_options(Raw(message), options).map_err(|error| match error {
            WriteError::WouldBlock { .. } => Sent::Full,
            _ => Sent::Lost,
        })
    }

    /// The next message: who sent it under which number, and which one it belongs to.
    fn take(&self, into: Heard<'_>) -> Option<Option<(SampleIdentity, Option<SampleIdentity>)>> {
        self.reader.drain_read_notifications();
        self.reader.set_waker(Some(self.joined.borrow().waker()));
        let into = RefCell::new(into);
        match self.reader.try_take_one_with(Decoder(&into)) {
            Ok(None) => None,
            Ok(Some(message)) => {
                let (writer_guid, sequence_number) = (message.writer_guid, message.sequence_number);
                let sent = SampleIdentity { writer_guid, sequence_number };
                Some(Some((sent, message.related_sample_identity())))
            }
            Err(_) => Some(None),
        }
    }
}

impl Drop for Ends {
    fn drop(&mut self) {
        let mut joined = self.joined.borrow_mut();
        if self.turn == joined.turn {
            joined.nodes.remove_writer(self.writer.guid());
            joined.nodes.remove_reader(self.reader.guid());
            if self.is_server {
                let [_, replies] = topics(&self.endpoint);
                joined.take_back(replies, self.endpoint.bytes, self.endpoint.node.as_deref());
            }
        }
    }
}

/// What DDS calls the topics and messages of a service, requests first.
fn topics(endpoint: &ServiceEndpoint) -> [(String, String); 2] {
    let [requests, replies] = dds_service(&endpoint.service);
    let [request, response] = endpoint.messages.each_ref().map(|name| dds_message(name));
    [(requests, request), (replies, response)]
}

/// A service that ROS calls.
pub struct ServedOverDds {
    ends: Ends,
}

impl ServedOverDds {
    /// Announces a service.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn new(endpoint: &ServiceEndpoint, joined: &Rc<RefCell<Joined>>) -> Result<Self, String> {
        Ok(Self { ends: Ends::new(endpoint, joined, true)? })
    }
}

impl Served for ServedOverDds {
    fn take(&mut self, into: &mut Requested<'_>) -> bool {
        let mut message = None;
        let taken = self.ends.take(&mut |bytes| message = bytes.map(<[u8]>::to_vec));
        let (Some((sent, related)), message) = (match taken {
            None => return false,
            Some(taken) => (taken, message),
        }) else {
            // Who sent what cannot be read is not known either.
            into(([0; 16], 0), Instant::now(), None);
            return true;
        };
        let named = related.map(|related| related.writer_guid).filter(|guid| *guid != GUID::GUID_UNKNOWN);
        let who = named.unwrap_or(sent.writer_guid).to_bytes();
        into((who, i64::from(sent.sequence_number)), Instant::now(), message.as_deref());
        true
    }

    fn answer(&mut self, (who, number): CallId, message: &[u8]) -> Sent {
        let guid = GUID::from_bytes(who);
        let mut joined = self.ends.joined.borrow_mut();
        if is_reader(&who) && !joined.is_matched(self.ends.writer.guid(), guid) {
            return Sent::Full;
        }
        drop(joined);
        let related = SampleIdentity { writer_guid: guid, sequence_number: SequenceNumber::from(number) };
        self.ends.write(message, related).map_or_else(|sent| sent, |_| Sent::Taken)
    }

    fn look(&mut self) -> bool {
        self.ends.follow()
    }
}

/// A service of ROS.
pub struct CalledOverDds {
    ends: Ends,
}

impl CalledOverDds {
    /// Looks for a service.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn new(endpoint: &ServiceEndpoint, joined: &Rc<RefCell<Joined>>) -> Result<Self, String> {
        Ok(Self { ends: Ends::new(endpoint, joined, false)? })
    }
}

impl Called for CalledOverDds {
    fn is_served(&self) -> bool {
        let mut joined = self.ends.joined.borrow_mut();
        self.ends.turn == joined.turn && joined.is_served(self.ends.writer.guid(), self.ends.reader.guid())
    }

    fn ask(&mut self, message: &[u8]) -> Option<i64> {
        let sequence_number = SequenceNumber::from(0);
        let related = SampleIdentity { writer_guid: self.ends.reader.guid(), sequence_number };
        self.ends.write(message, related).ok().map(|sent| i64::from(sent.sequence_number))
    }

    fn take(&mut self, into: &mut dyn FnMut(i64, Option<&[u8]>)) -> bool {
        let mut message = None;
        let Some(taken) = self.ends.take(&mut |bytes| message = bytes.map(<[u8]>::to_vec)) else { return false };
        // Replies to other clients of the service come here, too.
        let (ours, asked) = (self.ends.reader.guid(), self.ends.writer.guid());
        if let Some((_, Some(related))) = taken
            && (related.writer_guid == ours || related.writer_guid == asked)
        {
            into(i64::from(related.sequence_number), message.as_deref());
        }
        true
    }

    fn look(&mut self) -> bool {
        self.ends.follow()
    }
}

fn is_reader(guid: &Sender) -> bool {
    guid[15] & READER != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readers_number_is_told_from_a_writers() {
        let with = |kind: u8| {
            let mut bytes = [0; 16];
            bytes[15] = kind;
            bytes
        };
        assert!(is_reader(&with(0x04)) && is_reader(&with(0x07)), "a user's, without and with key");
        assert!(!is_reader(&with(0x03)) && !is_reader(&with(0x02)));
    }
}
