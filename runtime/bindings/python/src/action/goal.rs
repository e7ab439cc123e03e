//! A goal that runs, for who works on it.

use horus::action::{ActionServer as RustServer, Cause, GoalError, GoalId, GoalStatus};
use horus::topic::Raw;
use pyo3::prelude::*;

use super::{ActionServer, bytes_of, object};
use crate::error::{failed, refused};

/// A goal that a program works on: `value` is what is to be reached.
#[pyclass(frozen, module = "horus")]
pub struct Goal {
    server: Py<ActionServer>,
    number: GoalId,
    is_new: bool,
    value: Py<PyAny>,
}

impl Goal {
    pub fn new(server: &Bound<'_, ActionServer>, number: GoalId, is_new: bool, value: &[u8]) -> PyResult<Self> {
        let value = object(server.py(), server.get().classes.goal, value)?.unbind();
        Ok(Self { server: server.clone().unbind(), number, is_new, value })
    }

    fn status_now(&self, py: Python<'_>) -> PyResult<GoalStatus> {
        self.server.get().with(py, |server| Ok(server.status_of(self.number).unwrap_or(GoalStatus::Aborted)))
    }
}

/// An outcome that a client does not look at has no room: it is counted.
fn ended(told: Result<(), GoalError>) -> Result<(), GoalError> {
    match told {
        Err(GoalError::Untold) => Ok(()),
        told => told,
    }
}

#[pymethods]
impl Goal {
    /// What is to be reached.
    #[getter]
    fn value(&self, py: Python<'_>) -> Py<PyAny> {
        self.value.clone_ref(py)
    }

    /// What the goal is known by: 32 hexadecimal digits.
    #[getter]
    fn id(&self) -> String {
        self.number.to_string()
    }

    /// Where it stands: "executing", "canceling", "succeeded", "canceled" or "aborted".
    #[getter]
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.status_now(py)?.to_string())
    }

    /// Whether the program is handed the goal for the first time.
    #[getter]
    fn is_new(&self) -> bool {
        self.is_new
    }

    /// Whether it is to be canceled, as far as was taken in: by `wait`, and by the server's `goal` and `drive`.
    #[getter]
    fn is_canceling(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.status_now(py)? == GoalStatus::Canceling)
    }

    /// Whether it is to be canceled because its client is gone.
    #[getter]
    fn is_abandoned(&self, py: Python<'_>) -> PyResult<bool> {
        let number = self.number;
        self.server.get().with(py, |server| {
            Ok(server.goal_of(number).is_some_and(|goal| goal.is_canceling() && goal.cause() == Cause::ClientGone))
        })
    }

    /// Whether it has ended: by this program, or because another goal took its place.
    #[getter]
    fn is_over(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.status_now(py)?.is_over())
    }

    /// Tells how far it is.
    fn feedback(&self, feedback: &Bound<'_, PyAny>) -> PyResult<()> {
        let server = self.server.get();
        let bytes = bytes_of(feedback, server.classes.feedback)?;
        server.with(feedback.py(), |server| running(server, self.number, |mut goal| goal.feedback(&bytes)))
    }

    /// Waits for something to come, at most `timeout`: seconds, or a text such as "10 ms". Gives where the goal stands then. Not for the steps of nodes.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
        self.server.get().wait_for(py, timeout)?;
        self.status(py)
    }

    /// Ends the goal: it was reached.
    fn succeed(&self, result: &Bound<'_, PyAny>) -> PyResult<()> {
        let server = self.server.get();
        let bytes = bytes_of(result, server.classes.result)?;
        server.with(result.py(), |server| running(server, self.number, |goal| ended(goal.succeed(&bytes))))
    }

    /// Ends the goal: it was canceled. Raises HorusError when no client asked for that.
    #[pyo3(signature = (result=None))]
    fn canceled(&self, py: Python<'_>, result: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let server = self.server.get();
        let bytes = result.map(|result| bytes_of(result, server.classes.result)).transpose()?;
        server.with(py, |server| {
            running(server, self.number, |goal| {
                ended(match &bytes {
                    Some(bytes) => goal.canceled_with(bytes),
                    None => goal.canceled(),
                })
            })
        })
    }

    /// Ends the goal: the program gives it up, for this reason.
    #[pyo3(signature = (reason, result=None))]
    fn abort(&self, py: Python<'_>, reason: &str, result: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let server = self.server.get();
        let bytes = result.map(|result| bytes_of(result, server.classes.result)).transpose()?;
        server.with(py, |server| {
            running(server, self.number, |goal| {
                ended(match &bytes {
                    Some(bytes) => goal.abort_with(bytes, reason),
                    None => goal.abort(reason),
                })
            })
        })
    }
}

/// The goal of this number, for as long as it runs.
fn running<T>(
    server: &mut RustServer<Raw, Raw, Raw>,
    id: GoalId,
    work: impl FnOnce(horus::action::Goal<'_, Raw, Raw, Raw>) -> Result<T, GoalError>,
) -> PyResult<T> {
    let status = server.status_of(id);
    match server.goal_of(id) {
        Some(goal) => work(goal).map_err(failed),
        None => {
            let how = status.map_or_else(|| "over".to_owned(), |status| status.to_string());
            Err(refused(format!("this goal is {how}: nothing can be told of it any more")))
        }
    }
}
