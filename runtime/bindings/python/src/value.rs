//! Values of Python as bytes: numbers, texts, lists, dicts, in the format of MessagePack (<https://msgpack.org>), which every language reads.
//! What is more than these is handed to `python/horus/_values.py`, which says what stands for it.
//!
//! Costs what making Python's objects costs. For what is sent often, a class of messages is several times faster.

mod decode;
mod encode;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub use decode::Decoder;
pub use encode::encode;

/// What topics of values are called in listings.
pub const TYPE_NAME: &str = "horus/MessagePack";

/// Values inside of values, at most so deep: a list may contain itself, and a peer may send anything.
const MAX_DEPTH: usize = 64;

/// The value that some bytes are.
#[pyfunction]
fn decode_value<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    Decoder::default().decode(py, bytes)
}

/// The value that the bytes of an extension are.
#[pyfunction]
fn decode_inner<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    Decoder::inside().decode(py, bytes)
}

/// The bytes of a value.
#[pyfunction]
fn encode_value<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let mut bytes = Vec::new();
    encode(value, &mut bytes)?;
    Ok(PyBytes::new(value.py(), &bytes))
}

/// Adds these functions.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(decode_value, module)?)?;
    module.add_function(wrap_pyfunction!(decode_inner, module)?)?;
    module.add_function(wrap_pyfunction!(encode_value, module)?)
}
