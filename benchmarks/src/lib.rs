//! The harness of the benchmarks: measures message paths against the cache line, and verifies every message.
//!
//! A benchmark is a [`suite`] of tasks; each becomes one [`cell`] of the results, measured between two [`floor`]s of the
//! same two CPUs. In reading order: [`transport`] (what a system must offer), [`content`] (what is in a message),
//! [`loops`] (what the clock sees), [`threads`] and [`processes`] (who runs them), [`nodes`] (ticks in place of messages), [`report`] and [`files`]; [`results`] and [`document`] make tables of the files.
//!
//! # What it does not do
//! No outlier is removed and no clock cost subtracted. No thread gets a real-time priority: two of them spinning would
//! lock a machine with two CPUs. Nothing is asserted about absolute times.

pub mod cell;
pub mod content;
pub mod document;
pub mod files;
pub mod floor;
pub mod gateway;
pub mod host;
pub mod languages;
pub mod loops;
pub mod measured;
pub mod nodes;
pub mod options;
pub mod patience;
pub mod peer;
pub mod pinning;
pub mod processes;
pub mod random_bytes;
pub mod report;
pub mod results;
pub mod samples;
pub mod slope;
pub mod stage;
pub mod starting;
pub mod suite;
pub mod systems;
pub mod tally;
pub mod targets;
pub mod threads;
pub mod transport;
pub mod windows;
