//! The experiment: what runs, on which CPU, for how long, and what it measures.
//!
//! In reading order: `plan` (who gets which time and which CPU) -> `self_test`, `node`, `message`, `answer` (messages with a
//! deadline), `cyclictest`, `hwlat`, `control` (the phases) under `load`; `metered` meters all loops that have a deadline. `machine` (with `identity` and `watch`), `units` and `memory` say what it was measured on; `events` asks the journal for them. The order of phases is `run`'s.

pub mod answer;
pub mod control;
pub mod cyclictest;
pub mod echo;
pub mod events;
pub mod grants;
pub mod hwlat;
pub mod load;
pub mod machine;
pub mod memory;
pub mod message;
pub mod metered;
pub mod node;
pub mod plan;
pub mod self_test;
pub mod units;
