//! What goes over a socket: frames of a head and a payload, each with a checksum. `docs/gateway-protocol.md` is their specification.
//!
//! ```text
//! byte  0  u32  "HRGW"
//!       4  u8   version
//!       5  u8   type
//!       6  u16  flags
//!       8  u32  channel
//!      12  u32  bytes of the payload
//!      16  u64  sequence number
//!      24  u64  stamp, in nanoseconds on the gateway machine's CLOCK_MONOTONIC
//!      32  u32  CRC32C of the payload
//!      36  u32  CRC32C of bytes 0 to 35
//!      40       payload
//! ```
//! All numbers are little-endian.
//!
//! The head has a checksum of its own, so that a length is believed before its bytes are there. A payload that was damaged does not take
//! the frames behind it along.

pub mod batch;
mod decode;
mod encode;
pub mod words;

pub use decode::{Damage, Decoder};
pub use encode::{encode, head};

/// The first bytes of every frame.
pub const MAGIC: [u8; 4] = *b"HRGW";
/// The version of the protocol that this crate speaks.
pub const VERSION: u8 = 1;
/// Bytes before the payload.
pub const HEAD_BYTES: usize = 40;
/// The longest payload that a decoder can be told to accept.
pub const MAX_PAYLOAD_BYTES: usize = 64 << 20;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Type {
    /// A client's first frame.
    Hello = 1,
    /// The gateway's answer to it.
    Welcome = 2,
    /// A client wants a topic's messages on a channel of its choice.
    Subscribe = 3,
    /// A client wants to send a topic messages on a channel of its choice.
    Advertise = 4,
    /// The gateway agrees, and says what the topic is.
    Topic = 5,
    /// The gateway does not do what was asked for.
    Refused = 6,
    /// A client needs a channel no more.
    Close = 7,
    /// One message.
    Message = 8,
    /// Several messages of a channel.
    Batch = 9,
    /// What became of a frame that asked for it.
    Ack = 10,
    /// The other side is there; the gateway's says what the client missed.
    Heartbeat = 11,
}

impl Type {
    /// All of them, in the order of their numbers, which begin with 1.
    pub const ALL: [Self; 11] = [
        Self::Hello,
        Self::Welcome,
        Self::Subscribe,
        Self::Advertise,
        Self::Topic,
        Self::Refused,
        Self::Close,
        Self::Message,
        Self::Batch,
        Self::Ack,
        Self::Heartbeat,
    ];

    fn of(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// The sender wants an acknowledgement of this frame.
pub const WANTS_ACK: u16 = 1;

/// What a frame's head says, but for its checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// What it is.
    pub kind: Type,
    /// [`WANTS_ACK`]; other bits are zero in this version, and ignored.
    pub flags: u16,
    /// The channel; 0 for what concerns the whole connection.
    pub channel: u32,
    /// The message's number in its topic, or the frame's own, as the type says.
    pub sequence: u64,
    /// When the message was sent.
    pub stamp_ns: u64,
}

impl Head {
    /// A head without numbers.
    pub fn new(kind: Type, channel: u32) -> Self {
        Self { kind, flags: 0, channel, sequence: 0, stamp_ns: 0 }
    }
}

/// A frame that arrived whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its head.
    pub head: Head,
    /// Its payload.
    pub payload: &'a [u8],
}
