//! The evidence of a run: its report, what the phases say together, whether it counts, and where it is
//! kept.

pub mod destination;
pub mod judge;
pub mod merge;
pub mod schema;
pub mod store;

#[cfg(test)]
pub mod sample;
