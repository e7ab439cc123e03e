//! CRC32C of short messages, by the instruction that x86-64 and arm64 have for it.
//!
//! The crate `crc32c` prepares three chains for long buffers at each call. For a message of 64 bytes that is two thirds of its time,
//! and a frame has two sums. Here is one chain and nothing else: the fastest up to some hundred bytes, where the caller stops.

/// CRC32C of `bytes`, begun with `crc` (0 for a new one); `None` where the processor has no instruction for it.
///
/// ```
/// # use horus_shm::checksum::crc32c;
/// assert!(crc32c(0, b"123456789").is_none_or(|crc| crc == 0xe306_9283));
/// ```
#[inline]
pub fn crc32c(crc: u32, bytes: &[u8]) -> Option<u32> {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    if std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: the processor has the instruction, as was asked in the line above.
        return Some(unsafe { x86_64::crc32c(crc, bytes) });
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    if std::arch::is_aarch64_feature_detected!("crc") {
        // SAFETY: the processor has the instruction, as was asked in the line above.
        return Some(unsafe { aarch64::crc32c(crc, bytes) });
    }
    let _ = (crc, bytes);
    None
}

/// The one chain, in the words of each processor.
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
}
