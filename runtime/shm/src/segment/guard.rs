//! What happens when another process cuts off the file of a segment that this process uses: its memory turns to zeros, and the
//! process goes on.
//!
//! The kernel sends SIGBUS to a process that touches a page behind the end of a file. A handler, which is installed with the
//! first segment, looks the address up among the segments of this process, maps zeros over the one that it is in, and takes note
//! of that ([`Guarded::is_lost`]). Other addresses, and signals that a process sent, go to the handler that was there before, or
//! end the process as they would have. A handler before that takes itself away, as that of Rust's runtime does, takes ours along:
//! ours comes back, and what it put in its place is what was there before from then on.
//!
//! The mapping was what held this process's places ([`crate::peers::locks`]), so these are free from then on: what is written now
//! reaches no peer.
//!
//! # What it does not do
//! - It does not help where another handler takes its place later and does not call it.
//! - It guards [`SLOTS`] segments. A process that opens more has the rest without it.
//! - It does not guard files on disks ([`super::stored`]): what a disk lost must not look like zeros.

use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags};

/// How many segments of a process are guarded.
const SLOTS: usize = 4096;

/// A segment in this process's memory, as the handler finds it.
struct Slot {
    /// Its first address; 0 in a free slot, [`TAKEN`] in one that is being filled or freed.
    start: AtomicUsize,
    bytes: AtomicUsize,
    /// How often it was lost: not more than once but for threads that touch it at the same moment.
    lost: AtomicUsize,
}

/// No mapping begins at this address.
const TAKEN: usize = 1;

static TABLE: [Slot; SLOTS] =
    [const { Slot { start: AtomicUsize::new(0), bytes: AtomicUsize::new(0), lost: AtomicUsize::new(0) } }; SLOTS];
/// One more than the last slot that was ever used: the handler looks no further.
static USED: AtomicUsize = AtomicUsize::new(0);
/// What was there before: a handler, and the flags that say what kind of function it is. Written before ours is installed.
static BEFORE: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(libc::SIG_DFL), AtomicUsize::new(0));

/// A segment's place in the table, for as long as the segment is mapped.
pub(crate) struct Guarded(Option<&'static Slot>);

impl Guarded {
    /// Guards `bytes` bytes from `start` on: a shared mapping of this process, which stays until this value is dropped.
    pub fn new(start: usize, bytes: usize) -> Self {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(install);
        // Relaxed, as `bytes` and `lost`: no thread looks at a slot before its start is there.
        let is_taken =
            |slot: &&Slot| slot.start.compare_exchange(0, TAKEN, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        let Some(index) = TABLE.iter().position(|slot| is_taken(&slot)) else { return Self(None) };
        let slot = &TABLE[index];
        slot.lost.store(0, Ordering::Relaxed);
        slot.bytes.store(bytes, Ordering::Relaxed);
        USED.fetch_max(index + 1, Ordering::Relaxed);
        slot.start.store(start, Ordering::Release); // SYNC POINT: guarded
        Self(Some(slot))
    }

    /// Whether its memory is zeros by now, because its file was cut off.
    pub fn is_lost(&self) -> bool {
        // Relaxed: it guards nothing.
        self.0.is_some_and(|slot| slot.lost.load(Ordering::Relaxed) > 0)
    }
}

impl Drop for Guarded {
    /// Before the mapping goes.
    fn drop(&mut self) {
        if let Some(slot) = self.0 {
            slot.start.store(0, Ordering::Relaxed); // its own faults are over, and others' are in other slots
        }
    }
}

/// The slot that an address is in.
fn slot_of(address: usize) -> Option<&'static Slot> {
    let used = USED.load(Ordering::Relaxed).min(SLOTS);
    TABLE[..used].iter().find(|slot| {
        let start = slot.start.load(Ordering::Acquire); // SYNC POINT: guarded
        start > TAKEN && address >= start && address - start < slot.bytes.load(Ordering::Relaxed)
    })
}

fn install() {
    if let Some(before) = present() {
        remember(&before);
        // Its fault is no reason to refuse a topic.
        let _ = set(&ours());
    }
}

/// What a SIGBUS comes to by now.
fn present() -> Option<libc::sigaction> {
    // SAFETY: a structure of plain numbers, for which zeros are a value; the call fills it in.
    let mut present: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: without a new action the call only tells the present one, into a structure of ours.
    let told = unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), &raw mut present) };
    (told == 0).then_some(present)
}

fn remember(before: &libc::sigaction) {
    // Relaxed: of two faults at a time, each has its own thread, and both find a handler that was there.
    BEFORE.1.store(before.sa_flags as usize, Ordering::Relaxed);
    BEFORE.0.store(before.sa_sigaction, Ordering::Relaxed);
}

fn ours() -> libc::sigaction {
    // SAFETY: as in `present`.
    let mut ours: libc::sigaction = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = on_bus_error as *const () as libc::sighandler_t;
    // On the stack that a thread may have for signals, as languages with small stacks want it. System calls go on.
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    ours
}

fn set(action: &libc::sigaction) -> libc::c_int {
    // SAFETY: ours is a function of this program, which is never unloaded, and calls what is allowed in a signal handler only: loads and
    // stores of atomics that are lock-free, and system calls. The other one is the default.
    unsafe { libc::sigaction(libc::SIGBUS, action, ptr::null_mut()) }
}

/// The handler: no lock, no allocation, no panic.
extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel gives the handler a valid structure; the address in it has a meaning when the code says what is wrong with it.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    if code == libc::BUS_ADRERR
        && let Some(slot) = slot_of(address)
        && turn_to_zeros(slot)
    {
        return; // the instruction is tried again
    }
    chain(signal, info, context);
}

/// Maps zeros over a segment. False when the kernel has no memory for that.
fn turn_to_zeros(slot: &Slot) -> bool {
    let (start, bytes) = (slot.start.load(Ordering::Relaxed), slot.bytes.load(Ordering::Relaxed));
    let address = ptr::with_exposed_provenance_mut(start);
    let (access, flags) =
        (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE);
    // SAFETY: these addresses are a mapping of this process that `Guarded::new` was told of and that stays until its slot is free, so
    // nothing else is replaced. Code that has references to it reads and writes atomic words, of which every pattern is one.
    let mapped = unsafe { rustix::mm::mmap_anonymous(address, bytes, access, flags) }.is_ok();
    if mapped {
        // SAFETY: advice for the mapping that was just made, which changes nothing in this process: a child is not to have it either.
        let _ = unsafe { rustix::mm::madvise(address, bytes, Advice::LinuxDontFork) };
        slot.lost.fetch_add(1, Ordering::Relaxed);
    }
    mapped
}

/// As if this handler was not there.
fn chain(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let (before, flags) = (BEFORE.0.load(Ordering::Relaxed), BEFORE.1.load(Ordering::Relaxed));
    match before {
        libc::SIG_IGN if is_sent(info) => {}
        libc::SIG_DFL | libc::SIG_IGN => {
            // SAFETY: zeros are the default action. A fault comes again when this returns and then ends the process; a signal that
            // a process sent does not, so it is sent once more, and waits until this returns.
            unsafe {
                let _ = set(&std::mem::zeroed());
                if is_sent(info) {
                    libc::raise(signal);
                }
            }
        }
        handler if flags & libc::SA_SIGINFO as usize != 0 => {
            // SAFETY: the code that installed it said by the flag that it is such a function.
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
            stay();
        }
        handler => {
            // SAFETY: as above, by the flag's absence.
            let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
            stay();
        }
    }
}

/// After a handler that was there before: ours is the first one still.
fn stay() {
    if let Some(present) = present()
        && present.sa_sigaction != ours().sa_sigaction
    {
        remember(&present);
        let _ = set(&ours());
    }
}

/// Whether a process sent the signal, and no instruction caused it.
fn is_sent(info: *mut libc::siginfo_t) -> bool {
    // SAFETY: the kernel's structure, valid while the handler runs.
    unsafe { (*info).si_code <= 0 }
}
