//! Busy waiting with an end: how long the benchmarks wait for anything before they call it an error.
//!
//! A turn costs one `spin_loop` hint and one addition, for HORUS and its rivals alike; the clock, the peer's pulse and
//! the scheduler are looked at once in [`TURNS_PER_LOOK`] turns, which a message that is on its way never reaches.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use horus_sys::clock::monotonic_ns;
use thiserror::Error;

/// How long to wait for a peer to start, to connect or to finish, and for a message that is on its way. Beside programs that
/// keep both CPUs busy, the 31,000 rounds of a quick floor took 20 s.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// For a wait that only the peer ends.
pub static NEVER: AtomicBool = AtomicBool::new(false);

/// Turns between two looks at the clock: some 100 µs.
pub const TURNS_PER_LOOK: u32 = 4096;

/// The same where waiting threads share a CPU: the one that waits lets the other run.
const TURNS_PER_LOOK_SHARED: u32 = 32;

/// Why a wait ended without what was waited for.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Stuck {
    /// Nothing happened for as long as the wait may take.
    #[error("nothing happened for {0:?}: does the peer have a CPU to run on?")]
    TimedOut(Duration),
    /// The peer process ended before its time.
    #[error("the peer process ended early; its own words are above")]
    PeerDied,
    /// Another thread of this run failed, or the run is over.
    #[error("stopped")]
    Stopped,
}

/// A bounded busy wait, made once for a loop and asked at every turn in which nothing came.
#[must_use]
pub struct Patience<'a> {
    limit: Duration,
    stop: &'a AtomicBool,
    peer_lives: Option<&'a dyn Fn() -> bool>,
    turns_per_look: u32,
    shared: bool,
    turns: Cell<u32>,
    waiting_since_ns: Cell<Option<u64>>,
}

impl<'a> Patience<'a> {
    /// Waits at most `limit` without progress, and no longer once `stop` is set.
    pub fn new(limit: Duration, stop: &'a AtomicBool) -> Self {
        Self {
            limit,
            stop,
            peer_lives: None,
            turns_per_look: TURNS_PER_LOOK,
            shared: false,
            turns: Cell::new(0),
            waiting_since_ns: Cell::new(None),
        }
    }

    /// Also asks whether the peer process lives.
    pub fn watching(mut self, peer_lives: &'a dyn Fn() -> bool) -> Self {
        self.peer_lives = Some(peer_lives);
        self
    }

    /// Gives the CPU away between two looks, when `shared` says that another thread needs it.
    pub fn sharing(mut self, shared: bool) -> Self {
        self.shared = shared;
        self.turns_per_look = if shared { TURNS_PER_LOOK_SHARED } else { TURNS_PER_LOOK };
        self
    }

    /// Spends a moment; an error once waiting is in vain.
    #[inline]
    pub fn turn(&self) -> Result<(), Stuck> {
        std::hint::spin_loop();
        let turns = self.turns.get().wrapping_add(1);
        self.turns.set(turns);
        if turns.is_multiple_of(self.turns_per_look) { self.look() } else { Ok(()) }
    }

    /// Something came: the limit counts anew. Cheap enough for every message.
    #[inline]
    pub fn progress(&self) {
        self.waiting_since_ns.set(None);
    }

    #[cold]
    fn look(&self) -> Result<(), Stuck> {
        if self.shared {
            std::thread::yield_now();
        }
        if self.stop.load(Ordering::Relaxed) {
            return Err(Stuck::Stopped);
        }
        if self.peer_lives.is_some_and(|lives| !lives()) {
            return Err(Stuck::PeerDied);
        }
        let now = monotonic_ns();
        let since = self.waiting_since_ns.get().unwrap_or(now);
        self.waiting_since_ns.set(Some(since));
        if now - since > self.limit.as_nanos() as u64 { Err(Stuck::TimedOut(self.limit)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_by_time_by_stop_and_by_the_peers_death() {
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        let limit = Duration::from_millis(5);
        let until_stuck = |patience: Patience| loop {
            if let Err(stuck) = patience.turn() {
                return stuck;
            }
        };
        assert_eq!(until_stuck(Patience::new(limit, &go)), Stuck::TimedOut(limit));
        assert_eq!(until_stuck(Patience::new(PATIENCE, &stop).sharing(true)), Stuck::Stopped);
        assert_eq!(until_stuck(Patience::new(PATIENCE, &go).watching(&|| false)), Stuck::PeerDied);
    }

    #[test]
    fn progress_starts_the_limit_anew() {
        let go = AtomicBool::new(false);
        let limit = Duration::from_millis(20);
        let patience = Patience::new(limit, &go);
        let start = monotonic_ns();
        while monotonic_ns() - start < 3 * limit.as_nanos() as u64 {
            patience.progress();
            patience.turn().unwrap();
        }
    }
}
