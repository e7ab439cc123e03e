//! The payloads of frames that are no messages: numbers, then text.
//!
//! A payload may be longer than is written here: what a later version adds stands behind. What is shorter is refused.

/// Where a subscription begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// With the next message.
    Now,
    /// With the message of this number, from the log.
    Sequence(u64),
    /// With the first message that was sent at this time or later, in nanoseconds since 1970, from the log.
    Unix(u64),
}

/// What becomes of messages for a client that does not read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The oldest that wait are dropped.
    DropOldest,
    /// The newest are dropped.
    DropNewest,
    /// The client is disconnected.
    Disconnect,
}

/// A [`Subscribe`](super::Type::Subscribe).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribe {
    /// Where to begin.
    pub begin: Begin,
    /// What to do with what is not read.
    pub when_full: WhenFull,
    /// The topic's name.
    pub topic: String,
}

/// An [`Advertise`](super::Type::Advertise).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advertise {
    /// The layout that the client's messages have; 0 when the client does not say.
    pub layout_hash: u64,
    /// The topic's name.
    pub topic: String,
}

/// A [`Welcome`](super::Type::Welcome).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// Another number each time that the gateway is started.
    pub instance: u64,
    /// Who sends nothing for three times as long is disconnected.
    pub heartbeat_ms: u32,
    /// The longest payload that the gateway accepts.
    pub max_payload: u32,
}

/// A [`Topic`](super::Type::Topic).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// The layout of the messages.
    pub layout_hash: u64,
    /// The number that the next message will have, or the first one of a replay.
    pub next: u64,
    /// The lowest number that the log still has; 0 without a log.
    pub first: u64,
    /// Bytes of a message, or the most if `is_of_bytes`.
    pub message_bytes: u32,
    /// Whether messages may be shorter.
    pub is_of_bytes: bool,
    /// The type's name, and behind a line break the description of its fields, if it has one.
    pub text: String,
}

/// An [`Ack`](super::Type::Ack); the frame's sequence number is that of the frame that asked for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The number of the frame's last message in its topic; 0 when the gateway does not read the topic.
    pub sequence: u64,
    /// How many of the frame's messages were taken.
    pub taken: u32,
    /// How many were not: the topic was full, or the log could not be written.
    pub lost: u32,
}

/// A [`Heartbeat`](super::Type::Heartbeat) of the gateway: what concerns this client since it came. A client's is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// Messages sent to it.
    pub sent: u64,
    /// Messages dropped because it did not read.
    pub dropped: u64,
    /// Messages taken from it.
    pub taken: u64,
    /// Frames of its that were damaged or not understood, and bytes that were none.
    pub damaged: u64,
    /// Of the topics on its channels, since the gateway was started: messages that are lost from the log, or may be.
    pub unlogged: u64,
    /// How often the disk did not take what was written to these topics' logs.
    pub disk_failures: u64,
}

/// Reads numbers from the front of a payload.
struct Numbers<'a>(&'a [u8]);

impl<'a> Numbers<'a> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    /// A text and its length.
    fn text(&mut self) -> Option<String> {
        let length = usize::from(u16::from_le_bytes(self.bytes()?));
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_owned()).ok()
    }
}

/// Makes a payload.
#[derive(Default)]
struct Payload(Vec<u8>);

impl Payload {
    fn u32(mut self, number: u32) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    fn u64(mut self, number: u64) -> Self {
        self.0.extend(number.to_le_bytes());
        self
    }

    fn text(mut self, text: &str) -> Self {
        let length = text.floor_char_boundary(usize::from(u16::MAX));
        self.0.extend((length as u16).to_le_bytes());
        self.0.extend(&text.as_bytes()[..length]);
        self
    }
}

/// A text as a payload: that of [`Hello`](super::Type::Hello) (who it is) and of [`Refused`](super::Type::Refused) (why).
pub fn text(text: &str) -> Vec<u8> {
    Payload::default().text(text).0
}

/// The text of such a payload.
pub fn read_text(payload: &[u8]) -> Option<String> {
    Numbers(payload).text()
}

impl Subscribe {
    /// Its payload.
    pub fn payload(&self) -> Vec<u8> {
        let (begin, value) = match self.begin {
            Begin::Now => (0, 0),
            Begin::Sequence(sequence) => (1, sequence),
            Begin::Unix(time) => (2, time),
        };
        Payload::default().u64(value).u32(begin).u32(self.when_full as u32).text(&self.topic).0
    }

    /// Reads its payload.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let mut numbers = Numbers(payload);
        let value = numbers.u64()?;
        let begin = match numbers.u32()? {
            0 => Begin::Now,
            1 => Begin::Sequence(value),
            2 => Begin::Unix(value),
            _ => return None,
        };
        let when_full = match numbers.u32()? {
            0 => WhenFull::DropOldest,
            1 => WhenFull::DropNewest,
            2 => WhenFull::Disconnect,
            _ => return None,
        };
        Some(Self { begin, when_full, topic: numbers.text()? })
    }
}

impl Advertise {
    /// Its payload.
    pub fn payload(&self) -> Vec<u8> {
        Payload::default().u64(self.layout_hash).text(&self.topic).0
    }

    /// Reads its payload.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let mut numbers = Numbers(payload);
        Some(Self { layout_hash: numbers.u64()?, topic: numbers.text()? })
    }
}

impl Welcome {
    /// Its payload.
    pub fn payload(&self) -> Vec<u8> {
        Payload::default().u64(self.instance).u32(self.heartbeat_ms).u32(self.max_payload).0
    }

    /// Reads its payload.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let mut numbers = Numbers(payload);
        Some(Self { instance: numbers.u64()?, heartbeat_ms: numbers.u32()?, max_payload: numbers.u32()? })
    }
}

impl Topic {
    /// Its payload.
    pub fn payload(&self) -> Vec<u8> {
        let numbers = Payload::default().u64(self.layout_hash).u64(self.next).u64(self.first);
        numbers.u32(self.message_bytes).u32(self.is_of_bytes.into()).text(&self.text).0
    }

    /// Reads its payload.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let mut numbers = Numbers(payload);
        Some(Self {
            layout_hash: numbers.u64()?,
            next: numbers.u64()?,
            first: numbers.u64()?,
            message_bytes: numbers.u32()?,
            is_of_bytes: numbers.u32()? != 0,
            text: numbers.text()?,
        })
    }
}

impl Ack {
    /// Its payload.
    pub fn payload(&self) -> Vec<u8> {
        Payload::default().u64(self.sequence).u32(self.taken).u32(self.lost).0
    }

    /// Reads its payload.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let mut numbers = Numbers(payload);
        Some(Self { sequence: numbers.u64()?, taken: numbers.u32()?, lost: numbers.u32()? })
    }
}

impl Heartbeat {
    /// Its payload.
    pub fn payload(&self) -> Vec<u8> {
        let own = Payload::default().u64(self.sent).u64(self.dropped).u64(self.taken).u64(self.damaged);
        own.u64(self.unlogged).u64(self.disk_failures).0
    }

    /// Reads its payload.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let mut numbers = Numbers(payload);
        Some(Self {
            sent: numbers.u64()?,
            dropped: numbers.u64()?,
            taken: numbers.u64()?,
            damaged: numbers.u64()?,
            // A gateway of before says nothing of logs.
            unlogged: numbers.u64().unwrap_or(0),
            disk_failures: numbers.u64().unwrap_or(0),
        })
    }
}
