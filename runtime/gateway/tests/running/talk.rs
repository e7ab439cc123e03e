//! What clients of tests say and hear.

use horus_gateway::client::{Address, ClientError, Connection};
use horus_gateway::frame::words::{Advertise, Begin, Heartbeat, Subscribe, WhenFull};
use horus_gateway::frame::{Head, Type, batch, encode, words};

use super::PATIENCE;

pub const BOTH: &str = "[topics.speed]\ndirection = \"both\"\nbytes = 1000\ncapacity = 64\n";
pub const LOGGED: &str = "log = { durability = \"each\", segment_bytes = 16384, keep_bytes = 1048576 }\n";

pub fn now(topic: &str) -> Subscribe {
    Subscribe { begin: Begin::Now, when_full: WhenFull::DropOldest, topic: topic.into() }
}

pub fn from(sequence: u64) -> Subscribe {
    Subscribe { begin: Begin::Sequence(sequence), ..now("speed") }
}

pub fn advertise(topic: &str) -> Advertise {
    Advertise { layout_hash: 0, topic: topic.into() }
}

/// The next frame that is no heartbeat.
pub fn next(connection: &mut Connection) -> (Head, Vec<u8>) {
    loop {
        let frame = connection.receive(PATIENCE).unwrap().expect("a frame comes");
        if frame.head.kind != Type::Heartbeat {
            return (frame.head, frame.payload.to_vec());
        }
    }
}

/// The next messages with their numbers, `count` at least.
pub fn messages(connection: &mut Connection, count: usize) -> Vec<(u64, Vec<u8>)> {
    let mut found = Vec::new();
    while found.len() < count {
        let (head, payload) = next(connection);
        match head.kind {
            Type::Message => found.push((head.sequence, payload)),
            Type::Batch => {
                let items = batch::items(&payload).expect("a batch is whole");
                assert_eq!(items.clone().next().unwrap().sequence, head.sequence);
                found.extend(items.map(|item| (item.sequence, item.message.to_vec())));
            }
            Type::Topic | Type::Ack => {}
            other => panic!("{other:?}"),
        }
    }
    found
}

pub fn send(connection: &mut Connection, channel: u32, message: &[u8]) {
    connection.send(&Head::new(Type::Message, channel), message).unwrap();
}

pub fn heartbeat(connection: &mut Connection) -> Heartbeat {
    loop {
        let frame = connection.receive(PATIENCE).unwrap().expect("the gateway says that it is there");
        if frame.head.kind == Type::Heartbeat {
            return Heartbeat::read(frame.payload).unwrap();
        }
    }
}

pub fn until_closed(connection: &mut Connection) -> ClientError {
    loop {
        if let Err(error) = connection.receive(PATIENCE) {
            return error;
        }
    }
}

/// A frame as it is sent.
pub fn frame(head: &Head, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(&mut bytes, head, payload);
    bytes
}

/// What a client says first.
pub fn hello() -> Vec<u8> {
    frame(&Head::new(Type::Hello, 0), &words::text("a client"))
}

/// A sender and a receiver, to whom nothing that others do may happen.
pub struct Pair {
    pub sender: Connection,
    pub receiver: Connection,
    sent: u64,
}

impl Pair {
    pub fn open(address: &Address) -> Self {
        let open = || Connection::open(address, "one that is not to be disturbed").unwrap();
        let (mut sender, mut receiver) = (open(), open());
        sender.advertise(1, &advertise("speed")).unwrap();
        receiver.subscribe(1, &now("speed")).unwrap();
        Self { sender, receiver, sent: 0 }
    }

    /// Sends messages, each of which has to come as it is, once and in order.
    pub fn exchange(&mut self, count: usize) {
        for _ in 0..count {
            self.sent += 1;
            send(&mut self.sender, 1, &self.sent.to_le_bytes());
        }
        let first = self.sent + 1 - count as u64;
        let found = messages(&mut self.receiver, count);
        let found: Vec<_> = found.into_iter().map(|(_, message)| message).collect();
        let wanted: Vec<_> = (first..=self.sent).map(|number| number.to_le_bytes().to_vec()).collect();
        assert_eq!(found, wanted);
        // So that both are heard of, however long a test takes.
        self.receiver.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
    }
}
