//! Byte-range locks: how the kernel tells who lives.
//!
//! Every lane and every subscriber has a **place**, and every place has a byte of the segment's file that its holder
//! locks. The lock belongs to an *open file description* (fcntl(2), `F_OFD_SETLK`), and that description is referred to
//! by one thing only: the holder's memory mapping. So the kernel drops the lock at the moment at which no instruction of
//! the holder can touch the segment any more: when it unmaps, exits, is killed, or executes another program. It does so in
//! whatever PID, time, user or mount namespace the holder ran, with or without `/proc`. A child made by `fork` gets neither
//! the mapping nor the description, so it keeps no peer alive.
//!
//! The locked bytes are numbers, not data: locks do not keep anybody from reading or writing the file.
//!
//! ```text
//!      61  gate, 62  door: who joins and who remakes the topic (`peers::door`)        63  who removes the file
//!      64…127  the owner of lane 0…63        128…159  subscriber 0…31
//! ```
//!
//! # What it does not do
//! A process that may open the file may lock its bytes, and seem alive in another one's place. One that shares a topic's group is
//! trusted that far.

use std::os::fd::{AsRawFd, OwnedFd};

use libc::{F_OFD_GETLK, F_OFD_SETLK, F_RDLCK, F_UNLCK, F_WRLCK, SEEK_SET, c_int};
use rustix::io::Errno;

use crate::segment::layout::{MAX_LANES, MAX_SUBSCRIBERS};

/// A place of a segment that one peer at a time can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A publisher's lane.
    Lane(usize),
    /// A subscriber's number.
    Subscriber(usize),
}

/// Some bytes of a file, as far as locks go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    first: usize,
    bytes: usize,
}

const REMOVER: Range = Range { first: 63, bytes: 1 };
const LANES: Range = Range { first: REMOVER.first + REMOVER.bytes, bytes: MAX_LANES };
const SUBSCRIBERS: Range = Range { first: LANES.first + LANES.bytes, bytes: MAX_SUBSCRIBERS };

impl Range {
    /// Every place of a segment, and what says that they were all taken to remove it.
    pub const ALL: Self = Self { first: REMOVER.first, bytes: REMOVER.bytes + LANES.bytes + SUBSCRIBERS.bytes };
    /// What only who takes all places locks.
    pub const REMOVING: Self = REMOVER;
    /// What who wants the door locks for a moment; who wants it alone, for as long as it needs the door.
    pub const GATE: Self = Self { first: 61, bytes: 1 };
    /// What a peer that joins shares with others, and one that remakes the topic has alone.
    pub const DOOR: Self = Self { first: 62, bytes: 1 };
    /// Both.
    pub const GATE_AND_DOOR: Self = Self { first: 61, bytes: 2 };
}

impl From<Place> for Range {
    fn from(place: Place) -> Self {
        let first = match place {
            Place::Lane(lane) => LANES.first + lane,
            Place::Subscriber(subscriber) => SUBSCRIBERS.first + subscriber,
        };
        Self { first, bytes: 1 }
    }
}

/// Takes the lock of all of `range` for this open file description; false when another one has a part of it. Waits for
/// nothing. The file must be open for writing.
pub(crate) fn try_lock(file: &OwnedFd, range: impl Into<Range>) -> Result<bool, Errno> {
    try_to(file, F_WRLCK, range.into())
}

/// As [`try_lock`], beside others that share it.
pub(crate) fn try_share(file: &OwnedFd, range: impl Into<Range>) -> Result<bool, Errno> {
    try_to(file, F_RDLCK, range.into())
}

fn try_to(file: &OwnedFd, kind: c_int, range: Range) -> Result<bool, Errno> {
    match call(file, F_OFD_SETLK, kind, range) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN | Errno::ACCESS) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives the locks in `range` back that this open file description has.
pub(crate) fn unlock(file: &OwnedFd, range: impl Into<Range>) {
    // It fails for a bad descriptor or range only, which these are not.
    let _ = call(file, F_OFD_SETLK, F_UNLCK, range.into());
}

/// Whether another open file description has a lock in `range`. 0.3 us (the whole range, 6.18, x86-64).
pub(crate) fn is_locked(file: &OwnedFd, range: impl Into<Range>) -> Result<bool, Errno> {
    Ok(call(file, F_OFD_GETLK, F_WRLCK, range.into())? != F_UNLCK)
}

/// Asks the kernel; returns the kind of lock that it names.
fn call(file: &OwnedFd, command: c_int, kind: c_int, range: Range) -> Result<c_int, Errno> {
    let mut lock = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: SEEK_SET as libc::c_short,
        l_start: range.first as libc::off_t,
        l_len: range.bytes as libc::off_t,
        l_pid: 0, // the kernel insists
    };
    // SAFETY: the descriptor is open as long as `file` is borrowed; these commands read and write one `flock`, which is ours.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, &raw mut lock) };
    match answer {
        -1 => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)),
        _ => Ok(c_int::from(lock.l_type)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Descriptions of one file, each of its own.
    pub fn descriptions<const COUNT: usize>() -> [OwnedFd; COUNT] {
        let file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
        std::array::from_fn(|_| file.reopen().unwrap().into())
    }

    #[test]
    fn a_place_is_one_descriptions_until_it_is_closed() {
        let [holder, other] = descriptions();
        assert_eq!(try_lock(&holder, Place::Lane(63)), Ok(true));
        assert_eq!(try_lock(&other, Place::Lane(63)), Ok(false));
        assert_eq!(try_lock(&other, Range::ALL), Ok(false), "a part of it is taken");
        assert_eq!(is_locked(&other, Place::Lane(63)), Ok(true));
        assert_eq!(is_locked(&other, Place::Subscriber(0)), Ok(false), "the next byte");
        assert_eq!(is_locked(&holder, Range::ALL), Ok(false), "one's own locks are not in one's way");
        drop(holder);
        assert_eq!(try_lock(&other, Range::ALL), Ok(true));
    }

    #[test]
    fn a_lock_lives_as_long_as_the_mapping_and_not_as_the_descriptor() {
        let [holder, other] = descriptions();
        rustix::fs::ftruncate(&holder, 4096).unwrap();
        assert_eq!(try_lock(&holder, Place::Subscriber(3)), Ok(true));
        let mapping = memmap2::MmapOptions::new().len(4096).map_raw(&holder).unwrap();
        drop(holder);
        assert_eq!(is_locked(&other, Place::Subscriber(3)), Ok(true), "the descriptor is closed, the mapping is there");
        drop(mapping);
        assert_eq!(is_locked(&other, Range::ALL), Ok(false));
    }

    #[test]
    fn what_was_given_back_is_free() {
        let [holder, other] = descriptions();
        assert_eq!(try_lock(&holder, Range::ALL), Ok(true));
        unlock(&holder, Place::Lane(5));
        assert_eq!((try_lock(&other, Place::Lane(5)), try_lock(&other, Place::Lane(6))), (Ok(true), Ok(false)));
    }
}
