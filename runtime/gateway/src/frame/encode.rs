//! Making frames.

use super::{HEAD_BYTES, Head, MAGIC, VERSION};

/// The bytes before `payload`, to be sent with it.
///
/// # Panics
/// When the payload has 4 GiB or more.
#[inline]
pub fn head(head: &Head, payload: &[u8]) -> [u8; HEAD_BYTES] {
    let length = u32::try_from(payload.len()).expect("a payload is shorter than 4 GiB");
    let mut bytes = [0; HEAD_BYTES];
    bytes[..4].copy_from_slice(&MAGIC);
    bytes[4] = VERSION;
    bytes[5] = head.kind as u8;
    bytes[6..8].copy_from_slice(&head.flags.to_le_bytes());
    bytes[8..12].copy_from_slice(&head.channel.to_le_bytes());
    bytes[12..16].copy_from_slice(&length.to_le_bytes());
    bytes[16..24].copy_from_slice(&head.sequence.to_le_bytes());
    bytes[24..32].copy_from_slice(&head.stamp_ns.to_le_bytes());
    bytes[32..36].copy_from_slice(&crc32c::crc32c(payload).to_le_bytes());
    let checksum = crc32c::crc32c(&bytes[..36]);
    bytes[36..].copy_from_slice(&checksum.to_le_bytes());
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
