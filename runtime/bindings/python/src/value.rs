//! Values of Python as bytes: numbers, texts, lists, dicts, in the format of MessagePack (<https://msgpack.org>), which every language reads.
//!
//! Costs what making Python's objects costs. For what is sent often, a class of messages is several times faster.

mod decode;
mod encode;

use pyo3::prelude::*;

pub use decode::Decoder;
pub use encode::encode;

/// What topics of values are called in listings.
pub const TYPE_NAME: &str = "horus/MessagePack";

/// Values inside of values, at most so deep: a list may contain itself, and a peer may send anything.
const MAX_DEPTH: usize = 64;

/// The value that some bytes are.
#[pyfunction]
pub fn decode_value<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    Decoder::default().decode(py, bytes)
}
