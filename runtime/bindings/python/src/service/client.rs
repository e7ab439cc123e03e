//! The asking end, and a call that is on its way.

use std::time::{Duration, Instant};

use horus::service::{CallError, Client as RustClient, Pending as RustPending};
use horus::topic::Raw;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{bytes_of, class, object, read};
use crate::error::{failed, refused};
use crate::exclusive::Exclusive;
use crate::message::class::Class;
use crate::topic::options::{duration, limit};
use crate::topic::sliced;

type End = Option<Box<RustClient<Raw, Raw>>>;

/// How often a call that waits asks whether the server lives.
const LOOK: Duration = Duration::from_millis(10);
/// How long a call waits, where the program says nothing.
const LIMIT: Duration = Duration::from_secs(1);

/// The asking end of a service, whose requests and answers are of classes of messages. One thread at a time uses it. Options are group, directory and
/// wait_strategy, as those of topics. Raises HorusError when others mean other messages by the service.
#[pyclass(frozen, module = "horus")]
pub struct Client {
    end: Exclusive<End>,
    classes: (&'static Class, &'static Class),
    service: String,
}

/// A call that is on its way. If it goes, the call is given up, and its answer is dropped.
#[pyclass(frozen, module = "horus")]
pub struct Pending {
    pending: Exclusive<RustPending>,
    client: Py<Client>,
}

fn open(end: &mut End) -> PyResult<&mut RustClient<Raw, Raw>> {
    end.as_deref_mut().ok_or_else(|| refused("this client was closed: open another one"))
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
        let classes = (class(requests)?, class(answers)?);
        let client =
            RustClient::open_as(service, &classes.0.layout, &classes.1.layout, read(given)?).map_err(failed)?;
        Ok(Self { end: Exclusive::new("client", Some(Box::new(client))), classes, service: service.to_owned() })
    }

    /// Asks, and waits for the answer at most `timeout`: seconds, or a text such as "10 ms"; 1 s if not said otherwise. Raises HorusError when there is none,
    /// at once where no program serves.
    #[pyo3(signature = (request, timeout=None))]
    fn call<'py>(
        &self,
        request: &Bound<'py, PyAny>,
        timeout: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = request.py();
        let (bytes, limit) = (bytes_of(request, self.classes.0)?, limit(timeout)?.unwrap_or(LIMIT));
        let mut end = self.end.lend(py)?;
        let client = open(&mut end)?;
        if !client.is_served().map_err(failed)? {
            return Err(failed(CallError::NotServed { service: client.service().into() }));
        }
        let mut pending = client.ask(&bytes).map_err(failed)?;
        let until = Instant::now().checked_add(limit);
        loop {
            if let Some(answer) = pending.try_answer(client).map_err(failed)? {
                return object(py, self.classes.1, &answer);
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

    /// As `call`, awaited by the event loop that runs. Cancelling it gives the call up.
    #[pyo3(signature = (request, timeout=None))]
    fn call_async<'py>(
        slf: &Bound<'py, Self>,
        request: &Bound<'py, PyAny>,
        timeout: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let seconds = limit(timeout)?.unwrap_or(LIMIT).as_secs_f64();
        slf.py().import("horus._service")?.getattr("answer")?.call1((slf, request, seconds))
    }

    /// Asks, and does not wait: what this gives is asked for the answer later. A client may have 16 calls on their way.
    fn ask(slf: &Bound<'_, Self>, request: &Bound<'_, PyAny>) -> PyResult<Pending> {
        let this = slf.get();
        let bytes = bytes_of(request, this.classes.0)?;
        let mut end = this.end.lend(slf.py())?;
        let pending = open(&mut end)?.ask(&bytes).map_err(failed)?;
        Ok(Pending { pending: Exclusive::new("call", pending), client: slf.clone().unbind() })
    }

    /// Waits for a message from the server, at most `timeout`: seconds, or a text such as "10 ms". Gives whether there is one.
    #[pyo3(signature = (timeout=None))]
    fn wait(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let mut end = self.end.lend(py)?;
        let client = open(&mut end)?;
        Ok(sliced(py, limit(timeout)?, |limit| client.wait(limit).then_some(()))?.is_some())
    }

    /// Asks the kernel whether the server lives, and gives the answer; if it does not, all calls on their way get their error.
    fn check_server(&self, py: Python<'_>) -> PyResult<bool> {
        let mut end = self.end.lend(py)?;
        open(&mut end)?.check_server().map_err(failed)
    }

    /// Waits until a living program serves it, at most `timeout`: seconds, or a text such as "10 ms". False when the time is up.
    #[pyo3(signature = (timeout=None))]
    fn wait_until_served(&self, py: Python<'_>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
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
        let mut end = client.end.lend(py)?;
        let answer = self.pending.lend(py)?.try_answer(open(&mut end)?).map_err(failed)?;
        answer.map(|answer| object(py, client.classes.1, &answer)).transpose()
    }

    /// Raises the error of a call whose time is up.
    #[pyo3(name = "_time_out")]
    fn time_out(&self, limit: &Bound<'_, PyAny>) -> PyResult<()> {
        let service = self.client.get().service.as_str().into();
        Err(failed(CallError::TimedOut { service, limit: duration(limit)? }))
    }
}
