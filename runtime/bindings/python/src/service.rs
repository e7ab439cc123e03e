//! Services: who asks, and who answers, by messages of classes.

mod client;
mod server;

use horus::service::Options;
use horus::topic;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::message::class::Class;
use crate::message::object::Message;
use crate::topic::Carried;
use crate::topic::options;

/// The class that is named; services carry no other kind here.
fn class(of: &Bound<'_, PyAny>) -> PyResult<&'static Class> {
    match Carried::named(of)? {
        Carried::Messages(class) => Ok(class),
        Carried::Bytes | Carried::Values => {
            Err(PyTypeError::new_err(format!("requests and answers are of classes of messages, and {of} is none")))
        }
    }
}

/// The options that a service has of a topic's.
fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    for name in given.map(PyDictMethods::keys).iter().flatten() {
        let name: String = name.extract()?;
        if !matches!(name.as_str(), "group" | "directory" | "wait_strategy") {
            let there = "there are group, directory, wait_strategy";
            return Err(PyTypeError::new_err(format!("a service has no option {name}: {there}")));
        }
    }
    let (topic, _): (topic::Options, _) = options::read(given)?;
    Ok(Options::of_topic(topic))
}

/// The bytes of an object that has to be of this class.
fn bytes_of(object: &Bound<'_, PyAny>, class: &'static Class) -> PyResult<Vec<u8>> {
    let bytes = Message::of_class(object, class)?.ok_or_else(|| {
        PyTypeError::new_err(format!("the service wants {}, and not {}", class.layout.type_name(), object.get_type()))
    })?;
    Ok(bytes.to_vec())
}

/// An object of these bytes.
fn object<'py>(py: Python<'py>, class: &'static Class, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let message = Message::zeroed(py, class)?;
    let into = Message::of_class(&message, class)?.expect("it is of this class");
    into.with_mut(|into| into.copy_from_slice(bytes))?;
    Ok(message)
}

/// Adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<server::Server>()?;
    module.add_class::<client::Client>()?;
    module.add_class::<client::Pending>()
}
