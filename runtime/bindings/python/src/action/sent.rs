//! A goal that was sent, and how it ended.

use horus::action::{
    ActionClient as RustClient, Cause, GoalId, Outcome as RustOutcome, Progress, SentGoal as RustSentGoal,
};
use horus::topic::Raw;
use pyo3::prelude::*;

use super::{ActionClient, object};
use crate::error::failed;
use crate::exclusive::Exclusive;

/// A goal that was sent. If it goes, the goal goes on, and its outcome is dropped; `cancel` cancels it.
#[pyclass(frozen, module = "horus")]
pub struct SentGoal {
    sent: Exclusive<RustSentGoal<Raw>>,
    client: Py<ActionClient>,
    number: GoalId,
}

/// How a goal ended: `status` is "succeeded", "canceled" or "aborted"; `result` is None where the goal ended without one; `cause` is a word for programs, such as
/// "replaced", and `reason` a sentence for people.
#[pyclass(frozen, get_all, module = "horus")]
pub struct Outcome {
    /// "succeeded", "canceled" or "aborted".
    status: String,
    /// The result, or None.
    result: Option<Py<PyAny>>,
    /// What ended it: "program", "replaced", "client_gone", "canceled" or "no_result".
    cause: &'static str,
    /// What ended it, for people.
    reason: String,
}

impl Outcome {
    fn of(py: Python<'_>, outcome: RustOutcome<Vec<u8>>, client: &ActionClient) -> PyResult<Self> {
        let result = outcome.result.map(|bytes| object(py, client.classes.result, &bytes).map(Bound::unbind));
        Ok(Self {
            status: outcome.status.to_string(),
            result: result.transpose()?,
            cause: match outcome.cause {
                Cause::Replaced => "replaced",
                Cause::ClientGone => "client_gone",
                Cause::Canceled => "canceled",
                Cause::NoResult => "no_result",
                _ => "program",
            },
            reason: outcome.reason.to_string(),
        })
    }
}

#[pymethods]
impl Outcome {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let result = match &self.result {
            Some(result) => result.bind(py).repr()?.to_string(),
            None => "None".to_owned(),
        };
        Ok(format!("Outcome(status='{}', result={result}, reason='{}')", self.status, self.reason))
    }
}

impl SentGoal {
    pub fn new(client: &Bound<'_, ActionClient>, sent: RustSentGoal<Raw>) -> Self {
        let number = sent.id();
        Self { sent: Exclusive::new("goal", sent), client: client.clone().unbind(), number }
    }
}

#[pymethods]
impl SentGoal {
    /// What is new of the goal, and does not wait: its next feedback, or its Outcome at last; None when there is nothing yet. Raises HorusError when the server
    /// rejected it, or no outcome will come.
    fn look<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let this = self.client.get();
        this.with(py, |client| {
            let mut sent = self.sent.lend(py)?;
            loop {
                return match sent.look(client).map_err(failed)? {
                    Progress::Accepted => continue,
                    Progress::Nothing => Ok(None),
                    Progress::Feedback(bytes) => object(py, this.classes.feedback, &bytes).map(Some),
                    Progress::Ended(outcome) => {
                        let outcome = Bound::new(py, Outcome::of(py, outcome, this)?)?;
                        Ok(Some(outcome.into_any()))
                    }
                };
            }
        })
    }

    /// Asks for the goal to be canceled, and does not wait: its outcome tells.
    fn cancel(&self, py: Python<'_>) -> PyResult<()> {
        self.client.get().with(py, |client| ask_to_cancel(client, self.number))
    }

    /// What the goal is known by: 32 hexadecimal digits.
    #[getter]
    fn id(&self) -> String {
        self.number.to_string()
    }

    /// Whether the server has taken it, as far as `look` was told.
    #[getter]
    fn is_accepted(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.sent.lend(py)?.accepted().is_some())
    }

    /// Whether `look` has told its end.
    #[getter]
    fn is_over(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.sent.lend(py)?.is_over())
    }
}

/// Asks for a goal to be canceled, and does not wait.
fn ask_to_cancel(client: &mut RustClient<Raw, Raw, Raw>, id: GoalId) -> PyResult<()> {
    let asked = client.cancel(id).map_err(failed)?;
    drop(asked); // the goal's outcome tells
    Ok(())
}
