//! The Python type of messages: an object whose bytes stand behind its head, or in memory that another object keeps.
//!
//! ```text
//! message that owns its bytes   | head | class | at ─┐ | base: null |        | bytes ... |
//!                                                    └────────────────────────^
//! view of a part of another     | head | class | at ──> into the other's bytes | base: the other |
//! message in its place          | head | class | at ──> shared memory | base: the hold on it |
//! ```
//!
//! pyo3's own classes have one size each, so a message would be two allocations, and all of its fields would have to be found by name. Here a
//! field is a descriptor of CPython that knows its place: reading one is a call of C and a load.

use std::ptr;

use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::bytes::Bytes;
use super::class::Class;

/// What stands before the bytes. Its size is a multiple of 16, so that the bytes are aligned as every number is.
#[repr(C, align(16))]
pub(super) struct Head {
    head: ffi::PyVarObject,
    /// Null while the object is being made.
    pub(super) class: *const Class,
    /// Null when its hold was ended by `with`.
    at: *mut u8,
    pub(super) base: *mut ffi::PyObject,
    is_read_only: bool,
    /// Whether a buffer of the message itself was given out, so that `base` has to stay.
    pub(super) was_exported: bool,
}

pub(super) const HEAD: usize = size_of::<Head>();

/// Set when `types` has made it.
pub(super) static BASE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The type that all messages extend.
#[inline]
pub fn base(py: Python<'_>) -> &Bound<'_, PyType> {
    BASE.get(py).expect("it is made with the module").bind(py)
}

/// What can be done with messages.
pub struct Message;

impl Message {
    /// A message whose bytes are all zero.
    #[inline]
    pub fn zeroed<'py>(py: Python<'py>, class: &'static Class) -> PyResult<Bound<'py, PyAny>> {
        Self::sized(py, class, class.bytes())
    }

    /// An object of the class's own type, with room for so many bytes, which are zero. CPython's own function for it asks the type for what is
    /// known here, and takes twice as long.
    #[inline]
    fn sized<'py>(py: Python<'py>, class: &'static Class, bytes: usize) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the type's objects are freed by `PyObject_Free`, and begin as `PyObject_InitVar` makes them; room is made for the head and the
        // bytes, all of which are written before anybody else has the object.
        unsafe {
            let object = ffi::PyObject_Malloc(HEAD + bytes).cast::<Head>();
            if object.is_null() {
                return Err(no_memory());
            }
            ffi::PyObject_InitVar(object.cast(), class.type_pointer(), bytes as isize);
            let at = object.cast::<u8>().add(HEAD);
            (*object).class = class;
            (*object).at = at;
            (*object).base = ptr::null_mut();
            (*object).is_read_only = false;
            (*object).was_exported = false;
            ptr::write_bytes(at, 0, bytes);
            Ok(Bound::from_owned_ptr(py, object.cast()))
        }
    }

    /// A message of a type that a program made of a class's own, which says itself how its objects are made.
    ///
    /// # Safety
    /// `of` extends the class's type.
    pub unsafe fn extended<'py>(
        py: Python<'py>,
        of: *mut ffi::PyTypeObject,
        class: &'static Class,
    ) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the caller's promise is enough for the allocation. What it makes is zero behind CPython's own head.
        unsafe {
            let object = ffi::PyType_GenericAlloc(of, class.bytes() as isize);
            let object = Bound::from_owned_ptr_or_err(py, object)?;
            let head = object.as_ptr().cast::<Head>();
            (*head).class = class;
            (*head).at = object.as_ptr().cast::<u8>().add(HEAD);
            Ok(object)
        }
    }

    /// A message that is a part of other bytes.
    #[inline]
    pub fn view<'py>(class: &'static Class, bytes: Bytes<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        assert_eq!(bytes.length(), class.bytes());
        let py = bytes.python();
        let object = Self::sized(py, class, 0)?;
        let head = object.as_ptr().cast::<Head>();
        // SAFETY: it was made just now, and no other code has it.
        unsafe {
            (*head).at = bytes.start();
            (*head).base = bytes.base().to_owned().into_ptr();
            (*head).is_read_only = bytes.is_read_only();
        }
        Ok(object)
    }

    /// The class and the bytes of an object, if it is a message.
    ///
    /// # Errors
    /// When its hold was ended.
    #[inline]
    pub fn of<'a, 'py>(object: &'a Bound<'py, PyAny>) -> PyResult<Option<(&'static Class, Bytes<'a, 'py>)>> {
        // SAFETY: both are objects, and the type was made when the module was.
        if unsafe { ffi::PyObject_TypeCheck(object.as_ptr(), base(object.py()).as_type_ptr()) } == 0 {
            return Ok(None);
        }
        // SAFETY: it is of the type of messages.
        unsafe { opened(object) }.map(Some)
    }

    /// As [`of`](Self::of) for a message of this class, which is the common case.
    #[inline]
    pub fn of_class<'a, 'py>(object: &'a Bound<'py, PyAny>, class: &'static Class) -> PyResult<Option<Bytes<'a, 'py>>> {
        if object.get_type_ptr() == class.type_pointer() {
            // SAFETY: it is of a type of messages.
            let (made_of, bytes) = unsafe { opened(object) }?;
            return Ok(ptr::eq(made_of, class).then_some(bytes)); // its `__class__` may have been set
        }
        Ok(Self::of(object)?.filter(|(other, _)| other.layout == class.layout).map(|(_, bytes)| bytes))
    }

    /// Ends the use of a view's bytes by this object, and what it keeps of others if no object has a buffer of it. A message that
    /// owns its bytes stays as it is.
    pub fn release(object: &Bound<'_, PyAny>) {
        let head = object.as_ptr().cast::<Head>();
        // SAFETY: callers have looked that it is a message, by `of`; the GIL is held, and no reference into it is kept.
        unsafe {
            if (*head).base.is_null() {
                return;
            }
            (*head).at = ptr::null_mut();
            if !(*head).was_exported {
                let base = ptr::replace(&raw mut (*head).base, ptr::null_mut());
                ffi::Py_DECREF(base);
            }
        }
    }
}

/// # Safety
/// `object` is a message.
#[inline]
pub(super) unsafe fn opened<'a, 'py>(object: &'a Bound<'py, PyAny>) -> PyResult<(&'static Class, Bytes<'a, 'py>)> {
    let head = object.as_ptr().cast::<Head>();
    // SAFETY: a message has a head, classes live for ever, and `base` lives as long as the object; without one, it keeps the bytes itself.
    unsafe {
        let Head { class, at, base, is_read_only, .. } = &*head;
        if at.is_null() || class.is_null() {
            return Err(ended());
        }
        let class = &**class;
        let base = if base.is_null() { object.as_borrowed() } else { Borrowed::from_ptr(object.py(), *base) };
        Ok((class, Bytes::kept_by(base, *at, class.bytes(), *is_read_only)))
    }
}

#[cold]
fn ended() -> PyErr {
    PyValueError::new_err("this message was lent by a `with` block, which has ended: copy what you need of it before")
}

#[cold]
fn no_memory() -> PyErr {
    PyMemoryError::new_err("there is no memory for a message")
}
