//! The systems that are measured here; rivals live in the package `compare`.

pub mod bare_ring;
pub mod calls;
pub mod futex;
pub mod horus;
pub mod in_place;
pub mod sleeping;
