//! Actions: who sends goals, and who works on them, by messages of classes.

mod client;
mod goal;
mod sent;
mod server;

use horus::action::{ClientGone, GoalId, Options, Preemption};
use horus::message::layout::Layout;
use horus::topic;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

pub use self::client::ActionClient;
pub use self::server::ActionServer;
use crate::message::class::Class;
use crate::message::object::Message;
use crate::topic::Carried;
use crate::topic::options;

/// The classes of an action's goals, feedbacks and results.
#[derive(Clone, Copy)]
pub struct Classes {
    goal: &'static Class,
    feedback: &'static Class,
    result: &'static Class,
}

impl Classes {
    /// The three that are named.
    pub fn named(goal: &Bound<'_, PyAny>, feedback: &Bound<'_, PyAny>, result: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { goal: class(goal)?, feedback: class(feedback)?, result: class(result)? })
    }

    /// Their layouts.
    pub fn layouts(&self) -> [&'static Layout; 3] {
        [self.goal, self.feedback, self.result].map(|class| &class.layout)
    }
}

fn class(of: &Bound<'_, PyAny>) -> PyResult<&'static Class> {
    match Carried::named(of)? {
        Carried::Messages(class) => Ok(class),
        Carried::Bytes | Carried::Values => Err(PyTypeError::new_err(format!(
            "goals, feedbacks and results are of classes of messages, and {of} is none"
        ))),
    }
}

/// The options that an action has of a topic's.
pub fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<Options> {
    for name in given.map(PyDictMethods::keys).iter().flatten() {
        let name: String = name.extract()?;
        if !matches!(name.as_str(), "group" | "directory" | "wait_strategy") {
            let there = "there are group, directory, wait_strategy; a server has preemption, at_once, client_gone too";
            return Err(PyTypeError::new_err(format!("an action has no option {name}: {there}")));
        }
    }
    let (topic, _): (topic::Options, _) = options::read(given)?;
    Ok(Options::default().of_topic(topic))
}

/// What a server says alone.
pub fn of_server(options: Options, preemption: &str, at_once: usize, client_gone: &str) -> PyResult<Options> {
    let preemption = match preemption {
        "refuse" => Preemption::Refuse,
        "queue" => Preemption::Queue,
        "replace" => Preemption::Replace,
        other => {
            return Err(PyValueError::new_err(format!(
                "there is no preemption {other}: there are refuse, queue, replace"
            )));
        }
    };
    let client_gone = match client_gone {
        "cancel" => ClientGone::Cancel,
        "continue" => ClientGone::Continue,
        other => return Err(PyValueError::new_err(format!("client_gone is cancel or continue, and not {other}"))),
    };
    if at_once == 0 || at_once > horus::action::MAX_GOALS {
        return Err(PyValueError::new_err(format!("at_once is 1 to {}, and not {at_once}", horus::action::MAX_GOALS)));
    }
    Ok(options.preemption(preemption).at_once(at_once).client_gone(client_gone))
}

fn id_of(text: &str) -> PyResult<GoalId> {
    text.parse().map_err(|error| PyValueError::new_err(format!("{error}")))
}

/// The bytes of an object that has to be of this class.
fn bytes_of(object: &Bound<'_, PyAny>, class: &'static Class) -> PyResult<Vec<u8>> {
    let bytes = Message::of_class(object, class)?.ok_or_else(|| {
        PyTypeError::new_err(format!("the action wants {}, and not {}", class.layout.type_name(), object.get_type()))
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
    module.add_class::<ActionServer>()?;
    module.add_class::<goal::Goal>()?;
    module.add_class::<ActionClient>()?;
    module.add_class::<sent::SentGoal>()?;
    module.add_class::<sent::Outcome>()
}
