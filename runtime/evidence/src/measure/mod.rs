//! The experiment: what runs, on which CPU, for how long, and what it measures.
//!
//! In reading order: `plan` (who gets which time and which CPU) -> `self_test`, `node`, `message`, `answer` (messages with a
//! deadline), `cyclictest`, `hwlat`, `control` (the phases) under `load`; `metered` meters all loops that have a deadline. `machine` says
//! what it was measured on. The order of phases is the configuration's.

pub(crate) mod answer;
pub(crate) mod control;
pub(crate) mod cyclictest;
pub mod echo;
pub mod grants;
pub(crate) mod hwlat;
pub mod load;
pub mod machine;
pub(crate) mod message;
pub mod metered;
pub(crate) mod node;
pub mod plan;
pub(crate) mod self_test;
