//! Moves payload bytes in and out of slots by relaxed atomic words.
//!
//! A reader may copy a slot while its writer overwrites it; the stamps around the copy ([`crate::ring`]) tell the
//! reader afterwards and it throws the copy away. With plain loads that race would be undefined behaviour before
//! anybody could look at a stamp; with atomic words the copy is merely useless. The alternative, a volatile or plain
//! `memcpy` as most shared-memory rings do it, is faster for large payloads and formally a data race.

use crate::sync::{AtomicU64, Ordering};

/// Bytes in a word.
pub const WORD: usize = size_of::<u64>();

/// How many words hold `bytes` bytes.
pub const fn words_for(bytes: usize) -> usize {
    bytes.div_ceil(WORD)
}

/// Stores `bytes` into the first words of `slot`; a last, partial word is filled up with zeros.
///
/// # Panics
/// When `slot` has fewer than [`words_for`]`(bytes.len())` words: the caller sized the slot for the type.
#[inline]
pub fn store(slot: &[AtomicU64], bytes: &[u8]) {
    let (whole, rest) = bytes.as_chunks::<WORD>();
    let (slot, last) = slot[..words_for(bytes.len())].split_at(whole.len());
    for (word, bytes) in slot.iter().zip(whole) {
        // Relaxed: the stamp's Release orders the whole payload at once.
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    if let Some(word) = last.first() {
        let mut padded = [0; WORD];
        padded[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
    }
}

/// Loads the first words of `slot` into `bytes`.
///
/// The bytes are one message only if the slot's stamp did not change meanwhile, which is the caller's to check.
///
/// # Panics
/// When `slot` has fewer than [`words_for`]`(bytes.len())` words.
#[inline]
pub fn load(slot: &[AtomicU64], bytes: &mut [u8]) {
    let (whole, rest) = bytes.as_chunks_mut::<WORD>();
    let (slot, last) = slot[..whole.len() + usize::from(!rest.is_empty())].split_at(whole.len());
    for (word, bytes) in slot.iter().zip(whole) {
        // Relaxed: the stamp was read with Acquire before, and an Acquire fence follows before it is read again.
        *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
    }
    if let Some(word) = last.first() {
        let length = rest.len();
        rest.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes()[..length]);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back_as_it_went_in() {
        let slot: Vec<_> = (0..5).map(|_| AtomicU64::new(u64::MAX)).collect();
        for length in 0..=5 * WORD {
            let sent: Vec<u8> = (0..length).map(|i| i as u8 ^ 0x5a).collect();
            let mut received = vec![0; length];
            store(&slot, &sent);
            load(&slot, &mut received);
            assert_eq!(received, sent);
        }
    }

    #[test]
    fn words_behind_the_payload_are_left_alone() {
        let slot: Vec<_> = (0..3).map(|_| AtomicU64::new(7)).collect();
        store(&slot, &[1; 9]);
        assert_eq!(slot[2].load(Ordering::Relaxed), 7);
        assert_eq!(slot[1].load(Ordering::Relaxed).to_ne_bytes(), [1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
