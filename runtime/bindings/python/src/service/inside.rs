//! The answering end in a node.

use std::time::Duration;

use horus::service::NodeServer as RustServer;
use horus::topic::Raw;
use pyo3::prelude::*;

use super::Classes;
use crate::error::refused;
use crate::exclusive::Exclusive;
use crate::life::Life;

/// The answering end of a service in a node, whose requests and answers are of classes of messages: what App.server gives. Only the steps of its node use
/// it, and no thread after the program has ended.
#[pyclass(frozen, module = "horus")]
pub struct NodeServer {
    end: Exclusive<RustServer<Raw, Raw>>,
    classes: Classes,
    service: String,
    life: Life,
}

impl NodeServer {
    pub fn new(server: RustServer<Raw, Raw>, classes: Classes, service: &str, life: Life) -> Self {
        Self { end: Exclusive::new("server", server), classes, service: service.to_owned(), life }
    }
}

#[pymethods]
impl NodeServer {
    /// Calls `handler` with the next request, and sends what that returns, or all that it yields. None says to the client that there is no answer, and so
    /// does an exception, which is raised here. False when there is no request: it does not wait.
    fn serve(&self, handler: &Bound<'_, PyAny>) -> PyResult<bool> {
        if self.life.has_ended() {
            return Err(refused("the program of this server has ended: use a horus.Server outside of programs"));
        }
        let mut end = self.end.lend(handler.py())?;
        let mut outcome = Ok(());
        let served =
            end.serve(|request, answer| outcome = self.classes.answer(handler, request, answer, Duration::ZERO));
        outcome.map(|()| served)
    }

    /// Messages that had no room, because their client did not look.
    #[getter]
    fn undelivered(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.end.lend(py)?.undelivered())
    }

    /// The service's name.
    #[getter]
    fn service(&self) -> &str {
        &self.service
    }
}
