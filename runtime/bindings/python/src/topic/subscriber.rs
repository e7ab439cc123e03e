//! A subscribing end of a topic.

use std::ffi::CStr;
use std::time::Duration;

use horus::topic::{Bytes, Raw, Received, Subscriber as RustSubscriber, Waitable};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};

use super::options::{self, limit};
use super::wait::sliced;
use super::{Carried, DEFAULT_MAXIMUM, End};
use crate::arguments::{Given, unless_none};
use crate::error::{failed, refused};
use crate::exclusive::{Exclusive, Lent};
use crate::message::class::Class;
use crate::message::object::Message;
use crate::methods::{self, Method};
use crate::value::{self, Decoder};

/// What receives.
pub enum Receiver {
    Messages(Box<RustSubscriber<Raw>>, &'static Class, Last),
    Bytes(RustSubscriber<[u8]>, Last),
    Values(RustSubscriber<[u8]>, Last, Decoder),
}

/// What is known of the message that was received last; and an object for the next one, if a look found nothing to fill it.
#[derive(Default)]
pub struct Last {
    pub sequence: u64,
    pub sent_ns: u64,
    pub publisher: usize,
    spare: Option<Py<PyAny>>,
}

impl Last {
    /// Of a message in its place.
    pub fn of(sequence: u64, sent_ns: u64, publisher: usize) -> Self {
        Self { sequence, sent_ns, publisher, spare: None }
    }

    fn note<T>(&mut self, received: &Received<T>) {
        (self.sequence, self.sent_ns, self.publisher) = (received.sequence, received.sent_ns, received.publisher);
    }
}

/// A subscribing end of a topic, for messages of a class, bytes or dicts; docs/python.md has its options. One thread at a time uses it. Raises
/// HorusError when others mean another message by the topic.
#[pyclass(frozen, module = "horus")]
pub struct Subscriber {
    end: Exclusive<End<Receiver>>,
    topic: String,
}

/// What to do before a subscriber with a message in its place is used again.
const HELD: &str = "a message that this subscriber lent is still in use: `del` it and all arrays of it first, or read it in a `with` block";

impl Subscriber {
    /// The end, for one call.
    pub fn lend<'a>(&'a self, py: Python<'_>) -> PyResult<Lent<'a, End<Receiver>>> {
        self.end.lend(py)
    }
}

impl End<Receiver> {
    /// What receives.
    #[inline]
    pub fn open(&mut self) -> PyResult<&mut Receiver> {
        match self {
            Self::Open(receiver) => Ok(receiver),
            Self::Lent => Err(refused(HELD)),
            Self::Closed => Err(refused("this subscriber was closed: open another one")),
        }
    }
}

impl Receiver {
    /// What of it can be waited for.
    pub fn waitable(&mut self) -> Waitable<'_> {
        match self {
            Self::Messages(subscriber, ..) => subscriber.waitable(),
            Self::Bytes(subscriber, _) | Self::Values(subscriber, ..) => subscriber.waitable(),
        }
    }

    fn last(&self) -> &Last {
        match self {
            Self::Messages(_, _, last) | Self::Bytes(_, last) | Self::Values(_, last, _) => last,
        }
    }

    /// The next message, copied.
    #[inline]
    pub fn try_recv<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self {
            Self::Messages(subscriber, class, last) => {
                let message = match last.spare.take() {
                    Some(spare) => spare.into_bound(py),
                    None => Message::zeroed(py, class)?,
                };
                let bytes = Message::of_class(&message, class)?.expect("it is of this class");
                let Some(received) = bytes.with_mut(|bytes| subscriber.try_recv_into(bytes))? else {
                    last.spare = Some(message.unbind());
                    return Ok(None);
                };
                last.note(&received);
                Ok(Some(message))
            }
            Self::Bytes(subscriber, last) => Ok(subscriber.try_recv().map(|received| {
                last.note(&received);
                PyBytes::new(py, received.message).into_any()
            })),
            Self::Values(subscriber, last, decoder) => match subscriber.try_recv() {
                Some(received) => {
                    last.note(&received);
                    decoder.decode(py, received.message).map(Some)
                }
                None => Ok(None),
            },
        }
    }

    fn wait(&mut self, limit: Duration) -> Option<()> {
        match self {
            Self::Messages(subscriber, ..) => subscriber.wait(limit).then_some(()),
            Self::Bytes(subscriber, _) | Self::Values(subscriber, ..) => subscriber.wait(limit).then_some(()),
        }
    }

    /// The next message, copied; waits for it with the GIL released.
    fn recv<'py>(&mut self, py: Python<'py>, limit: Option<Duration>) -> PyResult<Option<Bound<'py, PyAny>>> {
        loop {
            if let Some(message) = self.try_recv(py)? {
                return Ok(Some(message));
            }
            // What it ends with may be the trace of a message that was overwritten: then it goes on waiting.
            if sliced(py, limit, |limit| self.wait(limit))?.is_none() {
                return Ok(None);
            }
        }
    }
}

#[pymethods]
impl Subscriber {
    #[new]
    #[pyo3(signature = (carries, topic, **given))]
    fn new(carries: &Bound<'_, PyAny>, topic: &str, given: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let (options, maximum) = options::read(given)?;
        let (maximum, last) = (maximum.unwrap_or(DEFAULT_MAXIMUM), Last::default());
        let receiver = match Carried::named(carries)? {
            Carried::Messages(class) => Receiver::Messages(
                Box::new(RustSubscriber::<Raw>::open_as(topic, &class.layout, &options).map_err(failed)?),
                class,
                last,
            ),
            Carried::Bytes => Receiver::Bytes(
                RustSubscriber::<[u8]>::open_as(topic, Bytes::up_to(maximum), &options).map_err(failed)?,
                last,
            ),
            Carried::Values => {
                let subscriber =
                    RustSubscriber::<[u8]>::open_as(topic, Bytes::of_type(value::TYPE_NAME, maximum), &options)
                        .map_err(failed)?;
                Receiver::Values(subscriber, last, Decoder::default())
            }
        };
        Ok(Self { end: Exclusive::new("subscriber", End::Open(receiver)), topic: topic.to_owned() })
    }

    #[classmethod]
    fn __class_getitem__<'py>(cls: &Bound<'py, PyType>, of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        cls.py().import("types")?.getattr("GenericAlias")?.call1((cls, of))
    }

    /// Waits until there is something to receive, at most `timeout`: seconds, or a text such as "10 ms". Gives whether there is.
    #[pyo3(signature = (timeout=None))]
    pub fn wait(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let mut end = self.end.lend(py)?;
        let receiver = end.open()?;
        Ok(sliced(py, limit(timeout)?, |limit| receiver.wait(limit))?.is_some())
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut end = self.end.lend(py)?;
        if let End::Closed = *end {
            return Ok(None); // who closes it ends the loop
        }
        end.open()?.recv(py, None)
    }

    /// The next message, awaited by the event loop that runs; None when `timeout` seconds are over. Cancelling it loses no message.
    #[pyo3(signature = (timeout=None))]
    fn recv_async<'py>(slf: &Bound<'py, Self>, timeout: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let seconds = limit(timeout)?.map(|limit| limit.as_secs_f64());
        slf.py().import("horus._async")?.getattr("receive")?.call1((slf, seconds))
    }

    fn __aiter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("horus._async")?.getattr("messages")?.call1((slf,))
    }

    /// How many messages were overwritten before this subscriber got to them, since it joined.
    #[getter]
    fn missed(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(match self.end.lend(py)?.open()? {
            Receiver::Messages(subscriber, ..) => subscriber.missed(),
            Receiver::Bytes(subscriber, _) | Receiver::Values(subscriber, ..) => subscriber.missed(),
        })
    }

    /// The number of the message that was received last, in its publisher's lane.
    #[getter]
    fn sequence(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.end.lend(py)?.open()?.last().sequence)
    }

    /// When it was sent, in nanoseconds on CLOCK_MONOTONIC; 0 when its publisher gave no time.
    #[getter]
    fn sent_ns(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.end.lend(py)?.open()?.last().sent_ns)
    }

    /// The number of the publisher that sent it, in the topic's lanes from 0.
    #[getter]
    fn publisher(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.end.lend(py)?.open()?.last().publisher)
    }

    /// Whether a living process publishes the topic.
    fn is_published(&self, py: Python<'_>) -> PyResult<bool> {
        match self.end.lend(py)?.open()? {
            Receiver::Messages(subscriber, ..) => subscriber.is_published(),
            Receiver::Bytes(subscriber, _) | Receiver::Values(subscriber, ..) => subscriber.is_published(),
        }
        .map_err(failed)
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
        format!("<horus.Subscriber of {}>", self.topic)
    }
}

struct Recv;

impl Method for Recv {
    type On = Subscriber;
    const NAME: &'static CStr = c"recv";
    const DOC: &'static CStr = c"recv($self, /, timeout=None)\n--\n\nWaits for the next message, at most `timeout`: seconds, or a text such as \"10 ms\". None when the time is up.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Subscriber>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [timeout] = given.sorted("recv", ["timeout"], 1)?;
        let py = on.py();
        let message = {
            let mut end = on.get().lend(py)?;
            let receiver = end.open()?;
            match receiver.try_recv(py)? {
                Some(message) => Some(message),
                None => receiver.recv(py, limit(unless_none(timeout).as_deref())?)?,
            }
        };
        Ok(message.unwrap_or_else(|| py.None().into_bound(py)))
    }
}

struct TryRecv;

impl Method for TryRecv {
    type On = Subscriber;
    const NAME: &'static CStr = c"try_recv";
    const DOC: &'static CStr = c"try_recv($self, /)\n--\n\nThe next message, or None when it has not been sent yet.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Subscriber>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [] = given.sorted("try_recv", [], 0)?;
        let py = on.py();
        let message = on.get().lend(py)?.open()?.try_recv(py)?;
        Ok(message.unwrap_or_else(|| py.None().into_bound(py)))
    }
}

/// Adds the class.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Subscriber>()?;
    methods::add::<Recv>(module.py())?;
    methods::add::<TryRecv>(module.py())
}
