//! Payloads whose length is known only at run time, as those of other languages are. A short one of whole words, which most are, takes a way
//! in which the compiler knows the length: it has no loops, and few registers to save.

use crate::segment::layout::WORD;
use crate::sync::AtomicU64;

/// Whether a payload of so many bytes takes the short way, which calls nothing.
#[inline(always)]
pub(crate) fn is_short(bytes: usize) -> bool {
    bytes == 2 * WORD || bytes == WORD
}

/// As [`store`](super::store), of a short payload.
///
/// # Panics
/// When it is none.
#[inline(always)]
pub(crate) fn store_short(slot: &[AtomicU64], bytes: &[u8]) {
    // One comparison after the other, and the most common length first: a table of jumps costs more than both.
    if let Ok(bytes) = <&[u8; 2 * WORD]>::try_from(bytes) {
        super::store(slot, bytes);
    } else if let Ok(bytes) = <&[u8; WORD]>::try_from(bytes) {
        super::store(slot, bytes);
    } else {
        not_short();
    }
}

/// As [`load_over`](super::load_over), of a short payload.
///
/// # Panics
/// When it is none.
#[inline(always)]
pub(crate) fn load_short_over(slot: &[AtomicU64], bytes: &mut [u8]) {
    if let Ok(bytes) = <&mut [u8; 2 * WORD]>::try_from(&mut *bytes) {
        super::load_over(slot, bytes);
    } else if let Ok(bytes) = <&mut [u8; WORD]>::try_from(bytes) {
        super::load_over(slot, bytes);
    } else {
        not_short();
    }
}

#[cold]
#[inline(never)]
fn not_short() -> ! {
    panic!("the payload is not short: ask `is_short` first")
}

/// As [`store`](super::store), of a payload of any length.
#[inline(always)]
pub fn store(slot: &[AtomicU64], bytes: &[u8]) {
    match is_short(bytes.len()) {
        true => store_short(slot, bytes),
        false => store_long(slot, bytes),
    }
}

#[inline(never)]
fn store_long(slot: &[AtomicU64], bytes: &[u8]) {
    super::store(slot, bytes);
}

/// As [`load_over`](super::load_over), of a payload of any length.
#[inline(always)]
pub(crate) fn load_over(slot: &[AtomicU64], bytes: &mut [u8]) {
    match is_short(bytes.len()) {
        true => load_short_over(slot, bytes),
        false => load_long_over(slot, bytes),
    }
}

#[inline(never)]
fn load_long_over(slot: &[AtomicU64], bytes: &mut [u8]) {
    super::load_over(slot, bytes);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back_as_it_went_in_and_leaves_the_words_behind_it_alone() {
        for length in 0..=200 {
            let slot: Vec<_> = (0..30).map(|_| AtomicU64::new(7)).collect();
            let sent: Vec<u8> = (0..length).map(|i| i as u8 ^ 0x5a).collect();
            let mut received = vec![0xee; length];
            store(&slot, &sent);
            load_over(&slot, &mut received);
            assert_eq!(received, sent);
            let behind = &slot[super::super::words_for(length)..];
            assert!(behind.iter().all(|word| word.load(crate::sync::Ordering::Relaxed) == 7), "{length}");
        }
    }
}
