//! What a program does with an array of a message: its elements are read and written in the message's bytes.

use std::ffi::c_int;

use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PySlice, PyType};

use super::array::{Array, Shape};
use super::buffer;

impl Array {
    fn at<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.element.bytes();
        self.element.read(self.kept.bytes(py).part(index * bytes, bytes))
    }

    fn index(&self, index: isize) -> PyResult<usize> {
        let from_start = if index < 0 { index + self.length as isize } else { index };
        let found = usize::try_from(from_start).ok().filter(|index| *index < self.length);
        found.ok_or_else(|| PyIndexError::new_err(format!("the array has {} elements, and no {index}", self.length)))
    }
}

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.length
    }

    fn __getitem__<'py>(&self, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = index.py();
        if let Ok(slice) = index.cast::<PySlice>() {
            let places = slice.indices(self.length as isize)?;
            let items: PyResult<Vec<_>> = (0..places.slicelength as isize)
                .map(|step| self.at(py, (places.start + step * places.step) as usize))
                .collect();
            return Ok(PyList::new(py, items?)?.into_any());
        }
        self.at(py, self.index(index.extract()?)?)
    }

    fn __setitem__(&self, index: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (py, bytes) = (index.py(), self.element.bytes());
        let mut given = Vec::new();
        if let Ok(slice) = index.cast::<PySlice>() {
            let places = slice.indices(self.length as isize)?;
            let items: Vec<_> = value.try_iter()?.collect::<PyResult<_>>()?;
            if items.len() != places.slicelength {
                return Err(PyTypeError::new_err(format!(
                    "{} elements for {} places",
                    items.len(),
                    places.slicelength
                )));
            }
            for item in &items {
                self.element.write(item, &mut given)?;
            }
            for (step, item) in given.chunks(bytes).enumerate() {
                let place = (places.start + step as isize * places.step) as usize;
                self.kept.bytes(py).part(place * bytes, bytes).write(item)?;
            }
            return Ok(());
        }
        let place = self.index(index.extract()?)?;
        self.element.write(value, &mut given)?;
        self.kept.bytes(py).part(place * bytes, bytes).write(&given)
    }

    fn __delitem__(&self, _index: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err("an array of a message keeps its length: set elements to 0"))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.tolist(py)?.repr()?.to_string())
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = other.py();
        let Ok(length) = other.len() else { return Ok(py.NotImplemented().into_bound(py)) };
        let mut is_equal = length == self.length;
        for (index, item) in other.try_iter()?.enumerate().take(if is_equal { length } else { 0 }) {
            is_equal = is_equal && self.at(py, index)?.eq(item?)?;
        }
        Ok(pyo3::types::PyBool::new(py, is_equal).to_owned().into_any())
    }

    /// The elements as a list; those of arrays inside as lists, too.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let items = PyList::empty(py);
        for index in 0..self.length {
            let item = self.at(py, index)?;
            match item.cast::<Self>() {
                Ok(inner) => items.append(inner.get().tolist(py)?)?,
                Err(_) => items.append(item)?,
            }
        }
        Ok(items)
    }

    /// `Array[int]`, for annotations.
    #[classmethod]
    fn __class_getitem__<'py>(of: &Bound<'py, PyType>, element: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        of.py().import("types")?.getattr("GenericAlias")?.call1((of, element))
    }

    /// Copied and pickled as a list: an array is a view of its message's bytes.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyList>,))> {
        Ok((py.get_type::<PyList>(), (self.tolist(py)?,)))
    }

    /// A copy of the bytes, in the order of the machine.
    fn tobytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.kept.bytes(py).to_vec())
    }

    /// # Safety
    /// CPython gives the view.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        // SAFETY: CPython gives a view to be filled. What it is given beyond the bytes stands in a box that ends with the view.
        unsafe {
            (*view).obj = std::ptr::null_mut();
            this.kept.fill(slf.py(), view, flags)?;
            // Who asks for bytes only (NumPy does) is told nothing more.
            let Shape { number: Some(number), dimensions } = this.shape() else { return Ok(()) };
            if buffer::is_asked(flags) {
                // The buffer is this array's own, so that its release comes here.
                buffer::tell(slf.as_any(), view, flags, number, dimensions)?;
            }
        }
        Ok(())
    }

    /// # Safety
    /// CPython gives a view that `__getbuffer__` filled.
    unsafe fn __releasebuffer__(&self, view: *mut ffi::Py_buffer) {
        // SAFETY: `__getbuffer__` filled it.
        unsafe { buffer::release(view) };
    }
}
