//! The least that a blocking wake-up costs: a futex, one slot of 16 bytes, a system call at either end for each message.
//!
//! The floor for receivers that sleep. It is no messaging system: one slot, two threads, a wake for every message.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::thread::futex::{Flags, Timespec, wait, wake};

use crate::systems::sleeping::NAP;
use crate::transport::{Failure, Meeting, Receiver, Sender, Small, Threads};

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

impl Threads<Small> for RawFutex {
    const SYSTEM: &'static str = "raw futex";

    fn channel(_: Meeting, _: usize) -> Result<(impl Sender<Small> + Send, impl Receiver<Small> + Send), Failure> {
        let waker = Arc::new(Slot::default());
        let sleeper = Arc::clone(&waker);
        let send = move |message: &Small| {
            let slot = &*waker;
            let sent = slot.sent.load(Ordering::Relaxed);
            if slot.taken.load(Ordering::Acquire) != sent {
                return false;
            }
            for (word, value) in slot.words.iter().zip(message.0) {
                word.store(value, Ordering::Relaxed);
            }
            slot.sent.store(sent.wrapping_add(1), Ordering::Release);
            // Not private to the process: what wakes another process is what HORUS must be compared with. A failure
            // shows as a receiver that sleeps on.
            let _ = wake(&slot.sent, Flags::empty(), 1);
            true
        };
        let receive = move |into: &mut Small| {
            let slot = &*sleeper;
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
        };
        Ok((send, receive))
    }
}
