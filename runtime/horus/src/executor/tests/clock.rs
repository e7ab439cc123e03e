//! A clock on which time passes only when a test says so: a test of deadlines cannot depend on the machine.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use crate::time::{Clock, MonotonicTime};

/// See the module documentation.
#[derive(Debug, Default)]
pub struct VirtualClock {
    // Nanoseconds, and a number; they guard nothing, so accesses are Relaxed.
    now: AtomicU64,
    lateness: AtomicU64,
    cpu: AtomicU32,
}

impl VirtualClock {
    /// A clock at zero, whose sleepers wake on time.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets `span` pass.
    pub fn advance(&self, span: Duration) {
        self.set(self.now().plus(span));
    }

    /// From now on the thread runs on this CPU; it starts on CPU 0.
    pub fn migrate_to(&self, cpu: u32) {
        self.cpu.store(cpu, Ordering::Relaxed);
    }

    /// From now on every sleep that really waits ends `lateness` after the point that it waited for.
    pub fn wake_late_by(&self, lateness: Duration) {
        self.lateness.store(u64::try_from(lateness.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn set(&self, now: MonotonicTime) {
        self.now.store(now.as_nanos(), Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> MonotonicTime {
        MonotonicTime::from_nanos(self.now.load(Ordering::Relaxed))
    }

    fn sleep_until(&self, until: MonotonicTime) {
        if until > self.now() {
            self.set(until.plus_nanos(self.lateness.load(Ordering::Relaxed)));
        }
    }

    fn cpu(&self) -> u32 {
        self.cpu.load(Ordering::Relaxed)
    }

    /// All time that passed: nothing else runs.
    fn cpu_time(&self) -> u64 {
        self.now().as_nanos()
    }
}

#[test]
fn a_sleeper_wakes_as_late_as_the_test_says_and_time_passes_by_its_word() {
    let clock = VirtualClock::new();
    clock.wake_late_by(Duration::from_nanos(7));
    clock.sleep_until(MonotonicTime::from_nanos(100));
    clock.advance(Duration::from_nanos(3)); // what the code under test "computes"
    assert_eq!(clock.now().as_nanos(), 110);
}
