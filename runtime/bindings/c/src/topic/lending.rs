//! An end of a topic, with what it has lent of the topic's memory.

use std::hint::unreachable_unchecked;

use crate::handle::{self, Kind, is, place, place_of};
use crate::payload::Of;
use crate::status::{Refusal, horus_status, misuse};

/// An end of type `E`, and what it lends, of type `L`. One thing at a time is lent; meanwhile the end is not used otherwise.
///
/// It stays where it is from the first loan on, because what is lent borrows from the end. So there is no reference to all of it while something
/// is lent, and what is lent is dropped before it.
#[repr(C)] // what every message looks at is together
pub(crate) struct Lending<E, L> {
    /// Bytes of a message that takes the short way now; 0 when none does. One comparison sees that nothing is lent, that the end has such a way,
    /// and that the caller's message has so many bytes.
    quick_bytes: usize,
    /// As many when nothing is lent.
    short_bytes: usize,
    /// Before the end, because it borrows from it: who drops both drops this one first.
    lent: Option<L>,
    end: E,
}

impl<M, B, L> Lending<Of<M, B>, L> {
    /// An end for messages, with the bytes of one that may take the short way, or 0.
    pub fn of_messages(end: M, short_bytes: usize) -> Self {
        Self { quick_bytes: short_bytes, short_bytes, lent: None, end: Of::Messages(end) }
    }

    /// An end for bytes, which has no short way.
    pub fn of_bytes(end: B) -> Self {
        Self { quick_bytes: 0, short_bytes: 0, lent: None, end: Of::Bytes(end) }
    }
}

/// The end for messages behind a pointer that C gave, if messages of `BYTES` bytes take the short way now. What is wrong, the long way says.
///
/// # Safety
/// As `handle::get`.
#[inline(always)]
pub(crate) unsafe fn quick<'a, const BYTES: usize, K, M: 'a, B: 'a, L>(handle: *mut K) -> Option<&'a mut M>
where
    K: Kind<Value = Lending<Of<M, B>, L>>,
{
    const { assert!(BYTES > 0) };
    // SAFETY: the caller's promise is the same.
    if !unsafe { is(handle) } {
        return None;
    }
    // SAFETY: it is such a handle.
    let lending = unsafe { place_of(handle) };
    // SAFETY: it came from `give` and is not closed, and no other call uses it.
    let is_quick = unsafe { (*lending).quick_bytes } == BYTES;
    // SAFETY: as above, and nothing is lent, so the end may be used.
    is_quick.then(|| match unsafe { &mut (*lending).end } {
        Of::Messages(end) => end,
        // SAFETY: `quick_bytes` is `BYTES`, which is not 0, and `of_bytes` makes every end for bytes with 0 for ever.
        Of::Bytes(_) => unsafe { unreachable_unchecked() },
    })
}

/// The end behind a pointer that C gave, if nothing is lent; `first` says what to do otherwise.
///
/// # Safety
/// As `handle::get`.
#[inline(always)]
pub(crate) unsafe fn free<'a, K, E: 'a, L>(handle: *mut K, first: &str) -> Result<&'a mut E, Refusal>
where
    K: Kind<Value = Lending<E, L>>,
{
    // SAFETY: the caller's promise is the same.
    let lending = unsafe { place(handle) }?;
    // SAFETY: it came from `give` and is not closed, and no other call uses it.
    match unsafe { &(*lending).lent } {
        // SAFETY: as above, and nothing is lent, so the end may be used.
        None => Ok(unsafe { &mut (*lending).end }),
        Some(_) => Err(misuse(first)),
    }
}

/// Notes what the end has lent, that [`free`] has given.
///
/// # Safety
/// As `handle::get`; `lent` borrows from this end.
pub(crate) unsafe fn lend<K, E, L>(handle: *mut K, lent: L) -> Result<(), Refusal>
where
    K: Kind<Value = Lending<E, L>>,
{
    // SAFETY: the caller's promise is the same.
    let lending = unsafe { place(handle) }?;
    // SAFETY: it came from `give` and is not closed, and no other call uses it; these fields are none that anything borrows from.
    unsafe { ((*lending).quick_bytes, (*lending).lent) = (0, Some(lent)) };
    Ok(())
}

/// What was lent, which has no owner from now on; the end may be used again when it is dropped.
///
/// # Safety
/// As `handle::get`.
pub(crate) unsafe fn take_back<K, E, L>(handle: *mut K) -> Result<Option<L>, Refusal>
where
    K: Kind<Value = Lending<E, L>>,
{
    // SAFETY: the caller's promise is the same.
    let lending = unsafe { place(handle) }?;
    // SAFETY: it came from `give` and is not closed, and no other call uses it; these fields are none that anything borrows from.
    unsafe {
        (*lending).quick_bytes = (*lending).short_bytes;
        Ok((*lending).lent.take())
    }
}

/// Ends an end, and what it has lent before; null is nothing to end.
///
/// # Safety
/// As `handle::get`; neither is used any more.
pub(crate) unsafe fn close<K, E, L>(handle: *mut K) -> Result<horus_status, Refusal>
where
    K: Kind<Value = Lending<E, L>>,
{
    if !handle.is_null() {
        // SAFETY: the caller's promise is the same.
        drop(unsafe { take_back(handle) }?);
    }
    // SAFETY: as above.
    unsafe { handle::close(handle) }
}
