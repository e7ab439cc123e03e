//! How a message is made without a tuple and a dict of its arguments.
//!
//! CPython calls a type by the function in its `tp_vectorcall`, if there is one. The stable interface has no word for that place before
//! CPython 3.14. So it is found at run time: CPython says what is in it (`PyVectorcall_Function`), and types of its own have functions in it that are
//! known. Where that does not agree, a message is made by `tp_new`, which takes three times as long.

use std::ffi::c_void;
use std::ptr;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PySet, PyTuple, PyType};

use super::known;
use super::object::{Message, opened};
use super::slots::new;
use crate::arguments::Given;
use crate::methods::guarded;

unsafe extern "C" {
    /// A part of the stable interface since CPython 3.12, and a function of every CPython since 3.9.
    fn PyVectorcall_Function(callable: *mut ffi::PyObject) -> *mut c_void;
}

/// The words of a type in which the place is looked for: CPython 3.11's types have so many, and later ones have more.
const WORDS: usize = 51;
static PLACE: PyOnceLock<Option<usize>> = PyOnceLock::new();

/// Has messages of this type made by [`construct`], unless the type has its own way to make or to begin them.
pub fn give_to(of: &Bound<'_, PyType>) {
    let py = of.py();
    let Some(place) = *PLACE.get_or_init(py, || find(py)) else { return };
    let object = py.get_type::<PyAny>();
    if slot(of, ffi::Py_tp_new) != new as *mut c_void || slot(of, ffi::Py_tp_init) != slot(&object, ffi::Py_tp_init) {
        return;
    }
    // SAFETY: the place is one of a type's words, and the type is not used by anybody yet. What CPython does not see there is taken out again.
    unsafe {
        let word = of.as_ptr().cast::<*mut c_void>().add(place);
        if (*word).is_null() {
            *word = construct as *mut c_void;
            if PyVectorcall_Function(of.as_ptr()) != *word {
                *word = ptr::null_mut();
            }
        }
    }
}

fn slot(of: &Bound<'_, PyType>, number: i32) -> *mut c_void {
    // SAFETY: it is a type, and the number is a slot's.
    unsafe { ffi::PyType_GetSlot(of.as_type_ptr(), number) }
}

/// The one word in which each of these types has what CPython calls it by.
fn find(py: Python<'_>) -> Option<usize> {
    let types = [py.get_type::<PyList>(), py.get_type::<PyDict>(), py.get_type::<PyTuple>(), py.get_type::<PySet>()];
    let mut places = (0..WORDS).filter(|place| {
        types.iter().all(|of| {
            // SAFETY: a type has so many words, all of which are set.
            unsafe {
                let called = PyVectorcall_Function(of.as_ptr());
                !called.is_null() && *of.as_ptr().cast::<*mut c_void>().add(*place) == called
            }
        })
    });
    places.next().filter(|_| places.next().is_none())
}

/// Makes a message of the arguments of a call.
unsafe extern "C" fn construct(
    of: *mut ffi::PyObject,
    values: *const *mut ffi::PyObject,
    count: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls with the GIL, the type that this was given to, so many arguments (and a flag in the highest bit), then those that have names.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let class = known::of_type(&Borrowed::from_ptr(py, of).cast_unchecked::<PyType>())?;
            let message = Message::zeroed(py, class)?;
            let (_, bytes) = opened(&message)?;
            class.begin(bytes)?;
            let given = Given::new(py, values, count & (usize::MAX >> 1), names);
            for (place, value) in given.placed().enumerate() {
                class.set_at(place, bytes, &value)?;
            }
            let placed = given.placed().len();
            given.each_named(|name, value| class.set_named(&name, placed, bytes, &value))?;
            Ok(message.into_ptr())
        })
    }
}
