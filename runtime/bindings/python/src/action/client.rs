//! The end that sends goals.

use std::time::Duration;

use horus::action::{ActionClient as RustClient, ActionError};
use horus::topic::Raw;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::sent::SentGoal;
use super::{Classes, bytes_of, id_of, read};
use crate::error::{failed, refused};
use crate::exclusive::Exclusive;
use crate::life::Life;
use crate::topic::options::{duration, limit};
use crate::topic::sliced;

pub type Client = RustClient<Raw, Raw, Raw>;
type End = Option<Box<Client>>;

/// How long the server may take to answer a request to cancel, where the program says nothing.
const LIMIT: Duration = Duration::from_secs(1);

/// The end of an action that sends goals; goals, feedbacks and results are of classes of messages. One thread at a time uses it. Options are group, directory
/// and wait_strategy, as those of topics. When it is closed, its goals that are not over are canceled, unless their server says otherwise. Raises HorusError when
/// others mean other messages by the action.
#[pyclass(frozen, module = "horus")]
pub struct ActionClient {
    end: Exclusive<End>,
    pub(super) classes: Classes,
    pub(super) action: String,
    /// That of its program, if it is a node's.
    life: Option<Life>,
}

impl ActionClient {
    /// A client that is open.
    pub fn of(client: Client, classes: Classes, life: Option<Life>) -> Self {
        let action = client.action().to_owned();
        Self { end: Exclusive::new("action client", Some(Box::new(client))), classes, action, life }
    }

    /// A node's step waits for nothing: its cycle would last as long.
    fn may_wait(&self) -> PyResult<()> {
        match self.life {
            Some(_) => Err(refused("a step does not wait for a goal: send it, and look at it in a later cycle")),
            None => Ok(()),
        }
    }

    /// Does something with the client.
    pub(super) fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Client) -> PyResult<T>) -> PyResult<T> {
        let mut end = self.end.lend(py)?;
        if self.life.as_ref().is_some_and(Life::has_ended) {
            *end = None;
            return Err(refused(
                "the program of this action client has ended: use a horus.ActionClient outside of programs",
            ));
        }
        work(end.as_deref_mut().ok_or_else(|| refused("this action client was closed: open another one"))?)
    }
}

#[pymethods]
impl ActionClient {
    #[new]
    #[pyo3(signature = (goals, feedbacks, results, action, **given))]
    fn new(
        goals: &Bound<'_, PyAny>,
        feedbacks: &Bound<'_, PyAny>,
        results: &Bound<'_, PyAny>,
        action: &str,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let classes = Classes::named(goals, feedbacks, results)?;
        let [goal, feedback, result] = classes.layouts();
        let client = Client::open_as(action, goal, feedback, result, read(given)?).map_err(failed)?;
        Ok(Self::of(client, classes, None))
    }

    /// Sends a goal, and does not wait: what this gives is asked what becomes of the goal. A client may have 16 goals that are not over.
    fn send(slf: &Bound<'_, Self>, goal: &Bound<'_, PyAny>) -> PyResult<SentGoal> {
        let this = slf.get();
        let bytes = bytes_of(goal, this.classes.goal)?;
        let sent = this.with(slf.py(), |client| client.send(&bytes).map_err(failed))?;
        Ok(SentGoal::new(slf, sent))
    }

    /// Sends a goal and waits for its outcome, at most `timeout`: seconds, or a text such as "10 s"; as long as it takes if not said otherwise. Calls `told` with
    /// each feedback. Raises HorusError when there is no outcome; when the time is up, the goal is to be canceled.
    #[pyo3(signature = (goal, timeout=None, told=None))]
    fn act<'py>(
        slf: &Bound<'py, Self>,
        goal: &Bound<'py, PyAny>,
        timeout: Option<&Bound<'py, PyAny>>,
        told: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.get().may_wait()?;
        let seconds = limit(timeout)?.map(|limit| limit.as_secs_f64());
        slf.py().import("horus._action")?.getattr("act_with")?.call1((slf, goal, seconds, told))
    }

    /// As `act`, for the event loop that runs: an asynchronous iterator that gives each feedback, and at last the outcome. Ending it early cancels the goal.
    #[pyo3(signature = (goal, timeout=None))]
    fn follow<'py>(
        slf: &Bound<'py, Self>,
        goal: &Bound<'py, PyAny>,
        timeout: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.get().may_wait()?;
        let seconds = limit(timeout)?.map(|limit| limit.as_secs_f64());
        slf.py().import("horus._action")?.getattr("follow")?.call1((slf, goal, seconds))
    }

    /// Asks for a goal to be canceled, any client's, or for all goals of the action, and waits for the answer at most `timeout`; 1 s if not said otherwise. Gives the
    /// numbers of the goals that are canceling. Not for the steps of nodes, which have `SentGoal.cancel`.
    #[pyo3(signature = (goal=None, timeout=None))]
    fn cancel(&self, py: Python<'_>, goal: Option<&str>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
        self.may_wait()?;
        let (id, limit) = (goal.map(id_of).transpose()?, limit(timeout)?.unwrap_or(LIMIT));
        self.with(py, |client| {
            let asked = match id {
                Some(id) => client.cancel(id),
                None => client.cancel_all(),
            };
            let asked = asked.map_err(failed)?;
            let answer = py.detach(|| client.await_cancel(asked, limit)).map_err(failed)?;
            match (answer.return_code, id) {
                (1, _) => Err(refused(format!("the server of {} refuses to cancel that", self.action))),
                (2, Some(id)) => Err(refused(format!("{} knows no goal {id}", self.action))),
                (3, Some(id)) => Err(refused(format!("goal {id} of {} has ended already", self.action))),
                _ => Ok(answer.goals().map(|id| id.to_string()).collect()),
            }
        })
    }

    /// Waits for news of goals, at most `timeout`: seconds, or a text such as "10 ms". Gives whether there are some.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        self.may_wait()?;
        let limit = limit(timeout)?;
        self.with(py, |client| Ok(sliced(py, limit, |limit| client.wait(limit).then_some(()))?.is_some()))
    }

    /// Asks the kernel whether the server lives, and gives the answer; if it does not, all goals that are not over get their error.
    fn check_server(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |client| client.check_server().map_err(failed))
    }

    /// Waits until a living program serves it, at most `timeout`: seconds, or a text such as "10 ms". False when the time is up.
    #[pyo3(signature = (timeout=None))]
    fn wait_until_served(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        self.may_wait()?;
        let limit = limit(timeout)?;
        self.with(py, |client| {
            let served = sliced(py, limit, |limit| match client.wait_until_served(limit) {
                Ok(false) => None,
                Ok(true) => Some(Ok(())),
                Err(error) => Some(Err(error)),
            })?;
            served.transpose().map(|served| served.is_some()).map_err(failed)
        })
    }

    /// Feedbacks that were overwritten before they were looked at.
    #[getter]
    fn missed(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |client| Ok(client.missed()))
    }

    /// The action's name.
    #[getter]
    fn action(&self) -> &str {
        &self.action
    }

    /// Raises the error of an action without a server.
    #[pyo3(name = "_not_served")]
    fn not_served(&self) -> PyResult<()> {
        Err(failed(ActionError::NotServed { action: self.action.as_str().into() }))
    }

    /// Raises the error of a goal whose time is up.
    #[pyo3(name = "_time_out")]
    fn time_out(&self, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(failed(ActionError::TimedOut { action: self.action.as_str().into(), limit: duration(limit)? }))
    }

    /// Leaves the action. What is used after that raises HorusError.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        *self.end.lend(py)? = None;
        Ok(())
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, PyAny>) -> PyResult<()> {
        self.close(py)
    }
}
