//! SIGTERM and SIGINT: the first one asks, and one that comes with it is the same one.
//!
//! A program's end is often asked for twice: `timeout` signals its child and then its own group, Ctrl-C reaches every process of
//! a terminal and a script passes it on. A second signal that killed would take the program's last words from it, microseconds
//! after it was asked for them. So:
//!
//! | signal | when | what it does |
//! |---|---|---|
//! | the first | | sets the flags of [`on_termination`] |
//! | the second | within the grace time | nothing |
//! | the second | later | ends the process as if the process had not asked for signals |
//! | the third | at once | the same |
//!
//! The count is the process's, and starts anew when no holder looks at a flag any more and a new one asks for one.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{emulate_default_handler, register, unregister};
use signal_hook::{SigId, flag};

use crate::clock::monotonic_ns;

/// The grace time, unless a program says otherwise.
pub const GRACE: Duration = Duration::from_secs(1);

// None of the three guards other data, and each is judged alone: all accesses are Relaxed.
static GRACE_NS: AtomicU64 = AtomicU64::new(GRACE.as_nanos() as u64);
/// When the first signal came; 0 before it.
static FIRST_NS: AtomicU64 = AtomicU64::new(0);
static SIGNALS: AtomicU32 = AtomicU32::new(0);

/// Who was given a flag. Handlers do not touch it.
static ASKED: Mutex<Asked> = Mutex::new(Asked { is_judged: false, flags: Vec::new() });

struct Asked {
    is_judged: bool,
    flags: Vec<(Arc<AtomicBool>, [SigId; 2])>,
}

/// Holders of a flag that is not looked at: one action for each signal, and the list.
const OWN_HOLDERS: usize = 3;

/// A flag that the first SIGTERM or SIGINT sets. It is set from the start if one came while the holder of another flag lives: the
/// process was asked to end.
///
/// # Errors
/// When the kernel refuses the handlers.
pub fn on_termination() -> io::Result<Arc<AtomicBool>> {
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    asked.flags.retain(|(flag, actions)| {
        let is_held = Arc::strong_count(flag) > OWN_HOLDERS;
        if !is_held {
            actions.iter().for_each(|action| _ = unregister(*action));
        }
        is_held
    });
    if asked.flags.is_empty() {
        FIRST_NS.store(0, Ordering::Relaxed);
        SIGNALS.store(0, Ordering::Relaxed);
    }
    if !asked.is_judged {
        monotonic_ns(); // what is done at the first call is done outside of a handler
        for signal in [SIGTERM, SIGINT] {
            // SAFETY: `judge` may interrupt anything: it reads a clock, changes atomics, and calls what is made for handlers. It takes
            // no lock, allocates nothing and does not panic.
            unsafe { register(signal, move || judge(signal)) }?;
        }
        asked.is_judged = true;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let actions = [flag::register(SIGTERM, Arc::clone(&stop))?, flag::register(SIGINT, Arc::clone(&stop))?];
    // After the registration: a signal between the two sets the flag itself.
    if FIRST_NS.load(Ordering::Relaxed) != 0 {
        stop.store(true, Ordering::Relaxed);
    }
    asked.flags.push((Arc::clone(&stop), actions));
    Ok(stop)
}

/// Has a second signal within `grace` of the first one change nothing.
pub fn set_grace(grace: Duration) {
    GRACE_NS.store(u64::try_from(grace.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
}

/// Runs in a signal handler, before the flags are set; two may run at a time.
fn judge(signal: i32) {
    let now = monotonic_ns();
    let first = FIRST_NS.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(now);
    let before = SIGNALS.fetch_add(1, Ordering::Relaxed);
    let is_same = before == 1 && now.saturating_sub(first) < GRACE_NS.load(Ordering::Relaxed);
    if before > 0 && !is_same {
        let _ = emulate_default_handler(signal); // an error is an unknown signal
    }
}
