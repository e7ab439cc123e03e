//! Making frames.

use crate::checksum;

use super::{HEAD_BYTES, Head, MAGIC, VERSION};

/// The bytes before `payload`, to be sent with it.
///
/// # Panics
/// When the payload has 4 GiB or more.
#[inline]
pub fn head(head: &Head, payload: &[u8]) -> [u8; HEAD_BYTES] {
    let length = u32::try_from(payload.len()).expect("a payload is shorter than 4 GiB");
    // Whole words: the checksum reads them back at once, which waits for stores that are narrower than its loads.
    let kind = u32::from_le_bytes([VERSION, head.kind as u8, head.flags as u8, (head.flags >> 8) as u8]);
    let pair = |low: u32, high: u32| (u64::from(high) << 32 | u64::from(low)).to_le_bytes();
    let words = [
        pair(u32::from_le_bytes(MAGIC), kind),
        pair(head.channel, length),
        head.sequence.to_le_bytes(),
        head.stamp_ns.to_le_bytes(),
    ];
    let words: [u8; 32] = *words.as_flattened().as_array().expect("four words");
    let (payload, whole) = checksum::of_frame(&words, payload);
    let mut bytes = [0; HEAD_BYTES];
    bytes[..32].copy_from_slice(&words);
    bytes[32..].copy_from_slice(&pair(payload, whole));
    bytes
}

/// Appends a frame to `out`.
///
/// # Panics
/// As [`head`](head()).
#[inline]
pub fn encode(out: &mut Vec<u8>, frame: &Head, payload: &[u8]) {
    out.extend_from_slice(&head(frame, payload));
    out.extend_from_slice(payload);
}
