//! Whose turn it is: a port is used by the steps of its own node only, which are the ones that know in which order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Says which thread runs a step of a node, and none between two steps. Its node and its ports share it.
#[derive(Clone, Default)]
pub(crate) struct Turn {
    /// Relaxed, always: a thread looks only for its own mark, which itself has written.
    thread: Arc<AtomicUsize>,
}

impl Turn {
    /// A step begins in this thread.
    #[inline(always)]
    pub fn begin(&self) {
        self.thread.store(this_thread(), Ordering::Relaxed);
    }

    /// It has returned.
    #[inline(always)]
    pub fn end(&self) {
        self.thread.store(0, Ordering::Relaxed);
    }

    /// Whether this thread is in a step of the node.
    #[inline(always)]
    pub fn is_mine(&self) -> bool {
        self.thread.load(Ordering::Relaxed) == this_thread()
    }
}

/// A number that no other living thread has, and that is not 0: where its control block stands. A variable of the thread would cost a call in a
/// shared library.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn this_thread() -> usize {
    let pointer: usize;
    // SAFETY: by the ABI of x86-64 on Linux the first word of a thread's control block is its own address; it is only read.
    unsafe { std::arch::asm!("mov {}, fs:[0]", out(reg) pointer, options(nostack, preserves_flags, readonly, pure)) };
    pointer
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn this_thread() -> usize {
    let pointer: usize;
    // SAFETY: by the ABI of 64-bit ARM on Linux this register holds the address of the thread's control block; it is only read.
    unsafe { std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, nomem, pure)) };
    pointer
}

/// As above, by a variable.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn this_thread() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_turn_of_the_thread_that_runs_the_step_until_that_ends() {
        let turn = Turn::default();
        assert!(!turn.is_mine());
        turn.begin();
        assert!(turn.is_mine());
        let of_the_port = turn.clone();
        assert!(!std::thread::spawn(move || of_the_port.is_mine()).join().unwrap());
        turn.end();
        assert!(!turn.is_mine());
    }
}
