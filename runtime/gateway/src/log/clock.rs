//! What connects a log's stamps to the time of the day: stamps are monotonic, and begin anew with each boot.

use std::sync::OnceLock;

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since 1970.
pub fn unix_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// The running boot; zero where the kernel does not tell, so that segments of any such boot look like one.
pub fn boot() -> u128 {
    static BOOT: OnceLock<u128> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        u128::from_str_radix(&text.trim().replace('-', ""), 16).unwrap_or(0)
    })
}
