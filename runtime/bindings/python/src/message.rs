//! Messages as Python objects: their classes are made of layouts at run time, their fields are read and written in the message's own bytes.

pub mod array;
pub mod class;
pub mod kind;
pub mod number;
pub mod object;

use pyo3::prelude::*;

/// Adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    object::add_to(module)?;
    module.add_class::<array::Array>()?;
    class::add_to(module)
}
