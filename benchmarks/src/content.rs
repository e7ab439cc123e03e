//! What stands in a message: who sent it as which, and a checksum over all of it.
//!
//! The first word (8 bytes) names publisher and sequence number, the second is the checksum, the rest differs from
//! message to message. A sender prepares the bodies once; numbering one costs two stores and a few additions, so that
//! no system's figures hold the cost of making up data. The receiver sums all words again.
//!
//! # What it does not do
//! The checksum finds any flipped bit, any lost or doubled word and any mixture of two messages (but for one chance in
//! 2^64). It is no protection against a program that wants to deceive, and it does not see two words exchanged that stand
//! a multiple of 32 bytes apart. It is that simple because its cost is in every system's throughput: about 15 ns for
//! 1480 bytes.

use crate::transport::Content;

const WORD: usize = size_of::<u64>();
/// Odd numbers without structure: 2^64 divided by the golden ratio, and multipliers of MurmurHash3 and SplitMix64.
const SALTS: [u64; 4] = [0x9e37_79b9_7f4a_7c15, 0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53, 0xbf58_476d_1ce4_e5b9];

/// The first word of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Message `sequence` of a publisher.
    Message {
        /// Number of the publisher, below 128.
        publisher: u64,
        /// Number of the message among the publisher's, below 2^56.
        sequence: u64,
    },
    /// The publisher sends no more.
    End {
        /// Number of the publisher, below 128.
        publisher: u64,
        /// How many messages it sent.
        sent: u64,
    },
}

impl Mark {
    const SEQUENCE_BITS: u32 = 56;
    const END: u64 = 1 << 63;

    /// Message number `i` of a sender that is made of `publishers` publishers.
    #[inline]
    pub fn nth(i: u64, publishers: u64) -> Self {
        if publishers == 1 {
            return Self::Message { publisher: 0, sequence: i };
        }
        Self::Message { publisher: i % publishers, sequence: i / publishers }
    }

    #[inline]
    fn word(self) -> u64 {
        match self {
            Self::Message { publisher, sequence } => publisher << Self::SEQUENCE_BITS | sequence,
            Self::End { publisher, sent } => Self::END | publisher << Self::SEQUENCE_BITS | sent,
        }
    }

    #[inline]
    fn of_word(word: u64) -> Self {
        let publisher = (word & !Self::END) >> Self::SEQUENCE_BITS;
        let number = word & ((1 << Self::SEQUENCE_BITS) - 1);
        if word & Self::END == 0 {
            Self::Message { publisher, sequence: number }
        } else {
            Self::End { publisher, sent: number }
        }
    }
}

/// Messages that are ready but for their number; numbering one and sending it is all that a timed loop does.
pub struct Prepared<M> {
    bodies: Vec<(M, u64)>,
}

impl<M: Content> Default for Prepared<M> {
    /// Bodies that differ in every word, as many as fit half of a small first-level cache: 2 to 16.
    ///
    /// # Panics
    /// When the message has fewer than 16 bytes.
    fn default() -> Self {
        assert!(size_of::<M>() >= 2 * WORD, "a message needs 16 bytes for its number and checksum");
        let count = (16 * 1024 / size_of::<M>()).clamp(2, 16).next_power_of_two();
        Self { bodies: (0..count as u64).map(body).collect() }
    }
}

impl<M: Content> Prepared<M> {
    /// The next message, numbered.
    #[inline]
    pub fn number(&mut self, mark: Mark) -> &M {
        let word = mark.word();
        let index = word as usize & (self.bodies.len() - 1);
        let (message, rest) = &mut self.bodies[index];
        write_head(message.as_mut_bytes(), word, *rest);
        message
    }
}

fn body<M: Content>(number: u64) -> (M, u64) {
    let mut message = M::new_zeroed();
    let mut state = number;
    for byte in &mut message.as_mut_bytes()[2 * WORD..] {
        state = state.wrapping_mul(SALTS[1]).wrapping_add(SALTS[0]);
        *byte = (state >> 56) as u8;
    }
    let rest = sum_of_rest(message.as_bytes());
    (message, rest)
}

#[inline]
fn write_head(bytes: &mut [u8], word: u64, rest: u64) {
    bytes[..WORD].copy_from_slice(&word.to_ne_bytes());
    bytes[WORD..2 * WORD].copy_from_slice(&checksum(word, rest).to_ne_bytes());
}

/// What a message says it is; `None` when its checksum disagrees.
#[inline]
pub fn verify<M: Content>(message: &M) -> Option<Mark> {
    verify_bytes(message.as_bytes())
}

/// As [`verify`] for bytes of any length; shorter than 16 is never right.
#[inline]
pub fn verify_bytes(bytes: &[u8]) -> Option<Mark> {
    let (word, rest) = bytes.split_first_chunk::<WORD>()?;
    let (sum, _) = rest.split_first_chunk::<WORD>()?;
    let word = u64::from_ne_bytes(*word);
    (checksum(word, sum_of_rest(bytes)) == u64::from_ne_bytes(*sum)).then(|| Mark::of_word(word))
}

#[inline]
fn checksum(word: u64, rest: u64) -> u64 {
    (word ^ SALTS[0]).wrapping_mul(SALTS[1]).wrapping_add(rest)
}

/// The sum over everything behind the first two words: four sums side by side, which vector instructions add at once.
#[inline]
fn sum_of_rest(bytes: &[u8]) -> u64 {
    let (quads, tail) = bytes[2 * WORD..].as_chunks::<{ 4 * WORD }>();
    let mut sums = [bytes.len() as u64, 1, 2, 3];
    for quad in quads {
        for (sum, word) in sums.iter_mut().zip(quad.as_chunks::<WORD>().0) {
            *sum = sum.wrapping_add(u64::from_ne_bytes(*word));
        }
    }
    let (words, last) = tail.as_chunks::<WORD>();
    for (sum, word) in sums.iter_mut().zip(words) {
        *sum = sum.wrapping_add(u64::from_ne_bytes(*word));
    }
    let mut padded = [0; WORD];
    padded[..last.len()].copy_from_slice(last);
    sums[3] = sums[3].wrapping_add(u64::from_ne_bytes(padded));
    sums.iter().zip(SALTS).fold(0, |total, (sum, salt)| total ^ sum.wrapping_mul(salt))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Payload;

    #[test]
    fn a_message_says_who_sent_it_as_which() {
        let mut prepared = Prepared::<Payload<38>>::default();
        for mark in [Mark::nth(0, 1), Mark::nth(12_345_678, 1), Mark::nth(77, 3), Mark::End { publisher: 127, sent: 9 }]
        {
            assert_eq!(verify(prepared.number(mark)), Some(mark));
        }
        assert_eq!(Mark::nth(77, 3), Mark::Message { publisher: 2, sequence: 25 });
    }

    #[test]
    fn every_flipped_bit_is_found() {
        for length in [16, 17, 24, 40, 53, 304] {
            let mut bytes: Vec<u8> = (0..length).map(|i| i as u8).collect();
            let rest = sum_of_rest(&bytes);
            write_head(&mut bytes, Mark::nth(5, 1).word(), rest);
            assert!(verify_bytes(&bytes).is_some());
            for bit in 0..8 * length {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(verify_bytes(&bytes), None, "bit {bit} of {length} bytes");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }

    #[test]
    fn a_mixture_of_two_messages_is_found() {
        let mut prepared = Prepared::<Payload<185>>::default();
        let (first, second) = (*prepared.number(Mark::nth(6, 1)), *prepared.number(Mark::nth(7, 1)));
        for torn_at in 1..185 {
            let mut torn = first;
            torn.0[torn_at..].copy_from_slice(&second.0[torn_at..]);
            assert_eq!(verify(&torn), None, "torn at word {torn_at}");
        }
    }

    #[test]
    fn too_few_bytes_are_never_right() {
        assert_eq!(verify_bytes(&[0; 15]), None);
    }
}
