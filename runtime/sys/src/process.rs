//! Whether this process opened a handle, or is a child that `fork` made of the one that did.
//!
//! Process numbers would not tell: parent and child can both be process 1, each of its own namespace. So the answer
//! stands in a page that the kernel empties in every child (`MADV_WIPEONFORK`): in each process it holds a number of its
//! own.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use rustix::mm::Advice;

/// The process that a handle was opened in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opener(u64);

impl Opener {
    /// This process.
    #[inline]
    pub fn this() -> Self {
        Self(generation())
    }

    /// The number.
    #[inline]
    pub fn number(self) -> u64 {
        self.0
    }

    /// Whether this process is the one that opened the handle. One load.
    #[inline]
    pub fn is_this(self) -> bool {
        self.0 == generation()
    }
}

/// A number that no ancestor of this process has had since it was a process of this program.
fn generation() -> u64 {
    static PAGE: OnceLock<Option<MmapRaw>> = OnceLock::new();
    /// Copied by `fork` like all memory: a child's next number is greater than its parent's.
    static NEXT: AtomicU64 = AtomicU64::new(1);

    let Some(page) = PAGE.get_or_init(wiped_page) else { return std::process::id().into() };
    // SAFETY: a page that is mapped for ever, aligned, and used as this one word only; a child has it too, emptied.
    let word = unsafe { &*page.as_ptr().cast::<AtomicU64>() };
    // Relaxed, all: a number guards nothing.
    match word.load(Ordering::Relaxed) {
        0 => {
            let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
            word.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed).map_or_else(|other| other, |_| fresh)
        }
        known => known,
    }
}

/// None where the kernel (before 4.14) or an emulator does not empty pages: process numbers have to do there.
fn wiped_page() -> Option<MmapRaw> {
    let page: MmapRaw = MmapOptions::new().len(size_of::<AtomicU64>()).map_anon().ok()?.into();
    // SAFETY: the mapping is ours, private and anonymous; the advice changes nothing in this process.
    unsafe { rustix::mm::madvise(page.as_mut_ptr().cast(), page.len(), Advice::LinuxWipeOnFork) }.ok()?;
    Some(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opener_is_this_process_in_every_thread() {
        let opener = Opener::this();
        assert!(opener.is_this());
        assert!(std::thread::spawn(move || opener.is_this()).join().unwrap());
    }
}
