//! How to wait for a message: on the CPU, in the kernel, by the clock, or one after the other.

use std::borrow::BorrowMut;
use std::time::Duration;

use horus_sys::clock::monotonic_ns;
use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::Timespec;

use super::bell::{Bell, FIRST_SLEEP, LONGEST_SLEEP, get_up, lie_down};
use super::spin::{Spin, has_one_cpu};
use crate::patience::pause;
use crate::segment::Segment;

/// The wait strategy: how a subscriber waits for messages, and a publisher for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitStrategy {
    /// Busily: the fastest, and a whole CPU. Publishers never make a system call for this subscriber.
    Spin,
    /// Busily for so long, then as [`Sleep`](Self::Sleep): for messages that mostly come at once. A thread that may use one
    /// CPU only sleeps at once, since the message can only come when that CPU is free.
    SpinThenSleep(Duration),
    /// In the kernel, on a futex in the topic's segment: one wake-up a second while nothing comes, and a wake-up when a message
    /// comes (some microseconds, plus a system call for its publisher). Publishers pay a memory barrier for every message as
    /// long as such a subscriber is there, asleep or not.
    Sleep,
    /// By the clock: looks so often and sleeps in between. Publishers pay nothing for this subscriber.
    Poll(Duration),
}

impl Default for WaitStrategy {
    /// Busily for 20 us, then asleep: an answer that is under way comes without a wake-up, and nothing burns a CPU.
    fn default() -> Self {
        Self::SpinThenSleep(Duration::from_micros(20))
    }
}

impl WaitStrategy {
    /// What a subscriber does that has no wish, on a topic whose publishers wake no subscriber.
    pub(crate) const WITHOUT_WAKING: Self = Self::Poll(Duration::from_millis(1));

    /// Whether publishers must be ready to wake this one.
    pub(crate) fn sleeps(self) -> bool {
        matches!(self, Self::SpinThenSleep(_) | Self::Sleep)
    }

    /// How long of `limit` is spent busily.
    pub(crate) fn spinning(self, limit: Duration) -> Duration {
        match self {
            Self::Spin => limit,
            Self::SpinThenSleep(spin) if !has_one_cpu() => spin.min(limit),
            Self::SpinThenSleep(_) | Self::Sleep | Self::Poll(_) => Duration::ZERO,
        }
    }
}

/// What waits: a subscriber with its messages in one segment.
pub trait Waiter {
    /// The segment whose bell rings for it.
    fn segment(&self) -> &Segment;
    /// Its number there.
    fn subscriber(&self) -> usize;
    /// How it waits.
    fn wait_strategy(&self) -> WaitStrategy;
    /// Whether it has never slept before; says so once.
    fn is_first_sleep(&mut self) -> bool;
}

/// Has the kernel wake the subscribers that wait on the bell.
#[cold]
#[inline(never)]
pub(crate) fn wake_all(segment: &Segment) {
    // It fails for an address that is none; who was not asleep yet sees the new count.
    let _ = futex::wake(segment.rings(), futex::Flags::empty(), i32::MAX as u32);
}

/// Calls `poll` until it returns something, as `reader` waits, at most `limit`.
pub(crate) fn wait<W: Waiter, R>(
    reader: &mut W,
    limit: Duration,
    mut poll: impl FnMut(&mut W) -> Option<R>,
) -> Option<R> {
    if let Some(found) = poll(reader) {
        return Some(found);
    }
    let started = monotonic_ns();
    let mut spin = Spin::new(reader.wait_strategy().spinning(limit));
    while spin.turn() {
        if let Some(found) = poll(reader) {
            return Some(found);
        }
    }
    // Anew each time: a topic that is remade may have to be waited for otherwise.
    loop {
        let left = left(started, limit);
        let found = match reader.wait_strategy() {
            WaitStrategy::Spin => return poll(reader),
            WaitStrategy::Poll(period) => {
                if !left.is_zero() {
                    pause(period.min(left));
                }
                poll(reader)
            }
            WaitStrategy::SpinThenSleep(_) | WaitStrategy::Sleep => {
                let seen = lie_down(reader.segment(), reader.subscriber());
                let found = poll(reader);
                if let (None, Some(seen), false) = (&found, seen, left.is_zero()) {
                    sleep(reader, seen, left);
                }
                get_up(reader.segment(), reader.subscriber());
                if found.is_none() && !left.is_zero() { poll(reader) } else { found }
            }
        };
        if found.is_some() || left.is_zero() {
            return found;
        }
    }
}

/// Waits until one of `readers` has a message to take, which `is_ready` says, at most `limit`; returns its index.
///
/// Sleeps unless one of them waits busily; one that waits by the clock is looked at as often as it says. Looks at them in
/// order, so the first ones have priority.
pub fn any<W: Waiter, R: BorrowMut<W>>(
    readers: &mut [R],
    limit: Duration,
    is_ready: impl Fn(&mut W) -> bool,
) -> Option<usize> {
    let ready = |readers: &mut [R]| readers.iter_mut().position(|reader| is_ready(reader.borrow_mut()));
    if let Some(index) = ready(readers) {
        return Some(index);
    }
    let started = monotonic_ns();
    let is_busy =
        readers.is_empty() || readers.iter().any(|reader| reader.borrow().wait_strategy() == WaitStrategy::Spin);
    let spinning = match is_busy {
        false => readers.iter().map(|reader| reader.borrow().wait_strategy().spinning(limit)).min().unwrap_or_default(),
        true => limit,
    };
    let mut spin = Spin::new(spinning);
    while spin.turn() {
        if let Some(index) = ready(readers) {
            return Some(index);
        }
    }
    if is_busy {
        return ready(readers);
    }
    loop {
        let left = left(started, limit);
        let (mut seen, mut is_quiet) = ([0; MAX_ANY], true);
        for (seen, reader) in seen.iter_mut().zip(readers.iter().map(R::borrow)) {
            match lie_down(reader.segment(), reader.subscriber()) {
                Some(rings) => *seen = rings,
                None => is_quiet = false,
            }
        }
        let found = ready(readers);
        if found.is_none() && is_quiet && !left.is_zero() {
            sleep_on_several(readers, &seen, left);
        }
        for reader in readers.iter().map(R::borrow) {
            get_up(reader.segment(), reader.subscriber());
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

/// Sleeps while no publisher rings, at most `limit`, and may return early.
fn sleep(reader: &mut impl Waiter, seen: u32, limit: Duration) {
    let limit = limit.min(if reader.is_first_sleep() { FIRST_SLEEP } else { LONGEST_SLEEP });
    // Rung meanwhile, timed out, interrupted: whatever it was, the caller looks again.
    let _ = futex::wait(reader.segment().rings(), futex::Flags::empty(), seen, Some(&timespec(limit)));
}

fn sleep_on_several<W: Waiter, R: BorrowMut<W>>(readers: &mut [R], seen: &[u32; MAX_ANY], limit: Duration) {
    let several = readers.len().min(MAX_ANY);
    let mut limit = limit.min(LONGEST_SLEEP);
    for reader in readers.iter_mut().map(R::borrow_mut) {
        if let WaitStrategy::Poll(period) = reader.wait_strategy() {
            limit = limit.min(period);
        } else if reader.is_first_sleep() {
            limit = limit.min(FIRST_SLEEP);
        }
    }
    if several < readers.len() {
        limit = limit.min(FIRST_SLEEP); // those that the kernel does not wait for are looked at once in a while
    }
    let mut waits = [futex::Wait::new(); MAX_ANY];
    for ((wait, reader), seen) in waits.iter_mut().zip(readers.iter().map(R::borrow)).zip(seen) {
        wait.val = u64::from(*seen);
        wait.uaddr = futex::WaitPtr::new(std::ptr::from_ref(reader.segment().rings()).cast_mut().cast());
        wait.flags = futex::WaitFlags::SIZE_U32;
    }
    let deadline = timespec(Duration::from_nanos(monotonic_ns()) + limit);
    let waited =
        futex::waitv(&waits[..several], futex::WaitvFlags::empty(), Some(&deadline), futex::ClockId::Monotonic);
    if !matches!(waited, Ok(_) | Err(Errno::AGAIN | Errno::TIMEDOUT | Errno::INTR)) {
        // A kernel before 5.16, or one that forbids it: sleeps by the clock instead, looking once a millisecond.
        pause(limit.min(FIRST_SLEEP));
    }
}
