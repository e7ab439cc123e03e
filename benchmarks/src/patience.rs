//! How long the benchmarks wait for anything before they call it an error.

use std::time::Duration;

/// How long to wait for a peer to start, to connect or to finish.
pub const PATIENCE: Duration = Duration::from_secs(20);
