//! The generation of a topic: how who remakes it and who looks meanwhile go about it, apart from the file that they do it in.
//!
//! The generation says how often the topic was remade, times two, and is odd while it is being remade. What changes with it is the
//! header and the lanes, and no program has used a lane by then. These steps know neither file nor mapping, so that loom goes through
//! every order of them with its own words in place of the file's (`tests/loom/remade.rs`).
//!
//! Who remakes has the topic's door alone. Who looks has none.

use horus_sys::failpoint;

use crate::sync::{AtomicU64, Ordering, fence};

/// The generation that comes after this one, which may be one that was not finished.
pub fn next(generation: u64) -> u64 {
    generation / 2 * 2 + 2
}

/// Makes the [`next`] generation behind `before` of a topic of which no program has used a lane: `write_header` writes its header, `clear`
/// empties its lanes. For who has the door alone, and found `before` when it came in.
///
/// # Errors
/// That of `write_header`. The topic is unfinished then, as if who remade it had been killed.
pub fn remake<E>(
    word: &AtomicU64,
    before: u64,
    write_header: impl FnOnce() -> Result<(), E>,
    clear: impl FnOnce(),
) -> Result<(), E> {
    word.store(before | 1, Ordering::Relaxed); // the fence orders it before the header
    fence(Ordering::Release); // SYNC POINT: remaking
    failpoint!("remake:begun");
    write_header()?;
    failpoint!("remake:header");
    clear();
    failpoint!("remake:cleared");
    word.store(next(before), Ordering::Release); // SYNC POINT: remade
    failpoint!("remake:remade");
    Ok(())
}

/// What `read` finds in the header, and of which generation that is. It is an odd one if the header was written meanwhile.
///
/// # Errors
/// Those of the two.
pub fn look<T, E>(
    mut generation: impl FnMut() -> Result<u64, E>,
    read: impl FnOnce() -> Result<T, E>,
) -> Result<(u64, T), E> {
    let before = generation()?;
    fence(Ordering::Acquire); // SYNC POINT: remade
    let found = read()?;
    fence(Ordering::Acquire); // SYNC POINT: remaking
    let is_same = generation()? == before;
    Ok((if is_same { before } else { before | 1 }, found))
}

/// The generation by now. Who sees one that is finished finds its header and its empty lanes.
pub fn now(word: &AtomicU64) -> u64 {
    word.load(Ordering::Acquire) // SYNC POINT: remade
}

/// The generation that who knows the generation `known` has to follow to: another one, and finished.
pub fn to_follow(word: &AtomicU64, known: u64) -> Option<u64> {
    Some(now(word)).filter(|&generation| generation != known && generation.is_multiple_of(2))
}
