//! What rmw_zenoh sends beside each message: its number, when it was sent, and by whom.
//!
//! ```text
//! │ number, i64 │ nanoseconds since 1970, i64 │ 0x10 │ 16 bytes that stand for the publisher │      little-endian, 33 bytes
//! ```

/// Bytes of it.
const BYTES: usize = 33;

/// What stands beside a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attachment {
    /// The message's number, counted by its publisher.
    pub sequence: i64,
    /// When it was sent, nanoseconds since 1970.
    pub source_ns: i64,
    /// Who sent it.
    pub gid: [u8; 16],
}

impl Attachment {
    /// As bytes.
    pub fn write(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.source_ns.to_le_bytes());
        bytes[16] = 16; // how many follow
        bytes[17..].copy_from_slice(&self.gid);
        bytes
    }

    /// From bytes, if they are one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let number = |place: usize| bytes[place..].first_chunk().map(|eight| i64::from_le_bytes(*eight));
        (bytes[16] == 16).then_some(Self {
            sequence: number(0)?,
            source_ns: number(8)?,
            gid: *bytes[17..].first_chunk()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attachment_has_33_bytes_and_comes_back() {
        let sent = Attachment { sequence: 7, source_ns: -1, gid: [9; 16] };
        let bytes = sent.write();
        assert_eq!((bytes.len(), bytes[16]), (33, 0x10));
        assert_eq!(Attachment::read(&bytes), Some(sent));
        assert_eq!(Attachment::read(&bytes[..32]), None);
        assert_eq!(Attachment::read(&[0; 33]), None, "no length of 16");
    }
}
