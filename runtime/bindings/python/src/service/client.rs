//! The asking end, and a call that is on its way.

use std::time::{Duration, Instant};

use horus::service::{CallError, Client as RustClient, Part, Pending as RustPending};
use horus::topic::Raw;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Classes, bytes_of, object, read};
use crate::error::{failed, refused};
use crate::exclusive::Exclusive;
use crate::life::Life;
use crate::topic::options::{duration, limit};
use crate::topic::sliced;

type End = Option<Box<RustClient<Raw, Raw>>>;

/// How often a call that waits asks whether the server lives.
const LOOK: Duration = Duration::from_millis(10);
/// How long a call waits, where the program says nothing.
const LIMIT: Duration = Duration::from_secs(1);

/// The asking end of a service, whose requests and answers are of classes of messages. One thread at a time uses it. Options are group, directory and
/// wait_strategy, as those of topics, and shared: what its servers say. Raises HorusError when others mean other messages by the service.
#[pyclass(frozen, module = "horus")]
pub struct Client {
    end: Exclusive<End>,
    classes: Classes,
    service: String,
    /// Of a node's: whether its program goes on.
    life: Option<Life>,
}

/// A call that is on its way. If it goes, the call is given up, and its answer is dropped.
#[pyclass(frozen, module = "horus")]
pub struct Pending {
    /// With whether all of the answer was told.
    pending: Exclusive<(RustPending, bool)>,
    client: Py<Client>,
}

fn open(end: &mut End) -> PyResult<&mut RustClient<Raw, Raw>> {
    end.as_deref_mut().ok_or_else(|| refused("this client was closed: open another one"))
}

impl Client {
    /// A node's.
    pub fn of_node(client: RustClient<Raw, Raw>, classes: Classes, service: &str, life: Life) -> Self {
        let end = Exclusive::new("client", Some(Box::new(client)));
        Self { end, classes, service: service.to_owned(), life: Some(life) }
    }

    /// Who waits is in no node.
    fn may_wait(&self) -> PyResult<()> {
        match self.life {
            Some(_) => {
                Err(refused("a step does not wait for an answer: ask, and look for it in a later cycle (try_answer)"))
            }
            None => Ok(()),
        }
    }

    fn goes_on(&self) -> PyResult<()> {
        match &self.life {
            Some(life) if life.has_ended() => {
                Err(refused("the program of this client has ended: use a horus.Client outside of programs"))
            }
            _ => Ok(()),
        }
    }
}

#[pymethods]
impl Client {
    #[new]
    #[pyo3(signature = (requests, answers, service, **given))]
    fn new(
        requests: &Bound<'_, PyAny>,
        answers: &Bound<'_, PyAny>,
        service: &str,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let classes = Classes::named(requests, answers)?;
        let (asked, answered) = (&classes.requests.layout, &classes.answers.layout);
        let client = RustClient::open_as(service, asked, answered, read(given)?).map_err(failed)?;
        let end = Exclusive::new("client", Some(Box::new(client)));
        Ok(Self { end, classes, service: service.to_owned(), life: None })
    }

    /// Asks, and waits for the answer at most `timeout`: seconds, or a text such as "10 ms"; 1 s if not said otherwise. Raises HorusError when there is none,
    /// at once where no program serves.
    #[pyo3(signature = (request, timeout=None))]
    fn call<'py>(
        &self,
        request: &Bound<'py, PyAny>,
        timeout: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.may_wait()?;
        let py = request.py();
        let (bytes, limit) = (bytes_of(request, self.classes.requests)?, limit(timeout)?.unwrap_or(LIMIT));
        let mut end = self.end.lend(py)?;
        let client = open(&mut end)?;
        if !client.is_served().map_err(failed)? {
            return Err(failed(CallError::NotServed { service: client.service().into() }));
        }
        let mut pending = client.ask(&bytes).map_err(failed)?;
        let until = Instant::now().checked_add(limit);
        loop {
            if let Some(answer) = pending.try_answer(client).map_err(failed)? {
                return object(py, self.classes.answers, &answer);
            }
            let left = until.map_or(LOOK, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Err(failed(CallError::TimedOut { service: client.service().into(), limit }));
            }
            if sliced(py, Some(left.min(LOOK)), |limit| client.wait(limit).then_some(()))?.is_none() {
                client.check_server().map_err(failed)?;
            }
        }
    }

    /// Asks, and gives the parts of the answer as they come: waits for each at most `timeout`, 1 s if not said otherwise. Raises HorusError as `call` does,
    /// behind the parts that came.
    #[pyo3(signature = (request, timeout=None))]
    fn stream<'py>(
        slf: &Bound<'py, Self>,
        request: &Bound<'py, PyAny>,
        timeout: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.get().may_wait()?;
        let seconds = limit(timeout)?.unwrap_or(LIMIT).as_secs_f64();
        slf.py().import("horus._service")?.getattr("parts")?.call1((slf, request, seconds))
    }

    /// As `call`, awaited by the event loop that runs. Cancelling it gives the call up.
    #[pyo3(signature = (request, timeout=None))]
    fn call_async<'py>(
        slf: &Bound<'py, Self>,
        request: &Bound<'py, PyAny>,
        timeout: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.get().may_wait()?;
        let seconds = limit(timeout)?.unwrap_or(LIMIT).as_secs_f64();
        slf.py().import("horus._service")?.getattr("answer")?.call1((slf, request, seconds))
    }

    /// Asks, and does not wait: what this gives is asked for the answer later. A client may have 16 calls on their way.
    fn ask(slf: &Bound<'_, Self>, request: &Bound<'_, PyAny>) -> PyResult<Pending> {
        let this = slf.get();
        this.goes_on()?;
        let bytes = bytes_of(request, this.classes.requests)?;
        let mut end = this.end.lend(slf.py())?;
        let pending = open(&mut end)?.ask(&bytes).map_err(failed)?;
        Ok(Pending { pending: Exclusive::new("call", (pending, false)), client: slf.clone().unbind() })
    }

    /// Waits for a message from the server, at most `timeout`: seconds, or a text such as "10 ms". Gives whether there is one.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        self.may_wait()?;
        let mut end = self.end.lend(py)?;
        let client = open(&mut end)?;
        Ok(sliced(py, limit(timeout)?, |limit| client.wait(limit).then_some(()))?.is_some())
    }

    /// Asks the kernel whether the server lives, and gives the answer; if it does not, all calls on their way get their error.
    fn check_server(&self, py: Python<'_>) -> PyResult<bool> {
        self.goes_on()?;
        let mut end = self.end.lend(py)?;
        open(&mut end)?.check_server().map_err(failed)
    }

    /// Waits until a living program serves it, at most `timeout`: seconds, or a text such as "10 ms". False when the time is up.
    #[pyo3(signature = (timeout=None))]
    fn wait_until_served(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        self.may_wait()?;
        let mut end = self.end.lend(py)?;
        let client = open(&mut end)?;
        let served = sliced(py, limit(timeout)?, |limit| match client.wait_until_served(limit) {
            Ok(false) => None,
            Ok(true) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        })?;
        served.transpose().map(|served| served.is_some()).map_err(failed)
    }

    /// Messages for calls that were given up.
    #[getter]
    fn late(&self, py: Python<'_>) -> PyResult<u64> {
        let mut end = self.end.lend(py)?;
        Ok(open(&mut end)?.late())
    }

    /// The service's name.
    #[getter]
    fn service(&self) -> &str {
        &self.service
    }

    /// Leaves the service. What is used after that raises HorusError.
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

#[pymethods]
impl Pending {
    /// The answer, or None when it has not come yet. Raises HorusError when none will come.
    fn try_answer<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let client = self.client.get();
        client.goes_on()?;
        let mut end = client.end.lend(py)?;
        let answer = self.pending.lend(py)?.0.try_answer(open(&mut end)?).map_err(failed)?;
        answer.map(|answer| object(py, client.classes.answers, &answer)).transpose()
    }

    /// The next part of an answer that has several, or None: then `is_over` says whether all were told, or the next one has not come yet. Raises HorusError
    /// when no more will come, behind those that came.
    fn try_part<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let client = self.client.get();
        client.goes_on()?;
        let mut end = client.end.lend(py)?;
        let mut pending = self.pending.lend(py)?;
        if pending.1 {
            return Ok(None);
        }
        match pending.0.try_part(open(&mut end)?).map_err(failed)? {
            Part::Next(part) => object(py, client.classes.answers, &part).map(Some),
            Part::Nothing => Ok(None),
            Part::End => {
                pending.1 = true;
                Ok(None)
            }
        }
    }

    /// Whether `try_part` has told all parts.
    #[getter]
    fn is_over(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.pending.lend(py)?.1)
    }

    /// Raises the error of a call whose time is up.
    #[pyo3(name = "_time_out")]
    fn time_out(&self, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        let service = self.client.get().service.as_str().into();
        Err(failed(CallError::TimedOut { service, limit: duration(limit)? }))
    }
}
