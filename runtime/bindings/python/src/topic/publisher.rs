//! The publishing end of a topic.

use std::ffi::CStr;
use std::time::Duration;

use horus::topic::{Bytes, DeliveryPolicy, Publisher as RustPublisher, Raw, SendError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyType};

use super::options::{self, limit};
use super::wait::sliced;
use super::{Carried, DEFAULT_MAXIMUM, End};
use crate::arguments::{Given, unless_none};
use crate::error::{failed, refused};
use crate::exclusive::{Exclusive, Lent};
use crate::message::class::Class;
use crate::message::object::Message;
use crate::methods::{self, Method};
use crate::value;

/// What sends.
pub enum Sender {
    Messages(Box<RustPublisher<Raw>>, &'static Class),
    Bytes(RustPublisher<[u8]>),
    /// With the room where a value is encoded.
    Values(RustPublisher<[u8]>, Vec<u8>),
}

/// The publishing end of a topic, for messages of a class, bytes or dicts; docs/python.md has its options. One thread at a time uses it. Raises
/// HorusError when others mean another message by the topic.
#[pyclass(frozen, module = "horus")]
pub struct Publisher {
    end: Exclusive<End<Sender>>,
    topic: String,
}

/// Why nothing was sent.
const FULL: &str = "the topic is full: a subscriber has yet to read its oldest message; try again or wait";

impl Publisher {
    /// The end, for one call.
    #[inline]
    pub fn lend<'a>(&'a self, py: Python<'_>) -> PyResult<Lent<'a, End<Sender>>> {
        self.end.lend(py)
    }
}

impl End<Sender> {
    /// What sends.
    #[inline]
    pub fn open(&mut self) -> PyResult<&mut Sender> {
        match self {
            Self::Open(sender) => Ok(sender),
            Self::Lent => Err(refused("a message of this publisher is lent to be written: end its `with` block first")),
            Self::Closed => Err(refused("this publisher was closed: open another one")),
        }
    }
}

impl Sender {
    /// Whether there was room.
    #[inline]
    fn try_send(&mut self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self {
            Self::Messages(publisher, class) => {
                let bytes = Message::of_class(value, class)?.ok_or_else(|| other_class(value, class))?;
                Ok(bytes.with(|bytes| publisher.try_send(bytes)).is_ok())
            }
            Self::Bytes(publisher) => sent(publisher.try_send(bytes_of(value)?)),
            Self::Values(publisher, room) => {
                room.clear();
                value::encode(value, room)?;
                sent(publisher.try_send(&*room))
            }
        }
    }

    /// Waits for room, with the GIL released, and sends.
    fn send(&mut self, value: &Bound<'_, PyAny>, limit: Option<Duration>) -> PyResult<bool> {
        let py = value.py();
        let done = match self {
            Self::Messages(publisher, class) => {
                let message = Message::of_class(value, class)?.ok_or_else(|| other_class(value, class))?.to_vec();
                sliced(py, limit, |limit| publisher.send_timeout(&message, limit).is_ok().then_some(Ok(true)))
            }
            Self::Bytes(publisher) => {
                let bytes = bytes_of(value)?.to_vec();
                sliced(py, limit, |limit| unless_full(publisher.send_timeout(&bytes, limit)))
            }
            // It was encoded when there was no room for it.
            Self::Values(publisher, room) => {
                sliced(py, limit, |limit| unless_full(publisher.send_timeout(&*room, limit)))
            }
        };
        done?.unwrap_or(Ok(false)).map_err(failed)
    }

    fn delivery_policy(&self) -> DeliveryPolicy {
        match self {
            Self::Messages(publisher, _) => publisher.delivery_policy(),
            Self::Bytes(publisher) | Self::Values(publisher, _) => publisher.delivery_policy(),
        }
    }
}

fn sent(done: Result<(), SendError>) -> PyResult<bool> {
    unless_full(done).unwrap_or(Ok(false)).map_err(failed)
}

fn unless_full(done: Result<(), SendError>) -> Option<Result<bool, SendError>> {
    match done {
        Ok(()) => Some(Ok(true)),
        Err(SendError::Full) => None,
        Err(error) => Some(Err(error)),
    }
}

/// The bytes of an object that has to be bytes.
pub fn bytes_of<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    value.extract().map_err(|_| PyTypeError::new_err(format!("this topic carries bytes, and not {}", value.get_type())))
}

/// Why an object is not sent that is no message of a class.
#[cold]
pub fn other_class(value: &Bound<'_, PyAny>, class: &Class) -> PyErr {
    PyTypeError::new_err(format!("this topic carries {}, and not {}", class.layout.type_name(), value.get_type()))
}

#[pymethods]
impl Publisher {
    #[new]
    #[pyo3(signature = (carries, topic, **given))]
    fn new(carries: &Bound<'_, PyAny>, topic: &str, given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let (options, maximum) = options::read(given)?;
        let maximum = maximum.unwrap_or(DEFAULT_MAXIMUM);
        let sender = match Carried::named(carries)? {
            Carried::Messages(class) => Sender::Messages(
                Box::new(RustPublisher::<Raw>::open_as(topic, &class.layout, &options).map_err(failed)?),
                class,
            ),
            Carried::Bytes => {
                Sender::Bytes(RustPublisher::<[u8]>::open_as(topic, Bytes::up_to(maximum), &options).map_err(failed)?)
            }
            Carried::Values => {
                let publisher =
                    RustPublisher::<[u8]>::open_as(topic, Bytes::of_type(value::TYPE_NAME, maximum), &options)
                        .map_err(failed)?;
                Sender::Values(publisher, Vec::with_capacity(maximum))
            }
        };
        Ok(Self { end: Exclusive::new("publisher", End::Open(sender)), topic: topic.to_owned() })
    }

    #[classmethod]
    fn __class_getitem__<'py>(cls: &Bound<'py, PyType>, of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        cls.py().import("types")?.getattr("GenericAlias")?.call1((cls, of))
    }

    /// How many living subscribers the topic has.
    fn subscribers(&self, py: Python<'_>) -> PyResult<usize> {
        match self.end.lend(py)?.open()? {
            Sender::Messages(publisher, _) => publisher.subscribers(),
            Sender::Bytes(publisher) | Sender::Values(publisher, _) => publisher.subscribers(),
        }
        .map_err(failed)
    }

    /// Takes dead subscribers off the topic, so that they hold it no longer; how many.
    fn reap_dead_subscribers(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(match self.end.lend(py)?.open()? {
            Sender::Messages(publisher, _) => publisher.reap_dead_subscribers(),
            Sender::Bytes(publisher) | Sender::Values(publisher, _) => publisher.reap_dead_subscribers(),
        })
    }

    /// Leaves the topic. What is used after that raises HorusError.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut end = self.end.lend(py)?;
        if let End::Lent = *end {
            end.open()?;
        }
        *end = End::Closed;
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }

    /// The topic's name.
    #[getter]
    fn topic(&self) -> &str {
        &self.topic
    }

    fn __repr__(&self) -> String {
        format!("<horus.Publisher of {}>", self.topic)
    }
}

struct Send;

impl Method for Send {
    type On = Publisher;
    const NAME: &'static CStr = c"send";
    const DOC: &'static CStr = c"send($self, /, message, timeout=None)\n--\n\nSends a message. On a reliable topic it waits for room, at most `timeout` seconds; then, or at once on a `latest` topic all of whose messages are held, it raises HorusError.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Publisher>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let (message, timeout) = match given.only() {
            Some(message) => (message, None),
            None => {
                let [message, timeout] = given.sorted("send", ["message", "timeout"], 2)?;
                (message.ok_or_else(no_message)?, unless_none(timeout))
            }
        };
        let py = on.py();
        if !on.get().lend(py)?.open()?.try_send(&message)? {
            send_waiting(on.get(), &message, timeout)?;
        }
        Ok(py.None().into_bound(py))
    }
}

/// There was no room.
#[cold]
fn send_waiting(on: &Publisher, message: &Bound<'_, PyAny>, timeout: Option<Borrowed<'_, '_, PyAny>>) -> PyResult<()> {
    let mut end = on.lend(message.py())?;
    let sender = end.open()?;
    let limit = limit(timeout.as_deref())?;
    let may_wait = limit.is_some() || sender.delivery_policy() == DeliveryPolicy::Reliable;
    if may_wait && sender.send(message, limit)? { Ok(()) } else { Err(refused(FULL)) }
}

struct TrySend;

impl Method for TrySend {
    type On = Publisher;
    const NAME: &'static CStr = c"try_send";
    const DOC: &'static CStr =
        c"try_send($self, /, message)\n--\n\nSends a message if there is room for it; whether there was.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Publisher>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [message] = given.sorted("try_send", ["message"], 1)?;
        let py = on.py();
        let was_room = on.get().lend(py)?.open()?.try_send(&*message.ok_or_else(no_message)?)?;
        Ok(PyBool::new(py, was_room).to_owned().into_any())
    }
}

#[cold]
fn no_message() -> PyErr {
    PyTypeError::new_err("no message is given")
}

/// Adds the class.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Publisher>()?;
    methods::add::<Send>(module.py())?;
    methods::add::<TrySend>(module.py())
}
