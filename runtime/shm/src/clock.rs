//! The clock that messages are stamped with.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds on CLOCK_MONOTONIC, which starts near boot and is the same in every process of the machine.
///
/// Read through the vDSO: no system call where the kernel's clock source allows it (TSC, the arm64 counter).
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The clock starts at boot, so neither part is negative; 2^64 ns are 584 years.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
