//! The least that a blocking wake-up costs: a futex, one slot of 16 bytes, a system call at either end for each message.
//!
//! The floor for receivers that sleep. It is no messaging system: one slot, two threads, a wake for every message.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::thread::futex::{Flags, Timespec, wait, wake};

use crate::systems::sleeping::NAP;
use crate::transport::{Failure, Meeting, Payload, Receiver, Sender, Threads};

/// Two threads and a futex.
pub struct RawFutex;

#[derive(Default)]
struct Slot {
    /// Messages sent so far; what the receiver sleeps on.
    sent: AtomicU32,
    /// Messages taken so far.
    taken: AtomicU32,
    words: [AtomicU64; 2],
}

/// The end that wakes.
pub struct Waker(Arc<Slot>);

/// The end that sleeps.
pub struct Sleeper(Arc<Slot>);

impl Sender<Payload<2>> for Waker {
    #[inline]
    fn try_send(&mut self, message: &Payload<2>) -> bool {
        let slot = &*self.0;
        let sent = slot.sent.load(Ordering::Relaxed);
        if slot.taken.load(Ordering::Acquire) != sent {
            return false;
        }
        for (word, value) in slot.words.iter().zip(message.0) {
            word.store(value, Ordering::Relaxed);
        }
        slot.sent.store(sent.wrapping_add(1), Ordering::Release);
        // Not private to the process: what wakes another process is what HORUS must be compared with. A failure shows
        // as a receiver that sleeps on.
        let _ = wake(&slot.sent, Flags::empty(), 1);
        true
    }
}

impl Receiver<Payload<2>> for Sleeper {
    #[inline]
    fn try_recv(&mut self, into: &mut Payload<2>) -> bool {
        let slot = &*self.0;
        let taken = slot.taken.load(Ordering::Relaxed);
        if slot.sent.load(Ordering::Acquire) == taken {
            let nap = Timespec { tv_sec: 0, tv_nsec: i64::from(NAP.subsec_nanos()) };
            // However it ends, the next look at `sent` tells.
            let _ = wait(&slot.sent, Flags::empty(), taken, Some(&nap));
            if slot.sent.load(Ordering::Acquire) == taken {
                return false;
            }
        }
        for (word, value) in slot.words.iter().zip(&mut into.0) {
            *value = word.load(Ordering::Relaxed);
        }
        slot.taken.store(taken.wrapping_add(1), Ordering::Release);
        true
    }
}

impl Threads<Payload<2>> for RawFutex {
    const SYSTEM: &'static str = "raw futex";
    type Sender = Waker;
    type Receiver = Sleeper;

    fn channel(_: &Meeting, _: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let slot = Arc::new(Slot::default());
        Ok((Waker(Arc::clone(&slot)), Sleeper(slot)))
    }
}
