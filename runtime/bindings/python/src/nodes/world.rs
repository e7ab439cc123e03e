//! Virtual time, for the tests of programs of nodes.

use std::path::PathBuf;

use horus::figures::State;
use horus::topic::{Bytes, Raw};
use horus::world::{Unbuilt, VirtualWorld};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::app::{App, caught};
use super::step::Failures;
use crate::error::{failed, refused};
use crate::life::Life;
use crate::message::object::Message;
use crate::param::value_of;
use crate::topic::options::duration;
use crate::topic::{Carried, DEFAULT_MAXIMUM, bytes_of, other_class};
use crate::value::{self, Decoder};

/// The nodes of a program in virtual time: step by step, faster than real time, the same each time. `declare` is called with the App that declares
/// them, and `settings` is a node.toml. Raises HorusError when they are refused. The thread that made it uses it.
#[pyclass(unsendable, module = "horus")]
pub struct World {
    world: VirtualWorld,
    failures: Failures,
    life: Life,
}

impl Drop for World {
    fn drop(&mut self) {
        self.life.end();
    }
}

/// What was counted of a node.
#[pyclass(frozen, get_all, module = "horus")]
pub struct Tally {
    /// Cycles that ran to completion.
    cycles: u64,
    /// Cycles that completed late, and skipped releases.
    misses: u64,
    /// Releases that were skipped; contained in `misses`.
    skipped: u64,
    /// The longest run of consecutive releases that were missed.
    max_consecutive: u64,
    /// The longest response time, in nanoseconds.
    max_response_ns: u64,
    /// The largest release jitter, in nanoseconds.
    max_jitter_ns: u64,
}

#[pymethods]
impl Tally {
    fn __repr__(&self) -> String {
        format!("<horus.Tally of {} cycles, {} misses>", self.cycles, self.misses)
    }
}

impl World {
    fn known<'a>(&self, node: &'a str) -> PyResult<&'a str> {
        if self.world.has_node(node) { Ok(node) } else { Err(refused(format!("the world has no node {node}"))) }
    }
}

#[cold]
fn no_message(given: &Bound<'_, PyAny>) -> PyErr {
    let kind = given.get_type();
    PyTypeError::new_err(format!(
        "a message of a class, bytes, a dict or a list is published, and not {kind}: for another value, give of=object"
    ))
}

#[pymethods]
impl World {
    /// The nodes that `declare` declares with the App that it is given. No time has passed. `settings` is a node.toml.
    #[new]
    #[pyo3(signature = (declare, settings=None))]
    fn new(declare: &Bound<'_, PyAny>, settings: Option<PathBuf>) -> PyResult<Self> {
        let py = declare.py();
        let app = py.import("horus._app")?.getattr("in_virtual_time")?;
        let unbuilt = Unbuilt::new(settings.as_deref()).map_err(failed)?;
        let inside = unbuilt.inside();
        let inner = Bound::new(py, App::in_virtual_time(unbuilt))?;
        declare.call1((app.call1((&inner,))?,))?;
        drop(inside);
        let (world, failures, life) = inner.get().build(py)?;
        Ok(Self { world, failures, life })
    }

    /// The time that has passed, in nanoseconds.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.world.elapsed().as_nanos() as u64
    }

    /// Lets time pass, seconds or a text such as "10 ms", in which the nodes run; raises what a step raises.
    fn run_for(&mut self, py: Python<'_>, span: &Bound<'_, PyAny>) -> PyResult<()> {
        let span = duration(span)?;
        let Self { world, failures, .. } = self;
        caught(py, failures, || {
            world.run_for(span);
            Ok(())
        })
    }

    /// Publishes a message, as another program would. Raises HorusError when the topic carries another one. A message of a class, bytes, a dict and a
    /// list say what the topic carries; for any other value, give `of=object`. Bytes and values have at most `maximum` bytes, 4096 if not said
    /// otherwise.
    #[pyo3(signature = (topic, message, *, of=None, maximum=None))]
    fn publish(
        &mut self,
        topic: &str,
        message: &Bound<'_, PyAny>,
        of: Option<&Bound<'_, PyAny>>,
        maximum: Option<usize>,
    ) -> PyResult<()> {
        let carried = match of {
            Some(of) => Carried::named(of)?,
            None => Carried::by(message)?.ok_or_else(|| no_message(message))?,
        };
        let (world, maximum) = (&mut self.world, maximum.unwrap_or(DEFAULT_MAXIMUM));
        match carried {
            Carried::Messages(class) => {
                let bytes = Message::of_class(message, class)?.ok_or_else(|| other_class(message, class))?.to_vec();
                world.publish_as::<Raw>(topic, &class.layout, bytes)
            }
            Carried::Bytes => world.publish_as::<[u8]>(topic, Bytes::up_to(maximum), bytes_of(message)?),
            Carried::Values => {
                let mut bytes = Vec::new();
                value::encode(message, &mut bytes)?;
                world.publish_as::<[u8]>(topic, Bytes::of_type(value::TYPE_NAME, maximum), bytes)
            }
        }
        .map_err(failed)
    }

    /// The newest message of a topic, which carries a class of messages, bytes or dicts; None while there is none. Bytes and values have at most
    /// `maximum` bytes, 4096 if not said otherwise.
    #[pyo3(signature = (of, topic, *, maximum=None))]
    fn last<'py>(
        &mut self,
        of: &Bound<'py, PyAny>,
        topic: &str,
        maximum: Option<usize>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (py, carried, maximum) = (of.py(), Carried::named(of)?, maximum.unwrap_or(DEFAULT_MAXIMUM));
        let found = match carried {
            Carried::Messages(class) => self.world.last_as::<Raw>(topic, &class.layout),
            Carried::Bytes => self.world.last_as::<[u8]>(topic, Bytes::up_to(maximum)),
            Carried::Values => self.world.last_as::<[u8]>(topic, Bytes::of_type(value::TYPE_NAME, maximum)),
        };
        let Some(bytes) = found.map_err(failed)? else { return Ok(None) };
        let message = match carried {
            Carried::Messages(class) => {
                let message = Message::zeroed(py, class)?;
                Message::of_class(&message, class)?.expect("it is of this class").write(bytes)?;
                message
            }
            Carried::Bytes => PyBytes::new(py, bytes).into_any(),
            Carried::Values => Decoder::default().decode(py, bytes)?,
        };
        Ok(Some(message))
    }

    /// Sets a parameter of a node, as `horus param set` does; the node has it from its next step on. Raises HorusError when there is none of this
    /// name, or it may not have this value; nothing changes then.
    fn set_param(&mut self, node: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.world.set_param(node, name, value_of(value)?).map_err(failed)
    }

    /// Has a node wake up so long after its releases, seconds or a text such as "5 ms", for so many cycles or for ever.
    #[pyo3(signature = (node, lateness, cycles=None))]
    fn delay(&mut self, node: &str, lateness: &Bound<'_, PyAny>, cycles: Option<u64>) -> PyResult<()> {
        let scripted = self.known(node).and_then(|node| Ok((node, duration(lateness)?)))?;
        let scripted = self.world.delay(scripted.0, scripted.1);
        if let Some(cycles) = cycles {
            scripted.for_cycles(cycles);
        }
        Ok(())
    }

    /// Has a node's steps take so long, seconds or a text such as "5 ms", for so many cycles or for ever.
    #[pyo3(signature = (node, execution_time, cycles=None))]
    fn takes(&mut self, node: &str, execution_time: &Bound<'_, PyAny>, cycles: Option<u64>) -> PyResult<()> {
        let scripted = self.known(node).and_then(|node| Ok((node, duration(execution_time)?)))?;
        let scripted = self.world.takes(scripted.0, scripted.1);
        if let Some(cycles) = cycles {
            scripted.for_cycles(cycles);
        }
        Ok(())
    }

    /// Has the next so many messages of a topic never come to the inputs of the program.
    fn lose(&mut self, topic: &str, messages: u64) -> PyResult<()> {
        if !self.world.has_input(topic) {
            return Err(refused(format!("no node of the world reads topic {topic}")));
        }
        self.world.lose(topic, messages);
        Ok(())
    }

    /// The account of a node.
    fn tally(&self, node: &str) -> PyResult<Tally> {
        let tally = self.world.tally(self.known(node)?);
        Ok(Tally {
            cycles: tally.cycles,
            misses: tally.misses,
            skipped: tally.skipped,
            max_consecutive: tally.max_consecutive,
            max_response_ns: tally.max_response.as_nanos() as u64,
            max_jitter_ns: tally.max_jitter.as_nanos() as u64,
        })
    }

    /// What a node does: "starting", "running", "degraded", "safe", "stopped" or "ended".
    fn state(&self, node: &str) -> PyResult<&'static str> {
        Ok(match self.world.state(self.known(node)?) {
            State::Starting => "starting",
            State::Running => "running",
            State::Degraded => "degraded",
            State::Safe => "safe",
            State::Stopped => "stopped",
            State::Ended => "ended",
        })
    }

    /// What the journal would say, in its order.
    #[getter]
    fn journal(&self) -> Vec<String> {
        self.world.journal().iter().map(|entry| entry.message().to_owned()).collect()
    }
}
