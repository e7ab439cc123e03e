//! Messages as Python objects: their classes are made of layouts at run time, their fields are read and written in the message's own bytes.

pub mod array;
mod buffer;
pub mod bytes;
pub mod class;
pub mod kind;
pub mod known;
pub mod number;
pub mod object;
mod slots;
mod types;
mod vectorcall;

use pyo3::prelude::*;

use crate::numpy::ToNumpy;
use crate::{dlpack, methods};

/// Adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    types::add_to(module)?;
    module.add_class::<array::Array>()?;
    let array = module.py().get_type::<array::Array>();
    methods::add_to_any::<ToNumpy>(&array)?;
    dlpack::add_to(&array)?;
    known::add_to(module)
}
