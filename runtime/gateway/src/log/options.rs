//! What a log may cost, and when its messages are on the disk.

use std::time::Duration;

use super::error::LogError;
use super::segment::MAX_NAME_BYTES;

/// The smallest segment: a few messages.
const MIN_SEGMENT_BYTES: usize = 4 << 10;
/// The largest segment: what is read at most when a log is opened.
const MAX_SEGMENT_BYTES: usize = 1 << 30;

/// When a message is safe from a power cut. From a kill of the gateway it is safe as soon as it is appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// When the kernel finds the time, usually within half a minute.
    None,
    /// At the latest about so long after it was appended; a thread waits for the disk.
    Interval(Duration),
    /// When [`Log::commit`](super::Log::commit) returns, which waits for the disk.
    Each,
}

/// What the messages of a log are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kind {
    /// The type's name.
    pub type_name: String,
    /// The hash of the type's layout.
    pub layout_hash: u64,
}

/// How a log is kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// Bytes of a segment file.
    pub segment_bytes: usize,
    /// Bytes of all segment files together.
    pub keep_bytes: u64,
    /// How long messages are kept at least, if there is room, and at most about twice as long; `None` for as long as there is room.
    pub keep: Option<Duration>,
    /// When messages are on the disk.
    pub durability: Durability,
    /// What the messages are; the default one says that they are as in the last segment.
    pub kind: Kind,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            segment_bytes: 16 << 20,
            keep_bytes: 256 << 20,
            keep: None,
            durability: Durability::Interval(Duration::from_millis(100)),
            kind: Kind::default(),
        }
    }
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), LogError> {
        let settings = |what: String, remedy: &str| Err(LogError::Settings { what, remedy: remedy.to_owned() });
        let bytes = self.segment_bytes;
        if !(MIN_SEGMENT_BYTES..=MAX_SEGMENT_BYTES).contains(&bytes) || !bytes.is_multiple_of(MIN_SEGMENT_BYTES) {
            return settings(format!("segments of {bytes} bytes"), "4 KiB to 1 GiB, in steps of 4 KiB, are possible");
        }
        if self.keep_bytes < 2 * bytes as u64 {
            let what = format!("keep_bytes = {} with segment_bytes = {bytes}", self.keep_bytes);
            let remedy = format!(
                "it needs room for two segments, so keep_bytes is {} at least, or segment_bytes smaller",
                2 * bytes as u64
            );
            return settings(what, &remedy);
        }
        if self.kind.type_name.len() > MAX_NAME_BYTES {
            return settings(format!("a type's name of {} bytes", self.kind.type_name.len()), "128 are possible");
        }
        Ok(())
    }
}
