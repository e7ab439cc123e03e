//! CRC32C of short messages, by the instruction that x86-64 and arm64 have for it.
//!
//! The crate `crc32c` prepares three chains for long buffers at each call. For a message of 64 bytes that is two thirds of its time,
//! and a frame has two sums. Here is one chain and nothing else: the fastest up to some hundred bytes, where the caller stops. And two
//! chains for who needs no sum of a standard.

/// Returns what a function of the processor's own module says, where the processor has the instruction.
macro_rules! by_instruction {
    ($found:path, $function:ident($($argument:ident),+)) => {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        if std::arch::is_x86_feature_detected!("sse4.2") {
            // SAFETY: the processor has the instruction, as was asked in the line above.
            return $found(unsafe { x86_64::$function($($argument),+) });
        }
        #[cfg(all(target_arch = "aarch64", not(miri)))]
        if std::arch::is_aarch64_feature_detected!("crc") {
            // SAFETY: the processor has the instruction, as was asked in the line above.
            return $found(unsafe { aarch64::$function($($argument),+) });
        }
        let _ = ($(&$argument),+);
    };
}

/// CRC32C of `bytes`, begun with `crc` (0 for a new one); `None` where the processor has no instruction for it.
///
/// ```
/// # use horus_sys::checksum::crc32c;
/// assert!(crc32c(0, b"123456789").is_none_or(|crc| crc == 0xe306_9283));
/// ```
#[inline]
pub fn crc32c(crc: u32, bytes: &[u8]) -> Option<u32> {
    by_instruction!(Some, crc32c(crc, bytes));
    None
}

/// Two CRC32C, both begun with `crc`, that take all words in turn: those of `head`, `words`, and `last` if there is one. The sum that had
/// the last word is in the upper half of the result.
///
/// The instruction takes three cycles and can be begun in each, so two chains are through in half the time of one. `Err` gives `words`
/// back where the processor has no such instruction: the bytes that are summed are those of `u64::to_le_bytes`.
///
/// ```
/// # use horus_sys::checksum::{crc32c, crc32c_in_turn};
/// let both = crc32c_in_turn(0, [1], [2].into_iter(), Some(3)).ok();
/// let alone = |word: u64, crc| crc32c(crc, &word.to_le_bytes());
/// assert_eq!(both.map(|sum| sum as u32), alone(2, 0));
/// assert_eq!(both.map(|sum| (sum >> 32) as u32), alone(1, 0).and_then(|crc| alone(3, crc)));
/// ```
#[inline]
pub fn crc32c_in_turn<const N: usize, I: Iterator<Item = u64>>(
    crc: u32,
    head: [u64; N],
    words: I,
    last: Option<u64>,
) -> Result<u64, I> {
    by_instruction!(Ok, crc32c_in_turn(crc, head, words, last));
    Err(words)
}

/// CRC32C of `payload`, and that of `head` with this sum behind it: what a frame has, in one call and with two chains side by side.
///
/// ```
/// # use horus_sys::checksum::{crc32c, crc32c_of_frame};
/// let alone = crc32c(0, b"payload");
/// assert_eq!(crc32c_of_frame(&[0; 32], b"payload").map(|(payload, _)| payload), alone);
/// ```
#[inline]
pub fn crc32c_of_frame(head: &[u8; 32], payload: &[u8]) -> Option<(u32, u32)> {
    by_instruction!(Some, crc32c_of_frame(head, payload));
    None
}

/// The chains, in the words of each processor.
macro_rules! chain {
    ($feature:literal, $eight:expr, $four:expr, $one:expr) => {
        #[target_feature(enable = $feature)]
        pub fn crc32c(crc: u32, bytes: &[u8]) -> u32 {
            let (words, rest) = bytes.as_chunks::<8>();
            let mut crc = !crc;
            for word in words {
                crc = $eight(crc, u64::from_le_bytes(*word));
            }
            let (half, rest) = rest.as_chunks::<4>();
            for half in half {
                crc = $four(crc, u32::from_le_bytes(*half));
            }
            for byte in rest {
                crc = $one(crc, *byte);
            }
            !crc
        }

        #[target_feature(enable = $feature)]
        pub fn crc32c_of_frame(head: &[u8; 32], payload: &[u8]) -> (u32, u32) {
            let mut whole = !0;
            for word in head.as_chunks::<8>().0 {
                whole = $eight(whole, u64::from_le_bytes(*word));
            }
            let payload = crc32c(0, payload);
            (payload, !$four(whole, payload))
        }

        #[target_feature(enable = $feature)]
        pub fn crc32c_in_turn<const N: usize>(
            crc: u32,
            head: [u64; N],
            words: impl Iterator<Item = u64>,
            tail: Option<u64>,
        ) -> u64 {
            let (mut next, mut last) = (!crc, !crc);
            // Loops and no `fold`, whose closure would have the instruction while what calls it has not, and would be called for each word.
            for word in head {
                (next, last) = (last, $eight(next, word));
            }
            for word in words {
                (next, last) = (last, $eight(next, word));
            }
            if let Some(word) = tail {
                (next, last) = (last, $eight(next, word));
            }
            u64::from(!last) << 32 | u64::from(!next)
        }
    };
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod x86_64 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u32, _mm_crc32_u64};

    chain!("sse4.2", |crc, word| _mm_crc32_u64(u64::from(crc), word) as u32, _mm_crc32_u32, _mm_crc32_u8);
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod aarch64 {
    use std::arch::aarch64::{__crc32cb, __crc32cd, __crc32cw};

    chain!("crc", __crc32cd, __crc32cw, __crc32cb);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the standard has it, bit by bit.
    fn slow(crc: u32, bytes: &[u8]) -> u32 {
        let step = |crc: u32, _| crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        !bytes.iter().fold(!crc, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
    }

    #[test]
    fn every_length_at_every_place_has_the_sum_of_the_standard() {
        let bytes: Vec<u8> = (0..400_u32).map(|number| ((number * 7_919) >> 3) as u8).collect();
        for begin in 0..9 {
            for end in begin..bytes.len() {
                let crc = begin as u32 * 0x0101_0101;
                let Some(found) = crc32c(crc, &bytes[begin..end]) else { return };
                assert_eq!(found, slow(crc, &bytes[begin..end]), "{begin}..{end}");
            }
        }
    }

    #[test]
    fn a_frame_has_the_sums_of_its_parts() {
        let head: [u8; 32] = std::array::from_fn(|place| (place * 37) as u8);
        for length in 0..100 {
            let payload = vec![length; usize::from(length)];
            let sum = slow(0, &payload);
            let whole = slow(slow(0, &head), &sum.to_le_bytes());
            assert!(crc32c_of_frame(&head, &payload).is_none_or(|found| found == (sum, whole)), "{length}");
        }
    }

    #[test]
    fn two_chains_that_take_words_in_turn_are_those_of_every_second_word() {
        let words: Vec<u64> = (1..40_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for count in 3..words.len() {
            let crc = count as u32 * 0x0101_0101;
            let middle = words[2..count - 1].iter().copied();
            let Ok(found) = crc32c_in_turn(crc, [words[0], words[1]], middle, Some(words[count - 1])) else { return };
            let of = |from: usize| {
                let all = words[..count].iter().skip(from).step_by(2);
                slow(crc, &all.flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>())
            };
            let (last, next) = if count % 2 == 1 { (of(0), of(1)) } else { (of(1), of(0)) };
            assert_eq!((found >> 32, found & 0xffff_ffff), (u64::from(last), u64::from(next)), "{count}");
        }
        assert_eq!(crc32c_in_turn(9, [], std::iter::empty(), None).ok(), Some(9 << 32 | 9));
    }
}
