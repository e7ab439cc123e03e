//! What a call comes to, and the sentence that explains it.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a call came to. Where it is negative, `horus_error` has a sentence that says why and what to do.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum horus_status {
    /// It was done.
    HORUS_OK = 0,
    /// There is no message, or none came in time. No error.
    HORUS_EMPTY = 1,
    /// There is no room, or none came in time. No error.
    HORUS_FULL = 2,
    /// Behind the last message of an answer. No error.
    HORUS_END = 3,
    /// The arguments make no sense: null, a closed handle, a wrong size.
    HORUS_MISUSE = -1,
    /// The system or another program is in the way.
    HORUS_FAILED = -2,
    /// A defect of HORUS: a panic that was caught.
    HORUS_PANICKED = -3,
    /// A call: no living program serves the service. The request was not sent.
    HORUS_CALL_NOT_SERVED = -10,
    /// A call: the server was killed, crashed or was replaced, and may have done what it was asked to.
    HORUS_CALL_DIED = -11,
    /// A call: the server ended in order before it answered.
    HORUS_CALL_STOPPED = -12,
    /// A call: the server took the request, and gives no answer.
    HORUS_CALL_UNANSWERED = -13,
    /// A call: the server lives, and did not answer within the limit.
    HORUS_CALL_TIMED_OUT = -14,
    /// A call: 16 calls of this client are unanswered.
    HORUS_CALL_TOO_MANY = -15,
    /// A call: the server has not taken the last 16 requests of this client.
    HORUS_CALL_FULL = -16,
    /// A call: it has been answered, or belongs to another client.
    HORUS_CALL_OVER = -17,
    /// A goal: the server does not take it.
    HORUS_GOAL_REJECTED = -18,
}

use horus::node::StepFailed;
use horus_status::{HORUS_FAILED, HORUS_MISUSE, HORUS_PANICKED};

/// Why a call was not done. In a box, so that a call that succeeds has it in a register and not on its stack.
#[derive(Debug)]
pub(crate) struct Refusal(Box<(horus_status, String)>);

impl Refusal {
    pub fn new(status: horus_status, said: &dyn Display) -> Self {
        Self(Box::new((status, said.to_string())))
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0.1)
    }
}

// Cold, so that what a call does when all is well keeps to few registers.
#[cold]
#[inline(never)]
pub(crate) fn misuse(said: impl Display) -> Refusal {
    Refusal::new(HORUS_MISUSE, &said)
}

#[cold]
#[inline(never)]
pub(crate) fn failed(said: impl Display) -> Refusal {
    Refusal::new(HORUS_FAILED, &said)
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

fn remember(said: &str) {
    // A thread that ends has no place for it any more, and no code that could ask.
    let _ = LAST.try_with(|last| *last.borrow_mut() = CString::new(said.replace('\0', "?")).unwrap_or_default());
}

/// Runs a call; what it refuses is remembered for `horus_error`. A call that succeeds leaves what was remembered.
#[inline(always)]
pub(crate) fn call(work: impl FnOnce() -> Result<horus_status, Refusal>) -> horus_status {
    // A handle whose call panicked may be in any state that its types allow, and no memory is harmed by that.
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => told(done),
        Err(panic) => match panic.downcast_ref::<StepFailed>() {
            Some(failed) => refused(HORUS_FAILED, &format!("a node {failed}")),
            None => refused(HORUS_PANICKED, &sentence(panic.as_ref())),
        },
    }
}

/// As [`call`] of what moves a message, where the way that a caught panic has to be ready for would cost a third of the time.
///
/// What it does panics only where HORUS has a defect. Such a panic ends the process: Rust lets none out of an `extern "C"` function.
#[inline(always)]
pub(crate) fn quick_call(work: impl FnOnce() -> Result<horus_status, Refusal>) -> horus_status {
    told(work())
}

#[inline(always)]
fn told(done: Result<horus_status, Refusal>) -> horus_status {
    match done {
        Ok(status) => status,
        Err(refusal) => told_refusal(refusal),
    }
}

#[cold]
#[inline(never)]
fn told_refusal(Refusal(refusal): Refusal) -> horus_status {
    refused(refusal.0, &refusal.1)
}

#[cold]
fn refused(status: horus_status, said: &str) -> horus_status {
    remember(said);
    status
}

fn sentence(panic: &(dyn std::any::Any + Send)) -> String {
    let said = panic.downcast_ref::<&str>().map(|text| (*text).to_owned()).or_else(|| panic.downcast_ref().cloned());
    format!("a defect of HORUS, please report it: {}", said.unwrap_or_default())
}

/// As [`call`] for what makes a handle: null when it is refused.
pub(crate) fn make<T>(work: impl FnOnce() -> Result<*mut T, Refusal>) -> *mut T {
    let mut made = std::ptr::null_mut();
    call(|| {
        made = work()?;
        Ok(horus_status::HORUS_OK)
    });
    made
}

/// From now on this thread has had no error.
pub(crate) fn forget() {
    remember("");
}

/// A copy of the sentence of this thread's last error.
pub(crate) fn last_sentence() -> String {
    LAST.try_with(|last| last.borrow().to_string_lossy().into_owned()).unwrap_or_default()
}

/// The sentence of this thread's last error, valid until its next one. It is empty when there was none.
#[unsafe(no_mangle)]
pub extern "C" fn horus_error() -> *const c_char {
    // The text stays where it is until `remember` replaces it, on this thread.
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::process::Command;

    use super::*;

    /// A call whose work panics, as C would call it: no input of C's makes one.
    extern "C" fn provoked(is_text: bool) -> horus_status {
        call(|| match is_text {
            true => panic!("a wheel {}", "is lost"),
            false => std::panic::panic_any(7_u8),
        })
    }

    fn said() -> String {
        // SAFETY: it ends with a zero byte, and this thread makes no error meanwhile.
        unsafe { CStr::from_ptr(horus_error()) }.to_str().unwrap().to_owned()
    }

    #[test]
    fn a_panic_is_an_error_in_a_sentence_and_the_next_call_is_as_good_as_ever() {
        assert_eq!(provoked(true), HORUS_PANICKED);
        assert_eq!(said(), "a defect of HORUS, please report it: a wheel is lost");
        assert_eq!(provoked(false), HORUS_PANICKED);
        assert_eq!(said(), "a defect of HORUS, please report it: ");
        assert!(make::<u8>(|| panic!("none")).is_null());
        assert_eq!(call(|| Ok(horus_status::HORUS_OK)), horus_status::HORUS_OK);
        assert_eq!(call(|| Err(misuse("a fork"))), HORUS_MISUSE);
        assert_eq!(said(), "a fork");
    }

    #[test]
    fn a_panic_in_what_moves_a_message_ends_the_process() {
        extern "C" fn moves() -> horus_status {
            quick_call(|| panic!("a wheel is lost"))
        }
        const CHILD: &str = "HORUS_TEST_MOVES";
        if std::env::var_os(CHILD).is_some() {
            moves();
            return;
        }
        let name = "status::tests::a_panic_in_what_moves_a_message_ends_the_process";
        let own = std::env::current_exe().unwrap();
        let output = Command::new(own).args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains("panic in a function that cannot unwind"), "{told}");
    }
}
