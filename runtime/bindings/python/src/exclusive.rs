//! Who may use a handle: one thread at a time, and the process that opened it.
//!
//! A handle of the runtime is moved between threads and not shared by them. Python's objects are shared. So a handle stands in an [`Exclusive`],
//! which lends it to one call at a time. The GIL makes looking at its flag exclusive: a lock of its own would cost a call some 10 ns.

use std::cell::{Cell, UnsafeCell};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::refused;

/// How often the process forked, seen from its first ancestor that imported this module. Guards nothing: accesses are Relaxed.
static FORKS: AtomicU32 = AtomicU32::new(0);

/// How long a call waits for another thread: longer than one waits in turn for the messages that an event loop awaits (`_service.py`).
const PATIENCE: Duration = Duration::from_millis(50);
/// How often it looks.
const LOOK: Duration = Duration::from_micros(500);

/// A handle that one call at a time uses.
pub struct Exclusive<T> {
    is_used: Cell<bool>,
    forks: u32,
    what: &'static str,
    value: UnsafeCell<T>,
}

// SAFETY: `lend` is called with the GIL held, which its argument proves, and gives the value to one borrower at a time. The value may go
// to another thread, because it is `Send`.
unsafe impl<T: Send> Sync for Exclusive<T> {}

/// The handle, until this is dropped.
pub struct Lent<'a, T>(&'a Exclusive<T>);

impl<T> Exclusive<T> {
    /// `what` it is called in errors.
    pub fn new(what: &'static str, value: T) -> Self {
        Self { is_used: Cell::new(false), forks: FORKS.load(Ordering::Relaxed), what, value: UnsafeCell::new(value) }
    }

    /// Whether this process is the one that made it.
    pub fn is_ours(&self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed)
    }

    /// The handle, for who has this alone.
    pub fn value_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// Lends it.
    ///
    /// # Errors
    /// When another thread uses it for longer than an event loop's thread does, or another process made it.
    #[inline]
    pub fn lend<'a>(&'a self, attached: Python<'_>) -> PyResult<Lent<'a, T>> {
        if (self.is_used.get() && !self.comes_back(attached)) || !self.is_ours() {
            return Err(self.refuse());
        }
        self.is_used.set(true);
        Ok(Lent(self))
    }

    /// Waits a short time for another thread to be done, as one that waits for an event loop is.
    #[cold]
    fn comes_back(&self, attached: Python<'_>) -> bool {
        let end = Instant::now() + PATIENCE;
        while self.is_used.get() && Instant::now() < end {
            attached.detach(|| std::thread::park_timeout(LOOK));
        }
        !self.is_used.get()
    }

    #[cold]
    fn refuse(&self) -> PyErr {
        let what = self.what;
        refused(match self.is_ours() {
            true => format!("another thread uses this {what}: give each thread one of its own"),
            false => format!(
                "this {what} was opened before this process was forked, and belongs to its parent: open it in the process that uses it"
            ),
        })
    }
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: `lend` set the flag and gave this only once.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Lent<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Lent<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.is_used.set(false);
    }
}

/// The interpreter that imported this module first; 0 before, and one more than its number then. Guarded by the GIL: accesses are Relaxed.
static INTERPRETER: AtomicI64 = AtomicI64::new(0);

/// What this module keeps of Python's objects is of one interpreter.
///
/// # Errors
/// In any other one.
pub fn refuse_other_interpreters(_attached: Python<'_>) -> PyResult<()> {
    // SAFETY: both ask for what the GIL's holder has.
    let this = 1 + unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    match INTERPRETER.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed) {
        Err(first) if first != this => Err(PyImportError::new_err(
            "horus is imported by another interpreter of this process already, and does not share its objects: use processes, or threads of one interpreter",
        )),
        _ => Ok(()),
    }
}

/// Has Python count its forks.
pub fn watch_forks(py: Python<'_>) -> PyResult<()> {
    let arguments = PyDict::new(py);
    arguments.set_item("after_in_child", wrap_pyfunction!(forked, py)?)?;
    py.import("os")?.call_method("register_at_fork", (), Some(&arguments))?;
    Ok(())
}

#[pyfunction]
fn forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}
