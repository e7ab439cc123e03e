//! What a benchmark can be told, and what that means in samples and seconds.

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use serde::{Deserialize, Serialize};

use crate::pinning::Cpus;

/// The command line of every benchmark.
#[derive(Clone, Debug, Parser)]
#[command(about, long_about = None)]
pub struct Options {
    /// Fewer samples: good enough to see that all works, in a minute or less
    #[arg(long)]
    pub quick: bool,
    /// The two CPUs to measure between, for example 0,1 [default: the first two that this process may use]
    #[arg(long, value_name = "A,B")]
    pub cpus: Option<Cpus>,
    /// Print one JSON object, schema horus-bench/1, instead of a table
    #[arg(long)]
    pub json: bool,
    /// Also write the results to this directory: JSON and HdrHistogram's log
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Measure only cells whose path, system or message contains this text
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
}

/// How long to measure.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[must_use]
pub struct Effort {
    /// Round trips, or batches, to time.
    pub samples: u64,
    /// The same before, not timed: the peer is there, caches and clock speed have settled.
    pub warm_up: u64,
    /// Messages of a throughput run.
    pub messages: u64,
    /// How long a run may take; what was measured until then is the result.
    pub limit: Duration,
    /// Rounds of a floor.
    pub floor_rounds: u64,
    /// Nanoseconds to let pass before each round trip.
    pub pause_ns: u64,
}

impl Effort {
    /// For `--quick`: enough for a p99.99 where a round trip takes less than 5 µs.
    pub const QUICK: Self = Self {
        samples: 120_000,
        warm_up: 5_000,
        messages: 300_000,
        limit: Duration::from_millis(700),
        floor_rounds: 30_000,
        pause_ns: 0,
    };
    /// For figures that are worth keeping.
    pub const FULL: Self = Self {
        samples: 1_000_000,
        warm_up: 20_000,
        messages: 3_000_000,
        limit: Duration::from_secs(8),
        floor_rounds: 100_000,
        pause_ns: 0,
    };
    /// For tests of the harness.
    pub const TEST: Self = Self {
        samples: 200,
        warm_up: 20,
        messages: 2_000,
        limit: Duration::from_secs(10),
        floor_rounds: 100,
        pause_ns: 0,
    };

    /// Whether `--quick` was given.
    pub fn is_quick(&self) -> bool {
        self.floor_rounds <= Self::QUICK.floor_rounds // which no kind of task changes
    }

    /// Enough time for a peer to fall asleep before each of fewer round trips.
    pub fn asleep(self) -> Self {
        Self { pause_ns: 50_000, samples: self.samples / 10, warm_up: self.warm_up / 100, ..self }
    }

    /// A window of so many that share this effort.
    pub fn window_of(self, rounds: u32) -> Self {
        let share = u64::from(rounds);
        Self {
            samples: self.samples.div_ceil(share),
            warm_up: self.warm_up.div_ceil(share),
            limit: self.limit / rounds,
            floor_rounds: self.floor_rounds.div_ceil(share),
            ..self
        }
    }

    /// For a system that takes its time: a twentieth of the warm-up, which alone would use up the time of a quick run, and
    /// twice the time.
    pub fn unhurried(self) -> Self {
        Self { warm_up: self.warm_up / 20, limit: 2 * self.limit, ..self }
    }
}

/// Slots for a latency run: a usual queue of a control loop. Few, so that all systems' slots stay in the first-level
/// caches.
pub const LATENCY_CAPACITY: usize = 16;

/// Slots for a throughput run of messages of `bytes` bytes: 1024, or as many as fill 32 MiB, but 4 at least.
pub fn throughput_capacity(bytes: usize) -> usize {
    1 << ((32 << 20) / bytes).clamp(4, 1024).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_messages_get_fewer_slots() {
        assert_eq!(throughput_capacity(16), 1024);
        assert_eq!(throughput_capacity(64 << 10), 512);
        assert_eq!(throughput_capacity(120_000), 256);
        assert_eq!(throughput_capacity(1 << 30), 4);
    }
}
