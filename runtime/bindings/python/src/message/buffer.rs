//! What a buffer says of its bytes: which numbers they are, in how many rows and columns.

use std::ffi::{CString, c_int};
use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;

use super::grid::Extents;
use super::number::Number;

/// What is said, in a box that ends with the view.
struct Told {
    format: CString,
    shape: Extents,
    strides: Extents,
}

/// Whether the caller wants to know more of a buffer than its bytes.
pub fn is_asked(flags: c_int) -> bool {
    flags & (ffi::PyBUF_ND | ffi::PyBUF_FORMAT) != 0
}

/// Says in a view that it is of these numbers, and that `owner` releases it, by [`release`].
///
/// # Safety
/// `view` was filled by [`Kept::fill`](super::bytes::Kept::fill) with as many bytes as the numbers are, for who gave `flags`.
pub unsafe fn tell(
    owner: &Bound<'_, PyAny>,
    view: *mut ffi::Py_buffer,
    flags: c_int,
    number: Number,
    dimensions: Extents,
) -> PyResult<()> {
    let mut told =
        Box::new(Told { format: CString::new(number.letter())?, strides: dimensions.clone(), shape: dimensions });
    let mut stride = number.bytes() as isize;
    for (place, length) in told.strides.iter_mut().zip(&told.shape).rev() {
        *place = stride;
        stride *= length;
    }
    let asked = |what, answer: *mut isize| if flags & what == what { answer } else { ptr::null_mut() };
    // SAFETY: the caller's view may be written; what it is made to point to stands in the box, which its release ends.
    unsafe {
        let base = ptr::replace(&raw mut (*view).obj, owner.clone().into_ptr());
        ffi::Py_DECREF(base);
        (*view).itemsize = number.bytes() as isize;
        (*view).ndim = told.shape.len() as c_int;
        (*view).format = asked(ffi::PyBUF_FORMAT, told.format.as_ptr().cast_mut().cast()).cast();
        (*view).shape = asked(ffi::PyBUF_ND, told.shape.as_mut_ptr());
        (*view).strides = asked(ffi::PyBUF_STRIDES, told.strides.as_mut_ptr());
        (*view).internal = Box::into_raw(told).cast();
    }
    Ok(())
}

/// Ends what a view was told.
///
/// # Safety
/// `view` was filled by [`Kept::fill`](super::bytes::Kept::fill), and after that perhaps by [`tell`].
pub unsafe fn release(view: *mut ffi::Py_buffer) {
    // SAFETY: `tell` put the box there, or the pointer is null.
    unsafe {
        let told = ptr::replace(&raw mut (*view).internal, ptr::null_mut());
        if !told.is_null() {
            drop(Box::from_raw(told.cast::<Told>()));
        }
    }
}
