//! Which byte of a segment is what.
//!
//! ```text
//!        0 ┌────────────────────────────────────────────────────────────┐
//!          │ header: written before the file has a name, then only read,│
//!          │ unless the topic is remade; see `header` for its fields    │
//!     4096 ├────────────────────────────────────────────────────────────┤
//!          │ membership: bits of the subscribers that read here and of  │
//!          │ those that may sleep; generation; then, a word for each    │
//!          │ generation, bits of the lanes ever used               128 B│
//!     4224 ├────────────────────────────────────────────────────────────┤
//!          │ bell: futex word, who is asleep and how many sleeps   128 B│
//!     4352 ├────────────────────────────────────────────────────────────┤
//!          │ subscribers: pid, its namespace, needs            S × 128 B│
//!          ├────────────────────────────────────────────────────────────┤ ┐
//!          │ owner: pid, its namespace, -, epoch; holders, asking  128 B│ │
//!          │ position: sequence number of the next message         128 B│ │ lane 0,
//!          │ cursors: next sequence each subscriber will read  S × 128 B│ │ lanes 1…
//!          │ slots                               lane's capacity × stride│ │ follow
//!          └────────────────────────────────────────────────────────────┘ ┘
//!
//!     slot ┌──────────┬──────────┬──────────────────────────────┐
//!          │ stamp  8 │ sent_ns 8│ payload …                    │  stride: a multiple of 64
//!          └──────────┴──────────┴──────────────────────────────┘
//!          0          8          payload_offset = max(16, alignment)
//! ```
//!
//! A slot starts on a cache line and its stamp shares that line with the first 48 bytes of payload: a message of up to
//! 48 bytes crosses between two CPUs as one line. Words that one CPU writes and another polls (position, cursors) have
//! 128 bytes each, because x86-64 fetches lines in pairs and some arm64 parts have 128-byte lines.
//!
//! A segment for `P` publishers with lanes of `C` messages of `B` bytes, and for `S` subscribers, has
//! `4352 + 128 S + P × (256 + 128 S + C × stride) + (256 + 128 S + min(C, 2) × stride)` bytes, each lane rounded up to 128, where
//! `stride = round_up(max(16, alignment) + B, 64)`. The last lane is the monitor's: it is behind those of the publishers, so
//! that it moves none of them, and holds no more than [`MONITORS_CAPACITY`] messages.
//!
//! # Generations
//! A topic that no peer has published can be remade in its own file ([`crate::ends`]). Everything up to the lanes stays where it
//! is then. The generation says how often it was remade, times two, and is odd while a peer is at it. Each generation has its own
//! word of used lanes, so that a mapping of an older one never sees a lane used, whose place it would not know.
//!
//! Integers are in the byte order of the machine that made the file; a tag in the header tells a foreign one. Nothing
//! depends on the page size: a mapping may be longer than its file's bytes, never shorter.

use thiserror::Error;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("HORUS topics need a 64-bit machine: sequence numbers and offsets are 64-bit words that cross as one");

/// Bytes in a word: what one atomic access reads or writes.
pub const WORD: usize = size_of::<u64>();

/// Bytes of a cache line on x86-64 and on the arm64 boards that we build for: slots start on one.
pub const LINE: usize = 64;
/// Distance between words that different CPUs write: two lines, see the module's text.
pub const LINE_PAIR: usize = 2 * LINE;

/// The first eight bytes of every segment.
pub const MAGIC: [u8; 8] = *b"HORUSSHM";
/// Version of everything in this file. Any change of an offset, a meaning or the ring's protocol raises it.
pub const VERSION: u32 = 6;
/// Reads as this number only on a machine of the same byte order.
pub(crate) const BYTE_ORDER: u32 = 0x0102_0304;

/// Bytes of the header; what its fields leave over is reserved and zero.
pub const HEADER_BYTES: usize = 4096;
/// Bytes that hold the type's name, padded with zeros.
pub(crate) const TYPE_NAME_BYTES: usize = 128;
/// Bytes that hold the description of the type's fields, padded with zeros.
pub const DESCRIPTION_BYTES: usize = HEADER_BYTES - 512;
/// Offset of the membership: the peers that take part. Changes when a peer joins or leaves, so that every peer's copy of its
/// cache line stays valid in between.
pub const MEMBERSHIP: usize = HEADER_BYTES;
/// Word of the membership with one bit per subscriber that reads here.
pub(crate) const MEMBERS_WORD: usize = 0;
/// Word of the membership with one bit per subscriber that may sleep.
pub(crate) const SLEEPERS_WORD: usize = 1;
/// Word of the membership that says how often the topic was remade, times two; odd while it is being remade.
pub const GENERATION_WORD: usize = 2;
/// First of the words of the membership with one bit per lane that was ever used: one for each generation, in its second line.
pub const LANES_WORD: usize = LINE / WORD;
/// Generations that there are words for. A topic is published as soon as it was remade, unless who did it was killed just then.
pub const GENERATIONS: usize = (LINE_PAIR - LINE) / WORD;
/// Offset of the bell that wakes sleeping subscribers: a word of 32 bits to wait on.
pub const BELL: usize = MEMBERSHIP + LINE_PAIR;
/// Offset of the word that says who is asleep or about to be, a bit per subscriber in its lower half, and how often anybody
/// lay down to sleep, in its upper half.
pub const ASLEEP: usize = BELL + WORD;
/// Offset of the first subscriber's identity.
pub(crate) const IDENTITIES: usize = BELL + LINE_PAIR;

/// Word of a slot that says which message it holds, and whether all of it; see [`crate::ring`].
pub const STAMP_WORD: usize = 0;
/// Word of a slot with the time of sending, in nanoseconds of the machine's CLOCK_MONOTONIC (`horus_sys::clock`).
pub(crate) const SENT_WORD: usize = 1;
/// Bytes in front of a payload that asks for no larger alignment.
pub(crate) const SLOT_HEADER_BYTES: usize = 2 * WORD;

/// On `latest` lanes, messages of at least this many bytes can be read in place: their writer then looks before every
/// message whether the slot is held, which costs a full memory barrier, little beside writing so many bytes.
pub const HELD_FROM_BYTES: usize = 4096;

/// Most messages a lane can hold.
pub(crate) const MAX_CAPACITY: usize = 1 << 20;
/// Most bytes of one message (256 MiB: a raw 8K image fits).
pub const MAX_PAYLOAD_BYTES: usize = 1 << 28;
/// Largest alignment of a message.
pub(crate) const MAX_PAYLOAD_ALIGN: usize = LINE;
/// Most lanes of a segment: those of its publishers, and the monitor's.
pub(crate) const MAX_LANES: usize = 64;
/// Most publishers of a segment.
pub(crate) const MAX_PUBLISHERS: usize = MAX_LANES - 1;
/// Most messages that the monitor's lane holds: what is safe changes nothing by being sent twice.
pub const MONITORS_CAPACITY: usize = 2;
/// Most subscribers of a segment.
pub const MAX_SUBSCRIBERS: usize = 32;
/// Most bytes of a segment (64 GiB).
pub(crate) const MAX_TOTAL_BYTES: usize = 1 << 36;

/// The delivery policy: what a lane does when its slowest subscriber has not read the oldest message yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryPolicy {
    /// Refuse: the value goes back to the caller and nothing is lost. A live subscriber that stops reading stops the
    /// publisher after `capacity` messages.
    Reliable,
    /// Overwrite the oldest: the publisher never waits, and a subscriber that was overtaken counts exactly how many
    /// messages it missed.
    Latest,
}

impl DeliveryPolicy {
    /// The number that stands in a header for this policy; zero stands for none, so that empty bytes mean nothing.
    pub const fn code(self) -> u32 {
        match self {
            Self::Reliable => 1,
            Self::Latest => 2,
        }
    }

    /// The policy that a header's number stands for.
    pub const fn from_code(code: u32) -> Option<Self> {
        match code {
            1 => Some(Self::Reliable),
            2 => Some(Self::Latest),
            _ => None,
        }
    }
}

impl std::fmt::Display for DeliveryPolicy {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Reliable => "reliable",
            Self::Latest => "latest",
        })
    }
}

/// The numbers that fix every offset, each within its limit; the only way to get one is to have it checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    payload_bytes: usize,
    payload_align: usize,
    capacity: usize,
    publishers: usize,
    subscribers: usize,
}

/// Why no segment of this shape can exist.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ShapeError {
    /// The capacity is zero, absurd or no power of two.
    #[error("a capacity of {0} messages is not possible: choose a power of two from 1 to {MAX_CAPACITY}")]
    Capacity(usize),
    /// The message is empty or absurdly large.
    #[error("a message of {0} bytes is not possible: 1 to {MAX_PAYLOAD_BYTES} bytes are")]
    PayloadBytes(usize),
    /// A message of bytes, whose length takes room too, would be too long.
    #[error("messages of up to {0} bytes are not possible: at most {max} are", max = MAX_PAYLOAD_BYTES - WORD)]
    Bytes(usize),
    /// The message asks for an alignment that slots do not give.
    #[error("a message aligned to {0} bytes is not possible: powers of two up to {MAX_PAYLOAD_ALIGN} are")]
    PayloadAlign(usize),
    /// No publisher, or more than can be told apart.
    #[error("room for {0} publishers is not possible: choose 1 to {MAX_PUBLISHERS} (`Options::publishers`)")]
    Publishers(usize),
    /// No subscriber, or more than the members word has bits for.
    #[error("{0} subscribers are not possible: 1 to {MAX_SUBSCRIBERS} are")]
    Subscribers(usize),
    /// Each number is possible, their product is not.
    #[error("the segment would be larger than {MAX_TOTAL_BYTES} bytes: choose a smaller capacity")]
    Total,
}

impl Shape {
    /// A shape of these numbers, each within the limits of this module.
    pub fn new(
        payload_bytes: usize,
        payload_align: usize,
        capacity: usize,
        publishers: usize,
        subscribers: usize,
    ) -> Result<Self, ShapeError> {
        if !capacity.is_power_of_two() || capacity > MAX_CAPACITY {
            return Err(ShapeError::Capacity(capacity));
        }
        if payload_bytes == 0 || payload_bytes > MAX_PAYLOAD_BYTES {
            return Err(ShapeError::PayloadBytes(payload_bytes));
        }
        if !payload_align.is_power_of_two() || payload_align > MAX_PAYLOAD_ALIGN {
            return Err(ShapeError::PayloadAlign(payload_align));
        }
        if publishers == 0 || publishers > MAX_PUBLISHERS {
            return Err(ShapeError::Publishers(publishers));
        }
        if subscribers == 0 || subscribers > MAX_SUBSCRIBERS {
            return Err(ShapeError::Subscribers(subscribers));
        }
        let shape = Self { payload_bytes, payload_align, capacity, publishers, subscribers };
        // Within the limits above the product stays below 2^55, far from overflow.
        if shape.total_bytes() > MAX_TOTAL_BYTES {
            return Err(ShapeError::Total);
        }
        Ok(shape)
    }

    /// Bytes of a message.
    pub const fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }

    /// Alignment of a message in bytes.
    pub const fn payload_align(&self) -> usize {
        self.payload_align
    }

    /// Messages that a publisher's lane holds, a power of two.
    pub const fn capacity(&self) -> usize {
        self.capacity
    }

    /// Messages that lane `lane` holds, a power of two.
    pub const fn capacity_of(&self, lane: usize) -> usize {
        match lane == self.monitors_lane() && self.capacity > MONITORS_CAPACITY {
            true => MONITORS_CAPACITY,
            false => self.capacity,
        }
    }

    /// Publishers that there is room for; each has the lane of its number.
    pub const fn publishers(&self) -> usize {
        self.publishers
    }

    /// Number of the monitor's lane: the one behind those of the publishers.
    pub const fn monitors_lane(&self) -> usize {
        self.publishers
    }

    /// Lanes of the segment, the monitor's among them.
    pub const fn lanes(&self) -> usize {
        self.publishers + 1
    }

    /// Subscribers that the segment has room for.
    pub const fn subscribers(&self) -> usize {
        self.subscribers
    }

    /// Bytes from one slot to the next, a multiple of [`LINE`].
    pub const fn slot_stride(&self) -> usize {
        (payload_offset(self.payload_align) + self.payload_bytes).next_multiple_of(LINE)
    }

    /// Bytes of the whole segment, a multiple of [`LINE`].
    pub const fn total_bytes(&self) -> usize {
        let last = self.monitors_lane();
        self.lane(last) + self.lane_bytes(self.capacity_of(last))
    }

    /// Offset of what subscriber `subscriber` says of itself.
    pub const fn identity(&self, subscriber: usize) -> usize {
        IDENTITIES + subscriber * LINE_PAIR
    }

    /// Offset of lane `lane`, which starts with its owner's identity.
    pub const fn lane(&self, lane: usize) -> usize {
        IDENTITIES + self.subscribers * LINE_PAIR + lane * self.lane_bytes(self.capacity)
    }

    /// Offset of the word with one bit per subscriber that holds a message of the lane in place.
    pub const fn holders(&self, lane: usize) -> usize {
        self.lane(lane) + LINE
    }

    /// Offset of the word that says for which message's slot the lane's publisher asked last; on a reliable lane, which
    /// message it is writing or wrote last.
    pub const fn asking(&self, lane: usize) -> usize {
        self.holders(lane) + WORD
    }

    /// Whether a `latest` lane's messages can be held in place; those of a reliable lane always can.
    pub const fn is_held(&self) -> bool {
        self.payload_bytes >= HELD_FROM_BYTES
    }

    /// Offset of the position of lane `lane`.
    pub const fn position(&self, lane: usize) -> usize {
        self.lane(lane) + LINE_PAIR
    }

    /// Offset of the cursor of `subscriber` in `lane`.
    pub const fn cursor(&self, lane: usize, subscriber: usize) -> usize {
        self.lane(lane) + 2 * LINE_PAIR + subscriber * LINE_PAIR
    }

    /// Offset of the first slot of `lane`.
    pub const fn slots(&self, lane: usize) -> usize {
        self.lane(lane) + self.lane_head_bytes()
    }

    const fn lane_head_bytes(&self) -> usize {
        2 * LINE_PAIR + self.subscribers * LINE_PAIR
    }

    const fn lane_bytes(&self, capacity: usize) -> usize {
        (self.lane_head_bytes() + capacity * self.slot_stride()).next_multiple_of(LINE_PAIR)
    }
}

/// Offset of the payload in a slot, for a payload of this alignment.
pub(crate) const fn payload_offset(align: usize) -> usize {
    if align > SLOT_HEADER_BYTES { align } else { SLOT_HEADER_BYTES }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(payload_bytes: usize, payload_align: usize, capacity: usize, publishers: usize) -> Shape {
        Shape::new(payload_bytes, payload_align, capacity, publishers, MAX_SUBSCRIBERS).unwrap()
    }

    #[test]
    fn a_message_of_16_bytes_takes_one_cache_line() {
        assert_eq!(shape(16, 8, 64, 1).slot_stride(), LINE);
        assert_eq!(shape(48, 8, 64, 1).slot_stride(), LINE);
        assert_eq!(shape(49, 8, 64, 1).slot_stride(), 2 * LINE);
    }

    #[test]
    fn shared_words_and_slots_stand_on_lines_of_their_own() {
        for (bytes, align, capacity, publishers) in [(1, 1, 1, 1), (16, 8, 64, 3), (65, 64, 1, 2), (1480, 4, 8, 63)] {
            let shape = shape(bytes, align, capacity, publishers);
            let mut words = vec![MEMBERSHIP, BELL];
            words.extend((0..MAX_SUBSCRIBERS).map(|s| shape.identity(s)));
            for lane in 0..shape.lanes() {
                words.extend([shape.lane(lane), shape.position(lane)]);
                words.extend((0..MAX_SUBSCRIBERS).map(|s| shape.cursor(lane, s)));
                words.extend([shape.slots(lane)]);
            }
            assert!(words.windows(2).all(|pair| pair[0] + LINE_PAIR <= pair[1]), "{words:?}");
            assert!(words.iter().all(|offset| offset % LINE_PAIR == 0), "{words:?}");
            let last = shape.monitors_lane();
            let end = shape.slots(last) + shape.capacity_of(last) * shape.slot_stride();
            assert!(end <= shape.total_bytes() && shape.total_bytes() < end + LINE_PAIR);
            assert_eq!(payload_offset(align) % align, 0);
        }
    }

    #[test]
    fn segment_bytes_follow_the_documented_formula() {
        for (bytes, align, capacity, publishers, subscribers) in
            [(16, 8, 64, 1, 32), (304, 8, 256, 4, 32), (1480, 4, 16, 63, 7), (1 << 20, 64, 4, 2, 1), (16, 8, 1, 1, 32)]
        {
            let shape = Shape::new(bytes, align, capacity, publishers, subscribers).unwrap();
            let stride = (align.max(16) + bytes).next_multiple_of(64);
            let lane = |capacity: usize| (256 + 128 * subscribers + capacity * stride).next_multiple_of(128);
            let lanes = publishers * lane(capacity) + lane(capacity.min(2));
            assert_eq!(shape.total_bytes(), 4352 + 128 * subscribers + lanes);
        }
        assert_eq!(shape(16, 8, 64, 1).total_bytes(), 21_376, "ping's topic");
    }

    #[test]
    fn shapes_beyond_a_limit_are_refused() {
        let new = |bytes, align, capacity, publishers, subscribers| {
            Shape::new(bytes, align, capacity, publishers, subscribers)
        };
        assert_eq!(new(16, 8, 0, 1, 1), Err(ShapeError::Capacity(0)));
        assert_eq!(new(16, 8, 3, 1, 1), Err(ShapeError::Capacity(3)));
        assert_eq!(new(16, 8, 2 * MAX_CAPACITY, 1, 1), Err(ShapeError::Capacity(2 * MAX_CAPACITY)));
        assert_eq!(new(0, 8, 1, 1, 1), Err(ShapeError::PayloadBytes(0)));
        assert_eq!(new(usize::MAX, 8, 1, 1, 1), Err(ShapeError::PayloadBytes(usize::MAX)));
        assert_eq!(new(16, 128, 1, 1, 1), Err(ShapeError::PayloadAlign(128)));
        assert_eq!(new(16, 8, 1, 0, 1), Err(ShapeError::Publishers(0)));
        assert_eq!(new(16, 8, 1, 64, 1), Err(ShapeError::Publishers(64)));
        assert_eq!(new(16, 8, 1, 1, 33), Err(ShapeError::Subscribers(33)));
        assert_eq!(new(MAX_PAYLOAD_BYTES, 8, MAX_CAPACITY, 1, 1), Err(ShapeError::Total));
    }
}
