//! A bounded wait off the hot path, for what others do in microseconds.

use std::time::Duration;

use horus_sys::clock::monotonic_ns;

/// The longest wait; who needs longer was stopped.
const LIMIT: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_micros(200);

/// Waits off the hot path, without drift to care about and without the CPU.
pub(crate) fn pause(time: Duration) {
    std::thread::park_timeout(time);
}

/// A wait of at most a second, begun when it is first needed.
pub(crate) struct Patience {
    until_ns: Option<u64>,
}

impl Patience {
    pub fn new() -> Self {
        Self { until_ns: None }
    }

    /// Waits a moment; false when the time is up.
    pub fn pause(&mut self) -> bool {
        let now = monotonic_ns();
        let until = *self.until_ns.get_or_insert(now + LIMIT.as_nanos() as u64);
        if now < until {
            pause(PAUSE);
        }
        now < until
    }
}
