//! The bytes of messages, with what keeps them where they are.
//!
//! What a Python program can do to these bytes by a buffer (NumPy), Rust does not see. So they are never lent as slices to what calls Python: they are
//! copied, by raw pointers, with the GIL held.

use std::ffi::c_int;
use std::ptr;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The most bytes that a number has.
pub const MOST: usize = 16;

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
        // SAFETY: the caller's promise is the same.
        unsafe { Self::kept_by(base.as_borrowed(), at, length, is_read_only) }
    }

    /// As [`new`](Self::new).
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(super) unsafe fn kept_by(
        base: Borrowed<'a, 'py, PyAny>,
        at: *mut u8,
        length: usize,
        is_read_only: bool,
    ) -> Self {
        Self { base, at, length, is_read_only }
    }

    /// What keeps them, for who makes another such object.
    #[inline]
    pub(super) fn base(self) -> Borrowed<'a, 'py, PyAny> {
        self.base
    }

    /// The interpreter that they belong to.
    pub fn python(self) -> Python<'py> {
        self.base.py()
    }

    /// How many they are.
    pub fn length(self) -> usize {
        self.length
    }

    /// Whether they may not be written.
    pub fn is_read_only(self) -> bool {
        self.is_read_only
    }

    /// Where they begin, for who checks the length himself.
    #[inline]
    pub(super) fn start(self) -> *mut u8 {
        self.at
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

    /// The first bytes, as many as a number of a known type has.
    #[inline]
    pub fn first<const BYTES: usize>(self) -> [u8; BYTES] {
        assert!(BYTES <= self.length);
        // SAFETY: so many bytes are there, by the assertion, and bytes have no alignment.
        unsafe { self.at.cast::<[u8; BYTES]>().read() }
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

    /// Hands them to `work` as a slice. No code writes to them meanwhile: `work` gets no Python.
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

    /// Whether they may not be written.
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
