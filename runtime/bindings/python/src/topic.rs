//! Topics: their ends, what they lend of their memory, and waiting.

mod any;
mod lending;
mod lent;
pub mod options;
mod publisher;
mod subscriber;
mod wait;

pub use wait::sliced;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyType};

use crate::message::class::Class;
use crate::message::known;
use crate::message::object::Message;

pub use publisher::{bytes_of, other_class};

/// What a topic carries.
#[derive(Clone, Copy)]
pub enum Carried {
    /// Messages of a class.
    Messages(&'static Class),
    /// Bytes of any length up to a maximum.
    Bytes,
    /// What `value` can encode.
    Values,
}

/// The longest message of bytes or value, where the program says none.
pub const DEFAULT_MAXIMUM: usize = 4096;

impl Carried {
    /// By what a program names in Python: a class of messages, `bytes`, or `dict`, `list` and `object` for values.
    pub fn named(of: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = of.py();
        let of = of.cast::<PyType>().map_err(|_| {
            PyTypeError::new_err(format!("a topic carries a class of messages, bytes or dict, and {of} is no class"))
        })?;
        if of.is(py.get_type::<PyBytes>()) {
            return Ok(Self::Bytes);
        }
        for name in ["dict", "list", "object"] {
            if of.is(py.import("builtins")?.getattr(name)?) {
                return Ok(Self::Values);
            }
        }
        known::of_type(of).map(Self::Messages)
    }

    /// By a message that a topic of its kind carries; nothing where its class does not say that.
    pub fn by(message: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        if let Some((class, _)) = Message::of(message)? {
            return Ok(Some(Self::Messages(class)));
        }
        Ok(match message {
            message if message.is_instance_of::<PyBytes>() => Some(Self::Bytes),
            message if message.is_instance_of::<PyDict>() || message.is_instance_of::<PyList>() => Some(Self::Values),
            _ => None,
        })
    }
}

/// An end of a topic, in the states that Python can bring it to.
pub enum End<T> {
    /// It can be used.
    Open(T),
    /// A message that it lent is in use.
    Lent,
    /// `close` ended it.
    Closed,
}

/// Adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    publisher::add_to(module)?;
    subscriber::add_to(module)?;
    lending::add_to(module)?;
    module.add_function(wrap_pyfunction!(any::wait_any, module)?)?;
    module.add_function(wrap_pyfunction!(wait::interpreter_ends, module)?)?;
    let at_exit = module.py().import("atexit")?;
    at_exit.call_method1("register", (module.getattr("interpreter_ends")?,))?;
    let of_a_child = PyDict::new(module.py());
    of_a_child.set_item("after_in_child", wrap_pyfunction!(wait::forget_threads, module)?)?;
    module.py().import("os")?.call_method("register_at_fork", (), Some(&of_a_child))?;
    Ok(())
}
