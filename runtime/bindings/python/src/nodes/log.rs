//! What a step in Python says.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use horus::log::{Level, MAX_VALUES, Value};
use horus::node::Cycle;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyString, PyTuple};

use crate::error::HorusError;

/// The cycle that a step was told of, while that runs.
pub struct Told(AtomicPtr<Cycle>);

impl Told {
    pub fn new(cycle: &Cycle) -> Self {
        Self(AtomicPtr::new(ptr::from_ref(cycle).cast_mut()))
    }

    /// The step has returned.
    pub fn end(&self) {
        // Relaxed: who reads it has the GIL, as who writes it.
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
    }

    fn cycle(&self) -> PyResult<&Cycle> {
        // SAFETY: it is the cycle of a step that runs, or null. The step's thread ends it with the GIL, which the caller has until it is done with the
        // reference, so no other thread looks at the cycle meanwhile, either.
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
            .ok_or_else(|| HorusError::new_err("the step of this cycle has returned: log in the step"))
    }
}

/// A value, or the text that it is written as.
fn read<'a>(given: &'a Bound<'_, PyAny>, room: &'a mut String) -> PyResult<Value<'a>> {
    if let Ok(is_true) = given.cast::<PyBool>() {
        return Ok(Value::Bool(is_true.is_true()));
    }
    if given.cast::<PyString>().is_err() {
        if let Ok(number) = given.extract::<i64>() {
            return Ok(Value::Signed(number));
        }
        if let Ok(number) = given.extract::<u64>() {
            return Ok(Value::Unsigned(number));
        }
        if let Ok(number) = given.extract::<f64>() {
            return Ok(Value::Float(number));
        }
    }
    *room = given.str()?.to_string_lossy().into_owned();
    Ok(Value::Text(room, false))
}

/// Logs a line of a step.
pub fn log(told: &Told, level: &str, text: &str, values: &Bound<'_, PyTuple>) -> PyResult<()> {
    let level = match level {
        "debug" => Level::Debug,
        "info" => Level::Info,
        "warn" => Level::Warn,
        "error" => Level::Error,
        other => {
            return Err(PyValueError::new_err(format!("there is no level {other:?}: debug, info, warn or error")));
        }
    };
    // One more than fit, so that too many are told as such.
    let given: Vec<_> = values.iter().take(MAX_VALUES + 1).collect();
    let mut rooms = vec![String::new(); given.len()];
    let read: Vec<_> = given.iter().zip(&mut rooms).map(|(given, room)| read(given, room)).collect::<PyResult<_>>()?;
    // What does not fit is told in the journal: a robot does not stop for a line.
    let _told = told.cycle()?.try_log(level, text, &read);
    Ok(())
}
