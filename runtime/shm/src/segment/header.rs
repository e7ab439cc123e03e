//! What a segment's header says, and what of it is believed: nothing, until every field has been checked.
//!
//! ```text
//!       0  magic 8 "HORUSSHM"  │   8  version 6     │  12  byte order 4
//!      16  total bytes 8       │  24  payload bytes 8 │  32  payload alignment 8 │  40  layout hash 8
//!      48  capacity 8          │  56  slot stride 8 │  64  policy 4, publishers 4, subscribers 4, flags 4
//!      80  creator: pid 8      │  88  its PID namespace 8
//!     128  type name 128, padded with zeros         │ 256  reserved, zero, to 512
//!     512  description of the type's fields, a line each, padded with zeros, to 4096
//! ```
//!
//! [`Alleged`] is the header as found: a private copy, so that a peer cannot change it between check and use.
//! [`Alleged::validate`] compares each field but the creator with its limits, with the others and with the file's real size, which
//! may be larger, and
//! makes it a [`Header`]; [`Header::check`] compares that with what the caller expects.

use std::fmt;
use std::os::fd::OwnedFd;

use zerocopy::IntoBytes;

use super::difference::difference;
use super::layout::{
    BYTE_ORDER, DESCRIPTION_BYTES, DeliveryPolicy, GENERATION_WORD, GENERATIONS, HEADER_BYTES, LANES_WORD, LINE_PAIR,
    MAGIC, MEMBERSHIP, Shape, TYPE_NAME_BYTES, VERSION, WORD,
};
use super::rejected::Reason;
use crate::error::OpenError;
use crate::peers::identity::Identity;

/// Offsets of the fields; what lies between and behind them is reserved and zero.
mod field {
    pub const MAGIC: usize = 0;
    pub const VERSION: usize = 8;
    pub const BYTE_ORDER: usize = 12;
    pub const TOTAL_BYTES: usize = 16;
    pub const PAYLOAD_BYTES: usize = 24;
    pub const PAYLOAD_ALIGN: usize = 32;
    pub const LAYOUT_HASH: usize = 40;
    pub const CAPACITY: usize = 48;
    pub const SLOT_STRIDE: usize = 56;
    pub const POLICY: usize = 64;
    pub const PUBLISHERS: usize = 68;
    pub const SUBSCRIBERS: usize = 72;
    pub const FLAGS: usize = 76;
    pub const CREATOR_PID: usize = 80;
    pub const CREATOR_NAMESPACE: usize = 88;
    pub const TYPE_NAME: usize = 128;
    pub const DESCRIPTION: usize = 512;
}

/// Flag of a topic whose publishers wake no subscriber.
const NEVER_WAKES: u32 = 1;
/// Flag of a topic whose messages outlive its users.
const LATCHED: u32 = 2;

/// Whether a file is that of a topic whose last messages outlive its users: one that is latched, and was ever published. Two system calls;
/// nothing of the file is believed beyond that.
pub(crate) fn is_kept(file: &OwnedFd) -> bool {
    let mut flags = [0; 4];
    let mut membership = [0_u64; LINE_PAIR / WORD];
    let read = |into: &mut [u8], offset: usize| rustix::io::pread(file, &mut *into, offset as u64) == Ok(into.len());
    if !read(&mut flags, field::FLAGS)
        || u32::from_ne_bytes(flags) & LATCHED == 0
        || !read(membership.as_mut_bytes(), MEMBERSHIP)
    {
        return false;
    }
    let generation = usize::try_from(membership[GENERATION_WORD] / 2).unwrap_or(usize::MAX);
    generation < GENERATIONS && membership[LANES_WORD + generation] != 0
}

/// What a peer wants a segment to be.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Name of the message type.
    pub type_name: String,
    /// Bytes of a message.
    pub payload_bytes: usize,
    /// Alignment of a message in bytes.
    pub payload_align: usize,
    /// Hash of the message's layout, 0 where none is computed.
    pub layout_hash: u64,
    /// The fields of the type, a line each: for people, not compared.
    pub description: String,
    /// How the topic must be made.
    pub terms: Terms,
}

/// How a topic must be made for a peer to join it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terms {
    /// Good enough for a publisher.
    Publishing {
        /// The delivery policy.
        policy: DeliveryPolicy,
        /// The least capacity in messages.
        capacity: usize,
        /// For how many publishers there must be room.
        publishers: usize,
        /// Whether publishers wake who sleeps.
        wakes: bool,
        /// Whether messages must outlive the topic's users. A publisher that does not ask for it takes a topic where they do.
        is_latched: bool,
    },
    /// Good enough for a subscriber.
    AtLeast(Needs),
}

impl fmt::Display for Needs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let policy = self.policy.map(|policy| format!("the delivery policy {policy}"));
        let capacity = (self.capacity > 0).then(|| format!("{} messages of room", self.capacity));
        let waking = self.waking.then(|| "to be woken".to_owned());
        let all: Vec<_> = [policy, capacity, waking].into_iter().flatten().collect();
        out.write_str(if all.is_empty() { "nothing in particular" } else { "" })?;
        out.write_str(&all.join(" and "))
    }
}

/// What a subscriber cannot do without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The delivery policy, unless any will do.
    pub policy: Option<DeliveryPolicy>,
    /// The least capacity in messages; 0 when any will do.
    pub capacity: usize,
    /// Whether publishers must wake it.
    pub waking: bool,
}

impl Needs {
    /// Checks that a topic made so is good enough.
    pub fn check(&self, policy: DeliveryPolicy, capacity: usize, wakes: bool) -> Result<(), Reason> {
        if let Some(needed) = self.policy.filter(|&needed| needed != policy) {
            return Err(Reason::DeliveryPolicy { found: policy, expected: needed });
        }
        if capacity < self.capacity {
            return Err(Reason::TooSmall { found: capacity, needed: self.capacity });
        }
        if self.waking && !wakes {
            return Err(Reason::NeverWakes);
        }
        Ok(())
    }

    /// The needs as a word of shared memory.
    pub(crate) fn to_word(self) -> u64 {
        (self.capacity as u64) << 8
            | u64::from(self.waking) << 7
            | u64::from(self.policy.map_or(0, DeliveryPolicy::code))
    }

    /// The needs that stand in a word of shared memory, whatever stands there.
    pub(crate) fn from_word(word: u64) -> Self {
        let capacity = usize::try_from(word >> 8).unwrap_or(usize::MAX);
        Self { policy: DeliveryPolicy::from_code((word & 0x7f) as u32), capacity, waking: word & 0x80 != 0 }
    }
}

/// A header as found in a file: a copy of its bytes and the file's size, with nothing checked.
pub struct Alleged {
    header: [u8; HEADER_BYTES],
    file_bytes: u64,
}

/// What a consistent header says; its numbers fit each other and the file's size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// All offsets.
    pub shape: Shape,
    /// The delivery policy.
    pub policy: DeliveryPolicy,
    /// Name of the message type.
    pub type_name: String,
    /// Hash of the message's layout.
    pub layout_hash: u64,
    /// The fields of the message type, a line each: `offset bytes name type`. Behind them, for each message inside of it, a
    /// line `type NAME` and its fields, each behind a space. Empty where the publisher gave none, cut off at
    /// [`DESCRIPTION_BYTES`].
    pub description: String,
    /// Whether publishers wake subscribers that sleep; if not, no `send` makes a system call and subscribers look by the
    /// clock.
    pub wakes: bool,
    /// Whether the file stays once the topic was published and all its users are gone, so that who comes later gets the last messages.
    pub is_latched: bool,
    /// Who made the file. It may be gone while others go on using it.
    pub creator: Identity,
}

impl Alleged {
    /// The allegation in a file's first bytes; `file_bytes` is the size of the whole file.
    pub fn new(first_bytes: &[u8], file_bytes: u64) -> Result<Self, Reason> {
        let header = first_bytes.first_chunk().ok_or(Reason::Truncated { found: first_bytes.len() as u64 })?;
        Ok(Self { header: *header, file_bytes })
    }

    /// The same with the smallest shape that there is for its messages, instead of one that is half-written.
    pub(crate) fn of_the_smallest_shape(mut self) -> Result<Self, Reason> {
        let subscribers = self.u32(field::SUBSCRIBERS) as usize;
        let shape = Shape::new(self.size(field::PAYLOAD_BYTES), self.size(field::PAYLOAD_ALIGN), 1, 1, subscribers)?;
        let mut put = |offset: usize, value: &[u8]| self.header[offset..offset + value.len()].copy_from_slice(value);
        put(field::CAPACITY, &1_u64.to_ne_bytes());
        put(field::PUBLISHERS, &1_u32.to_ne_bytes());
        put(field::POLICY, &DeliveryPolicy::Latest.code().to_ne_bytes());
        put(field::TOTAL_BYTES, &(shape.total_bytes() as u64).to_ne_bytes());
        Ok(self)
    }

    fn u32(&self, offset: usize) -> u32 {
        u32::from_ne_bytes(self.header[offset..offset + 4].try_into().expect("four bytes"))
    }

    fn u64(&self, offset: usize) -> u64 {
        u64::from_ne_bytes(self.header[offset..offset + 8].try_into().expect("eight bytes"))
    }

    /// A number that counts bytes or messages; one that does not fit into `usize` is beyond every limit anyway.
    fn size(&self, offset: usize) -> usize {
        usize::try_from(self.u64(offset)).unwrap_or(usize::MAX)
    }

    /// Whether the file is ours by its first bytes, so that it can be removed when no peer uses it, whatever else is wrong with
    /// it: cut short, damaged, or empty. Other versions may tell otherwise who uses them.
    pub(crate) fn is_ours(first_bytes: &[u8]) -> bool {
        let version = first_bytes.get(field::VERSION..field::VERSION + 4);
        first_bytes.is_empty() || (first_bytes.starts_with(&MAGIC) && version == Some(&VERSION.to_ne_bytes()))
    }

    /// Checks every field that bytes are addressed by, or people are shown, against the limits, against the others and
    /// against the file's size. Any creator is possible, and reserved bytes are not looked at: they mean nothing in this
    /// version, and a later one has another number.
    pub fn validate(&self) -> Result<Header, Reason> {
        let magic = *self.header.first_chunk().expect("the header is longer than its magic");
        if magic != MAGIC {
            return Err(Reason::Magic { found: magic });
        }
        // Byte order before version: a foreign version would read as nonsense.
        if self.u32(field::BYTE_ORDER) != BYTE_ORDER {
            return Err(Reason::ByteOrder { found: self.u32(field::BYTE_ORDER) });
        }
        if self.u32(field::VERSION) != VERSION {
            return Err(Reason::Version { found: self.u32(field::VERSION) });
        }
        let shape = Shape::new(
            self.size(field::PAYLOAD_BYTES),
            self.size(field::PAYLOAD_ALIGN),
            self.size(field::CAPACITY),
            self.u32(field::PUBLISHERS) as usize,
            self.u32(field::SUBSCRIBERS) as usize,
        )?;
        let consistent = |field, found: u64, expected: usize| match expected as u64 {
            expected if expected == found => Ok(()),
            expected => Err(Reason::Inconsistent { field, found, expected }),
        };
        consistent("slot stride", self.u64(field::SLOT_STRIDE), shape.slot_stride())?;
        consistent("total size", self.u64(field::TOTAL_BYTES), shape.total_bytes())?;
        // One that was remade may have been larger before.
        if self.file_bytes < shape.total_bytes() as u64 {
            let (field, found, expected) = ("the file's size", self.file_bytes, shape.total_bytes() as u64);
            return Err(Reason::Inconsistent { field, found, expected });
        }
        let code = self.u32(field::POLICY);
        let policy = DeliveryPolicy::from_code(code).ok_or(Reason::DeliveryPolicyCode { found: code })?;
        Ok(Header {
            shape,
            policy,
            type_name: self.type_name().ok_or(Reason::TypeNameBytes)?,
            layout_hash: self.u64(field::LAYOUT_HASH),
            description: self.description(),
            wakes: self.u32(field::FLAGS) & NEVER_WAKES == 0,
            is_latched: self.u32(field::FLAGS) & LATCHED != 0,
            creator: Identity {
                pid: u32::try_from(self.u64(field::CREATOR_PID)).unwrap_or(0),
                namespace: self.u64(field::CREATOR_NAMESPACE),
            },
        })
    }

    fn type_name(&self) -> Option<String> {
        let name = text(&self.header[field::TYPE_NAME..field::TYPE_NAME + TYPE_NAME_BYTES])?;
        // It will be printed on terminals.
        (!name.is_empty() && !name.chars().any(char::is_control)).then(|| name.to_owned())
    }

    /// Nothing is addressed by it, so one that is no text is none.
    fn description(&self) -> String {
        let lines = text(&self.header[field::DESCRIPTION..field::DESCRIPTION + DESCRIPTION_BYTES]).unwrap_or_default();
        lines.chars().filter(|&character| character == '\n' || !character.is_control()).collect()
    }
}

/// The text in a field that is padded with zeros.
fn text(field: &[u8]) -> Option<&str> {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    let (text, padding) = field.split_at(end);
    padding.iter().all(|&byte| byte == 0).then(|| std::str::from_utf8(text).ok())?
}

/// As much of `text` as fits into `bytes` bytes, whole lines where it has several.
fn cut(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let end = (0..=bytes).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
    text[..end].rsplit_once('\n').map_or(&text[..end], |(lines, _rest)| lines)
}

impl Header {
    /// Whether the topic carries bytes, or values that were made bytes, of different lengths ([`crate::ends::bytes`]).
    pub fn is_of_bytes(&self) -> bool {
        self.layout_hash == 0
            && self.description.is_empty()
            && self.shape.payload_align() == WORD
            && self.shape.payload_bytes() >= WORD
    }

    /// The header for a new segment of what is expected.
    pub(crate) fn new(
        expected: &Expected,
        shape: Shape,
        policy: DeliveryPolicy,
        (wakes, is_latched): (bool, bool),
    ) -> Result<Self, OpenError> {
        let type_name = expected.type_name.clone();
        let printable = !type_name.is_empty() && !type_name.chars().any(char::is_control);
        if !printable || type_name.len() > TYPE_NAME_BYTES {
            return Err(OpenError::TypeName { name: type_name });
        }
        let description = cut(&expected.description, DESCRIPTION_BYTES).to_owned();
        let (layout_hash, creator) = (expected.layout_hash, Identity::own());
        Ok(Self { shape, policy, type_name, layout_hash, description, wakes, is_latched, creator })
    }

    /// The header of the same topic with room for so much.
    pub(crate) fn remade(
        &self,
        capacity: usize,
        publishers: usize,
        policy: DeliveryPolicy,
        (wakes, is_latched): (bool, bool),
    ) -> Result<Self, OpenError> {
        let (bytes, align) = (self.shape.payload_bytes(), self.shape.payload_align());
        let shape = Shape::new(bytes, align, capacity, publishers, self.shape.subscribers())?;
        Ok(Self { shape, policy, wakes, is_latched, creator: Identity::own(), ..self.clone() })
    }

    /// The bytes that [`Alleged::validate`] reads back as this header.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let mut put = |offset: usize, value: &[u8]| bytes[offset..offset + value.len()].copy_from_slice(value);
        put(field::MAGIC, &MAGIC);
        put(field::VERSION, &VERSION.to_ne_bytes());
        put(field::BYTE_ORDER, &BYTE_ORDER.to_ne_bytes());
        put(field::TOTAL_BYTES, &(self.shape.total_bytes() as u64).to_ne_bytes());
        put(field::PAYLOAD_BYTES, &(self.shape.payload_bytes() as u64).to_ne_bytes());
        put(field::PAYLOAD_ALIGN, &(self.shape.payload_align() as u64).to_ne_bytes());
        put(field::LAYOUT_HASH, &self.layout_hash.to_ne_bytes());
        put(field::CAPACITY, &(self.shape.capacity() as u64).to_ne_bytes());
        put(field::SLOT_STRIDE, &(self.shape.slot_stride() as u64).to_ne_bytes());
        put(field::POLICY, &self.policy.code().to_ne_bytes());
        put(field::PUBLISHERS, &(self.shape.publishers() as u32).to_ne_bytes());
        put(field::SUBSCRIBERS, &(self.shape.subscribers() as u32).to_ne_bytes());
        let never_wakes = if self.wakes { 0 } else { NEVER_WAKES };
        put(field::FLAGS, &(never_wakes | if self.is_latched { LATCHED } else { 0 }).to_ne_bytes());
        put(field::CREATOR_PID, &u64::from(self.creator.pid).to_ne_bytes());
        put(field::CREATOR_NAMESPACE, &self.creator.namespace.to_ne_bytes());
        put(field::TYPE_NAME, self.type_name.as_bytes());
        put(field::DESCRIPTION, self.description.as_bytes());
        bytes
    }

    /// Checks that this is the topic that the caller means, made well enough for it.
    pub fn check(&self, expected: &Expected) -> Result<(), Reason> {
        self.check_type(expected)?;
        self.check_terms(&expected.terms)
    }

    /// Checks that the messages are those that the caller means.
    pub(crate) fn check_type(&self, expected: &Expected) -> Result<(), Reason> {
        let type_name = || self.type_name.clone();
        if self.type_name != expected.type_name {
            return Err(Reason::TypeName { found: type_name(), expected: expected.type_name.clone() });
        }
        let (found_bytes, found_align) = (self.shape.payload_bytes(), self.shape.payload_align());
        let (expected_bytes, expected_align) = (expected.payload_bytes, expected.payload_align);
        if (found_bytes, found_align) != (expected_bytes, expected_align) {
            let type_name = type_name();
            let difference = difference(&self.description, &expected.description);
            return Err(Reason::Payload {
                type_name,
                found_bytes,
                found_align,
                expected_bytes,
                expected_align,
                difference,
            });
        }
        if self.layout_hash != expected.layout_hash {
            let difference = difference(&self.description, &expected.description);
            let (found, expected) = (self.layout_hash, expected.layout_hash);
            return Err(Reason::LayoutHash { type_name: type_name(), found, expected, difference });
        }
        Ok(())
    }

    /// Checks that the topic is made as the caller wants it.
    pub(crate) fn check_terms(&self, terms: &Terms) -> Result<(), Reason> {
        let (policy, capacity, publishers, wakes, is_latched) = match *terms {
            Terms::AtLeast(needs) => return needs.check(self.policy, self.shape.capacity(), self.wakes),
            Terms::Publishing { policy, capacity, publishers, wakes, is_latched } => {
                (policy, capacity, publishers, wakes, is_latched)
            }
        };
        if policy != self.policy {
            return Err(Reason::DeliveryPolicy { found: self.policy, expected: policy });
        }
        if capacity > self.shape.capacity() {
            return Err(Reason::Capacity { found: self.shape.capacity(), expected: capacity });
        }
        if publishers > self.shape.publishers() {
            return Err(Reason::Publishers { found: self.shape.publishers(), expected: publishers });
        }
        if wakes != self.wakes {
            return Err(Reason::Wakes { found: self.wakes });
        }
        if is_latched && !self.is_latched {
            return Err(Reason::NotLatched);
        }
        Ok(())
    }
}
