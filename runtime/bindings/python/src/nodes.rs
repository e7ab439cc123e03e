//! Programs of nodes: declared by Python, run by [`horus::app`], and in virtual time by [`horus::world`].

mod app;
mod attached;
mod ending;
mod log;
mod options;
mod port;
mod step;
mod world;

use pyo3::prelude::*;

/// Adds what the package needs of it.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<app::App>()?;
    port::add_to(module)?;
    module.add_class::<step::Cycle>()?;
    module.add_class::<world::World>()?;
    module.add_class::<world::Tally>()
}
