//! Handles that belong to a program and end with it. Who keeps one may use it after that, and is told that its program has ended.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::handle::{Kind, close, place};
use crate::nodes::node::horus_node;
use crate::nodes::port::{horus_input, horus_output};
use crate::status::horus_status::HORUS_OK;
use crate::status::{Refusal, call, horus_status, misuse};

/// The program's own part of the count.
const PROGRAM: usize = 1;
/// Each keeper's.
const KEEPER: usize = 2;

/// Who holds a handle: its program, and those who keep it. The last one frees it.
pub(crate) struct Holders(AtomicUsize);

impl Default for Holders {
    fn default() -> Self {
        Self(AtomicUsize::new(PROGRAM))
    }
}

/// What stands behind such a handle.
pub(crate) trait Belonging {
    fn holders(&self) -> &Holders;
    /// Its program ends.
    ///
    /// # Safety
    /// It is called once. Others may look at the holders meanwhile, and at whose turn it is.
    unsafe fn end(this: *mut Self);
}

/// The program of a handle has ended, which is used no more by anything of it.
///
/// # Safety
/// `give` made the handle, and this was not called before. None of its functions runs.
pub(crate) unsafe fn end<K: Kind<Value: Belonging>>(handle: *mut K) {
    // SAFETY: the caller's promise is the same.
    let Ok(value) = (unsafe { place(handle) }) else { return };
    // SAFETY: as above.
    unsafe { Belonging::end(value) };
    // SAFETY: the program holds it up to here.
    let held = unsafe { (*value).holders().0.fetch_sub(PROGRAM, Ordering::AcqRel) };
    if held == PROGRAM {
        // SAFETY: no keeper holds it.
        let _ = unsafe { close(handle) };
    }
}

/// # Safety
/// `handle` is null or a handle whose program has not ended, or that is kept.
unsafe fn keep<K: Kind<Value: Belonging>>(handle: *mut K) -> Result<horus_status, Refusal> {
    // SAFETY: the caller's promise is the same. Others may look at the count, too.
    unsafe { (*place(handle)?).holders() }.0.fetch_add(KEEPER, Ordering::Relaxed);
    Ok(HORUS_OK)
}

/// # Safety
/// As [`keep`].
unsafe fn let_go<K: Kind<Value: Belonging>>(handle: *mut K) -> Result<horus_status, Refusal> {
    if handle.is_null() {
        return Ok(HORUS_OK);
    }
    // SAFETY: the caller's promise is the same. Others may look at the count, too.
    let holders = unsafe { (*place(handle)?).holders() };
    // AcqRel: what others did with it comes before it is freed.
    let held = holders.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |held| held.checked_sub(KEEPER));
    match held {
        Err(_) => Err(misuse(format!("this {} is not kept: its program ends it", K::NAME))),
        // SAFETY: no other keeper holds it, and its program has ended.
        Ok(KEEPER) => unsafe { close(handle) },
        Ok(_) => Ok(HORUS_OK),
    }
}

/// Keeps an input beyond the end of its program, until `horus_input_let_go`: it reads nothing then, and using it is an error. Each call counts.
/// Any thread may call this.
///
/// # Safety
/// `input` is null or a handle whose program has not ended, or that is kept.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_keep(input: *mut horus_input) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(input) })
}

/// Ends what `horus_input_keep` began. Null is nothing to end.
///
/// # Safety
/// As there; for this keeper it is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_input_let_go(input: *mut horus_input) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(input) })
}

/// As `horus_input_keep`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_output_keep(output: *mut horus_output) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(output) })
}

/// As `horus_input_let_go`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_output_let_go(output: *mut horus_output) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(output) })
}

/// As `horus_input_keep`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_keep(node: *mut horus_node) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { keep(node) })
}

/// As `horus_input_let_go`.
///
/// # Safety
/// As there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn horus_node_let_go(node: *mut horus_node) -> horus_status {
    // SAFETY: the caller's promise is the same.
    call(|| unsafe { let_go(node) })
}
