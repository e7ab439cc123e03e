//! A message of a `latest` lane by its number, while it is still there: for who looks where it likes, as a search does.
//!
//! It is what [`Consumer::take`](super::Consumer::take) does with its next message, by the same stamps and fences, and changes no word.
//! There is no cursor, so nothing is caught up with: a message that is not there is `None`, and the caller decides where to look then.
//!
//! # What it does not do
//! It reads `latest` lanes alone, whose slots say by themselves that they are written anew. History of a reliable lane does not.

use super::consumer::copy_out;
use super::stamp::by_ones_own;
use super::{Memory, ready};
use crate::segment::layout::STAMP_WORD;
use crate::sync::{AtomicU64, Ordering};

/// Hands the slot of message `number` to `copy`, and says when it was sent; `None` when it is not there yet, not any more, or was
/// overwritten meanwhile. What was copied is the message only if this returns `Some`. Wait-free: one look.
#[inline(always)]
pub fn recall(memory: &impl Memory, number: u64, mut copy: impl FnMut(&[AtomicU64])) -> Option<u64> {
    let slot = memory.slot(number);
    let stamp = slot[STAMP_WORD].load(Ordering::Acquire); // SYNC POINT: message
    if stamp != ready(number) {
        return None;
    }
    let taken = copy_out(number, slot, &mut copy)?;
    Some(by_ones_own(taken.sent_ns, memory.ahead_ns()))
}
