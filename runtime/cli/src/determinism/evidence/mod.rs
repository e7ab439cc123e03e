//! The evidence of a run: its report, what the phases say together, whether it counts, and the file that keeps it.

pub mod judge;
pub mod merge;
pub mod schema;
pub mod store;

#[cfg(test)]
pub mod sample;
