//! A value that one thread at a time may use, and for which no thread waits: one that finds it in use is told so.
//!
//! It is what a step and its executor share. They take turns, so it is free whenever one of them comes. Who is not in turn, because a
//! program moved its half to another thread, gets no value and blocks no thread.
//!
//! ```
//! let gate = horus_sys::gate::Gate::new(7);
//! let mut inside = gate.enter().unwrap();
//! *inside += 1;
//! assert!(gate.enter().is_none(), "it is in use");
//! drop(inside);
//! assert_eq!(*gate.enter().unwrap(), 8);
//! ```

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// A value behind a gate; see the module's text.
pub struct Gate<T> {
    /// 1 while a thread is inside.
    in_use: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by one thread at a time, which `enter` sees to, as if it were moved from one to the next.
unsafe impl<T: Send> Sync for Gate<T> {}

/// Who is inside. The value is free again when this is dropped, also by a panic.
#[must_use = "the gate is open again when this is dropped"]
pub struct Inside<'a, T> {
    gate: &'a Gate<T>,
}

impl<T> Gate<T> {
    /// A free value.
    pub fn new(value: T) -> Self {
        Self { in_use: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// The value, if no thread uses it. Wait-free.
    #[inline(always)]
    pub fn enter(&self) -> Option<Inside<'_, T>> {
        // Acquire: what the last one inside did is done. One locked instruction.
        let was = self.in_use.swap(1, Ordering::Acquire); // SYNC POINT: gate
        if was == 0 { Some(Inside { gate: self }) } else { None }
    }
}

impl<T> Deref for Inside<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: `enter` found the word 0 and made it 1, so no other `Inside` of this gate exists until this one is dropped.
        unsafe { &*self.gate.value.get() }
    }
}

impl<T> DerefMut for Inside<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and this one is borrowed exclusively.
        unsafe { &mut *self.gate.value.get() }
    }
}

impl<T> Drop for Inside<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Release: what was done inside is done before the next one is.
        self.gate.in_use.store(0, Ordering::Release); // SYNC POINT: gate
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn nobody_is_inside_together_with_another_and_nothing_is_lost() {
        const ROUNDS: u64 = 20_000;
        // Two words that are wrong together unless one thread at a time writes them.
        let gate = Arc::new(Gate::new((0_u64, 0_u64)));
        let count = |gate: Arc<Gate<(u64, u64)>>| {
            move || {
                let mut entered = 0;
                while entered < ROUNDS {
                    let Some(mut inside) = gate.enter() else {
                        std::thread::yield_now();
                        continue;
                    };
                    let both = *inside;
                    assert_eq!(both.0, both.1);
                    inside.0 = both.0 + 1;
                    inside.1 = both.1 + 1;
                    entered += 1;
                }
            }
        };
        let threads = [(); 2].map(|()| std::thread::spawn(count(Arc::clone(&gate))));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(*gate.enter().unwrap(), (2 * ROUNDS, 2 * ROUNDS));
    }

    #[test]
    fn a_panic_inside_leaves_the_gate_open() {
        let gate = Gate::new(0);
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _inside = gate.enter();
            panic!("inside");
        }));
        assert!(panicked.is_err() && gate.enter().is_some());
    }
}
