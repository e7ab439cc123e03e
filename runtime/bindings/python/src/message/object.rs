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
//!
//! What a Python program can do to these bytes by a buffer (NumPy), Rust does not see. So they are never lent as slices: they are copied, by
//! raw pointers, with the GIL held.

use std::ffi::{CString, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::class::{self, Class, Field};
use super::number::MOST;

/// What stands before the bytes. Its size is a multiple of 16, so that the bytes are aligned as every number is.
#[repr(C, align(16))]
struct Head {
    head: ffi::PyVarObject,
    /// Null while the object is being made.
    class: *const Class,
    /// Null when its hold was ended by `with`.
    at: *mut u8,
    base: *mut ffi::PyObject,
    is_read_only: bool,
    /// Whether a buffer of the message itself was given out, so that `base` has to stay.
    was_exported: bool,
}

const HEAD: usize = size_of::<Head>();

/// Bytes that `base` keeps where they are, as long as it lives.
#[derive(Clone, Copy)]
pub struct Bytes<'a, 'py> {
    base: Borrowed<'a, 'py, PyAny>,
    at: *mut u8,
    length: usize,
    is_read_only: bool,
}

impl<'a, 'py> Bytes<'a, 'py> {
    /// # Safety
    /// `length` bytes may be read at `at`, and written unless it is `is_read_only`, as long as `base` lives, by who holds the GIL.
    pub unsafe fn new(base: &'a Bound<'py, PyAny>, at: *mut u8, length: usize, is_read_only: bool) -> Self {
        Self { base: base.as_borrowed(), at, length, is_read_only }
    }

    /// The interpreter that they belong to.
    pub fn python(self) -> Python<'py> {
        self.base.py()
    }

    /// How many they are.
    pub fn length(self) -> usize {
        self.length
    }

    /// Whether nobody may write them.
    pub fn is_read_only(self) -> bool {
        self.is_read_only
    }

    /// The first bytes, for a number.
    #[inline]
    pub fn number(self, bytes: usize) -> [u8; MOST] {
        assert!(bytes <= self.length && bytes <= MOST);
        let mut number = [0; MOST];
        // SAFETY: so many bytes are there, by the assertion.
        unsafe { copy_number(self.at, number.as_mut_ptr(), bytes) };
        number
    }

    /// Some of them.
    #[inline]
    pub fn part(self, offset: usize, length: usize) -> Self {
        assert!(offset <= self.length && length <= self.length - offset);
        // SAFETY: inside of the bytes, by the assertion.
        Self { at: unsafe { self.at.add(offset) }, length, ..self }
    }

    /// Copies them to `out`.
    #[inline]
    pub fn copy_to(self, out: &mut [u8]) {
        assert_eq!(out.len(), self.length);
        // SAFETY: as many bytes are there, by the assertion, and memory of Rust is none of Python's.
        unsafe { ptr::copy_nonoverlapping(self.at, out.as_mut_ptr(), self.length) };
    }

    /// A copy.
    pub fn to_vec(self) -> Vec<u8> {
        let mut out = vec![0; self.length];
        self.copy_to(&mut out);
        out
    }

    /// Overwrites the first bytes.
    ///
    /// # Errors
    /// When they may not be written.
    #[inline]
    pub fn write(self, bytes: &[u8]) -> PyResult<()> {
        if self.is_read_only {
            return Err(read_only());
        }
        assert!(bytes.len() <= self.length);
        // SAFETY: so many bytes are there, by the assertion, and memory of Rust is none of Python's.
        unsafe { copy_number(bytes.as_ptr(), self.at, bytes.len()) };
        Ok(())
    }

    /// Hands them to `work` as a slice. Nobody writes to them meanwhile: `work` gets no Python.
    #[inline]
    pub fn with<R>(self, work: impl FnOnce(&[u8]) -> R) -> R {
        // SAFETY: they are there as long as `base`. Who has the GIL is this thread, and `work` does not call Python, which might write.
        work(unsafe { std::slice::from_raw_parts(self.at, self.length) })
    }

    /// As [`with`](Self::with), to be written.
    ///
    /// # Errors
    /// When they may not be written.
    #[inline]
    pub fn with_mut<R>(self, work: impl FnOnce(&mut [u8]) -> R) -> PyResult<R> {
        if self.is_read_only {
            return Err(read_only());
        }
        // SAFETY: as in `with`.
        Ok(work(unsafe { std::slice::from_raw_parts_mut(self.at, self.length) }))
    }

    /// What keeps them.
    pub fn keep(self) -> Kept {
        Kept { base: self.base.to_owned().unbind(), at: self.at, length: self.length, is_read_only: self.is_read_only }
    }
}

/// Copies bytes, most often those of one number: the sizes of numbers are single instructions.
///
/// # Safety
/// So many bytes may be read and written, and they do not overlap.
#[inline(always)]
unsafe fn copy_number(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise is the same.
    unsafe {
        match bytes {
            8 => ptr::copy_nonoverlapping(from, to, 8),
            4 => ptr::copy_nonoverlapping(from, to, 4),
            other => ptr::copy_nonoverlapping(from, to, other),
        }
    }
}

/// Bytes together with what keeps them.
pub struct Kept {
    base: Py<PyAny>,
    at: *mut u8,
    length: usize,
    is_read_only: bool,
}

// SAFETY: the pointer is used with the GIL held only: `bytes` wants it.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl Kept {
    /// The bytes.
    pub fn bytes<'a, 'py>(&'a self, py: Python<'py>) -> Bytes<'a, 'py> {
        Bytes { base: self.base.bind_borrowed(py), at: self.at, length: self.length, is_read_only: self.is_read_only }
    }

    /// Where they are, for who hands them on to others than Rust.
    pub fn at(&self) -> *mut u8 {
        self.at
    }

    /// Whether nobody may write them.
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// As [`ffi::PyBuffer_FillInfo`], for an exporter's `__getbuffer__`.
    ///
    /// # Safety
    /// `view` is what CPython gave to `__getbuffer__`.
    pub unsafe fn fill(&self, py: Python<'_>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        // SAFETY: the bytes are there as long as `base`, which the view keeps from here on.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                self.base.as_ptr(),
                self.at.cast(),
                self.length as isize,
                self.is_read_only.into(),
                flags,
            )
        };
        if filled == 0 { Ok(()) } else { Err(PyErr::fetch(py)) }
    }
}

#[cold]
fn read_only() -> PyErr {
    PyTypeError::new_err(
        "this message is one that was received in its place, which others read, too: change a copy, copy.copy(message)",
    )
}

/// Hands each item of a dict to `work`, as long as it succeeds. One that changes meanwhile is read as it then is.
#[inline]
pub fn each_item<'py>(
    dict: &Bound<'py, PyDict>,
    mut work: impl FnMut(Bound<'py, PyAny>, Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    let (mut place, mut name, mut value) = (0, ptr::null_mut(), ptr::null_mut());
    // SAFETY: the dict lives, and the GIL is held; what the function lends is made one's own before anything else happens.
    unsafe {
        while ffi::PyDict_Next(dict.as_ptr(), &raw mut place, &raw mut name, &raw mut value) != 0 {
            work(Bound::from_borrowed_ptr(dict.py(), name), Bound::from_borrowed_ptr(dict.py(), value))?;
        }
    }
    Ok(())
}

/// What can be done with messages.
pub struct Message;

impl Message {
    /// A message whose bytes are all zero.
    #[inline]
    pub fn zeroed<'py>(py: Python<'py>, class: &'static Class) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the class's own type is one of messages.
        unsafe { allocate(py, class.type_pointer(), class, class.bytes()) }
    }

    /// A message that is a part of other bytes.
    #[inline]
    pub fn view<'py>(class: &'static Class, bytes: Bytes<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        assert_eq!(bytes.length, class.bytes());
        let py = bytes.base.py();
        // SAFETY: as in `zeroed`.
        let object = unsafe { allocate(py, class.type_pointer(), class, 0)? };
        let head = object.as_ptr().cast::<Head>();
        // SAFETY: `allocate` made it just now, and nobody else has it.
        unsafe {
            (*head).at = bytes.at;
            (*head).base = bytes.base.to_owned().into_ptr();
            (*head).is_read_only = bytes.is_read_only;
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
        if unsafe { ffi::PyObject_TypeCheck(object.as_ptr(), base_type(object.py())) } == 0 {
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
            return Ok(Some(unsafe { opened(object) }?.1));
        }
        Ok(Self::of(object)?.filter(|(other, _)| other.layout == class.layout).map(|(_, bytes)| bytes))
    }

    /// Ends the use of a view's bytes by this object, and what it keeps of others if nobody has a buffer of it. A message that owns its
    /// bytes stays as it is.
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
unsafe fn opened<'a, 'py>(object: &'a Bound<'py, PyAny>) -> PyResult<(&'static Class, Bytes<'a, 'py>)> {
    let head = object.as_ptr().cast::<Head>();
    // SAFETY: a message has a head, classes live for ever, and `base` lives as long as the object; without one, it keeps the bytes itself.
    unsafe {
        let Head { class, at, base, is_read_only, .. } = &*head;
        if at.is_null() || class.is_null() {
            return Err(ended());
        }
        let class = &**class;
        let base = if base.is_null() { object.as_borrowed() } else { Borrowed::from_ptr(object.py(), *base) };
        Ok((class, Bytes { base, at: *at, length: class.bytes(), is_read_only: *is_read_only }))
    }
}

#[cold]
fn ended() -> PyErr {
    PyValueError::new_err("this message was lent by a `with` block, which has ended: copy what you need of it before")
}

/// A message of a type of messages, with room for so many bytes behind its head, which are zero.
///
/// # Safety
/// `of` is the type of messages or one that extends it.
#[inline]
unsafe fn allocate<'py>(
    py: Python<'py>,
    of: *mut ffi::PyTypeObject,
    class: &'static Class,
    bytes: usize,
) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the caller's promise is enough for the allocation. What it makes is zero behind CPython's own head.
    unsafe {
        let object = ffi::PyType_GenericAlloc(of, bytes as isize);
        let object = Bound::from_owned_ptr_or_err(py, object)?;
        let head = object.as_ptr().cast::<Head>();
        (*head).class = class;
        (*head).at = object.as_ptr().cast::<u8>().add(HEAD);
        Ok(object)
    }
}

static BASE: PyOnceLock<Py<PyType>> = PyOnceLock::new();

#[inline]
fn base_type(py: Python<'_>) -> *mut ffi::PyTypeObject {
    BASE.get(py).expect("it is made with the module").as_ptr().cast()
}

/// Calls `work`; a panic in it becomes an exception, because none may cross C.
fn guarded<R>(py: Python<'_>, failed: R, work: impl FnOnce() -> PyResult<R>) -> R {
    let error = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(done)) => return done,
        Ok(Err(error)) => error,
        Err(_) => PyRuntimeError::new_err("horus panicked: please report it with the text above"),
    };
    error.restore(py);
    failed
}

unsafe extern "C" fn new(
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
            let class = class::of_type(&Borrowed::from_ptr(py, of.cast()).cast_unchecked::<PyType>())?;
            let message = allocate(py, of, class, class.bytes())?;
            let bytes = opened(&message)?.1;
            class.fill(bytes, &args, named.as_deref())?;
            Ok(message.into_ptr())
        })
    }
}

unsafe extern "C" fn dealloc(object: *mut ffi::PyObject) {
    // SAFETY: CPython calls it once for an object that nobody has any more; a type that was made at run time is kept by its objects.
    unsafe {
        let of = ffi::Py_TYPE(object);
        ffi::Py_XDECREF((*object.cast::<Head>()).base);
        let free: ffi::freefunc = std::mem::transmute(ffi::PyType_GetSlot(of, ffi::Py_tp_free));
        free(object.cast());
        ffi::Py_DECREF(of.cast());
    }
}

unsafe extern "C" fn compare(one: *mut ffi::PyObject, other: *mut ffi::PyObject, how: c_int) -> *mut ffi::PyObject {
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

unsafe extern "C" fn get_buffer(object: *mut ffi::PyObject, view: *mut ffi::Py_buffer, flags: c_int) -> c_int {
    // SAFETY: CPython calls with the GIL, a message, and a view to be filled.
    unsafe {
        let py = Python::assume_attached();
        (*view).obj = ptr::null_mut();
        guarded(py, -1, || {
            let object = Borrowed::from_ptr(py, object).to_owned();
            let (_, bytes) = opened(&object)?;
            (*object.as_ptr().cast::<Head>()).was_exported = true;
            bytes.keep().fill(py, view, flags)?;
            Ok(0)
        })
    }
}

/// As a method of CPython's own kind: one of Python around a function would cost a tenth of what it does.
unsafe extern "C" fn to_numpy(object: *mut ffi::PyObject, _: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: CPython calls with the GIL and a message.
    unsafe {
        let py = Python::assume_attached();
        guarded(py, ptr::null_mut(), || Ok(crate::numpy::to_numpy(&Borrowed::from_ptr(py, object))?.into_ptr()))
    }
}

unsafe extern "C" fn get_field(object: *mut ffi::PyObject, field: *mut c_void) -> *mut ffi::PyObject {
    // SAFETY: CPython's descriptor calls with the GIL, a message of the class that the field is of, and the field, which lives for ever.
    unsafe {
        let py = Python::assume_attached();
        let field = &*field.cast::<Field>();
        guarded(py, ptr::null_mut(), || {
            let object = Borrowed::from_ptr(py, object);
            let (_, bytes) = opened(&object)?;
            Ok(field.kind.read(py, bytes.part(field.offset, field.bytes))?.into_ptr())
        })
    }
}

unsafe extern "C" fn set_field(object: *mut ffi::PyObject, value: *mut ffi::PyObject, field: *mut c_void) -> c_int {
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
            class.set(field, bytes, &value)?;
            Ok(0)
        })
    }
}

/// Gives a type of messages an attribute for a field.
pub fn add_field(of: &Bound<'_, PyType>, field: &'static Field) -> PyResult<()> {
    let name = CString::new(field.name.as_str())?;
    // Descriptors keep pointers to both, and classes live for ever.
    let definition = Box::leak(Box::new(ffi::PyGetSetDef {
        name: Box::leak(name.into_boxed_c_str()).as_ptr(),
        get: Some(get_field),
        set: Some(set_field),
        doc: ptr::null(),
        closure: ptr::from_ref(field).cast_mut().cast(),
    }));
    // SAFETY: the type and the definition are what they are said to be, and the latter lives for ever.
    let descriptor =
        unsafe { Bound::from_owned_ptr_or_err(of.py(), ffi::PyDescr_NewGetSet(of.as_type_ptr(), definition)) }?;
    of.setattr(field.name.as_str(), descriptor)
}

/// Makes the type.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    if let Some(made) = BASE.get(py) {
        return module.add("MessageBase", made); // the module was imported before, and forgotten
    }
    // CPython keeps the pointer to the methods.
    let methods = Box::leak(Box::new([
        ffi::PyMethodDef {
            ml_name: c"to_numpy".as_ptr(),
            ml_meth: ffi::PyMethodDefPointer { PyCFunction: to_numpy },
            ml_flags: ffi::METH_NOARGS,
            ml_doc: c"to_numpy($self, /)\n--\n\nA NumPy array over the bytes of the message, which are not copied: an image's pixels, a cloud's points, else a structured array.".as_ptr(),
        },
        ffi::PyMethodDef::zeroed(),
    ]));
    let slots = Box::leak(Box::new([
        ffi::PyType_Slot { slot: ffi::Py_tp_new, pfunc: new as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_dealloc, pfunc: dealloc as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_richcompare, pfunc: compare as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_hash, pfunc: ffi::PyObject_HashNotImplemented as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_bf_getbuffer, pfunc: get_buffer as *mut c_void },
        ffi::PyType_Slot { slot: ffi::Py_tp_methods, pfunc: methods.as_mut_ptr().cast() },
        ffi::PyType_Slot { slot: 0, pfunc: ptr::null_mut() },
    ]));
    let mut spec = ffi::PyType_Spec {
        name: c"horus._horus.MessageBase".as_ptr(),
        basicsize: HEAD as c_int,
        itemsize: 1,
        flags: (ffi::Py_TPFLAGS_DEFAULT | ffi::Py_TPFLAGS_BASETYPE) as u32,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: the slots are functions of the types that CPython has for them, and end with a zero.
    let made =
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec)) }?.cast_into::<PyType>()?;
    module.add("MessageBase", &made)?;
    let _ = BASE.set(py, made.unbind());
    Ok(())
}
