//! What a child that `fork` makes gets of its parent's topics: nothing.
//!
//! A child has its parent's handles as copies in memory, and neither their mappings nor their places
//! ([`crate::segment::map`] keeps both from it). What would touch a mapping ends the child with SIGSEGV: it must open
//! topics itself. What can answer otherwise asks first whether this process is the [`Opener`](horus_sys::process::Opener), and so does
//! every destructor.
//!
//! While a topic is being opened, a child would get the descriptor that its parent's place is being taken by, and keep the place
//! for as long as it lives. So `fork` waits, for a bounded time, until no thread of the process is opening a topic, and the
//! other way round.
//!
//! What the child has not got would be free for its own mappings, and an inherited handle would write into them. So the child
//! begins by reserving these addresses, with no access.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use horus_sys::clock::monotonic_ns;
use rustix::mm::{MapFlags, ProtFlags};

use crate::patience::pause;
use crate::sync::{AtomicU32, Ordering};

/// Threads that open a topic at this moment.
static OPENING: AtomicU32 = AtomicU32::new(0);
/// Threads that fork at this moment.
static FORKING: AtomicU32 = AtomicU32::new(0);
/// Addresses and lengths of all mappings that a child must not use.
static MAPPINGS: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

thread_local! {
    /// How many [`Opening`]s this thread has, one in the other.
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// The longest that one side waits for the other. After it a child may keep its parent's place until it ends, which is better
/// than to wait for ever.
const PATIENCE: Duration = Duration::from_millis(200);

/// As long as it lives, this thread opens a topic, and others do not fork by `fork`, which calls handlers. (`posix_spawn` and
/// `vfork` do not: their children execute another program at once.)
pub(crate) struct Opening(());

impl Opening {
    pub fn begin() -> Self {
        static REGISTERED: AtomicU32 = AtomicU32::new(0);
        if REGISTERED.swap(1, Ordering::Relaxed) == 0 {
            // SAFETY: the handlers are functions of this program, which is never unloaded. It fails for want of memory only;
            // then a child is told from its parent all the same.
            unsafe { libc::pthread_atfork(Some(before), Some(after_in_parent), Some(after_in_child)) };
        }
        if DEPTH.replace(DEPTH.get() + 1) > 0 {
            return Self(());
        }
        let until = monotonic_ns() + PATIENCE.as_nanos() as u64;
        loop {
            // SeqCst, here and at `before`: at least one of the two sees the other.
            OPENING.fetch_add(1, Ordering::SeqCst); // SYNC POINT: fork
            let forking = FORKING.load(Ordering::SeqCst); // SYNC POINT: fork
            if forking == 0 || monotonic_ns() > until {
                return Self(());
            }
            OPENING.fetch_sub(1, Ordering::SeqCst); // SYNC POINT: fork
            pause(Duration::from_micros(50));
        }
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        if DEPTH.replace(DEPTH.get() - 1) == 1 {
            OPENING.fetch_sub(1, Ordering::SeqCst); // SYNC POINT: fork
        }
    }
}

/// Has children reserve the addresses of a new mapping.
pub(crate) fn keep_from_children(address: usize, bytes: usize) {
    // A child that is made while the list is locked could never use it.
    let _not_while_another_forks = Opening::begin();
    MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner).push((address, bytes));
}

/// The mapping at this address is no more.
pub(crate) fn forget_mapping(address: usize) {
    let _not_while_another_forks = Opening::begin();
    let mut mappings = MAPPINGS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(index) = mappings.iter().position(|(known, _)| *known == address) {
        mappings.swap_remove(index);
    }
}

extern "C" fn before() {
    FORKING.fetch_add(1, Ordering::SeqCst); // SYNC POINT: fork
    // A signal handler may fork in the middle of an opening by its own thread.
    let own = u32::from(DEPTH.get() > 0);
    let until = monotonic_ns() + PATIENCE.as_nanos() as u64;
    loop {
        let opening = OPENING.load(Ordering::SeqCst); // SYNC POINT: fork
        if opening <= own || monotonic_ns() > until {
            return;
        }
        std::hint::spin_loop();
    }
}

extern "C" fn after_in_parent() {
    FORKING.fetch_sub(1, Ordering::SeqCst); // SYNC POINT: fork
}

/// The only thread of the child runs this, before anything else of the program.
extern "C" fn after_in_child() {
    FORKING.store(0, Ordering::SeqCst); // SYNC POINT: fork
    OPENING.store(u32::from(DEPTH.get() > 0), Ordering::SeqCst); // SYNC POINT: fork
    // Locked only if another thread was changing it when this one forked: a moment, once in a mapping's life.
    let Ok(mut mappings) = MAPPINGS.try_lock() else { return };
    for (address, bytes) in mappings.drain(..) {
        let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
        let address = std::ptr::with_exposed_provenance_mut(address);
        // SAFETY: the addresses were a mapping of the parent's, which this child did not get, and nothing of the program has run
        // here that could have mapped anything else there.
        let _ = unsafe { rustix::mm::mmap_anonymous(address, bytes, ProtFlags::empty(), flags) };
    }
}
