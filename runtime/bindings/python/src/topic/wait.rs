//! Waiting with the GIL released, in slices: between two of them Python looks for signals, so Ctrl-C ends a wait.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use horus::prelude::sleep;
use pyo3::prelude::*;

/// How long Ctrl-C may take. What comes meanwhile wakes the wait at once.
const SLICE: Duration = Duration::from_millis(50);

/// How long the end of the interpreter sleeps between two looks at [`COMING`].
const LOOK: Duration = Duration::from_millis(1);

/// Set when the interpreter begins to end. CPython ends a thread that waits for the GIL after that where it stands, in the middle of Rust, while
/// what the thread uses is torn down; so the thread stays outside.
///
/// A thread counts itself into [`COMING`], then reads this; the end sets this, then reads the count. All are `SeqCst`, so one of the two sees
/// the other: the thread stays outside, or the end waits until it has the GIL.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Threads that have looked at [`IS_ENDING`] and wait for the GIL.
static COMING: AtomicUsize = AtomicUsize::new(0);

/// Calls `wait` with the GIL released, until it gives something, or `limit` has passed.
pub fn sliced<R: Send>(
    py: Python<'_>,
    limit: Option<Duration>,
    mut wait: impl FnMut(Duration) -> Option<R> + Send,
) -> PyResult<Option<R>> {
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    loop {
        let left = until.map_or(SLICE, |until| until.saturating_duration_since(Instant::now()));
        let found = py.detach(|| {
            let found = wait(left.min(SLICE));
            stay_outside_at_the_end();
            found
        });
        COMING.fetch_sub(1, Ordering::SeqCst);
        if found.is_some() {
            return Ok(found);
        }
        py.check_signals()?;
        if left.is_zero() || until.is_some_and(|until| Instant::now() >= until) {
            return Ok(None);
        }
    }
}

/// Counts this thread as one that comes for the GIL; does not return once the interpreter ends.
fn stay_outside_at_the_end() {
    COMING.fetch_add(1, Ordering::SeqCst);
    if IS_ENDING.load(Ordering::SeqCst) {
        COMING.fetch_sub(1, Ordering::SeqCst);
        loop {
            thread::park();
        }
    }
}

/// For `atexit`. Returns when each thread that waits here will stay outside.
#[pyfunction]
pub fn interpreter_ends(py: Python<'_>) {
    IS_ENDING.store(true, Ordering::SeqCst);
    while COMING.load(Ordering::SeqCst) > 0 {
        py.detach(|| sleep(LOOK));
    }
}

/// For `os.register_at_fork`: a child has none of the threads that were coming.
#[pyfunction]
pub fn forget_threads() {
    COMING.store(0, Ordering::SeqCst);
}
