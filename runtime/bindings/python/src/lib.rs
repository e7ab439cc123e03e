//! The extension module `horus._horus` of the Python package `horus`: topics, messages and programs of nodes, over the crate `horus`.
//!
//! It calls the same Rust as a program in Rust does, and not the C interface: nodes go through `horus::app`, so admission, misses and safe states
//! are one code, and a call crosses one border instead of two.
//!
//! In reading order: `error` -> `exclusive` (who may use a handle) -> `arguments`, `methods` (what is called for each message) -> `message` (its
//! first page has the order of its files) -> `picture`, `numpy`, `dlpack` (its numbers for others) -> `value` (dicts and the like) -> `renamed`
//! (old names of arguments) -> `topic` (its ends, what they lend) -> `transform` (frames) -> `param` (values that change) -> `service` (who asks, who answers) -> `action`
//! (who sends goals, who works on them) -> `nodes` (ports,
//! steps, programs, virtual time). Each uses what comes before it only
//! (`scripts/checks/runtime/test_circles.py`).
//!
//! # Where `unsafe` is
//! - `message/`: the Python types of messages. pyo3 has none whose objects are of a size known only at run time.
//! - `methods.rs`, `arguments.rs`: methods as CPython calls them.
//! - `exclusive.rs`: handles that the GIL guards.
//! - `topic/lent.rs`: a message in its place keeps the end of its topic with it.
//! - `dlpack.rs`: the structs of DLPack.
//! - `nodes/attached.rs`: a thread of nodes keeps its state in the interpreter.

mod action;
mod arguments;
mod dlpack;
mod error;
mod exclusive;
mod life;
mod message;
mod methods;
mod nodes;
mod numpy;
mod param;
mod picture;
mod renamed;
mod service;
mod topic;
mod transform;
mod value;

use pyo3::prelude::*;

/// What the package's files in Python and this module know of each other; `python/horus/__init__.py` has the same number.
const INTERFACE: u32 = 8;

/// CPython's name for it is `horus._horus`; `python/horus/__init__.py` says what of it is public.
#[pymodule(gil_used = true)]
fn _horus(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    exclusive::refuse_other_interpreters(py)?;
    module.add("HorusError", py.get_type::<error::HorusError>())?;
    module.add("INTERFACE", INTERFACE)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    exclusive::watch_forks(py)?;
    message::add_to(module)?;
    value::add_to(module)?;
    numpy::add_to(module)?;
    dlpack::add_to(py)?;
    picture::add_to(module)?;
    nodes::add_to(module)?;
    topic::add_to(module)?;
    transform::add_to(module)?;
    param::add_to(module)?;
    service::add_to(module)?;
    action::add_to(module)
}
