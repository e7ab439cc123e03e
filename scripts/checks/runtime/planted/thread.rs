//! A data race on purpose: two threads write one number, and nothing orders them. The thread sanitizer must report it.

use std::sync::atomic::{AtomicU32, Ordering};

static mut NUMBER: u64 = 0;
static READY: AtomicU32 = AtomicU32::new(0);

fn write() {
    // Together, or the sanitizer misses it half of the time. Relaxed: a stronger ordering would forbid the race.
    READY.fetch_add(1, Ordering::Relaxed);
    while READY.load(Ordering::Relaxed) < 2 {
        std::thread::yield_now();
    }
    for _ in 0..1000 {
        // SAFETY: there is none; that is what must be found.
        unsafe { NUMBER += 1 };
    }
}

fn main() {
    let other = std::thread::spawn(write);
    write();
    other.join().unwrap();
}
