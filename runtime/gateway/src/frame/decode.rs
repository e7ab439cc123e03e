//! Finding frames in a stream of bytes, whatever else is in it.
//!
//! What is no frame is passed over up to the next `HRGW`, and counted. A frame whose payload is damaged costs itself alone: the search goes
//! on behind its head. So a sender that broke off in the middle of a frame loses that one frame.
//!
//! # What it does not do
//! It cannot tell a frame from the bytes of a damaged frame's payload that look like a whole one. Who sends the payload chooses these bytes.
//! Damage is not his to choose, and TCP and TLS let none through.

use crate::checksum;

use super::{Frame, HEAD_BYTES, Head, MAGIC, Type, VERSION};

/// What is read from a socket at a time, at most.
const READ_BYTES: usize = 64 << 10;

/// So long a payload is summed before it is known that its head is right. What is no frame can ask for no more work than that.
const UNSEEN: usize = 512;

/// What a decoder passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// How often there was something other than a frame.
    pub garbage: u64,
    /// Bytes passed over there.
    pub garbage_bytes: u64,
    /// Frames whose payload did not have its checksum.
    pub payloads: u64,
    /// Frames with a longer payload than is accepted.
    pub too_long: u64,
    /// Frames of another version, or of an unknown type.
    pub unknown: u64,
}

impl Damage {
    /// All that was damaged or not understood.
    pub fn total(&self) -> u64 {
        self.garbage + self.payloads + self.too_long + self.unknown
    }
}

/// Takes bytes and gives frames. Its memory is bounded by the longest payload.
pub struct Decoder {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// Bytes to be passed over that are not here yet.
    skip: u64,
    maximum: usize,
    in_garbage: bool,
    /// The frame that stands at `start`, once it was looked at: its head and the length of its payload.
    found: Option<(Head, usize)>,
    damage: Damage,
}

/// What stands at the beginning of the bytes.
enum Parsed {
    Frame(Head, usize),
    TooLong(u64),
    Unknown(u64),
    Garbage,
}

impl Decoder {
    /// A decoder that accepts payloads of up to `maximum` bytes.
    pub fn new(maximum: usize) -> Self {
        let maximum = maximum.min(super::MAX_PAYLOAD_BYTES);
        Self {
            bytes: Vec::new(),
            start: 0,
            end: 0,
            skip: 0,
            maximum,
            in_garbage: false,
            found: None,
            damage: Damage::default(),
        }
    }

    /// Room for bytes to be read into; never empty when [`next`](Self::next) was called until it gave nothing.
    pub fn room(&mut self) -> &mut [u8] {
        if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let wanted = match parse(&self.bytes[..self.end], self.maximum) {
            Some(Parsed::Frame(_, length)) => HEAD_BYTES + length,
            _ => 0,
        };
        let wanted = wanted.max(self.end + 1).max(READ_BYTES.min(HEAD_BYTES + self.maximum));
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        } else if self.bytes.len() > wanted && self.end == 0 {
            // A long frame is through: most connections never see a second one.
            self.bytes.truncate(wanted);
            self.bytes.shrink_to_fit();
        }
        &mut self.bytes[self.end..]
    }

    /// So many bytes were read into the [`room`](Self::room).
    ///
    /// # Panics
    /// When there was no room for so many.
    pub fn filled(&mut self, bytes: usize) {
        assert!(bytes <= self.bytes.len() - self.end);
        self.end += bytes;
    }

    /// Takes over as many bytes as there is room for, and says how many.
    pub fn take(&mut self, bytes: &[u8]) -> usize {
        let room = self.room();
        let taken = room.len().min(bytes.len());
        room[..taken].copy_from_slice(&bytes[..taken]);
        self.filled(taken);
        taken
    }

    /// The next frame; `None` when more bytes are needed.
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "an iterator's items do not borrow from it")]
    pub fn next(&mut self) -> Option<Frame<'_>> {
        let (head, length) = self.found.take().or_else(|| self.find())?;
        let begin = self.start + HEAD_BYTES;
        self.start = begin + length;
        Some(Frame { head, payload: &self.bytes[begin..self.start] })
    }

    /// Whether [`next`](Self::next) has a frame.
    pub fn is_ready(&mut self) -> bool {
        self.found = self.found.take().or_else(|| self.find());
        self.found.is_some()
    }

    /// Passes over everything before the next frame; its head and the length of its payload.
    #[inline]
    fn find(&mut self) -> Option<(Head, usize)> {
        if let Some(found) = self.whole() {
            self.in_garbage = false;
            return Some(found);
        }
        loop {
            if self.skip > 0 {
                let skipped = self.skip.min((self.end - self.start) as u64);
                self.start += skipped as usize;
                self.skip -= skipped;
                if self.skip > 0 {
                    return None;
                }
            }
            let here = &self.bytes[self.start..self.end];
            match parse(here, self.maximum)? {
                Parsed::Frame(head, length) => {
                    let payload = here.get(HEAD_BYTES..HEAD_BYTES + length)?;
                    let wanted = u32_at(here.first_chunk()?, 32);
                    self.in_garbage = false;
                    if checksum::of(payload) == wanted {
                        return Some((head, length));
                    }
                    self.damage.payloads += 1;
                    self.start += HEAD_BYTES;
                    self.in_garbage = true; // what is left of it is not counted a second time
                }
                Parsed::TooLong(length) => {
                    self.damage.too_long += 1;
                    self.skip = length;
                }
                Parsed::Unknown(length) => {
                    self.damage.unknown += 1;
                    self.skip = length;
                }
                Parsed::Garbage => self.pass_over(),
            }
        }
    }

    /// What stands here if it is a whole frame that is accepted, as nearly always: both sums in one go. What it is otherwise, `parse` says.
    #[inline]
    fn whole(&self) -> Option<(Head, usize)> {
        let here = self.bytes.get(self.start..self.end).filter(|_| self.skip == 0)?;
        let (head, rest) = here.split_first_chunk::<HEAD_BYTES>()?;
        let length = u32_at(head, 12) as usize;
        if head[..4] != MAGIC || length > self.maximum.min(UNSEEN) {
            return None;
        }
        let payload = rest.get(..length)?;
        let (sum, whole) = checksum::of_frame(head.first_chunk()?, payload);
        if (sum, whole) != (u32_at(head, 32), u32_at(head, 36)) {
            return None;
        }
        Some((read(head)?, length))
    }

    /// Passes over what is no frame, up to what may be one.
    #[cold]
    fn pass_over(&mut self) {
        let here = &self.bytes[self.start..self.end];
        let next = (1..here.len()).find(|at| could_begin(&here[*at..])).unwrap_or(here.len());
        self.damage.garbage += u64::from(!self.in_garbage);
        self.damage.garbage_bytes += next as u64;
        self.in_garbage = true;
        self.start += next;
    }

    /// What was passed over so far.
    pub fn damage(&self) -> Damage {
        self.damage
    }

    /// Bytes of memory that it has.
    pub fn memory(&self) -> usize {
        self.bytes.capacity()
    }
}

/// Whether a frame may begin with these bytes, as far as they go.
fn could_begin(bytes: &[u8]) -> bool {
    let seen = bytes.len().min(MAGIC.len());
    bytes[..seen] == MAGIC[..seen]
}

/// What these bytes begin with; `None` when more are needed to say.
#[inline]
fn parse(bytes: &[u8], maximum: usize) -> Option<Parsed> {
    let Some(head) = bytes.first_chunk::<HEAD_BYTES>() else {
        return if could_begin(bytes) { None } else { Some(Parsed::Garbage) };
    };
    if head[..4] != MAGIC || checksum::of(&head[..36]) != u32_at(head, 36) {
        return Some(Parsed::Garbage);
    }
    let length = u32_at(head, 12) as usize;
    let whole = (HEAD_BYTES + length) as u64;
    if length > maximum {
        return Some(Parsed::TooLong(whole));
    }
    Some(read(head).map_or(Parsed::Unknown(whole), |head| Parsed::Frame(head, length)))
}

/// What a head says whose sum is right; `None` when it is of another version or an unknown type.
#[inline]
fn read(head: &[u8; HEAD_BYTES]) -> Option<Head> {
    let kind = Type::of(head[5]).filter(|_| head[4] == VERSION)?;
    let flags = u16::from_le_bytes([head[6], head[7]]);
    let u64_at = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    Some(Head { kind, flags, channel: u32_at(head, 8), sequence: u64_at(16), stamp_ns: u64_at(24) })
}

#[inline]
fn u32_at(head: &[u8; HEAD_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"))
}
