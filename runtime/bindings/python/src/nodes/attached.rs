//! How a thread of nodes, which Rust made, calls Python: its state in the interpreter is made once, and not for each cycle.

use std::cell::RefCell;

use pyo3::ffi;
use pyo3::prelude::*;

/// The state of a thread that is no thread of Python's. It ends with the thread.
struct Kept {
    state: *mut ffi::PyThreadState,
    began: ffi::PyGILState_STATE,
}

thread_local! {
    static KEPT: RefCell<Option<Kept>> = const { RefCell::new(None) };
}

/// Calls `work` with the GIL. Waits for it as long as other threads of Python keep it: 5 ms each, unless they give it up.
#[inline]
pub fn attach<R>(work: impl FnOnce(Python<'_>) -> R) -> R {
    // SAFETY: the function looks at a variable of this thread, and needs no GIL.
    if unsafe { ffi::PyGILState_GetThisThreadState() }.is_null() {
        keep();
    }
    Python::attach(work)
}

#[cold]
fn keep() {
    // SAFETY: a program runs within a call from Python, so the interpreter is there. The two calls belong together: a state is made and entered,
    // then left.
    let kept = unsafe {
        let began = ffi::PyGILState_Ensure();
        Kept { began, state: ffi::PyEval_SaveThread() }
    };
    KEPT.set(Some(kept));
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: the same thread made the state and left it; the program waits for its threads, so the interpreter is there.
        unsafe {
            ffi::PyEval_RestoreThread(self.state);
            ffi::PyGILState_Release(self.began);
        }
    }
}
