//! Who publishes and who subscribes: joining, leaving and burying, under the segment's lock.
//!
//! The lock is the kernel's `flock` on the segment's file. It costs a system call and is held for microseconds by those
//! who join, leave, or bury; sending and receiving never take it. The kernel lets go of it when its holder dies, at
//! whatever instruction, and every record below is written so that the steps done until then read as "nobody":
//!
//! - joining writes the identity, then the cursor, then the member's bit; leaving clears the bit, then the identity;
//! - a lane's owner is written with its process number last and erased with its process number first.
//!
//! Two steps need no lock, and are taken without it by a member that leaves while somebody else holds it for too long (a
//! stopped process): a subscriber clears its bit, an owner erases its process number. Nobody but the member itself
//! changes these as long as its process lives, and nothing of its own is touched after them.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::bell::Bell;
use crate::clock::monotonic_ns;
use crate::error::OpenError;
use crate::failpoint::failpoint;
use crate::peer::Identity;
use crate::segment::Segment;
use crate::sync::{AtomicU64, Ordering};

/// Words of an identity, and behind them in a lane's owner record its epoch.
const IDENTITY_WORDS: usize = 3;
const EPOCH_WORD: usize = 3;

/// Longest wait for a segment's lock. Its holders need microseconds; one that is stopped may hold it for ever.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
const LOCK_PAUSE: Duration = Duration::from_micros(200);

/// Waits off the hot path, without drift to care about and without the CPU.
pub(crate) fn pause(time: Duration) {
    std::thread::park_timeout(time);
}

/// Takes the lock of an open file, waiting a bounded time.
pub(crate) fn lock_file(file: &OwnedFd, path: &Path) -> Result<(), OpenError> {
    let started = monotonic_ns();
    loop {
        match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => return Err(OpenError::io("lock", path, error)),
        }
        let waited = Duration::from_nanos(monotonic_ns() - started);
        if waited >= LOCK_PATIENCE {
            return Err(OpenError::Busy { path: path.to_owned(), waited });
        }
        pause(LOCK_PAUSE);
    }
}

fn owner(segment: &Segment, lane: usize) -> &[AtomicU64] {
    segment.words(segment.header().shape.lane(lane), IDENTITY_WORDS + 1)
}

/// Gives up the lane that this process owns, for want of the lock without it.
pub(crate) fn release_unlocked(segment: &Segment, lane: usize) {
    Identity::erase(owner(segment, lane));
}

/// A segment whose lock this value holds; the table of peers can be read and changed through nothing else.
pub(crate) struct Locked<'a>(&'a Segment);

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // It fails for a bad descriptor only, which this is not.
        let _ = rustix::fs::flock(self.0.file(), FlockOperation::Unlock);
    }
}

impl<'a> Locked<'a> {
    /// Takes the segment's lock, waiting a bounded time.
    pub fn new(segment: &'a Segment) -> Result<Self, OpenError> {
        lock_file(segment.file(), segment.path())?;
        Ok(Self(segment))
    }

    /// Takes the lock if it is free. Allocates nothing.
    pub fn try_new(segment: &'a Segment) -> Option<Self> {
        rustix::fs::flock(segment.file(), FlockOperation::NonBlockingLockExclusive).ok().map(|()| Self(segment))
    }

    fn members(&self) -> &AtomicU64 {
        self.0.members()
    }

    fn identity(&self, subscriber: usize) -> &[AtomicU64] {
        self.0.words(self.0.header().shape.identity(subscriber), IDENTITY_WORDS)
    }

    fn owner(&self, lane: usize) -> &[AtomicU64] {
        owner(self.0, lane)
    }

    /// Numbers of the subscribers whose bit is set.
    fn subscribers(&self) -> impl Iterator<Item = usize> + use<> {
        // Relaxed: the lock orders changes, and the ring's own orderings concern cursors, which are not read here.
        let members = self.members().load(Ordering::Relaxed);
        (0..self.0.header().shape.subscribers()).filter(move |subscriber| members >> subscriber & 1 == 1)
    }

    /// Makes this process the owner of the first lane that no living process owns, and returns its number.
    ///
    /// A lane whose owner is gone comes before one that was never used, so that readers look at no more lanes than
    /// publishers ever lived at once.
    pub fn claim(&self) -> Result<usize, OpenError> {
        let living = |lane: usize| Identity::load(self.owner(lane)).filter(Identity::is_alive);
        let lanes = self.0.header().shape.lanes();
        let Some(lane) = (0..lanes).find(|&lane| living(lane).is_none()) else {
            let pid = living(0).map_or(0, |identity| identity.pid);
            return Err(OpenError::PublishersFull { path: self.0.path().to_owned(), publishers: lanes, pid });
        };
        let owner = self.owner(lane);
        failpoint!("claim:free");
        Identity::own().store(owner);
        failpoint!("claim:owner");
        owner[EPOCH_WORD].fetch_add(1, Ordering::Relaxed); // wraps; a count for people who look at the segment
        // Relaxed: whoever sees the bit goes on to look at stamps.
        self.0.used_lanes().fetch_or(1 << lane, Ordering::Relaxed);
        failpoint!("claim:lane");
        Ok(lane)
    }

    /// Gives up the lane that this process owns.
    pub fn release(&self, lane: usize) {
        failpoint!("release:owner");
        release_unlocked(self.0, lane);
        failpoint!("release:free");
    }

    /// Reserves a subscriber's place for this process. The caller sets the bit by joining the ring.
    pub fn reserve(&self) -> Result<usize, OpenError> {
        self.bury_subscribers();
        let members = self.members().load(Ordering::Relaxed);
        let subscribers = self.0.header().shape.subscribers();
        let free = (0..subscribers).find(|subscriber| members >> subscriber & 1 == 0);
        let full = || OpenError::SubscribersFull { path: self.0.path().to_owned(), subscribers };
        let subscriber = free.ok_or_else(full)?;
        failpoint!("join:free");
        Identity::own().store(self.identity(subscriber));
        failpoint!("join:identity");
        Ok(subscriber)
    }

    /// Takes a subscriber out of the table.
    pub fn remove(&self, subscriber: usize) {
        failpoint!("leave:member");
        // Release: what this reader copied was copied before a writer stops waiting for it.
        self.members().fetch_and(!(1 << subscriber), Ordering::Release); // SYNC POINT: leave
        // Relaxed: a publisher that sees them a little longer rings for nobody.
        self.0.sleepers().fetch_and(!(1 << subscriber), Ordering::Relaxed);
        self.0.asleep().fetch_and(!(1 << subscriber), Ordering::Relaxed);
        failpoint!("leave:bits");
        Identity::erase(self.identity(subscriber));
        failpoint!("leave:free");
    }

    /// Takes dead subscribers out of the table, and returns how many. Allocates nothing.
    pub fn bury_subscribers(&self) -> usize {
        let dead = |subscriber: &usize| !Identity::load(self.identity(*subscriber)).is_some_and(|peer| peer.is_alive());
        let mut buried = 0;
        for subscriber in self.subscribers().filter(dead) {
            self.remove(subscriber);
            buried += 1;
        }
        // What peers killed while joining or leaving left of themselves. Joining is done under the lock, so nobody who has
        // just raised its bits is not a member yet.
        let members = self.members().load(Ordering::Relaxed);
        self.0.sleepers().fetch_and(members, Ordering::Relaxed);
        self.0.asleep().fetch_and(members, Ordering::Relaxed);
        buried
    }

    /// Whether any living process publishes or subscribes here. Allocates nothing.
    pub fn in_use(&self) -> bool {
        let lanes = 0..self.0.header().shape.lanes();
        let mut publishers = lanes.filter_map(|lane| Identity::load(self.owner(lane)));
        let mut subscribers = self.subscribers().filter_map(|subscriber| Identity::load(self.identity(subscriber)));
        publishers.any(|peer| peer.is_alive()) || subscribers.any(|peer| peer.is_alive())
    }

    /// The living owner of each lane.
    pub fn publishers(&self) -> Vec<Option<Identity>> {
        let living = |lane| Identity::load(self.owner(lane)).filter(Identity::is_alive);
        (0..self.0.header().shape.lanes()).map(living).collect()
    }

    /// The living subscribers.
    pub fn living_subscribers(&self) -> Vec<Identity> {
        let identities = self.subscribers().filter_map(|subscriber| Identity::load(self.identity(subscriber)));
        identities.filter(Identity::is_alive).collect()
    }

    /// Whether the file still has a name. One without is being forgotten: whoever opened it must look again.
    pub fn is_named(&self) -> bool {
        rustix::fs::fstat(self.0.file()).is_ok_and(|stat| stat.st_nlink > 0)
    }

    /// Removes the file's name if no living process uses it; true if it did.
    pub fn remove_if_unused(&self) -> bool {
        if self.in_use() || !self.is_named() {
            return false;
        }
        // The name leads to this very file as long as it has one: names are taken away under this lock only.
        let removed = rustix::fs::unlink(self.0.path()).is_ok();
        failpoint!("release:removed");
        removed
    }
}
