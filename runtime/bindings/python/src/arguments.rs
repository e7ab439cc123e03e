//! The arguments of a call as CPython has them: in a row, the last ones with names. pyo3's general way of sorting them takes longer than sending a
//! message does, so what is called for each message does it here.

use std::slice;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// What a call gives.
#[derive(Clone, Copy)]
pub struct Given<'a, 'py> {
    py: Python<'py>,
    /// Those without a name, then those with one.
    values: &'a [*mut ffi::PyObject],
    placed: usize,
    names: Option<Borrowed<'a, 'py, PyTuple>>,
}

impl<'a, 'py> Given<'a, 'py> {
    /// # Safety
    /// They are what CPython calls a function with: so many objects without a name, then one for each name of a tuple, which may be null.
    #[inline]
    pub unsafe fn new(
        py: Python<'py>,
        values: *const *mut ffi::PyObject,
        placed: usize,
        names: *mut ffi::PyObject,
    ) -> Self {
        // SAFETY: the caller's promise is the same.
        unsafe {
            if names.is_null() {
                let values = if placed == 0 { &[] } else { slice::from_raw_parts(values, placed) };
                return Self { py, values, placed, names: None };
            }
            let names = Borrowed::from_ptr(py, names).cast_unchecked::<PyTuple>();
            Self { py, values: slice::from_raw_parts(values, placed + names.len()), placed, names: Some(names) }
        }
    }

    /// Those without a name.
    #[inline]
    pub fn placed(self) -> impl ExactSizeIterator<Item = Borrowed<'a, 'py, PyAny>> {
        self.borrowed(&self.values[..self.placed])
    }

    /// Hands those with a name to `work`, as long as it succeeds.
    #[inline]
    pub fn each_named(
        self,
        mut work: impl FnMut(Borrowed<'a, 'py, PyAny>, Borrowed<'a, 'py, PyAny>) -> PyResult<()>,
    ) -> PyResult<()> {
        let Some(names) = self.names else { return Ok(()) };
        for (place, value) in self.borrowed(&self.values[self.placed..]).enumerate() {
            work(name(names, place), value)?;
        }
        Ok(())
    }

    /// The only one, if there is one without a name and nothing else.
    #[inline]
    pub fn only(self) -> Option<Borrowed<'a, 'py, PyAny>> {
        if self.placed == 1 && self.names.is_none() { self.placed().next() } else { None }
    }

    /// Sorts them by these names, of which the first `placed` ones may be left out.
    ///
    /// # Errors
    /// When there are too many, or there is no such name.
    pub fn sorted<const COUNT: usize>(
        self,
        function: &str,
        parameters: [&str; COUNT],
        placed: usize,
    ) -> PyResult<[Option<Borrowed<'a, 'py, PyAny>>; COUNT]> {
        let mut sorted = [None; COUNT];
        if self.placed > placed {
            let text = format!("{function}() takes {placed} arguments without a name, and {} are given", self.placed);
            return Err(PyTypeError::new_err(text));
        }
        for (place, value) in self.placed().enumerate() {
            sorted[place] = Some(value);
        }
        self.each_named(|name, value| {
            let name = name.cast::<PyString>()?.to_owned();
            let name = name.to_str()?;
            let Some(place) = parameters.iter().position(|parameter| *parameter == name) else {
                let text = format!("{function}() has no argument {name}: it has {}", parameters.join(", "));
                return Err(PyTypeError::new_err(text));
            };
            if sorted[place].replace(value).is_some() {
                return Err(PyTypeError::new_err(format!("{function}() is given {name} twice")));
            }
            Ok(())
        })?;
        Ok(sorted)
    }

    #[inline]
    fn borrowed(self, values: &'a [*mut ffi::PyObject]) -> impl ExactSizeIterator<Item = Borrowed<'a, 'py, PyAny>> {
        // SAFETY: `new` was promised objects, and they live as long as the call.
        values.iter().map(move |value| unsafe { Borrowed::from_ptr(self.py, *value) })
    }
}

#[inline]
fn name<'a, 'py>(names: Borrowed<'a, 'py, PyTuple>, place: usize) -> Borrowed<'a, 'py, PyAny> {
    // SAFETY: the place is one of the tuple's, which keeps its names.
    unsafe { Borrowed::from_ptr(names.py(), ffi::PyTuple_GetItem(names.as_ptr(), place as isize)) }
}

/// What is left out may be given as None, too.
#[inline]
pub fn unless_none<'a, 'py>(value: Option<Borrowed<'a, 'py, PyAny>>) -> Option<Borrowed<'a, 'py, PyAny>> {
    value.filter(|value| !value.is_none())
}
