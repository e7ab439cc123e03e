//! CRC32C, of frames and of what is in a log.

/// From here on, three chains beside each other win: so many bytes of each are the least that the crate takes.
const LONG: usize = 3 * 256;

/// CRC32C of `bytes`, begun with `crc`; 0 for a new one.
#[inline]
pub fn append(crc: u32, bytes: &[u8]) -> u32 {
    let short = if bytes.len() < LONG { horus_sys::checksum::crc32c(crc, bytes) } else { None };
    short.unwrap_or_else(|| crc32c::crc32c_append(crc, bytes))
}

/// CRC32C of `payload`, and that of `head` with this sum behind it.
#[inline]
pub fn of_frame(head: &[u8; 32], payload: &[u8]) -> (u32, u32) {
    let short = if payload.len() < LONG { horus_sys::checksum::crc32c_of_frame(head, payload) } else { None };
    short.unwrap_or_else(|| {
        let sum = crc32c::crc32c(payload);
        (sum, crc32c::crc32c_append(crc32c::crc32c(head), &sum.to_le_bytes()))
    })
}

/// Two CRC32C, both begun with `crc`, that take all words in turn. The one that had the last word is in the upper half.
#[inline]
pub fn in_turn<const N: usize>(crc: u32, head: [u64; N], words: impl Iterator<Item = u64>, last: Option<u64>) -> u64 {
    horus_sys::checksum::crc32c_in_turn(crc, head, words, last)
        .unwrap_or_else(|words| in_turn_by_table(crc, head.into_iter().chain(words).chain(last)))
}

fn in_turn_by_table(crc: u32, words: impl Iterator<Item = u64>) -> u64 {
    let step = |(next, last), word: u64| (last, crc32c::crc32c_append(next, &word.to_le_bytes()));
    let (next, last) = words.fold((crc, crc), step);
    u64::from(last) << 32 | u64::from(next)
}

/// CRC32C of `bytes`.
#[inline]
pub fn of(bytes: &[u8]) -> u32 {
    append(0, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_frame_has_its_sums_as_a_short_one() {
        let (head, payload) = ([5; 32], vec![7; 2 * LONG]);
        for length in [0, 1, LONG - 1, LONG, 2 * LONG] {
            let (sum, whole) = of_frame(&head, &payload[..length]);
            assert_eq!(sum, of(&payload[..length]));
            assert_eq!(whole, append(of(&head), &sum.to_le_bytes()));
        }
    }

    #[test]
    fn a_processor_without_the_instruction_finds_the_same_sums() {
        for count in 0..9 {
            let all = in_turn_by_table(7, [11, 12].into_iter().chain((0..count).chain([13])));
            assert_eq!(in_turn(7, [11, 12], 0..count, Some(13)), all);
        }
    }
}
