//! A node whose work is a function in C.

use std::ffi::{c_char, c_void};
use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};

use horus::node::{Cycle, Node, StepFailed};

use crate::handle::reason;
use crate::nodes::turn::Turn;
use crate::status::{Refusal, call, horus_status, misuse};

/// What a node is told about the cycle that it is in.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct horus_cycle {
    /// Counts the releases; one that was skipped uses up its number.
    pub number: u64,
    /// The point of the grid, or the time of the event, in nanoseconds on CLOCK_MONOTONIC: what control laws use.
    pub release_ns: u64,
    /// When the loop was running again.
    pub wake_ns: u64,
    /// When the work must be done.
    pub deadline_ns: u64,
    /// For `horus_cycle_fail` and `horus_cycle_log`.
    pub inner: *mut c_void,
}

/// The work of a node: called once a cycle, by one thread at a time. `context` is what `horus_app_node` was given. It ends by returning:
/// `longjmp` out of it is undefined, and a C++ exception that leaves it ends the process.
#[allow(non_camel_case_types)]
pub type horus_step = Option<unsafe extern "C-unwind" fn(context: *mut c_void, cycle: *const horus_cycle)>;

/// What a cycle in C leads to, while its step runs.
pub(crate) struct Inner {
    /// Why the step cannot go on; nothing as long as it can.
    failure: Option<String>,
    /// The cycle that runs, and null between two steps.
    pub cycle: *const Cycle,
}

/// A node of functions in C.
pub(crate) struct CNode {
    step: unsafe extern "C-unwind" fn(*mut c_void, *const horus_cycle),
    safe: Arc<OnceLock<horus_step>>,
    given: *mut c_void,
    /// Of a box: `horus_cycle_fail` writes to it while a step runs.
    inner: *mut Inner,
    turn: Turn,
}

// SAFETY: one thread at a time runs a node. `horus_app_node` has the caller promise that its pointer may go to that thread.
unsafe impl Send for CNode {}

impl CNode {
    pub fn new(
        step: unsafe extern "C-unwind" fn(*mut c_void, *const horus_cycle),
        safe: Arc<OnceLock<horus_step>>,
        given: *mut c_void,
        turn: Turn,
    ) -> Self {
        let inner = Box::into_raw(Box::new(Inner { failure: None, cycle: std::ptr::null() }));
        Self { step, safe, given, inner, turn }
    }

    #[inline]
    fn run(&self, work: unsafe extern "C-unwind" fn(*mut c_void, *const horus_cycle), cycle: &Cycle) {
        let told = horus_cycle {
            number: cycle.number,
            release_ns: cycle.release.as_nanos(),
            wake_ns: cycle.wake.as_nanos(),
            deadline_ns: cycle.deadline.as_nanos(),
            inner: self.inner.cast(),
        };
        // SAFETY: it is of a box that ends with this node, and no step runs that could use it.
        unsafe { (*self.inner).cycle = cycle };
        self.turn.begin();
        // SAFETY: `horus_app_node` has the caller promise that the function may be called with this pointer.
        unsafe { work(self.given, &raw const told) };
        self.turn.end();
        // SAFETY: it is of a box that ends with this node, and only the step that has returned writes it.
        unsafe { (*self.inner).cycle = std::ptr::null() };
        // SAFETY: as above.
        if unsafe { (*self.inner).failure.is_some() } {
            self.fail();
        }
    }

    #[cold]
    fn fail(&self) -> ! {
        // SAFETY: as above.
        let why = unsafe { (*self.inner).failure.take() }.unwrap_or_default();
        resume_unwind(Box::new(StepFailed(why)))
    }
}

impl Node for CNode {
    #[inline]
    fn step(&mut self, cycle: &Cycle) {
        self.run(self.step, cycle);
    }

    fn safe_state(&mut self, cycle: &Cycle) {
        if let Some(Some(safe)) = self.safe.get() {
            self.run(*safe, cycle);
        }
    }
}

impl Drop for CNode {
    fn drop(&mut self) {
        // SAFETY: `new` made it of a box, and nothing uses it any more: no step runs.
        drop(unsafe { Box::from_raw(self.inner) });
    }
}

/// What a cycle leads to.
///
/// # Safety
/// `cycle` is null, or the one that a running step was given, or a copy.
pub(crate) unsafe fn inner_of<'a>(cycle: *const horus_cycle) -> Result<&'a mut Inner, Refusal> {
    // SAFETY: null, or it may be read, by the caller's promise.
    let inner = unsafe { cycle.as_ref() }.ok_or_else(|| misuse("the cycle is null"))?.inner;
    // SAFETY: the step that the cycle was made for runs, by the caller's promise, so its node and this box are there.
    unsafe { inner.cast::<Inner>().as_mut() }.ok_or_else(|| misuse("the cycle is of no step"))
}

/// Says that this node cannot go on: when its step returns, the program ends with this reason, as one whose step panics in Rust. Only the
/// first reason counts.
///
/// # Safety
/// `cycle` is the one that a running step was given, or a copy; `why` is null or ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_cycle_fail(cycle: *const horus_cycle, why: *const c_char) -> horus_status {
    call(|| {
        // SAFETY: the caller's promise is the same.
        let (inner, why) = unsafe { (inner_of(cycle)?, reason(why)) };
        inner.failure.get_or_insert(why);
        Ok(horus_status::HORUS_OK)
    })
}
