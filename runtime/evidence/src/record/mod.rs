//! The evidence of a run: its report, what the phases say together, whether it counts, and where it is kept, and what all kept runs say together.

pub mod destination;
pub mod history;
pub mod identity;
pub mod interval;
pub(crate) mod judge;
pub mod load;
pub(crate) mod marker;
pub(crate) mod merge;
pub(crate) mod name;
mod phase;
pub mod schema;
pub mod store;

/// For tests, those of the command too.
#[doc(hidden)]
pub mod sample;
