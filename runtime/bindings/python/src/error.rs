//! What goes wrong, as exceptions: each has the sentence that the same error has in Rust.

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    horus,
    HorusError,
    PyException,
    "What a topic, a message or a program of nodes refuses, and what to do about it."
);

/// An error of the runtime, with its causes.
pub fn failed(error: impl Into<horus::Error>) -> PyErr {
    refused(error.into().to_string())
}

/// An error that says this.
#[cold]
pub fn refused(sentence: impl Into<String>) -> PyErr {
    HorusError::new_err(sentence.into())
}
