//! The door of a segment: a peer that joins goes in beside others, and one that remakes the topic goes in alone.
//!
//! So no peer joins while it is remade, and none remakes it under one that joins: a topic's shape stays what it was while a peer
//! looks at the header, maps the file by it and takes a place. The door is a lock on a byte of the file (`peers::locks`), by the description
//! that the place is taken by. The kernel opens it when who has it is killed.
//!
//! A peer that wants it alone closes the gate before it: those that are in go out, no other goes in, and it need not wait for
//! longer than that. A process that is stopped in the door holds up those who want to join or remake; who has joined needs no
//! door.

use std::os::fd::OwnedFd;
use std::time::Duration;

use horus_sys::clock::monotonic_ns;
use rustix::io::Errno;

use super::locks::{Range, try_lock, try_share, unlock};
use crate::patience::pause;

/// With whom a peer is in the door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Beside others, to join.
    Beside,
    /// Alone, to remake the topic and join it.
    Alone,
}

/// How long who closed the gate waits for those in the door: far longer than joining takes.
const PATIENCE: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_micros(50);

/// Goes into the door; false when another peer is in the way.
pub(crate) fn enter(description: &OwnedFd, manner: Manner) -> Result<bool, Errno> {
    match manner {
        Manner::Beside => {
            let entered = try_share(description, Range::GATE_AND_DOOR)?;
            unlock(description, Range::GATE);
            Ok(entered)
        }
        Manner::Alone => {
            if !try_lock(description, Range::GATE)? {
                return Ok(false);
            }
            let until = monotonic_ns() + PATIENCE.as_nanos() as u64;
            while !try_lock(description, Range::DOOR)? {
                if monotonic_ns() > until {
                    unlock(description, Range::GATE);
                    return Ok(false);
                }
                pause(PAUSE);
            }
            Ok(true)
        }
    }
}

/// Goes out of it.
pub(crate) fn leave(description: &OwnedFd) {
    unlock(description, Range::GATE_AND_DOOR);
}

#[cfg(test)]
mod tests {
    use super::super::locks::tests::descriptions;
    use super::*;

    #[test]
    fn joiners_share_the_door_and_who_wants_it_alone_waits_for_them() {
        let [one, other, alone] = descriptions();
        assert_eq!(enter(&one, Manner::Beside), Ok(true));
        assert_eq!(enter(&other, Manner::Beside), Ok(true));
        assert_eq!(enter(&alone, Manner::Alone), Ok(false));
        leave(&one);
        leave(&other);
        assert_eq!(enter(&alone, Manner::Alone), Ok(true));
        assert_eq!(enter(&one, Manner::Beside), Ok(false));
        drop(alone);
        assert_eq!(enter(&one, Manner::Beside), Ok(true), "who is gone is in no door");
    }

    #[test]
    fn nobody_goes_in_before_who_waits_for_the_door() {
        let [inside, waiting, late] = descriptions();
        assert_eq!(enter(&inside, Manner::Beside), Ok(true));
        assert_eq!(try_lock(&waiting, Range::GATE), Ok(true), "who is inside has left the gate");
        assert_eq!(enter(&late, Manner::Beside), Ok(false));
        leave(&inside);
        assert_eq!(enter(&late, Manner::Beside), Ok(false));
        assert_eq!(enter(&waiting, Manner::Alone), Ok(true));
    }
}
