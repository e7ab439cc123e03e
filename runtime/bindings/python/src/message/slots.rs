//! What CPython calls for messages: the functions of their types, and those of their fields.

use std::ffi::{c_int, c_void};
use std::ptr;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::buffer;
use super::class::Field;
use super::known;
use super::object::{Head, Message, opened};
use crate::methods::guarded;

pub unsafe extern "C" fn new(
    of: *mut ffi::PyTypeObject,
    args: *mut ffi::PyObject,
    named: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: CPython calls with the GIL, a type of messages, a tuple, and a dict or null.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let args = Borrowed::from_ptr(py, args).cast_unchecked::<PyTuple>();
            let named =
                if named.is_null() { None } else { Some(Borrowed::from_ptr(py, named).cast_unchecked::<PyDict>()) };
            let class = known::of_type(&Borrowed::from_ptr(py, of.cast()).cast_unchecked::<PyType>())?;
            let is_own = of == class.type_pointer();
            let message = if is_own { Message::zeroed(py, class)? } else { Message::extended(py, of, class)? };
            let bytes = opened(&message)?.1;
            class.fill(bytes, &args, named.as_deref())?;
            Ok(message.into_ptr())
        })
    }
}

pub unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: CPython calls it once for an object that has no reference any more; a type that was made at run time is kept by its
    // objects.
    unsafe {
        let (of, head) = (ffi::Py_TYPE(object), object.cast::<Head>());
        ffi::Py_XDECREF((*head).base);
        // An object of a class's own type was made by `Message::sized`.
        if (*head).class.as_ref().is_some_and(|class| class.type_pointer() == of) {
            ffi::PyObject_Free(object.cast());
        } else {
            let free: ffi::freefunc = std::mem::transmute(ffi::PyType_GetSlot(of, ffi::Py_tp_free));
            free(object.cast());
        }
        ffi::Py_DECREF(of.cast());
    }
}

pub unsafe extern "C" fn compare(one: *mut ffi::PyObject, other: *mut ffi::PyObject, how: c_int) -> *mut ffi::PyObject {
    // SAFETY: CPython calls with the GIL and two objects.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || {
            let (one, other) = (Borrowed::from_ptr(py, one).to_owned(), Borrowed::from_ptr(py, other).to_owned());
            let wants_equal = match how {
                ffi::Py_EQ => true,
                ffi::Py_NE => false,
                _ => return Ok(py.NotImplemented().into_ptr()),
            };
            let (Some((class, one)), Some((other_class, other))) = (Message::of(&one)?, Message::of(&other)?) else {
                return Ok(py.NotImplemented().into_ptr());
            };
            let is_equal = class.layout == other_class.layout && class.is_equal(&one.to_vec(), &other.to_vec());
            Ok(pyo3::types::PyBool::new(py, is_equal == wants_equal).to_owned().into_any().into_ptr())
        })
    }
}

pub unsafe extern "C" fn get_buffer(object: *mut ffi::PyObject, view: *mut ffi::Py_buffer, flags: c_int) -> c_int {
    // SAFETY: CPython calls with the GIL, a message, and a view to be filled.
    unsafe {
        let py = Python::assume_attached();
        (*view).obj = ptr::null_mut();
        guarded(py, -1, || {
            let object = Borrowed::from_ptr(py, object).to_owned();
            let (class, bytes) = opened(&object)?;
            (*object.as_ptr().cast::<Head>()).was_exported = true;
            bytes.keep().fill(py, view, flags)?;
            // Who wants numbers gets those of a vector. Any other message is bytes.
            if let Some((number, count)) = class.numbers()
                && buffer::is_asked(flags)
            {
                buffer::tell(&object, view, flags, number, [count].into_iter().collect())?;
            }
            Ok(0)
        })
    }
}

pub unsafe extern "C" fn release_buffer(_: *mut ffi::PyObject, view: *mut ffi::Py_buffer) {
    // SAFETY: CPython calls with a view that `get_buffer` filled.
    unsafe { buffer::release(view) };
}

pub unsafe extern "C" fn get_field(object: *mut ffi::PyObject, field: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: CPython's descriptor calls with the GIL, a message of the class that the field is of, and the field, which lives for ever.
    unsafe {
        let py = Python::assume_attached();
        let field = &*field.cast::<Field>();
        guarded(py, ptr::null_mut(), || {
            let object = Borrowed::from_ptr(py, object);
            let (class, bytes) = opened(&object)?;
            if !class.has(field) {
                return Err(of_another_class());
            }
            Ok(field.kind.read(bytes.part(field.offset, field.bytes))?.into_ptr())
        })
    }
}

pub unsafe extern "C" fn set_field(object: *mut ffi::PyObject, value: *mut ffi::PyObject, field: *mut c_void) -> c_int {
    // SAFETY: as in `get_field`; the value is an object, or null for a deletion.
    unsafe {
        let py = Python::assume_attached();
        let field = &*field.cast::<Field>();
        guarded(py, -1, || {
            if value.is_null() {
                return Err(PyTypeError::new_err(format!("the field {} cannot be deleted: set it to 0", field.name)));
            }
            let (object, value) = (Borrowed::from_ptr(py, object), Borrowed::from_ptr(py, value));
            let (class, bytes) = opened(&object)?;
            if !class.has(field) {
                return Err(of_another_class());
            }
            class.set(field, bytes, &value)?;
            Ok(0)
        })
    }
}

#[cold]
fn of_another_class() -> PyErr {
    PyTypeError::new_err(
        "the class of this message was set to another one, whose fields it has not: make a message of that class",
    )
}
