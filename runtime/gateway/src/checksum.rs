//! CRC32C, of frames and of what is in a log.

/// From here on, three chains beside each other win: so many bytes of each are the least that the crate takes.
const LONG: usize = 3 * 256;

/// CRC32C of `bytes`, begun with `crc`; 0 for a new one.
#[inline]
pub fn append(crc: u32, bytes: &[u8]) -> u32 {
    let short = if bytes.len() < LONG { horus_shm::checksum::crc32c(crc, bytes) } else { None };
    short.unwrap_or_else(|| crc32c::crc32c_append(crc, bytes))
}

/// CRC32C of `bytes`.
#[inline]
pub fn of(bytes: &[u8]) -> u32 {
    append(0, bytes)
}
