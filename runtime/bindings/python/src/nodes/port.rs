//! Inputs and outputs of a node.

use std::ffi::CStr;

use horus::port;
use horus::topic::{Raw, Received, SendError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyType};

use crate::arguments::Given;
use crate::error::{failed, refused};
use crate::exclusive::Exclusive;
use crate::life::Life;
use crate::message::class::Class;
use crate::message::object::Message;
use crate::methods::{self, Method};
use crate::topic::{bytes_of, other_class};
use crate::value::{self, Decoder};

#[inline]
fn goes_on(life: &Life, port: &str) -> PyResult<()> {
    if life.has_ended() { Err(has_ended(port)) } else { Ok(()) }
}

#[cold]
fn has_ended(port: &str) -> PyErr {
    refused(format!(
        "the program of this {port} has ended: use a horus.Publisher or horus.Subscriber outside of programs"
    ))
}

/// What reads.
pub enum Reader {
    Messages(port::Input<Raw>, &'static Class),
    Bytes(port::Input<[u8]>),
    Values(port::Input<[u8]>, Decoder),
}

impl Reader {
    fn missed(&self) -> u64 {
        match self {
            Self::Messages(input, _) => input.missed(),
            Self::Bytes(input) | Self::Values(input, _) => input.missed(),
        }
    }
}

/// The end of a topic that a node reads. Only the steps of its node use it, and no thread after the program has ended.
#[pyclass(frozen, module = "horus")]
pub struct Input {
    input: Exclusive<(Reader, Option<Received<()>>)>,
    life: Life,
}

impl Input {
    pub fn new(reader: Reader, life: Life) -> Self {
        Self { input: Exclusive::new("input", (reader, None)), life }
    }

    /// What is found, as an object of Python: by the first look on an input of messages, and by the second one on one of bytes or values.
    #[inline]
    fn read<'py>(
        &self,
        py: Python<'py>,
        of_messages: impl FnOnce(&mut port::Input<Raw>) -> Option<Received<&[u8]>>,
        of_bytes: impl FnOnce(&mut port::Input<[u8]>) -> Option<Received<&[u8]>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        goes_on(&self.life, "input")?;
        let mut input = self.input.lend(py)?;
        let (reader, last) = &mut *input;
        let (found, how) = match reader {
            Reader::Messages(input, class) => (of_messages(input), How::Message(class)),
            Reader::Bytes(input) => (of_bytes(input), How::Bytes),
            Reader::Values(input, decoder) => (of_bytes(input), How::Value(decoder)),
        };
        let Some(received) = found else { return Ok(None) };
        *last = Some(received.map(|_| ()));
        let object = match how {
            How::Message(class) => {
                let message = Message::zeroed(py, class)?;
                Message::of_class(&message, class)?.expect("it is of this class").write(received.message)?;
                message
            }
            How::Bytes => PyBytes::new(py, received.message).into_any(),
            How::Value(decoder) => decoder.decode(py, received.message)?,
        };
        Ok(Some(object))
    }
}

/// How bytes become an object.
enum How<'a> {
    Message(&'static Class),
    Bytes,
    Value(&'a mut Decoder),
}

#[pymethods]
impl Input {
    #[classmethod]
    fn __class_getitem__<'py>(cls: &Bound<'py, PyType>, of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        cls.py().import("types")?.getattr("GenericAlias")?.call1((cls, of))
    }

    /// The messages that came and were not read yet, each once, the oldest first.
    fn messages(slf: Bound<'_, Self>) -> Messages {
        Messages(slf.unbind())
    }

    /// How many messages were overwritten before they were read.
    #[getter]
    fn missed(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.input.lend(py)?.0.missed())
    }

    /// When the message that was read last was sent, in nanoseconds on CLOCK_MONOTONIC; 0 before the first one.
    #[getter]
    fn sent_ns(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.input.lend(py)?.1.map_or(0, |received| received.sent_ns))
    }

    /// The number of that message in its publisher's lane.
    #[getter]
    fn sequence(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.input.lend(py)?.1.map_or(0, |received| received.sequence))
    }
}

/// The messages of an input.
#[pyclass(frozen, module = "horus._horus")]
pub struct Messages(Py<Input>);

#[pymethods]
impl Messages {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.get().read(py, port::Input::<Raw>::try_recv, port::Input::<[u8]>::try_recv)
    }
}

/// What writes.
pub enum Writer {
    Messages(port::Output<Raw>, &'static Class),
    Bytes(port::Output<[u8]>),
    /// With the room where a value is encoded.
    Values(port::Output<[u8]>, Vec<u8>),
}

impl Writer {
    /// Whether the message was taken. What is no message of the topic is counted, and raised.
    #[inline]
    fn set(&mut self, message: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (output, bytes) = match self {
            Self::Messages(output, class) => {
                let bytes = Message::of_class(message, class)?.ok_or_else(|| other_class(message, class))?;
                return Ok(bytes.with(|bytes| output.try_set(bytes)).is_taken());
            }
            Self::Bytes(output) => (output, bytes_of(message)?),
            Self::Values(output, room) => {
                room.clear();
                value::encode(message, room)?;
                (output, &room[..])
            }
        };
        match output.try_set(bytes) {
            port::Set::Invalid => {
                Err(failed(SendError::TooLong { bytes: bytes.len(), maximum: output.message_bytes() }))
            }
            set => Ok(set.is_taken()),
        }
    }

    fn lost(&self) -> port::Lost {
        match self {
            Self::Messages(output, _) => output.lost(),
            Self::Bytes(output) | Self::Values(output, _) => output.lost(),
        }
    }
}

/// The end of a topic that a node writes. Only the steps of its node use it, and no thread after the program has ended.
#[pyclass(frozen, module = "horus")]
pub struct Output {
    output: Exclusive<Writer>,
    life: Life,
}

impl Output {
    pub fn new(writer: Writer, life: Life) -> Self {
        Self { output: Exclusive::new("output", writer), life }
    }
}

/// Messages that an output did not publish, by their cause.
#[pyclass(frozen, get_all, module = "horus")]
pub struct Lost {
    /// They found the topic full: a subscriber of a reliable one has yet to read, or subscribers hold what stands in their place.
    full: u64,
    /// They were more than the topic holds in one step.
    beyond: u64,
    /// Of a step whose outcome was discarded: it raised, or a monitor took its place.
    discarded: u64,
    /// They were set while no step could.
    outside: u64,
    /// They were no messages of the topic: bytes or a value, and longer than its maximum.
    invalid: u64,
}

#[pymethods]
impl Lost {
    fn __repr__(&self) -> String {
        let Self { full, beyond, discarded, outside, invalid } = self;
        format!("Lost(full={full}, beyond={beyond}, discarded={discarded}, outside={outside}, invalid={invalid})")
    }
}

#[pymethods]
impl Output {
    #[classmethod]
    fn __class_getitem__<'py>(cls: &Bound<'py, PyType>, of: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        cls.py().import("types")?.getattr("GenericAlias")?.call1((cls, of))
    }

    /// What was set on this output and not published, by its cause, since the program began.
    #[getter]
    fn lost(&self, py: Python<'_>) -> PyResult<Lost> {
        let port::Lost { full, beyond, discarded, outside, invalid } = self.output.lend(py)?.lost();
        Ok(Lost { full, beyond, discarded, outside, invalid })
    }
}

struct Latest;

impl Method for Latest {
    type On = Input;
    const NAME: &'static CStr = c"latest";
    const DOC: &'static CStr = c"latest($self, /)\n--\n\nThe newest message that has come; None before the first one.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Input>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [] = given.sorted("latest", [], 0)?;
        let py = on.py();
        Ok(on
            .get()
            .read(py, port::Input::<Raw>::latest_received, port::Input::<[u8]>::latest_received)?
            .unwrap_or_else(|| py.None().into_bound(py)))
    }
}

struct Fresh;

impl Method for Fresh {
    type On = Input;
    const NAME: &'static CStr = c"fresh";
    const DOC: &'static CStr = c"fresh($self, /)\n--\n\nThe newest message, if it came since the last look.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Input>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [] = given.sorted("fresh", [], 0)?;
        let py = on.py();
        Ok(on
            .get()
            .read(py, port::Input::<Raw>::fresh_received, port::Input::<[u8]>::fresh_received)?
            .unwrap_or_else(|| py.None().into_bound(py)))
    }
}

struct Set;

impl Method for Set {
    type On = Output;
    const NAME: &'static CStr = c"set";
    const DOC: &'static CStr = c"set($self, /, message)\n--\n\nSets a message, which is published when the step returns; gives whether there was room for it. One that is not taken is counted by `lost`.";

    #[inline]
    fn call<'py>(on: &Bound<'py, Output>, given: Given<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let [message] = given.sorted("set", ["message"], 1)?;
        let Some(message) = message else { return Err(PyTypeError::new_err("no message is given")) };
        let py = on.py();
        goes_on(&on.get().life, "output")?;
        let is_taken = on.get().output.lend(py)?.set(&message)?;
        Ok(PyBool::new(py, is_taken).to_owned().into_any())
    }
}

/// Adds the classes.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add_class::<Input>()?;
    module.add_class::<Output>()?;
    module.add_class::<Messages>()?;
    module.add_class::<Lost>()?;
    methods::add::<Latest>(py)?;
    methods::add::<Fresh>(py)?;
    methods::add::<Set>(py)
}
