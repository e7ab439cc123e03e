//! Text in fields of fixed size: UTF-8, padded with zero bytes.

use thiserror::Error;

/// Why a text cannot stand in a field.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TextError {
    /// It has more bytes than the field.
    #[error("a text of {bytes} bytes does not fit into a field of {capacity}: shorten it")]
    TooLong {
        /// Bytes of the text.
        bytes: usize,
        /// Bytes of the field.
        capacity: usize,
    },
    /// It holds the byte that ends a text.
    #[error("a text with a zero byte cannot be kept in a field: there it would end early")]
    ZeroByte,
}

/// The text in a field: up to its first zero byte, and up to its first byte that is no UTF-8.
///
/// What stands there was written by a peer: it may hold control characters, which belong on no terminal.
///
/// ```
/// assert_eq!(horus::messages::text(b"odom\0\0\0\0"), "odom");
/// assert_eq!(horus::messages::text(b"full"), "full");
/// assert_eq!(horus::messages::text(b"half\xff"), "half");
/// ```
pub fn text(field: &[u8]) -> &str {
    let end = field.iter().position(|&byte| byte == 0).unwrap_or(field.len());
    field[..end].utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// Puts a text into a field and zeroes the rest of it; a text that does not fit changes nothing.
pub fn set_text(field: &mut [u8], text: &str) -> Result<(), TextError> {
    if text.contains('\0') {
        return Err(TextError::ZeroByte);
    }
    if text.len() > field.len() {
        return Err(TextError::TooLong { bytes: text.len(), capacity: field.len() });
    }
    let (front, rest) = field.split_at_mut(text.len());
    front.copy_from_slice(text.as_bytes());
    rest.fill(0);
    Ok(())
}
