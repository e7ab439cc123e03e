//! Services: who asks, and who answers, by messages of classes.

mod client;
mod inside;
mod server;

pub use client::Client;
pub use inside::NodeServer;

use std::time::{Duration, Instant};

use horus::service::{Answer, Options};
use horus::topic::{self, Raw};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator};

use crate::message::class::Class;
use crate::message::object::Message;
use crate::topic::Carried;
use crate::topic::options;

/// How often a part that has no room is tried again.
const ROOM_LOOK: Duration = Duration::from_millis(1);

/// The class that is named; services carry no other kind here.
fn class(of: &Bound<'_, PyAny>) -> PyResult<&'static Class> {
    match Carried::named(of)? {
        Carried::Messages(class) => Ok(class),
        Carried::Bytes | Carried::Values => {
            Err(PyTypeError::new_err(format!("requests and answers are of classes of messages, and {of} is none")))
        }
    }
}

/// The classes of a service.
#[derive(Clone, Copy)]
pub struct Classes {
    pub requests: &'static Class,
    pub answers: &'static Class,
}

impl Classes {
    /// Those that are named.
    pub fn named(requests: &Bound<'_, PyAny>, answers: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { requests: class(requests)?, answers: class(answers)? })
    }

    /// Has a function of Python answer a request: by what it returns, or by all that its generator yields, or not at all. A part waits for room no
    /// longer than `patience`.
    pub fn answer(
        self,
        handler: &Bound<'_, PyAny>,
        request: &[u8],
        mut answer: Answer<'_, Raw>,
        patience: Duration,
    ) -> PyResult<()> {
        let said = handler.call1((object(handler.py(), self.requests, request)?,))?;
        if said.is_none() {
            return Ok(());
        }
        // A client that does not look has no room: that is counted.
        let Ok(parts) = said.cast::<PyIterator>() else {
            let _ = answer.send(&bytes_of(&said, self.answers)?);
            return Ok(());
        };
        for part in parts {
            let bytes = bytes_of(&part?, self.answers)?;
            let end = Instant::now() + patience;
            while answer.part(&bytes).is_err() {
                if Instant::now() >= end {
                    return Ok(()); // the caller does not look, and is told that the answer breaks off
                }
                handler.py().detach(|| std::thread::park_timeout(ROOM_LOOK));
                handler.py().check_signals()?;
            }
        }
        answer.end();
        Ok(())
    }
}

/// The options that a service has of a topic's, and its own.
pub fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    for name in given.map(PyDictMethods::keys).iter().flatten() {
        let name: String = name.extract()?;
        if !matches!(name.as_str(), "group" | "directory" | "wait_strategy" | "shared" | "clients") {
            let there = "there are group, directory, wait_strategy, shared, clients";
            return Err(PyTypeError::new_err(format!("a service has no option {name}: {there}")));
        }
    }
    let Some(given) = given else { return Ok(Options::default()) };
    let of_topic = given.copy()?;
    let is_shared = match given.get_item("shared")? {
        Some(shared) => {
            of_topic.del_item("shared")?;
            shared.is_truthy()?
        }
        None => false,
    };
    let clients = match given.get_item("clients")? {
        Some(clients) => {
            of_topic.del_item("clients")?;
            clients.extract()?
        }
        None => 0,
    };
    let (topic, _): (topic::Options, _) = options::read(Some(&of_topic))?;
    let options = Options::of_topic(topic).clients(clients);
    Ok(if is_shared { options.shared() } else { options })
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
    module.add_class::<NodeServer>()?;
    module.add_class::<client::Client>()?;
    module.add_class::<client::Pending>()
}
