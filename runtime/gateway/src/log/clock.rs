//! What connects a log's stamps to the time of the day: stamps are monotonic, and begin anew with each boot.

use std::sync::OnceLock;

use horus_sys::clock::monotonic_ns;
use rustix::time::{ClockId, clock_gettime};

/// How often two clocks are read.
const READINGS: usize = 3;

/// Nanoseconds since 1970.
pub fn unix_ns() -> u64 {
    let now = clock_gettime(ClockId::Realtime);
    let set = (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64);
    #[cfg(test)]
    let set = set.wrapping_add_signed(tests::STEP_NS.get());
    set
}

/// Nanoseconds since 1970, and what they are more than the monotonic clock's. Both are read again where something came between.
pub fn unix_ns_and_offset() -> (u64, u64) {
    let read = || {
        let before = monotonic_ns();
        let unix = unix_ns();
        (monotonic_ns() - before, unix, unix.wrapping_sub(before))
    };
    let best = (0..READINGS).map(|_| read()).min_by_key(|(between, ..)| *between).expect("there are some");
    (best.1, best.2)
}

/// The running boot; zero where the kernel does not tell, so that segments of any such boot look like one.
pub fn boot() -> u128 {
    static BOOT: OnceLock<u128> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        u128::from_str_radix(&text.trim().replace('-', ""), 16).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use horus_sys::clock::monotonic_ns;

    use crate::log::{Durability, From, Log, Options};

    const HOUR_NS: i64 = 3_600_000_000_000;

    thread_local! {
        /// By how much the test set the clock of the day, in this thread.
        pub(crate) static STEP_NS: Cell<i64> = const { Cell::new(0) };
    }

    /// Appends messages; when each was sent, by the clock of the day.
    fn append(log: &mut Log, messages: u64) -> Vec<u64> {
        let send = |_| {
            // The two clocks are not read at one moment when a segment is begun.
            let sent = super::unix_ns() - 200_000;
            let then = monotonic_ns() + 500_000;
            while monotonic_ns() < then {
                std::hint::spin_loop();
            }
            log.append(&[7; 400], monotonic_ns(), 0).unwrap();
            log.commit().unwrap();
            sent
        };
        (0..messages).map(send).collect()
    }

    fn numbers(log: &mut Log, from: From) -> Vec<u64> {
        let mut reader = log.reader(from);
        std::iter::from_fn(|| reader.next(log).map(|read| read.sequence)).collect()
    }

    #[test]
    fn a_clock_that_is_set_forward_or_back_loses_no_message_and_ends_none_too_early() {
        for step in [HOUR_NS, -HOUR_NS] {
            STEP_NS.set(0);
            let scratch = tempfile::tempdir().unwrap();
            let options = Options {
                segment_bytes: 8 << 10,
                keep_bytes: 10 << 20,
                keep: Some(Duration::from_secs(600)),
                durability: Durability::None,
                ..Options::default()
            };
            let (mut log, _) = Log::open(scratch.path(), options).unwrap();
            let mut sent = append(&mut log, 75);
            STEP_NS.set(step);
            // A segment has the clock that it was begun with.
            append(&mut log, 15);
            let after = append(&mut log, 60);
            // Nothing is an hour old, whatever the clock says.
            log.clean_up().unwrap();
            assert_eq!(numbers(&mut log, From::First), (1..151).collect::<Vec<_>>());
            assert_eq!(numbers(&mut log, From::Sequence(50)), (50..151).collect::<Vec<_>>());
            // Who wants what was sent since a time gets all of it, by the clock as it was then.
            for (number, sent) in (1..).zip(sent.drain(..)).chain((91..).zip(after)) {
                let found = numbers(&mut log, From::Unix(sent));
                assert!(found.contains(&number), "{step}: {number} is not among {found:?}");
            }
        }
    }
}
