//! Several messages of a channel in the payload of one frame. They arrive all or not at all.
//!
//! ```text
//! byte  0  u64  the message's number in its topic
//!       8  u64  when it was sent
//!      16  u32  bytes of the message
//!      20       the message; the next one follows at once
//! ```

/// Bytes before each message.
pub const ITEM_HEAD_BYTES: usize = 20;

/// A message of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Its number in its topic; from a client, anything.
    pub sequence: u64,
    /// When it was sent; from a client, 0 for now.
    pub stamp_ns: u64,
    /// Its bytes.
    pub message: &'a [u8],
}

/// Appends a message to the payload of a batch.
///
/// # Panics
/// When the message has 4 GiB or more.
#[inline]
pub fn push(payload: &mut Vec<u8>, item: &Item<'_>) {
    let length = u32::try_from(item.message.len()).expect("a message is shorter than 4 GiB");
    let mut head = [0; ITEM_HEAD_BYTES];
    head[..8].copy_from_slice(&item.sequence.to_le_bytes());
    head[8..16].copy_from_slice(&item.stamp_ns.to_le_bytes());
    head[16..].copy_from_slice(&length.to_le_bytes());
    payload.extend_from_slice(&head);
    payload.extend_from_slice(item.message);
}

/// The messages of a payload, if it is a batch from its first byte to its last; `None` when it is not, or has none.
pub fn items(payload: &[u8]) -> Option<Items<'_>> {
    let mut rest = payload;
    let mut count = 0;
    while !rest.is_empty() {
        (_, rest) = split(rest)?;
        count += 1;
    }
    (count > 0).then_some(Items { rest: payload, left: count })
}

/// The messages of a batch.
#[derive(Clone, Debug)]
pub struct Items<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> Iterator for Items<'a> {
    type Item = Item<'a>;

    #[inline]
    fn next(&mut self) -> Option<Item<'a>> {
        let (item, rest) = split(self.rest)?;
        self.rest = rest;
        self.left -= 1;
        Some(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Items<'_> {}

#[inline]
fn split(bytes: &[u8]) -> Option<(Item<'_>, &[u8])> {
    let (head, rest) = bytes.split_first_chunk::<ITEM_HEAD_BYTES>()?;
    let u64_at = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().expect("eight bytes"));
    let length = u32::from_le_bytes(head[16..].try_into().expect("four bytes")) as usize;
    let (message, rest) = rest.split_at_checked(length)?;
    Some((Item { sequence: u64_at(0), stamp_ns: u64_at(8), message }, rest))
}
