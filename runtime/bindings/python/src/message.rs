//! Messages as Python objects: their classes are made of layouts at run time, their fields are read and written in the message's own bytes.
//!
//! From the ground up; each file uses those above it only: `bytes`, `number`, `grid` -> `buffer`, `shape` -> `class` -> `object`, `array` ->
//! `values` -> `elements`, `known` -> `slots` -> `types`, `vectorcall` -> `make`.

pub mod array;
mod buffer;
pub mod bytes;
pub mod class;
mod elements;
pub mod grid;
pub mod known;
mod make;
pub mod number;
pub mod object;
pub mod shape;
mod slots;
mod types;
mod values;
mod vectorcall;

use pyo3::prelude::*;

/// Adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    types::add_to(module)?;
    module.add_class::<array::Array>()?;
    make::add_to(module)?;
    known::add_to(module)
}
