//! The clock that messages are stamped with, and the machine's, which stamps in a segment are of.
//!
//! In a time namespace (`unshare --time`, some containers) CLOCK_MONOTONIC is shifted. A stamp crosses namespaces, so it stands in the slot
//! by the machine's clock: who writes it takes its own offset off, who reads it adds its own. Where there is no offset, which is
//! nearly everywhere, neither costs an instruction: ends with an offset go the way that is kept for care
//! (`Memory::ahead_ns` of `horus-shm`).

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

use crate::process::Opener;

/// Nanoseconds of a second.
const SECOND_NS: i64 = 1_000_000_000;

/// Nanoseconds on CLOCK_MONOTONIC, which starts near boot and is the same in every process of the machine.
///
/// Read through the vDSO: no system call where the kernel's clock source allows it (TSC, the arm64 counter).
#[inline]
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The clock starts at boot, so neither part is negative; 2^64 ns are 584 years.
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// What stamps of messages say in a process whose time is virtual; zero in all others.
static VIRTUAL_NS: AtomicU64 = AtomicU64::new(0);

/// What a message that is sent now is stamped with: the machine's time, or that of [`stamp_virtually`].
#[inline]
pub fn stamp_ns() -> u64 {
    // Relaxed: a number that guards nothing. Who sets it is the thread that sends, or one that ran before it.
    match VIRTUAL_NS.load(Ordering::Relaxed) {
        0 => monotonic_ns(),
        virtual_ns => virtual_ns,
    }
}

/// From now on, all stamps of this process say this time, until the next call.
pub fn stamp_virtually(now_ns: u64) {
    VIRTUAL_NS.store(now_ns, Ordering::Relaxed);
}

/// Whether stamps of this process are of a virtual time.
pub fn is_virtual() -> bool {
    VIRTUAL_NS.load(Ordering::Relaxed) != 0
}

/// How far this process's clock is ahead of the machine's, in nanoseconds: what its time namespace adds. Zero where the kernel does not
/// tell. Asked once a process, by the first topic that is opened.
pub fn ahead_of_machine_ns() -> i64 {
    static ASKED_BY: AtomicU64 = AtomicU64::new(0);
    static AHEAD: AtomicI64 = AtomicI64::new(0);
    let this = Opener::this().number(); // a child may be in another namespace
    // Acquire: with who asked comes the answer.
    let asked_by = ASKED_BY.load(Ordering::Acquire); // SYNC POINT: clock
    if asked_by != this {
        let offsets = std::fs::read_to_string("/proc/self/timens_offsets");
        AHEAD.store(offsets.map_or(0, |text| offset_in(&text)), Ordering::Relaxed);
        ASKED_BY.store(this, Ordering::Release); // SYNC POINT: clock
    }
    AHEAD.load(Ordering::Relaxed)
}

/// The offset of the monotonic clock, of lines such as `monotonic  100000  0`: seconds and nanoseconds.
fn offset_in(text: &str) -> i64 {
    let words = text.lines().filter_map(|line| line.trim().strip_prefix("monotonic")).flat_map(str::split_whitespace);
    let mut numbers = words.map(|word| word.parse::<i64>().unwrap_or(0));
    let (seconds, nanos) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    seconds.saturating_mul(SECOND_NS).saturating_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_of_a_time_namespace_is_read_as_the_kernel_writes_it() {
        assert_eq!(offset_in("monotonic           0         0\nboottime            7         0\n"), 0);
        assert_eq!(offset_in("monotonic       -3000 500000000\nboottime            0         0\n"), -2_999_500_000_000);
        assert_eq!(offset_in(""), 0);
    }
}
