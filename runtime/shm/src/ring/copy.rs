//! Moves payload bytes in and out of slots without a data race.
//!
//! A reader may copy a slot while its writer overwrites it; the stamps around the copy ([`crate::ring`]) tell the
//! reader afterwards and it throws the copy away. With plain loads that race would be undefined behaviour before
//! anybody could look at a stamp. So payloads move by relaxed atomic words, or, where they are long, by a few
//! instructions of assembly that do the same with wider registers and that the compiler sees as one opaque step
//! (`copy/bulk.rs`). What it must not do is to read the slot a second time in place of the copy, which it may with `memcpy`.

use std::mem::MaybeUninit;

use crate::segment::layout::{LINE, SLOT_HEADER_BYTES, WORD};
use crate::sync::{AtomicU64, Ordering};

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(loom), not(miri)))]
mod bulk;
pub mod sized;

/// loom and Miri see no assembly, and other machines have none here: words will do.
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(loom), not(miri))))]
mod bulk {
    use super::{AtomicU64, MaybeUninit};

    pub fn store<'a, 'b>(slot: &'a [AtomicU64], bytes: &'b [u8]) -> (&'a [AtomicU64], &'b [u8]) {
        (slot, bytes)
    }

    pub fn load<'a, 'b>(
        slot: &'a [AtomicU64],
        bytes: &'b mut [MaybeUninit<u8>],
    ) -> (&'a [AtomicU64], &'b mut [MaybeUninit<u8>]) {
        (slot, bytes)
    }
}

/// Payloads up to this many bytes move by words: they share the stamp's cache line, or all but do.
const SHORT: usize = LINE - SLOT_HEADER_BYTES;

/// How many words hold `bytes` bytes.
pub const fn words_for(bytes: usize) -> usize {
    bytes.div_ceil(WORD)
}

/// Where a payload that begins at `slot` goes beyond the cache line of its first word: words, at most `slot.len()`.
#[inline(always)]
fn words_of_first_line(slot: &[AtomicU64]) -> usize {
    const WORDS_OF_LINE: usize = LINE / WORD;
    let into_line = slot.as_ptr().addr() / WORD % WORDS_OF_LINE;
    ((WORDS_OF_LINE - into_line) % WORDS_OF_LINE).min(slot.len())
}

/// Stores `bytes` into the first words of `slot`; a last, partial word is filled up with zeros.
///
/// What shares a cache line with the stamp goes last. A reader that waits looks at that line all the time and takes it
/// away as often as it is written; this way the writer fetches it back once, when nothing but the stamp is missing.
/// And the other lines are filled by whole blocks each.
///
/// # Panics
/// When `slot` has fewer than [`words_for`]`(bytes.len())` words: the caller sized the slot for the type.
#[inline(always)]
pub fn store(slot: &[AtomicU64], bytes: &[u8]) {
    let slot = &slot[..words_for(bytes.len())];
    #[cfg(failpoints)]
    store_half(slot, bytes);
    if bytes.len() <= SHORT {
        return store_words(slot, bytes);
    }
    let (slot, other_lines) = slot.split_at(words_of_first_line(slot));
    let (bytes, others) = bytes.split_at((slot.len() * WORD).min(bytes.len()));
    let (last_line, rest) = bulk::store(other_lines, others);
    store_words(last_line, rest);
    store_words(slot, bytes);
}

#[inline(always)]
fn store_words(slot: &[AtomicU64], bytes: &[u8]) {
    let (whole, rest) = bytes.as_chunks::<WORD>();
    for (word, bytes) in slot.iter().zip(whole) {
        // Relaxed: the stamp's Release orders the whole payload at once.
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    if let Some(word) = slot.get(whole.len()) {
        let mut padded = [0; WORD];
        padded[..rest.len()].copy_from_slice(rest);
        word.store(u64::from_ne_bytes(padded), Ordering::Relaxed);
    }
}

/// The first half, for a writer that is to be killed in the middle of a payload.
#[cfg(failpoints)]
fn store_half(slot: &[AtomicU64], bytes: &[u8]) {
    let (whole, _) = bytes.as_chunks::<WORD>();
    for (word, bytes) in slot.iter().zip(&whole[..whole.len() / 2]) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    horus_sys::failpoint!("publish:half");
}

/// Loads the first words of `slot` into `bytes`, all of which are initialized then.
///
/// The bytes are one message only if the slot's stamp did not change meanwhile, which is the caller's to check.
///
/// # Panics
/// When `slot` has fewer than [`words_for`]`(bytes.len())` words.
#[inline(always)]
pub fn load(slot: &[AtomicU64], bytes: &mut [MaybeUninit<u8>]) {
    let slot = &slot[..words_for(bytes.len())];
    if bytes.len() <= SHORT {
        return load_words(slot, bytes);
    }
    let (slot, other_lines) = slot.split_at(words_of_first_line(slot));
    let (bytes, others) = bytes.split_at_mut((slot.len() * WORD).min(bytes.len()));
    load_words(slot, bytes);
    let (last_line, rest) = bulk::load(other_lines, others);
    load_words(last_line, rest);
}

/// As [`load`], over bytes that have a value already.
#[inline(always)]
pub(crate) fn load_over(slot: &[AtomicU64], bytes: &mut [u8]) {
    // SAFETY: the same memory, exclusively borrowed as long. `load` only ever writes initialized bytes to it.
    load(slot, unsafe { &mut *(std::ptr::from_mut(bytes) as *mut [MaybeUninit<u8>]) });
}

#[inline(always)]
fn load_words(slot: &[AtomicU64], bytes: &mut [MaybeUninit<u8>]) {
    let (whole, rest) = bytes.as_chunks_mut::<WORD>();
    for (word, bytes) in slot.iter().zip(whole.iter_mut()) {
        // Relaxed: the stamp was read with Acquire before, and an Acquire fence follows before it is read again.
        *bytes = word.load(Ordering::Relaxed).to_ne_bytes().map(MaybeUninit::new);
    }
    if let Some(word) = slot.get(whole.len()) {
        let last = word.load(Ordering::Relaxed).to_ne_bytes();
        for (byte, value) in rest.iter_mut().zip(last) {
            byte.write(value);
        }
    }
}

/// The bytes of a value to be.
#[inline(always)]
pub fn bytes_of<T>(value: &mut MaybeUninit<T>) -> &mut [MaybeUninit<u8>] {
    // SAFETY: the same memory, exclusively borrowed as long, as bytes that may be anything.
    unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast(), size_of::<T>()) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn loaded(slot: &[AtomicU64], length: usize) -> Vec<u8> {
        let mut received = vec![MaybeUninit::new(0xee); length];
        load(slot, &mut received);
        // SAFETY: the bytes were initialized when the vector was made.
        received.into_iter().map(|byte| unsafe { byte.assume_init() }).collect()
    }

    #[test]
    fn every_length_comes_back_as_it_went_in() {
        const WORDS: usize = 50;
        let slot: Vec<_> = (0..WORDS).map(|_| AtomicU64::new(u64::MAX)).collect();
        for length in 0..=WORDS * WORD {
            for shift in [0, 1, 8] {
                let sent: Vec<u8> = (0..length).map(|i| (i as u8).wrapping_mul(7) ^ shift).collect();
                let mut shifted = vec![0; shift as usize];
                shifted.extend(&sent); // sources at any address
                store(&slot, &shifted[shift as usize..]);
                assert_eq!(loaded(&slot, length), sent);
            }
        }
    }

    #[test]
    fn words_behind_the_payload_are_left_alone() {
        for length in [9, 65, 129, 200] {
            let slot: Vec<_> = (0..40).map(|_| AtomicU64::new(7)).collect();
            store(&slot, &vec![1; length]);
            let behind = &slot[words_for(length)..];
            assert!(behind.iter().all(|word| word.load(Ordering::Relaxed) == 7), "{length}");
            let last = slot[words_for(length) - 1].load(Ordering::Relaxed).to_ne_bytes();
            assert!(length.is_multiple_of(WORD) || last[WORD - 1] == 0, "filled up with zeros");
        }
    }
}
