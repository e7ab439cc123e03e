//! A node whose work is a function of Python.

use std::panic::resume_unwind;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use horus::node::{self, Node, StepFailed};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::attached::attach;
use super::ending::Running;
use super::log::{Told, log};

/// What a node is told about the cycle that it is in. Times are nanoseconds on CLOCK_MONOTONIC.
#[pyclass(frozen, module = "horus")]
pub struct Cycle {
    /// Counts the releases; one that was skipped uses up its number.
    #[pyo3(get)]
    number: u64,
    /// The point of the grid, or the time of the event, in nanoseconds on CLOCK_MONOTONIC: what control laws use.
    #[pyo3(get)]
    release_ns: u64,
    /// When the loop was running again, in nanoseconds on CLOCK_MONOTONIC.
    #[pyo3(get)]
    wake_ns: u64,
    /// When the work must be done, in nanoseconds on CLOCK_MONOTONIC.
    #[pyo3(get)]
    deadline_ns: u64,
    inner: Told,
}

#[pymethods]
impl Cycle {
    fn __repr__(&self) -> String {
        format!("<horus.Cycle {} released at {} ns>", self.number, self.release_ns)
    }

    /// Has a line written to the journal by a thread beside the loop: cycle.log("warn", "wheel {} slips by {:.2} m", wheel, slip). The level is debug,
    /// info, warn or error. The text has up to 120 bytes and a place for each of up to 8 values. A line that finds no room is counted and told. A text that
    /// does not fit its values is an error in the journal, in place of the line.
    #[pyo3(signature = (level, text, *values))]
    fn log(&self, level: &str, text: &str, values: &Bound<'_, PyTuple>) -> PyResult<()> {
        log(&self.inner, level, text, values)
    }
}

/// What a program's steps tell the call that runs it: the exception of the first one that failed.
#[derive(Clone, Default)]
pub struct Failures(Arc<Mutex<Option<PyErr>>>);

impl Failures {
    fn note(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The exception, if there is one.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// How a node calls Python: where its exceptions go, and who may have to interrupt it.
pub struct Caller {
    pub failures: Failures,
    pub running: Arc<Running>,
}

impl Caller {
    /// Calls `work`, whose exception ends the program.
    #[inline]
    pub fn call(&self, work: impl FnOnce(Python<'_>) -> PyResult<()>) {
        let called = attach(|py| {
            if self.running.thread.load(Ordering::Relaxed) == 0 {
                self.note_thread(py)?;
            }
            self.running.is_inside.store(true, Ordering::Relaxed);
            let called = work(py);
            self.running.is_inside.store(false, Ordering::Relaxed);
            called
        });
        if let Err(error) = called {
            self.fail(error);
        }
    }

    #[cold]
    fn note_thread(&self, py: Python<'_>) -> PyResult<()> {
        let thread = py.import("threading")?.call_method0("get_ident")?.extract()?;
        self.running.thread.store(thread, Ordering::Relaxed);
        Ok(())
    }

    #[cold]
    fn fail(&self, error: PyErr) -> ! {
        let said = error.to_string();
        self.failures.note(error);
        resume_unwind(Box::new(StepFailed(said)))
    }
}

/// A node of functions in Python.
pub struct PyNode {
    pub step: Py<PyAny>,
    pub safe_state: Option<Py<PyAny>>,
    pub caller: Caller,
}

impl PyNode {
    #[inline]
    fn call(&self, work: &Py<PyAny>, cycle: &node::Cycle) {
        self.caller.call(|py| {
            let told = Bound::new(
                py,
                Cycle {
                    number: cycle.number,
                    release_ns: cycle.release.as_nanos(),
                    wake_ns: cycle.wake.as_nanos(),
                    deadline_ns: cycle.deadline.as_nanos(),
                    inner: Told::new(cycle),
                },
            )?;
            let called = work.bind(py).call1((&told,)).map(|_| ());
            told.get().inner.end();
            called
        });
    }
}

impl Node for PyNode {
    #[inline]
    fn step(&mut self, cycle: &node::Cycle) {
        self.call(&self.step, cycle);
    }

    fn safe_state(&mut self, cycle: &node::Cycle) {
        if let Some(safe_state) = &self.safe_state {
            self.call(safe_state, cycle);
            self.caller.running.thread.store(0, Ordering::Relaxed); // the first call is not the node's own thread's
        }
    }
}
