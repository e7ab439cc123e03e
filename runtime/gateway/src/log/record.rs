//! One message in a segment: a head of four words, and the message's bytes up to the next whole word.
//!
//! ```text
//! word 0   bits  0..32  bytes of the message
//!          bits 32..48  the publisher's lane
//!          bits 48..64  MARK; a word 0 of zero says that no record follows
//! word 1   sequence number, which only grows
//! word 2   when it was sent, in nanoseconds on CLOCK_MONOTONIC
//! word 3   two CRC32C, both begun with the segment's salt, that take words 0 to 2 and the message's words in turn
//!          (crate::checksum::in_turn): half as long to wait for as one
//! word 4…  the message; the last word is filled up with zeros
//! ```
//!
//! Word 0 is stored last. The record before it is complete then, and the word behind it already says that nothing follows. So a writer
//! that is killed between two stores leaves whole records and an end.
//!
//! # What it does not do
//! A checksum finds what a disk or a power cut damages. It is no protection against who may write to the file.

use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::ring::copy;
use horus_sys::failpoint;

use crate::checksum;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// Words before the message.
pub const HEAD_WORDS: usize = 4;

/// What the upper bits of every word 0 are.
const MARK: u64 = 0x4c52;

/// The most bytes that a length can say.
pub const MAX_MESSAGE_BYTES: usize = u32::MAX as usize;

/// What stands before a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Bytes of the message.
    pub bytes: usize,
    /// Lane of the publisher that it came by.
    pub publisher: u16,
    /// Its number in the log.
    pub sequence: u64,
    /// When it was sent, in nanoseconds on CLOCK_MONOTONIC.
    pub stamp_ns: u64,
}

/// How many words a message of so many bytes takes.
#[inline]
pub fn words(bytes: usize) -> usize {
    HEAD_WORDS + copy::words_for(bytes)
}

impl Head {
    fn first_words(&self) -> [u64; 3] {
        [MARK << 48 | u64::from(self.publisher) << 32 | self.bytes as u64, self.sequence, self.stamp_ns]
    }
}

/// Stores a record and the end behind it at the beginning of `into`.
///
/// # Panics
/// When `into` has no room for both: the caller looked.
#[inline]
pub fn write(into: &[AtomicU64], head: &Head, message: &[u8], salt: u32) {
    debug_assert_eq!(head.bytes, message.len());
    let words = words(message.len());
    let [first, sequence, stamp] = head.first_words();
    into[words].store(0, Ordering::Relaxed);
    failpoint!("record:end");
    // One pass: each word is stored and summed. No reader looks on, so `copy::store` and its care for readers are not needed.
    let (whole, rest) = message.as_chunks::<WORD>();
    let (whole_words, last_word) = into[HEAD_WORDS..words].split_at(whole.len());
    let store = |word: &AtomicU64, bytes: [u8; WORD]| {
        let value = u64::from_ne_bytes(bytes);
        word.store(value, Ordering::Relaxed);
        failpoint!("record:word");
        value
    };
    let stored = whole_words.iter().zip(whole).map(|(word, bytes)| store(word, *bytes));
    let last = last_word.first().map(|word| {
        let mut bytes = [0; WORD];
        bytes[..rest.len()].copy_from_slice(rest);
        store(word, bytes)
    });
    let sum = checksum::in_turn(salt, [first, sequence, stamp], stored, last);
    failpoint!("record:message");
    into[3].store(sum, Ordering::Relaxed);
    into[2].store(stamp, Ordering::Relaxed);
    into[1].store(sequence, Ordering::Relaxed);
    failpoint!("record:head");
    // Release: a kill keeps the order of stores, and this one says that the others are there. No reader reads the segment
    // meanwhile.
    into[0].store(first, Ordering::Release);
    failpoint!("record:whole");
}

/// What stands at a place in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A record whose checksum is right; its message was copied.
    Record(Head),
    /// The end.
    End,
    /// Neither.
    Damage,
}

/// Reads what stands at the beginning of `from`; a record's message replaces what is in `message`.
#[inline]
pub fn read(from: &[AtomicU64], salt: u32, message: &mut Vec<u8>) -> Found {
    let Some(first) = from.first().map(|word| word.load(Ordering::Acquire)) else { return Found::End };
    if first == 0 {
        return Found::End;
    }
    let bytes = (first & 0xffff_ffff) as usize;
    if first >> 48 != MARK || words(bytes) > from.len() {
        return Found::Damage;
    }
    let head = Head {
        bytes,
        publisher: (first >> 32) as u16,
        sequence: from[1].load(Ordering::Relaxed),
        stamp_ns: from[2].load(Ordering::Relaxed),
    };
    message.resize(bytes, 0);
    // One pass, as it was written; what fills the last word up is summed too.
    let (whole, rest) = message.as_chunks_mut::<WORD>();
    let (whole_words, last_word) = from[HEAD_WORDS..words(bytes)].split_at(whole.len());
    let loaded = whole_words.iter().zip(whole).map(|(word, bytes)| {
        let value = word.load(Ordering::Relaxed);
        *bytes = value.to_ne_bytes();
        value
    });
    let last = last_word.first().map(|word| {
        let value = word.load(Ordering::Relaxed);
        rest.copy_from_slice(&value.to_ne_bytes()[..rest.len()]);
        value
    });
    let sum = checksum::in_turn(salt, head.first_words(), loaded, last);
    if from[3].load(Ordering::Relaxed) == sum { Found::Record(head) } else { Found::Damage }
}

/// Whether a record could begin here.
pub fn has_mark(from: &[AtomicU64]) -> bool {
    from.first().is_some_and(|word| word.load(Ordering::Relaxed) >> 48 == MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(words: usize) -> Vec<AtomicU64> {
        (0..words).map(|_| AtomicU64::new(u64::MAX)).collect()
    }

    #[test]
    fn a_record_is_read_as_it_was_written_with_its_end_behind_it() {
        let paper = paper(40);
        let mut message = Vec::new();
        for bytes in 0..100_usize {
            let sent: Vec<u8> = (0..bytes).map(|byte| byte as u8).collect();
            let head = Head { bytes, publisher: 7, sequence: 9 + bytes as u64, stamp_ns: 11 };
            write(&paper, &head, &sent, 5);
            assert_eq!((read(&paper, 5, &mut message), &message), (Found::Record(head), &sent));
            assert_eq!(read(&paper[words(bytes)..], 5, &mut message), Found::End);
            assert_eq!(read(&paper, 6, &mut message), Found::Damage, "the segment's last life had another salt");
        }
    }

    #[test]
    fn every_flipped_bit_is_found() {
        let paper = paper(16);
        let mut message = Vec::new();
        let head = Head { bytes: 61, publisher: 1, sequence: 1, stamp_ns: 1 };
        write(&paper, &head, &[0xa5; 61], 1);
        for word in &paper[..words(61)] {
            for bit in 0..64 {
                word.fetch_xor(1 << bit, Ordering::Relaxed);
                assert_ne!(read(&paper, 1, &mut message), Found::Record(head));
                assert!(!matches!(read(&paper, 1, &mut message), Found::Record(_)));
                word.fetch_xor(1 << bit, Ordering::Relaxed);
            }
        }
        assert_eq!(read(&paper, 1, &mut message), Found::Record(head));
    }
}
