//! Waiting for several subscribers at once.

use horus::topic::Waitable;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::options::limit;
use super::subscriber::{Receiver, Subscriber};
use super::wait::sliced;
use crate::error::refused;

/// Waits until one of the subscribers has something to receive, and returns it; None when the time is up. Looks at them in order: while an earlier
/// one has messages, later ones are not looked at.
#[pyfunction]
#[pyo3(signature = (subscribers, timeout=None))]
pub fn wait_any<'py>(
    py: Python<'py>,
    subscribers: Vec<Bound<'py, Subscriber>>,
    timeout: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, Subscriber>>> {
    if subscribers.is_empty() {
        return Err(PyValueError::new_err("wait for one subscriber at least"));
    }
    for (place, subscriber) in subscribers.iter().enumerate() {
        if subscribers[..place].iter().any(|other| other.is(subscriber)) {
            return Err(refused(format!("subscriber {place} is there twice")));
        }
    }
    let mut lent = subscribers.iter().map(|subscriber| subscriber.get().lend(py)).collect::<PyResult<Vec<_>>>()?;
    let mut ends = Vec::with_capacity(lent.len());
    for end in &mut lent {
        ends.push(end.open()?);
    }
    let mut waitables: Vec<Waitable<'_>> = ends.into_iter().map(Receiver::waitable).collect();
    let found = sliced(py, limit(timeout)?, |limit| horus::topic::wait_any(&mut waitables, limit))?;
    Ok(found.map(|found| subscribers[found].clone()))
}
