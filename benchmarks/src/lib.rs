//! The harness of the benchmarks: measures a message path against the cache line, and verifies every message.

pub mod patience;
pub mod transport;
