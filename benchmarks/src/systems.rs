//! The systems that are measured here; rivals live in the package `compare`.

pub mod horus;
