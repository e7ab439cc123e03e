//! The experiment: what runs, on which CPU, for how long, and what it measures.
//!
//! In reading order: `plan` (who gets which time and which CPU) -> `self_test`, `node`, `message`, `answer` (messages with a
//! deadline), `cyclictest`, `hwlat`, `control` (the phases) under `load`; `metered` meters all loops that have a deadline. `machine` says
//! what it was measured on. The order of phases is the configuration's.

pub mod answer;
pub mod control;
pub mod cyclictest;
pub mod echo;
pub mod grants;
pub mod hwlat;
pub mod load;
pub mod machine;
pub mod message;
pub mod metered;
pub mod node;
pub mod plan;
pub mod self_test;
