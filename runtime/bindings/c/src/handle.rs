//! How a pointer from C becomes a reference: handles that know their kind, texts, and bytes.

use std::ffi::{CStr, c_char};

use crate::status::{Refusal, horus_status, misuse};

/// What C knows as an opaque struct, and what stands behind a pointer to one.
pub(crate) trait Kind {
    /// What it is.
    type Value;
    /// Eight bytes that nothing else begins with.
    const MARK: u64;
    /// For people.
    const NAME: &'static str;
}

/// What a pointer to a `K` really points to.
#[repr(C)]
struct Handle<V> {
    mark: u64,
    value: V,
}

/// Gives a value to C.
pub(crate) fn give<K: Kind>(value: K::Value) -> *mut K {
    Box::into_raw(Box::new(Handle { mark: K::MARK, value })).cast()
}

/// Whether it is a handle of this kind.
///
/// # Safety
/// As for [`get`].
#[inline(always)]
pub(crate) unsafe fn is<K: Kind>(handle: *mut K) -> bool {
    // SAFETY: not null, so it may be read, by the caller's promise.
    !handle.is_null() && unsafe { (&raw const (*handle.cast::<Handle<K::Value>>()).mark).read_unaligned() } == K::MARK
}

/// Where the value is behind a pointer that C gave: for who may not have it for himself alone.
///
/// # Safety
/// As for [`get`], but others may use the value meanwhile.
#[inline(always)]
pub(crate) unsafe fn place<K: Kind>(handle: *mut K) -> Result<*mut K::Value, Refusal> {
    // SAFETY: the caller's promise is the same.
    if !unsafe { is(handle) } {
        return Err(no_handle::<K>(handle.is_null()));
    }
    // SAFETY: it is such a handle.
    Ok(unsafe { place_of(handle) })
}

/// As [`place`], of what is known to be such a handle.
///
/// # Safety
/// [`is`] said so.
#[inline(always)]
pub(crate) unsafe fn place_of<K: Kind>(handle: *mut K) -> *mut K::Value {
    // SAFETY: it has the mark, so it came from `give`.
    unsafe { &raw mut (*handle.cast::<Handle<K::Value>>()).value }
}

/// The value behind a pointer that C gave.
///
/// # Safety
/// `handle` is null, or points to eight bytes that may be read, which are a handle's of this kind only if it came from [`give`]
/// and was not closed. No other call uses it meanwhile.
#[inline(always)]
pub(crate) unsafe fn get<'a, K: Kind>(handle: *mut K) -> Result<&'a mut K::Value, Refusal> {
    // SAFETY: what `place` gives came from `give`, and no other call uses it, by the caller's promise.
    unsafe { place(handle).map(|value| &mut *value) }
}

/// As [`get`] of a value that no call uses exclusively: a layout never changes, and a world keeps its own order.
///
/// # Safety
/// As for [`get`], but others may look at it meanwhile, on other threads where the value may be shared by them.
pub(crate) unsafe fn look<'a, K: Kind>(handle: *mut K) -> Result<&'a K::Value, Refusal> {
    // SAFETY: what `place` gives came from `give`, and no call uses it exclusively, by the caller's promise.
    unsafe { place(handle).map(|value| &*value) }
}

/// Ends a value; null is nothing to end.
///
/// # Safety
/// As for [`get`]; it is not used any more.
pub(crate) unsafe fn close<K: Kind>(handle: *mut K) -> Result<horus_status, Refusal> {
    if handle.is_null() {
        return Ok(horus_status::HORUS_OK);
    }
    // SAFETY: the caller's promise is the same.
    unsafe { get(handle) }?;
    let handle = handle.cast::<Handle<K::Value>>();
    // SAFETY: it has the mark, so `give` made it of a box, and it was not closed before.
    unsafe {
        // So that closing twice is found as long as nothing else stands there; volatile, because the compiler sees that it ends.
        (&raw mut (*handle).mark).write_volatile(0);
        drop(Box::from_raw(handle));
    }
    Ok(horus_status::HORUS_OK)
}

#[cold]
fn no_handle<T: Kind>(is_null: bool) -> Refusal {
    misuse(match is_null {
        true => format!("the {} is null: opening it failed, and horus_error said why", T::NAME),
        false => format!("this is no {}: it is a handle of another kind, or was closed before", T::NAME),
    })
}

/// A text from C.
///
/// # Safety
/// `text` is null or ends with a zero byte, and does not change meanwhile.
pub(crate) unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a str, Refusal> {
    if text.is_null() {
        return Err(misuse(format!("the {what} is null")));
    }
    // SAFETY: not null, and it ends with a zero byte, by the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|error| misuse(format!("the {what} is no UTF-8: {error}")))
}

/// A reason from C, whatever it is made of: something failed, and that must not be lost with its sentence.
///
/// # Safety
/// As for [`text`].
pub(crate) unsafe fn reason(said: *const c_char) -> String {
    if said.is_null() {
        return "without a reason".to_owned();
    }
    // SAFETY: not null, and it ends with a zero byte, by the caller's promise.
    unsafe { CStr::from_ptr(said) }.to_string_lossy().into_owned()
}

/// Where C keeps a message.
#[cold]
pub(crate) fn wrong_size(given: usize, wanted: usize) -> Refusal {
    misuse(format!(
        "the message has {given} bytes, and one of this topic has {wanted}: use the struct that its layout describes"
    ))
}
