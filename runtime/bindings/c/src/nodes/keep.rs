//! Handles that belong to a program and end with it. Who keeps one may use it after that, and is told that its program has ended.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::handle::{Kind, close, place};
use crate::status::horus_status::HORUS_OK;
use crate::status::{Refusal, horus_status, misuse};

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
pub(crate) unsafe fn keep<K: Kind<Value: Belonging>>(handle: *mut K) -> Result<horus_status, Refusal> {
    // SAFETY: the caller's promise is the same. Others may look at the count, too.
    unsafe { (*place(handle)?).holders() }.0.fetch_add(KEEPER, Ordering::Relaxed);
    Ok(HORUS_OK)
}

/// # Safety
/// As [`keep`].
pub(crate) unsafe fn let_go<K: Kind<Value: Belonging>>(handle: *mut K) -> Result<horus_status, Refusal> {
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
