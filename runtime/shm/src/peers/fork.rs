//! Whether this process opened a handle, or is a child that `fork` made of the one that did.
//!
//! A child has its parent's handles as copies in memory, and neither their mappings nor their places
//! ([`crate::segment::map`] keeps both from it). What would touch a mapping ends the child with SIGSEGV: it must open
//! topics itself. What can answer otherwise asks here first, and so does every destructor.
//!
//! Process numbers would not tell: parent and child can both be process 1, each of its own namespace. So the answer
//! stands in a page that the kernel empties in every child (`MADV_WIPEONFORK`): in each process it holds a number of its
//! own.
//!
//! While a topic is being opened, a child would get the descriptor that its parent's place is being taken by, and keep the place
//! for as long as it lives. So `fork` waits until no thread of the process is opening a topic, and the other way round.

use std::cell::RefCell;
use std::sync::{Once, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memmap2::{MmapOptions, MmapRaw};
use rustix::mm::Advice;

use crate::segment::layout::WORD;
use crate::sync::{AtomicU64, Ordering};

/// The process that a handle was opened in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opener(u64);

impl Opener {
    /// This process.
    pub fn this() -> Self {
        Self(generation())
    }

    /// Whether this process is the one that opened the handle. One load.
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
    let page: MmapRaw = MmapOptions::new().len(WORD).map_anon().ok()?.into();
    // SAFETY: the mapping is ours, private and anonymous; the advice changes nothing in this process.
    unsafe { rustix::mm::madvise(page.as_mut_ptr().cast(), WORD, Advice::LinuxWipeOnFork) }.ok()?;
    Some(page)
}

/// Read by those who open topics, written to by a thread that forks.
static OPENING: RwLock<()> = RwLock::new(());

thread_local! {
    /// What this thread holds of [`OPENING`] while it forks.
    static FORKING: RefCell<Option<RwLockWriteGuard<'static, ()>>> = const { RefCell::new(None) };
}

/// Keeps other threads from forking (by `fork`, which calls handlers; `posix_spawn` and `vfork` do not) for as long as the guard
/// lives.
pub(crate) fn without_fork() -> RwLockReadGuard<'static, ()> {
    static REGISTERED: Once = Once::new();
    REGISTERED.call_once(|| {
        // SAFETY: the handlers are functions of this program, which is never unloaded. It fails for want of memory only; then a
        // child that is made at this very moment keeps its parent's place until it ends.
        unsafe { libc::pthread_atfork(Some(before), Some(after), Some(after)) };
    });
    OPENING.read().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn before() {
    let guard = OPENING.write().unwrap_or_else(PoisonError::into_inner);
    FORKING.with(|forking| *forking.borrow_mut() = Some(guard));
}

/// In the parent and in the child, by the thread that forked.
extern "C" fn after() {
    FORKING.with(|forking| drop(forking.borrow_mut().take()));
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
