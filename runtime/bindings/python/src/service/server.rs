//! The answering end.

use std::time::Duration;

use horus::service::Server as RustServer;
use horus::topic::Raw;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Classes, read};
use crate::error::{failed, refused};
use crate::exclusive::Exclusive;
use crate::topic::options::limit;
use crate::topic::sliced;

/// How long a part waits for room.
const PATIENCE: Duration = Duration::from_secs(1);

type End = Option<Box<RustServer<Raw, Raw>>>;

/// The answering end of a service, whose requests and answers are of classes of messages. There is one at a time, unless all say
/// `shared=True`. One thread at a time uses it. Options are group, directory and wait_strategy, as those of topics, shared, and
/// clients: for how many it makes room, 8 if not said otherwise. Raises HorusError when another server lives.
#[pyclass(frozen, module = "horus")]
pub struct Server {
    end: Exclusive<End>,
    classes: Classes,
    service: String,
}

fn open(end: &mut End) -> PyResult<&mut RustServer<Raw, Raw>> {
    end.as_deref_mut().ok_or_else(|| refused("this server was closed: open another one"))
}

#[pymethods]
impl Server {
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
        let server = RustServer::open_as(service, asked, answered, read(given)?).map_err(failed)?;
        Ok(Self { end: Exclusive::new("server", Some(Box::new(server))), classes, service: service.to_owned() })
    }

    /// Waits for a request, at most `timeout`: seconds, or a text such as "10 ms". Calls `handler` with it, and sends what that returns, or all that it yields. None
    /// says to the client that there is no answer, and so does an exception, which is raised here. False when the time is up.
    #[pyo3(signature = (handler, timeout=None))]
    fn serve(&self, py: Python<'_>, handler: &Bound<'_, PyAny>, timeout: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let mut end = self.end.lend(py)?;
        let server = open(&mut end)?;
        if sliced(py, limit(timeout)?, |limit| server.wait(limit).then_some(()))?.is_none() {
            return Ok(false);
        }
        let mut outcome = Ok(());
        let served = server.serve(Duration::ZERO, |request, answer| {
            outcome = self.classes.answer(handler, request, answer, PATIENCE);
        });
        outcome.map(|()| served)
    }

    /// Messages that had no room, because their client did not look.
    #[getter]
    fn undelivered(&self, py: Python<'_>) -> PyResult<u64> {
        let mut end = self.end.lend(py)?;
        Ok(open(&mut end)?.undelivered())
    }

    /// The service's name.
    #[getter]
    fn service(&self) -> &str {
        &self.service
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
