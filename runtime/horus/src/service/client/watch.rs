//! Whether a client's server lives, found out by a thread beside the loop: asking the kernel is a system call, which a step must not make.
//!
//! The thread looks ten times a second. A server that is missing twice in a row is dead: one that is just starting has no answers published yet, and
//! takes requests already. So a client in a node is told within about 0.2 s, when it looks.
//!
//! What is found is told by the numbers of requests. Requests below a number were sent before the thread looked, so whatever server starts
//! later has not got them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use horus_shm::ends::inspect;

/// What the thread and the client tell each other.
#[derive(Default)]
pub(super) struct Found {
    /// All requests below this number were sent.
    sent: AtomicU64,
    /// The server of the requests below this number died.
    died: AtomicU64,
    /// How many servers died, of which one may have got no request.
    deaths: AtomicU64,
    /// Requests below this number had no server.
    unserved: AtomicU64,
    /// How often a server was there that was missing before.
    appeared: AtomicU64,
}

/// What was found, at some moment.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub died: u64,
    pub deaths: u64,
    pub unserved: u64,
    pub appeared: u64,
}

impl Found {
    /// Requests below `number` were sent.
    #[inline]
    pub fn sent_all_before(&self, number: u64) {
        // Relaxed: an older number makes the thread tell of fewer requests, and of the others at its next look.
        self.sent.store(number, Ordering::Relaxed);
    }

    /// What was found so far.
    #[inline]
    pub fn seen(&self) -> Seen {
        // Acquire: what a dead server sent is in the topic before the thread finds it dead. The count comes first: it is stored last.
        Seen {
            deaths: self.deaths.load(Ordering::Acquire),     // SYNC POINT: found
            died: self.died.load(Ordering::Acquire),         // SYNC POINT: found
            unserved: self.unserved.load(Ordering::Acquire), // SYNC POINT: found
            appeared: self.appeared.load(Ordering::Relaxed),
        }
    }
}

/// What the thread keeps of one server.
pub(crate) struct Watch {
    /// The topic of its answers to this client.
    answers: PathBuf,
    found: Arc<Found>,
    is_there: bool,
    /// Requests below this number were sent before the last look, which found no server.
    missing: Option<u64>,
}

impl Watch {
    pub(super) fn new(answers: PathBuf, found: Arc<Found>) -> Self {
        Self { answers, found, is_there: false, missing: None }
    }

    /// Looks. Makes system calls.
    pub fn look(&mut self) {
        // The order counts: first what was sent, then whether anybody is there.
        let sent = self.found.sent.load(Ordering::Relaxed);
        // Where it may not be looked at, nothing is known.
        if let Ok(is_there) = inspect::is_published(&self.answers) {
            self.found(is_there, sent);
        }
    }

    fn found(&mut self, is_there: bool, sent: u64) {
        if is_there {
            if !self.is_there {
                self.found.appeared.fetch_add(1, Ordering::Relaxed); // it guards nothing
            }
            (self.is_there, self.missing) = (true, None);
            return;
        }
        if let Some(sent) = self.missing {
            let told = if self.is_there { &self.found.died } else { &self.found.unserved };
            // Release: the pair of the client's Acquire.
            told.store(sent, Ordering::Release); // SYNC POINT: found
            self.found.deaths.fetch_add(u64::from(self.is_there), Ordering::Release); // SYNC POINT: found
            self.is_there = false;
        }
        self.missing = Some(sent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(looks: &[(bool, u64)]) -> [u64; 3] {
        let found = Arc::new(Found::default());
        let mut watch = Watch::new(PathBuf::new(), Arc::clone(&found));
        looks.iter().for_each(|&(is_there, sent)| watch.found(is_there, sent));
        let Seen { died, unserved, appeared, .. } = found.seen();
        [died, unserved, appeared]
    }

    #[test]
    fn servers_that_died_are_counted_even_if_they_got_no_request() {
        let found = Arc::new(Found::default());
        let mut watch = Watch::new(PathBuf::new(), Arc::clone(&found));
        [true, false, false, false, true, false, false].into_iter().for_each(|is_there| watch.found(is_there, 0));
        let Seen { died, deaths, unserved, appeared } = found.seen();
        assert_eq!([died, deaths, unserved, appeared], [0, 2, 0, 2]);
    }

    #[test]
    fn a_server_that_is_missing_twice_is_dead_and_what_is_asked_later_has_none() {
        assert_eq!(looks(&[(true, 3), (false, 5)]), [0, 0, 1]);
        assert_eq!(looks(&[(true, 3), (false, 5), (true, 9)]), [0, 0, 1]);
        assert_eq!(looks(&[(true, 3), (false, 5), (false, 9)]), [5, 0, 1]);
        assert_eq!(looks(&[(true, 3), (false, 5), (false, 9), (false, 12)]), [5, 9, 1]);
        assert_eq!(looks(&[(true, 3), (false, 5), (false, 9), (true, 12), (false, 20), (false, 21)]), [20, 0, 2]);
    }

    #[test]
    fn a_server_that_never_came_is_not_dead() {
        assert_eq!(looks(&[(false, 1), (false, 2), (false, 2)]), [0, 2, 0]);
    }
}
