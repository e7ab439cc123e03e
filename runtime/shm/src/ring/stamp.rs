//! The time of sending by one clock or the other: an end's own, and the machine's, by which it stands in the slot (`horus_sys::clock`).

/// A stamp by an end's own clock, which is `ahead_ns` ahead of the machine's, by the machine's. No stamp stays none.
pub fn by_the_machines(stamp_ns: u64, ahead_ns: i64) -> u64 {
    by_ones_own(stamp_ns, ahead_ns.saturating_neg())
}

/// The other way round. What is before a clock's zero is its first moment.
pub fn by_ones_own(stamp_ns: u64, ahead_ns: i64) -> u64 {
    if stamp_ns == 0 { 0 } else { stamp_ns.saturating_add_signed(ahead_ns).max(1) }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn no_stamp_stays_none_and_a_stamp_that_the_other_clock_has_not_is_its_first_moment() {
        assert_eq!((by_the_machines(0, 5), by_ones_own(0, 5)), (0, 0));
        assert_eq!((by_the_machines(7, 5), by_ones_own(2, 5)), (2, 7));
        assert_eq!((by_the_machines(5, 5), by_ones_own(5, -9), by_the_machines(u64::MAX, -9)), (1, 1, u64::MAX));
    }
}
