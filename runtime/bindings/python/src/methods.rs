//! Methods of CPython's own kind. One that pyo3 makes looks at its arguments, at its object and at the state of the thread for longer than a message
//! takes, so what is called for each message is a [`Method`].

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::type_object::PyTypeInfo;
use pyo3::types::PyType;
use pyo3::{PyClass, ffi};

use crate::arguments::Given;

/// A method of a type.
pub trait Method {
    /// What it is called with.
    type On;
    /// Its name.
    const NAME: &'static CStr;
    /// Its signature as `inspect` reads it, a line of `--`, an empty one, and what it does.
    const DOC: &'static CStr;

    /// What it does.
    ///
    /// # Errors
    /// What Python is to see as an exception.
    fn call<'py>(on: &Bound<'py, Self::On>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>>;
}

/// Gives a type of pyo3's the method.
pub fn add<M: Method<On: PyClass + PyTypeInfo>>(py: Python<'_>) -> PyResult<()> {
    add_to::<M>(&py.get_type::<M::On>())
}

/// Gives any type a method that finds out itself what it is called with.
pub fn add_to_any<M: Method<On = PyAny>>(of: &Bound<'_, PyType>) -> PyResult<()> {
    add_to::<M>(of)
}

fn add_to<M: Method>(of: &Bound<'_, PyType>) -> PyResult<()> {
    // CPython keeps the pointer.
    let definition = Box::leak(Box::new(ffi::PyMethodDef {
        ml_name: M::NAME.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: called::<M> },
        ml_flags: ffi::METH_FASTCALL | ffi::METH_KEYWORDS,
        ml_doc: M::DOC.as_ptr(),
    }));
    // SAFETY: the definition lives for ever, and says how the function is called.
    let method =
        unsafe { Bound::from_owned_ptr_or_err(of.py(), ffi::PyDescr_NewMethod(of.as_type_ptr(), definition)) }?;
    of.setattr(M::NAME.to_string_lossy(), method)
}

unsafe extern "C" fn called<M: Method>(
    on: *mut ffi::PyObject,
    values: *const *mut ffi::PyObject,
    count: isize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls with the GIL, an object of the type that the method was given to, so many arguments, then those that have names.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let on = Borrowed::from_ptr(py, on).cast_unchecked::<M::On>();
            M::call(&on, Given::new(py, values, count as usize, names)).map(Bound::into_ptr)
        })
    }
}

/// Calls `work`; a panic in it becomes an exception, because none may cross C.
#[inline]
pub fn guarded<R>(py: Python<'_>, failed: R, work: impl FnOnce() -> PyResult<R>) -> R {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => return done,
        Ok(Err(error)) => error.restore(py),
        Err(_) => panicked(py),
    }
    failed
}

#[cold]
fn panicked(py: Python<'_>) {
    PyRuntimeError::new_err("horus panicked: please report it with the text above").restore(py);
}
