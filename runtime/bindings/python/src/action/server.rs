//! The end that works on goals.

use std::sync::{Arc, Mutex, PoisonError};

use horus::action::{ActionServer as RustServer, Options, Reason};
use horus::topic::Raw;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::goal::Goal;
use super::{Classes, object, of_server, read};
use crate::error::{failed, refused};
use crate::exclusive::Exclusive;
use crate::life::Life;
use crate::topic::options::limit;
use crate::topic::sliced;

pub type Server = RustServer<Raw, Raw, Raw>;
type End = Option<Box<Server>>;
/// What a program's function raised that decides on goals.
type Failure = Arc<Mutex<Option<PyErr>>>;

/// The end of an action that works on goals; goals, feedbacks and results are of classes of messages. There is one at a time. One thread at a time uses it.
/// `preemption` says what becomes of a goal that comes while another one runs: "refuse", "queue" or "replace". `at_once` goals run at a time. `client_gone` is
/// "cancel" or "continue". `accept` is called with each goal, and gives None to accept it, or a text: why not. `cancel` is called with a goal that is to be
/// canceled, and gives whether it may. Raises HorusError when another server lives.
#[pyclass(frozen, module = "horus")]
pub struct ActionServer {
    end: Exclusive<End>,
    pub(super) classes: Classes,
    action: String,
    failure: Failure,
    /// What `drive` and `serve` go on with.
    works: Py<PyDict>,
    /// That of its program, if it is a node's.
    life: Option<Life>,
}

impl ActionServer {
    /// A server that is open, with what decides on its goals.
    pub fn of(
        py: Python<'_>,
        mut server: Server,
        classes: Classes,
        accept: Option<Bound<'_, PyAny>>,
        cancel: Option<Bound<'_, PyAny>>,
        life: Option<Life>,
    ) -> Self {
        let failure = Failure::default();
        if let Some(accept) = accept.map(Bound::unbind) {
            let failure = Arc::clone(&failure);
            server.accept_if(move |goal| Python::attach(|py| accepted(py, &accept, classes, goal, &failure)));
        }
        if let Some(cancel) = cancel.map(Bound::unbind) {
            let failure = Arc::clone(&failure);
            server.cancel_if(move |goal| {
                Python::attach(|py| {
                    let may = object(py, classes.goal, goal).and_then(|goal| cancel.call1(py, (goal,))?.is_truthy(py));
                    may.unwrap_or_else(|error| {
                        keep(&failure, error);
                        false
                    })
                })
            });
        }
        let action = server.action().to_owned();
        let end = Exclusive::new("action server", Some(Box::new(server)));
        Self { end, classes, action, failure, works: PyDict::new(py).unbind(), life }
    }

    /// Does something with the server. What a function raised that decided on goals meanwhile is raised here.
    pub(super) fn with<T>(&self, py: Python<'_>, work: impl FnOnce(&mut Server) -> PyResult<T>) -> PyResult<T> {
        let mut end = self.end.lend(py)?;
        if self.life.as_ref().is_some_and(Life::has_ended) {
            *end = None;
            return Err(refused(
                "the program of this action server has ended: use a horus.ActionServer outside of programs",
            ));
        }
        let server = end.as_deref_mut().ok_or_else(|| refused("this action server was closed: open another one"))?;
        let done = work(server);
        match self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => done,
        }
    }

    /// A node's step waits for nothing: its cycle would last as long.
    pub(super) fn may_wait(&self) -> PyResult<()> {
        match self.life {
            Some(_) => Err(refused("a step does not wait for goals: use goal or drive, which look at what came")),
            None => Ok(()),
        }
    }

    /// Waits for something to come, at most so long as `timeout` says, and takes it in; gives whether something came.
    pub(super) fn wait_for(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        self.may_wait()?;
        let limit = limit(timeout)?;
        self.with(py, |server| {
            let came = sliced(py, limit, |limit| server.wait(limit).then_some(()))?.is_some();
            server.take_in();
            Ok(came)
        })
    }
}

fn keep(failure: &Failure, error: PyErr) {
    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}

fn accepted(
    py: Python<'_>,
    accept: &Py<PyAny>,
    classes: Classes,
    goal: &[u8],
    failure: &Failure,
) -> Result<(), Reason> {
    let said = object(py, classes.goal, goal).and_then(|goal| accept.call1(py, (goal,)));
    match said.and_then(|said| said.extract::<Option<String>>(py)) {
        Ok(None) => Ok(()),
        Ok(Some(reason)) => Err(reason.into()),
        Err(error) => {
            let reason = Reason::of(format_args!("its program failed: {error}"));
            keep(failure, error);
            Err(reason)
        }
    }
}

#[pymethods]
impl ActionServer {
    #[new]
    #[pyo3(signature = (goals, feedbacks, results, action, *, preemption="refuse", at_once=1, client_gone="cancel", accept=None, cancel=None, **given))]
    #[allow(clippy::too_many_arguments)] // Python gives them by their names
    fn new(
        py: Python<'_>,
        goals: &Bound<'_, PyAny>,
        feedbacks: &Bound<'_, PyAny>,
        results: &Bound<'_, PyAny>,
        action: &str,
        preemption: &str,
        at_once: usize,
        client_gone: &str,
        accept: Option<Bound<'_, PyAny>>,
        cancel: Option<Bound<'_, PyAny>>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let classes = Classes::named(goals, feedbacks, results)?;
        let options: Options = of_server(read(given)?, preemption, at_once, client_gone)?;
        let [goal, feedback, result] = classes.layouts();
        let server = Server::open_as(action, goal, feedback, result, options).map_err(failed)?;
        Ok(Self::of(py, server, classes, accept, cancel, None))
    }

    /// Takes in what came, and gives the goal that runs, or None; of several the one that was accepted first. It does not wait: it is for the steps of nodes.
    fn goal(slf: &Bound<'_, Self>) -> PyResult<Option<Goal>> {
        let of_one = |goal: horus::action::Goal<'_, Raw, Raw, Raw>| (goal.id(), goal.is_new(), goal.value().to_vec());
        let found = slf.get().with(slf.py(), |server| {
            server.check_clients();
            Ok(server.goal().map(of_one))
        })?;
        found.map(|(id, is_new, value)| Goal::new(slf, id, is_new, &value)).transpose()
    }

    /// Takes in what came, and gives all goals that run.
    fn goals(slf: &Bound<'_, Self>) -> PyResult<Vec<Goal>> {
        let (py, this) = (slf.py(), slf.get());
        let mut found = Vec::new();
        this.with(py, |server| {
            server.check_clients();
            server.each(|goal| found.push((goal.id(), goal.is_new(), goal.value().to_vec())));
            Ok(())
        })?;
        found.into_iter().map(|(id, is_new, value)| Goal::new(slf, id, is_new, &value)).collect()
    }

    /// Waits until a goal runs, at most `timeout`: seconds, or a text such as "10 ms". None when the time is up. Not for the steps of nodes.
    #[pyo3(signature = (timeout=None))]
    fn next_goal(slf: &Bound<'_, Self>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Goal>> {
        slf.get().may_wait()?;
        let limit = limit(timeout)?;
        if let Some(goal) = Self::goal(slf)? {
            return Ok(Some(goal));
        }
        let started = std::time::Instant::now();
        loop {
            let left = limit.map(|limit| limit.saturating_sub(started.elapsed()));
            let came = slf.get().with(slf.py(), |server| {
                sliced(slf.py(), left, |limit| server.wait(limit).then_some(())).map(|came| came.is_some())
            })?;
            if let Some(goal) = Self::goal(slf)? {
                return Ok(Some(goal));
            }
            if !came {
                return Ok(None);
            }
        }
    }

    /// Has `handler` go on with each goal that runs, once a call: for the steps of nodes. `handler` is called with a goal, and is a generator function: what it
    /// yields is told as feedback, and what it returns is the result. When `goal.is_canceling` is true it returns soon; its goal is canceled then. What it raises
    /// aborts the goal, and is raised here.
    fn drive(slf: &Bound<'_, Self>, handler: &Bound<'_, PyAny>) -> PyResult<()> {
        slf.py().import("horus._action")?.getattr("drive")?.call1((slf, handler)).map(|_| ())
    }

    /// Waits for a goal, at most `timeout`: seconds, or a text such as "10 ms". Has `handler` work on it to its end, as `drive` does. False when the time is up.
    #[pyo3(signature = (handler, timeout=None))]
    fn serve(slf: &Bound<'_, Self>, handler: &Bound<'_, PyAny>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        slf.get().may_wait()?;
        slf.py().import("horus._action")?.getattr("serve")?.call1((slf, handler, timeout))?.extract()
    }

    /// Waits until something came, at most `timeout`: a goal, a request to cancel, or the news that a client is gone. Gives whether something did.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        self.wait_for(py, timeout)
    }

    /// Goals that were accepted and wait for their turn.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |server| Ok(server.waiting()))
    }

    /// Messages that had no room, because their client did not look.
    #[getter]
    fn undelivered(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |server| Ok(server.undelivered()))
    }

    /// The action's name.
    #[getter]
    fn action(&self) -> &str {
        &self.action
    }

    /// What `drive` goes on with, by goals.
    #[getter(_works)]
    fn works(&self, py: Python<'_>) -> Py<PyDict> {
        self.works.clone_ref(py)
    }

    /// Stops serving. Clients that wait are told. What is used after that raises HorusError.
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
