//! Where an input keeps messages that it knows as bytes.

use std::mem::swap;

/// Room for the message that was taken last, and for the newest one.
pub struct Rooms {
    pub(crate) coming: Box<[u8]>,
    pub(crate) newest: Box<[u8]>,
}

impl Rooms {
    /// Rooms for messages of at most so many bytes.
    pub(crate) fn of(bytes: usize) -> Self {
        let room = || vec![0; bytes].into_boxed_slice();
        Self { coming: room(), newest: room() }
    }

    /// The message that was taken last is the newest one: no byte is copied for that.
    #[inline]
    pub(crate) fn keep(&mut self) {
        swap(&mut self.coming, &mut self.newest);
    }

    /// The message that was taken last.
    #[inline]
    pub(crate) fn taken(&self, is_newest: bool) -> &[u8] {
        if is_newest { &self.newest } else { &self.coming }
    }
}
