//! How a subscriber sleeps until somebody sends, and costs those who send nothing as long as nobody sleeps.
//!
//! # Protocol
//! A subscriber that may sleep says so when it joins, in the roster (`sleepers`). A publisher looks at that word after
//! every message: while it is zero, which is one load of an unchanging cache line, there is nothing else to do.
//!
//! ```text
//!     publisher, after the message                 subscriber that found nothing
//!     ────────────────────────────                 ─────────────────────────────
//!     sleepers = 0 ?  done   Relaxed               asleep ← own bit          Relaxed
//!     fence                  SeqCst   bell         fence                     SeqCst   bell
//!     asleep = 0 ?  done     Relaxed               seen   = rings            Acquire
//!     rings ← rings + 1      Release  ring         look for messages again; there are some? done
//!     wake all               system call           wait while rings = seen   system call
//!                                                  asleep ← without own bit  Relaxed
//! ```
//!
//! # Why no message is slept through
//! The two fences are ordered one way or the other. *The publisher's first*: then the subscriber's second look finds the
//! message. *The subscriber's first*: then the publisher sees the bit and rings. If it rings before the subscriber reads
//! `rings` with Acquire, the second look finds the message; if after, the kernel finds `rings` changed and does not let
//! the subscriber sleep, or wakes it.
//!
//! # The one race that remains, and what closes it
//! `sleepers` is read without a fence. A message sent at the very moment at which the first sleeper of a topic joins may
//! be sent by a publisher that does not see the bit yet. A store becomes visible in finite time, so only the *first*
//! sleep of a subscriber can meet this, and that one is bounded by [`FIRST_SLEEP`].
//!
//! # Who was to ring may die
//! A publisher that is killed after its message is there and before it rings wakes nobody. So no sleep is longer than
//! [`LONGEST_SLEEP`]: a sleeper that nobody wakes looks for messages that often.

use std::time::Duration;

use crate::failpoint::failpoint;
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// The longest first sleep of a subscriber: far longer than a store stays in a CPU, far shorter than a person notices.
pub const FIRST_SLEEP: Duration = Duration::from_millis(1);

/// The longest of all sleeps: by this much the last message of a killed publisher comes late at worst. A hundred
/// wake-ups a second, some microseconds each, are a thousandth of a CPU.
pub const LONGEST_SLEEP: Duration = Duration::from_millis(10);

/// The words of the protocol.
pub trait Bell {
    /// One bit per subscriber that may sleep.
    fn sleepers(&self) -> &AtomicU64;
    /// One bit per subscriber that is asleep or about to be.
    fn asleep(&self) -> &AtomicU64;
    /// How often the bell was rung, for the kernel to compare.
    fn rings(&self) -> &AtomicU32;
}

/// Rings if somebody is asleep, after a look at [`Bell::sleepers`] found that somebody may be; true if the caller must
/// then have the kernel wake those who wait on [`Bell::rings`].
pub fn must_wake(bell: &impl Bell) -> bool {
    fence(Ordering::SeqCst); // SYNC POINT: bell
    if bell.asleep().load(Ordering::Relaxed) == 0 {
        return false;
    }
    // Release: who sees the new count sees the message. Wraps after 2^32 rings, which a sleeper would have to sleep
    // through in the moment before its wait.
    bell.rings().fetch_add(1, Ordering::Release); // SYNC POINT: ring
    failpoint!("publish:rung");
    true
}

/// Announces that `subscriber` is about to sleep; returns the count of rings to wait on, after another look.
pub fn lie_down(bell: &impl Bell, subscriber: usize) -> u32 {
    bell.asleep().fetch_or(1 << subscriber, Ordering::Relaxed); // the fence orders it
    failpoint!("sleep:down");
    fence(Ordering::SeqCst); // SYNC POINT: bell
    bell.rings().load(Ordering::Acquire) // SYNC POINT: ring
}

/// Takes the announcement back.
pub fn get_up(bell: &impl Bell, subscriber: usize) {
    failpoint!("sleep:awake");
    bell.asleep().fetch_and(!(1 << subscriber), Ordering::Relaxed);
}
