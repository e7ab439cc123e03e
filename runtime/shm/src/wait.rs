//! How to wait for a message: on the CPU, in the kernel, or one after the other.

use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::Timespec;

use crate::bell::{Bell, FIRST_SLEEP, LONGEST_SLEEP, get_up, lie_down};
use crate::clock::monotonic_ns;
use crate::spin::Spin;
pub use crate::subscription::Subscription;

/// How a subscriber waits for messages, and a publisher for room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Waiting {
    /// Busily: the fastest, and a whole CPU. Publishers never make a system call for this subscriber.
    #[default]
    Spin,
    /// Busily for so long, then as [`Sleep`](Self::Sleep): for messages that mostly come at once.
    SpinThenSleep(Duration),
    /// In the kernel, on a futex in the topic's segment: costs nothing while waiting, and a wake-up when a message comes
    /// (some microseconds, plus a system call for its publisher). Publishers pay a memory barrier for every message as long
    /// as such a subscriber is there, asleep or not.
    Sleep,
}

impl Waiting {
    /// Whether publishers must be ready to wake this one.
    pub(crate) fn sleeps(self) -> bool {
        self != Self::Spin
    }

    /// How long of `limit` is spent busily.
    pub(crate) fn spinning(self, limit: Duration) -> Duration {
        match self {
            Self::Spin => limit,
            Self::SpinThenSleep(spin) => spin.min(limit),
            Self::Sleep => Duration::ZERO,
        }
    }
}

/// Wakes whoever sleeps on the bell; says how many, if anybody claims to sleep.
#[cold]
pub(crate) fn wake(bell: &impl Bell) -> Option<usize> {
    crate::bell::must_wake(bell).then(|| {
        // It fails for an address that is none; who was not asleep yet sees the new count.
        futex::wake(bell.rings(), futex::Flags::empty(), i32::MAX as u32).unwrap_or(0)
    })
}

/// Calls `poll` until it returns something, as `reader` waits, at most `limit`.
pub(crate) fn wait<R>(
    reader: &mut Subscription,
    limit: Duration,
    mut poll: impl FnMut(&mut Subscription) -> Option<R>,
) -> Option<R> {
    if let Some(found) = poll(reader) {
        return Some(found);
    }
    let started = monotonic_ns();
    let mut spin = Spin::new(reader.waiting().spinning(limit));
    while spin.turn() {
        if let Some(found) = poll(reader) {
            return Some(found);
        }
    }
    if !reader.waiting().sleeps() {
        return poll(reader);
    }
    loop {
        let left = left(started, limit);
        let seen = lie_down(&**reader.segment(), reader.subscriber());
        let found = poll(reader);
        if found.is_none() && !left.is_zero() {
            sleep(reader, seen, left);
        }
        get_up(&**reader.segment(), reader.subscriber());
        if found.is_some() || left.is_zero() {
            return found;
        }
        if let Some(found) = poll(reader) {
            return Some(found);
        }
    }
}

/// Waits until one of `readers` has a message to take, at most `limit`; returns its index.
///
/// Sleeps if all of them may sleep, else waits busily. Looks at them in order, so the first ones have priority.
pub fn any(readers: &mut [&mut Subscription], limit: Duration) -> Option<usize> {
    let ready = |readers: &[&mut Subscription]| readers.iter().position(|reader| reader.is_ready());
    if let Some(index) = ready(readers) {
        return Some(index);
    }
    let started = monotonic_ns();
    let sleeps = !readers.is_empty() && readers.iter().all(|reader| reader.waiting().sleeps());
    let spinning = match sleeps {
        true => readers.iter().map(|reader| reader.waiting().spinning(limit)).min().unwrap_or_default(),
        false => limit,
    };
    let mut spin = Spin::new(spinning);
    while spin.turn() {
        if let Some(index) = ready(readers) {
            return Some(index);
        }
    }
    if !sleeps {
        return ready(readers);
    }
    loop {
        let left = left(started, limit);
        let mut seen = [0; MAX_ANY];
        let several = readers.len().min(MAX_ANY);
        for (seen, reader) in seen.iter_mut().zip(readers.iter()) {
            *seen = lie_down(&**reader.segment(), reader.subscriber());
        }
        let found = ready(readers);
        if found.is_none() && !left.is_zero() {
            // Those that the kernel does not wait for are looked at once in a while.
            let limit = if several < readers.len() { left.min(FIRST_SLEEP) } else { left };
            sleep_on_several(&mut readers[..several], &seen[..several], limit);
        }
        for reader in readers.iter() {
            get_up(&**reader.segment(), reader.subscriber());
        }
        if found.is_some() || left.is_zero() {
            return found;
        }
    }
}

/// The most topics that the kernel waits for at once (`FUTEX_WAITV_MAX`). Further ones are looked at once a millisecond.
const MAX_ANY: usize = 128;

fn left(started_ns: u64, limit: Duration) -> Duration {
    limit.saturating_sub(Duration::from_nanos(monotonic_ns() - started_ns))
}

fn timespec(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}

/// Sleeps while nobody rings, at most `limit`, and may return early.
fn sleep(reader: &mut Subscription, seen: u32, limit: Duration) {
    let limit = limit.min(if reader.first_sleep() { FIRST_SLEEP } else { LONGEST_SLEEP });
    // Rung meanwhile, timed out, interrupted: whatever it was, the caller looks again.
    let _ = futex::wait(reader.segment().rings(), futex::Flags::empty(), seen, Some(&timespec(limit)));
}

fn sleep_on_several(readers: &mut [&mut Subscription], seen: &[u32], limit: Duration) {
    let first = readers.iter_mut().map(|reader| reader.first_sleep()).fold(false, |any, first| any | first);
    let limit = limit.min(if first { FIRST_SLEEP } else { LONGEST_SLEEP });
    let mut waits = [futex::Wait::new(); MAX_ANY];
    for ((wait, reader), seen) in waits.iter_mut().zip(readers.iter()).zip(seen) {
        wait.val = u64::from(*seen);
        wait.uaddr = futex::WaitPtr::new(std::ptr::from_ref(reader.segment().rings()).cast_mut().cast());
        wait.flags = futex::WaitFlags::SIZE_U32;
    }
    let deadline = timespec(Duration::from_nanos(monotonic_ns()) + limit);
    let waited =
        futex::waitv(&waits[..readers.len()], futex::WaitvFlags::empty(), Some(&deadline), futex::ClockId::Monotonic);
    if !matches!(waited, Ok(_) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR)) {
        // A kernel before 5.16, or one that forbids it: sleeps by the clock instead, looking once a millisecond.
        std::thread::park_timeout(limit.min(FIRST_SLEEP));
    }
}
