//! Whether a program goes on, which its ports ask: nothing is published, read, asked or answered by one that is kept for longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The life of a program, in the hands of its ports.
#[derive(Clone, Default)]
pub struct Life(Arc<AtomicBool>);

impl Life {
    /// The program has ended.
    pub fn end(&self) {
        self.0.store(true, Ordering::Relaxed); // the GIL's holder says it, and asks for it
    }

    /// Whether it has.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
