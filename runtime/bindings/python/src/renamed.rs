//! Keyword arguments that have another name now: an old one is refused, and the new one is named.

use pyo3::PyErr;
use pyo3::exceptions::PyTypeError;

/// Of a node: the old name and the new one.
pub const OF_NODES: &[(&str, &str)] =
    &[("min_gap", "min_inter_arrival"), ("policy", "scheduling_policy"), ("silence", "stale_after")];

/// Of a topic's end.
pub const OF_TOPICS: &[(&str, &str)] = &[("waiting", "wait_strategy")];

/// What refuses `name` where it is an old one of these.
#[cold]
pub fn refusal(renamed: &[(&str, &str)], name: &str) -> Option<PyErr> {
    let (old, new) = renamed.iter().find(|(old, _)| *old == name)?;
    Some(PyTypeError::new_err(format!("{old} is called {new}")))
}
