//! The loop's half: one write to a descriptor stops the trace of its CPU, so that the miss stays in it.
//!
//! A loop that misses again and again writes once: the next write waits until this one was answered (`is_armed`), and finding
//! that out takes no system call. Neither half ever waits for the other: both only try the lock, and the loop goes on without a
//! freeze when it finds the other half exchanging the descriptor.

use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What stands in the trace where it stops.
const MARK: &[u8] = b"a deadline was missed\n";

/// The trace of a CPU, as those who can freeze it have it. All threads of a program on the CPU share it.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    is_armed: AtomicBool,
    /// Its marker's descriptor, while the witness has given one.
    marker: Mutex<Option<OwnedFd>>,
}

impl Trace {
    /// Freezes the trace, unless it is frozen; true if this call did. For the loop, after a miss: at most one write, no wait.
    pub fn freeze(&self) -> bool {
        // A look before the exchange, which a storm would repeat. Of two threads one wins; what was done before it was armed is done.
        let has_won = self.is_armed.load(Ordering::Relaxed) && self.is_armed.swap(false, Ordering::Acquire); // SYNC POINT: armed
        if !has_won {
            return false;
        }
        let Ok(marker) = self.marker.try_lock() else { return false }; // being exchanged, and armed after that
        // A write that fails found the trace frozen already, by another program's miss, or gone. The witness knows which.
        marker.as_ref().is_some_and(|marker| {
            let _ = rustix::io::write(marker, MARK);
            true
        })
    }

    /// Takes the descriptor, and lets the loop use it. For the thread beside the loops.
    pub fn connect(&self, marker: OwnedFd) {
        if self.exchange(Some(marker)) {
            self.arm();
        }
    }

    /// Lets the loop write no more.
    pub fn disconnect(&self) {
        self.is_armed.store(false, Ordering::Relaxed);
        self.exchange(None);
    }

    /// Lets the loop freeze again: what it froze was answered.
    pub fn arm(&self) {
        self.is_armed.store(true, Ordering::Release); // SYNC POINT: armed
    }

    /// False when the loop is writing just now, which it does not do while it is not armed: a loop that was interrupted in its write.
    fn exchange(&self, marker: Option<OwnedFd>) -> bool {
        let Ok(mut held) = self.marker.try_lock() else { return false };
        *held = marker;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(reader: &OwnedFd) -> usize {
        let mut bytes = [0; 256];
        rustix::io::read(reader, &mut bytes).unwrap_or(0) / MARK.len()
    }

    fn pipe() -> (OwnedFd, OwnedFd) {
        rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap()
    }

    #[test]
    fn a_storm_of_misses_writes_once_until_it_was_answered() {
        let (reader, writer) = pipe();
        let trace = Trace::default();
        assert!(!trace.freeze(), "no witness, no write");
        trace.connect(writer);
        assert_eq!((0..1_000).filter(|_| trace.freeze()).count(), 1);
        assert_eq!(written(&reader), 1);
        trace.arm();
        assert!(trace.freeze() && !trace.freeze());
        assert_eq!(written(&reader), 1);
    }

    #[test]
    fn a_trace_without_its_witness_is_not_written_to_and_the_next_witness_brings_another() {
        let trace = Trace::default();
        let (first, writer) = pipe();
        trace.connect(writer);
        trace.disconnect();
        trace.arm(); // answered after the witness ended
        assert!(!trace.freeze());
        let (second, writer) = pipe();
        trace.connect(writer);
        assert!(trace.freeze());
        assert_eq!((written(&first), written(&second)), (0, 1));
    }

    #[test]
    fn a_write_that_fails_is_a_freeze_all_the_same() {
        let (reader, writer) = pipe();
        drop(reader);
        let trace = Trace::default();
        trace.connect(writer);
        assert!(trace.freeze(), "the witness is asked, and knows");
    }
}
