//! Inputs and outputs of a node.

use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use horus::port;
use horus::topic::{Raw, Received};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyType};

use crate::arguments::Given;
use crate::error::refused;
use crate::exclusive::Exclusive;
use crate::message::class::Class;
use crate::message::object::Message;
use crate::methods::{self, Method};

/// Whether a program goes on, which its ports ask: nothing is published or read by one that is kept for longer.
#[derive(Clone, Default)]
pub struct Life(Arc<AtomicBool>);

impl Life {
    /// The program has ended.
    pub fn end(&self) {
        self.0.store(true, Ordering::Relaxed); // the GIL's holder says it, and asks for it
    }

    #[inline]
    fn goes_on(&self, port: &str) -> PyResult<()> {
        if self.0.load(Ordering::Relaxed) { Err(has_ended(port)) } else { Ok(()) }
    }
}

#[cold]
fn has_ended(port: &str) -> PyErr {
    refused(format!(
        "the program of this {port} has ended: use a horus.Publisher or horus.Subscriber outside of programs"
    ))
}

/// The end of a topic that a node reads. Only the steps of its node use it, and no thread after the program has ended.
#[pyclass(frozen, module = "horus")]
pub struct Input {
    input: Exclusive<(port::Input<Raw>, Option<Received<()>>)>,
    class: &'static Class,
    life: Life,
}

impl Input {
    pub fn new(input: port::Input<Raw>, class: &'static Class, life: Life) -> Self {
        Self { input: Exclusive::new("input", (input, None)), class, life }
    }

    #[inline]
    fn read<'py>(
        &self,
        py: Python<'py>,
        look: impl FnOnce(&mut port::Input<Raw>) -> Option<Received<&[u8]>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.life.goes_on("input")?;
        let mut input = self.input.lend(py)?;
        let (input, last) = &mut *input;
        let Some(received) = look(input) else { return Ok(None) };
        *last = Some(received.map(|_| ()));
        let message = Message::zeroed(py, self.class)?;
        Message::of_class(&message, self.class)?.expect("it is of this class").write(received.message)?;
        Ok(Some(message))
    }
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
        self.0.get().read(py, port::Input::<Raw>::try_recv)
    }
}

/// The end of a topic that a node writes. Only the steps of its node use it, and no thread after the program has ended.
#[pyclass(frozen, module = "horus")]
pub struct Output {
    output: Exclusive<port::Output<Raw>>,
    class: &'static Class,
    life: Life,
}

impl Output {
    pub fn new(output: port::Output<Raw>, class: &'static Class, life: Life) -> Self {
        Self { output: Exclusive::new("output", output), class, life }
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
}

#[pymethods]
impl Lost {
    fn __repr__(&self) -> String {
        let Self { full, beyond, discarded, outside } = self;
        format!("Lost(full={full}, beyond={beyond}, discarded={discarded}, outside={outside})")
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
        let counted = self.output.lend(py)?.lost();
        Ok(Lost { full: counted.full, beyond: counted.beyond, discarded: counted.discarded, outside: counted.outside })
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
        Ok(on.get().read(py, port::Input::<Raw>::latest_received)?.unwrap_or_else(|| py.None().into_bound(py)))
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
        Ok(on.get().read(py, port::Input::<Raw>::fresh_received)?.unwrap_or_else(|| py.None().into_bound(py)))
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
        let (py, class) = (on.py(), on.get().class);
        let Some(bytes) = Message::of_class(&message, class)? else {
            let wanted = class.layout.type_name();
            return Err(PyTypeError::new_err(format!("this output carries {wanted}, and not {}", message.get_type())));
        };
        on.get().life.goes_on("output")?;
        let mut output = on.get().output.lend(py)?;
        Ok(PyBool::new(py, bytes.with(|bytes| output.try_set(bytes)).is_taken()).to_owned().into_any())
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
