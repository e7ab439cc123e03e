//! Arrays of NumPy over the bytes of messages. NumPy is asked by its Python names, when a program wants an array: nothing here is
//! linked to it, and a program without NumPy does not need it.

use std::ffi::CStr;

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use crate::arguments::Given;
use crate::message::array::{Array, Shape};
use crate::message::class::{Class, Kind};
use crate::message::grid::Grid;
use crate::message::known::of_type;
use crate::message::number::Number;
use crate::message::object::{Message, base};
use crate::methods::{self, Method};

/// Bytes, as an object with a buffer.
static BYTE: Kind = Kind::Number(Number::U8);
static MODULE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
static TYPES: PyOnceLock<Vec<Py<PyAny>>> = PyOnceLock::new();

/// `numpy.ndarray` itself.
fn ndarray(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    let found = MODULE.get_or_try_init(py, || {
        Ok::<_, PyErr>(py.import("numpy")?.getattr("ndarray")?.cast_into::<PyType>()?.unbind())
    });
    found.map(|found| found.bind(py))
}

/// NumPy's type of a number, made once.
fn dtype(py: Python<'_>, number: Number) -> PyResult<&Bound<'_, PyAny>> {
    let all = TYPES.get_or_try_init(py, || {
        let numpy = py.import("numpy")?;
        Number::every().map(|number| Ok::<_, PyErr>(numpy.call_method1("dtype", (number.numpy(),))?.unbind())).collect()
    })?;
    Ok(all[number as usize].bind(py))
}

/// An array over these bytes, which keeps what keeps them.
pub fn array<'py>(grid: Grid<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    let py = grid.bytes.python();
    let buffer = Array::view(&BYTE, grid.bytes.length(), grid.bytes)?;
    let (shape, dtype) = (PyTuple::new(py, grid.dimensions)?, dtype(py, grid.number)?);
    if grid.is_packed {
        return ndarray(py)?.call1((shape, dtype, buffer));
    }
    ndarray(py)?.call1((shape, dtype, buffer, 0, PyTuple::new(py, grid.strides)?))
}

/// The array of an object that is this grid. What may not be written goes by DLPack.
fn array_over<'py>(of: &Bound<'py, PyAny>, grid: Grid<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
    if grid.bytes.is_read_only() && grid.is_packed { from_dlpack(of) } else { array(grid) }
}

/// By DLPack, which says in a flag what may not be written: NumPy asks for a buffer to write first, and takes long over the refusal.
fn from_dlpack<'py>(of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = of.py();
    let take =
        FROM_DLPACK.get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.getattr("from_dlpack")?.unbind()))?;
    take.bind(py).call1((of,))
}

static FROM_DLPACK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// `to_numpy` of messages and of their arrays.
pub struct ToNumpy;

impl Method for ToNumpy {
    type On = PyAny;
    const NAME: &'static CStr = c"to_numpy";
    const DOC: &'static CStr = c"to_numpy($self, /)\n--\n\nA NumPy array over the same bytes, which are not copied: an image's pixels, a cloud's points, else a structured array.";

    #[inline]
    fn call<'py>(on: &Bound<'py, PyAny>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [] = given.sorted("to_numpy", [], 0)?;
        to_numpy(on)
    }
}

fn to_numpy<'py>(of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = of.py();
    if let Some((class, bytes)) = Message::of(of)? {
        // DLPack looks itself at what the message says of its data.
        if class.shape.is_some() && bytes.is_read_only() {
            match from_dlpack(of) {
                Err(error) if error.is_instance_of::<PyBufferError>(py) => {} // of rows that it has no word for
                done => return done,
            }
        }
        if let Some(grid) = class.data(bytes)? {
            return array(grid);
        }
        let dtype = py.import("numpy")?.call_method1("dtype", (description(py, class)?,))?;
        let buffer = Array::view(&BYTE, bytes.length(), bytes)?;
        return ndarray(py)?.call1((PyTuple::empty(py), dtype, buffer));
    }
    let view = of.cast::<Array>().map_err(|_| PyTypeError::new_err("this is no message"))?.get();
    let bytes = view.kept().bytes(py);
    match view.shape() {
        Shape { number: Some(number), dimensions } => array_over(of, Grid::packed(bytes, number, &dimensions)),
        Shape { number: None, dimensions } => {
            let dtype = py.import("numpy")?.call_method1("dtype", (format(py, view.innermost())?,))?;
            let buffer = Array::view(&BYTE, bytes.length(), bytes)?;
            ndarray(py)?.call1((PyTuple::new(py, dimensions)?, dtype, buffer))
        }
    }
}

/// What `numpy.dtype` takes for a class.
fn description<'py>(py: Python<'py>, class: &Class) -> PyResult<Bound<'py, PyDict>> {
    let (names, formats, offsets) = (PyList::empty(py), PyList::empty(py), PyList::empty(py));
    for field in &class.fields {
        names.append(&field.name)?;
        formats.append(format(py, &field.kind)?)?;
        offsets.append(field.offset)?;
    }
    let said = PyDict::new(py);
    for (name, value) in [("names", names), ("formats", formats), ("offsets", offsets)] {
        said.set_item(name, value)?;
    }
    said.set_item("itemsize", class.bytes())?;
    Ok(said)
}

fn format<'py>(py: Python<'py>, kind: &Kind) -> PyResult<Bound<'py, PyAny>> {
    Ok(match kind {
        Kind::Number(number) => number.numpy().into_pyobject(py)?.into_any(),
        Kind::Nested(class) => py.import("numpy")?.call_method1("dtype", (description(py, class)?,))?,
        Kind::Array { element, length } => (format(py, element)?, (*length,)).into_pyobject(py)?.into_any(),
    })
}

#[pyfunction]
fn numpy_dtype<'py>(of: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyDict>> {
    description(of.py(), of_type(of)?)
}

/// Gives `to_numpy` to messages and their arrays, and adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    methods::add_to_any::<ToNumpy>(base(py))?;
    methods::add_to_any::<ToNumpy>(&py.get_type::<Array>())?;
    module.add_function(wrap_pyfunction!(numpy_dtype, module)?)
}
