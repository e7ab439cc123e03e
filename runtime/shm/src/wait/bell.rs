//! How a subscriber sleeps until a publisher sends, and costs publishers nothing as long as no subscriber sleeps.
//!
//! # Protocol
//! A subscriber that may sleep says so when it joins, in `sleepers`. A publisher looks at that word after every message: while
//! it is zero, which is one load of an unchanging cache line, there is nothing else to do. The word `asleep` has a bit per
//! subscriber that is asleep or about to be, and counts in its upper half how often anybody lay down.
//!
//! ```text
//!     publisher, after the message                 subscriber that found nothing
//!     ────────────────────────────                 ─────────────────────────────
//!     sleepers = 0 ?  done   Relaxed               before = rings                Acquire  ring
//!     fence                  SeqCst   bell         asleep ← own bit, count + 1   Relaxed
//!     no bit in asleep ?                           fence                         SeqCst   bell
//!     count = last rung ? done  Relaxed            rings ≠ before ?  get up      Acquire  ring
//!     last rung ← count      private               look for messages again; there are some? done
//!     rings ← rings + 1      Release  ring         wait while rings = before     system call
//!     wake all               system call           asleep ← without own bit      Relaxed
//! ```
//!
//! # One system call a sleep
//! A publisher rings once for each time that a subscriber lay down, however long that one needs to get up: a subscriber that
//! has no CPU, is stopped, or is dead costs it one wake-up, not one a message. What was rung for is every publisher's own
//! knowledge. So a publisher that is killed between its message and its ring takes no other one's ring with it.
//!
//! # Why no message is slept through
//! The two fences are ordered one way or the other. *The publisher's first*: then the subscriber's second look finds the
//! message. *The subscriber's first*: then the publisher sees the bit and the count of this very sleep. Either it has not
//! rung for that count, and rings now; or it has, for a message before this one, which may have been taken already. Any ring
//! for this count comes after the count was announced, so after `before` was read. If the subscriber sees it in its second
//! look at `rings`, it gets up and lies down anew, with a new count; if not, the kernel finds `rings` changed and does not
//! let it sleep, or wakes it.
//!
//! # The one race that remains, and what closes it
//! `sleepers` is read without a fence. A message sent at the very moment at which the first sleeper of a topic joins may
//! be sent by a publisher that does not see the bit yet. A store becomes visible in finite time, so only the *first*
//! sleep of a subscriber can meet this, and that one is bounded by [`FIRST_SLEEP`].
//!
//! # Who was to ring may die
//! A publisher that is killed after its message is there and before it rings wakes no subscriber. So no sleep is longer than
//! [`LONGEST_SLEEP`]: a sleeper that no publisher wakes looks for messages that often.

use std::time::Duration;

use horus_sys::failpoint;

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// The longest first sleep of a subscriber: far longer than a store stays in a CPU, far shorter than a person notices.
pub const FIRST_SLEEP: Duration = Duration::from_millis(1);

/// The longest of all sleeps: by this much the last message of a killed publisher comes late at worst, if no other publisher
/// sends. One wake-up a second is what an idle subscriber costs.
pub const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// Where the count begins in the word of those who are asleep.
const COUNT_SHIFT: u32 = 32;

/// The words of the protocol.
pub trait Bell {
    /// One bit per subscriber that may sleep.
    fn sleepers(&self) -> &AtomicU64;
    /// One bit per subscriber that is asleep or about to be, and above them how often anybody lay down.
    fn asleep(&self) -> &AtomicU64;
    /// How often the bell was rung, for the kernel to compare.
    fn rings(&self) -> &AtomicU32;
}

/// A publisher's knowledge of the bell: for which sleep it rang last.
#[derive(Debug)]
pub struct Ringer {
    last_rung: u32,
}

impl Ringer {
    /// One that has rung for nothing yet.
    pub fn new(bell: &impl Bell) -> Self {
        // Relaxed: a subscriber that is asleep lay down before this publisher's first message, and that one rings.
        Self { last_rung: count(bell.asleep().load(Ordering::Relaxed)).wrapping_sub(1) }
    }

    /// Who lay down since the last ring, after a look at [`Bell::sleepers`] found that one may have: then the caller has to
    /// [`ring`](Self::ring). Nearly all messages need this part alone.
    #[inline(always)] // a publisher whose subscribers may sleep asks with each message
    pub fn must_ring(&self, bell: &impl Bell) -> Option<u64> {
        fence(Ordering::SeqCst); // SYNC POINT: bell
        let asleep = bell.asleep().load(Ordering::Relaxed);
        (asleep as u32 != 0 && count(asleep) != self.last_rung).then_some(asleep)
    }

    /// Rings for those of [`must_ring`](Self::must_ring): the caller must then have the kernel wake those who wait on [`Bell::rings`].
    pub fn ring(&mut self, bell: &impl Bell, asleep: u64) {
        self.last_rung = count(asleep);
        ring(bell);
        failpoint!("publish:rung");
    }
}

/// Changes the word that sleepers wait on; the caller wakes them.
pub fn ring(bell: &impl Bell) {
    // Release: who sees the new count sees the message. Wraps after 2^32 rings, which a sleeper would have to sleep
    // through in the moment before its wait.
    bell.rings().fetch_add(1, Ordering::Release); // SYNC POINT: ring
}

/// How often anybody lay down; wraps after 2^32 times, all of which a publisher would have to be stopped for.
fn count(asleep: u64) -> u32 {
    (asleep >> COUNT_SHIFT) as u32
}

/// Announces that `subscriber` is about to sleep; returns the count of rings to wait on, after another look. `None` when the
/// bell was rung meanwhile, perhaps for this very sleep: then it must not sleep, but look and lie down again.
pub fn lie_down(bell: &impl Bell, subscriber: usize) -> Option<u32> {
    // Acquire: it stays before the announcement, and a ring for that one after it.
    let before = bell.rings().load(Ordering::Acquire); // SYNC POINT: ring
    // Relaxed, both: the fence orders them. The bit comes first: a publisher that sees the new count sees it too, since
    // changes of one word have one order.
    bell.asleep().fetch_or(1 << subscriber, Ordering::Relaxed);
    bell.asleep().fetch_add(1 << COUNT_SHIFT, Ordering::Relaxed);
    failpoint!("sleep:down");
    fence(Ordering::SeqCst); // SYNC POINT: bell
    let now = bell.rings().load(Ordering::Acquire); // SYNC POINT: ring
    (now == before).then_some(before)
}

/// Takes the announcement back.
pub fn get_up(bell: &impl Bell, subscriber: usize) {
    bell.asleep().fetch_and(!(1 << subscriber), Ordering::Relaxed);
    failpoint!("sleep:awake");
}
