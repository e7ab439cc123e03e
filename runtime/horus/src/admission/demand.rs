//! Whether the SCHED_DEADLINE tasks of one CPU all meet their deadlines: the processor demand test, by QPA.
//!
//! Earliest-deadline-first meets all deadlines when no stretch of time holds more work that must be done in it than
//! time:
//!
//! ```text
//! for all t: h(t) = B + sum max(0, floor((t - (D_i - J_i)) / T_i) + 1) C_i <= t
//! ```
//!
//! (Baruah, Rosier and Howell 1990). QPA (Zhang and Burns, "Schedulability analysis for real-time systems with EDF
//! scheduling", IEEE Transactions on Computers 58(9), 2009) looks at few `t`: it starts at the last deadline that can
//! matter and jumps down to `h(t)`, because `h` does not fall, so all `t` between `h(t)` and `t` are fine as well.
//!
//! `B` is the largest blocking of any of the tasks, and it is counted in every stretch, which is more than the theory
//! asks. The relative deadline that such a thread gives to the kernel is `D - J`, as the kernel counts from the
//! wake-up.

use std::time::Duration;

use super::busy_period::ROUNDING;
use super::{Load, Overload};

/// The share of a CPU that the kernel gives to DEADLINE tasks: `sched_rt_runtime_us` / `sched_rt_period_us`, by default
/// 950000 / 1000000 (`Documentation/scheduler/sched-deadline.rst`).
pub const MAX_DEADLINE_UTILISATION: f64 = 0.95;
/// Steps after which the test gives up, and the set is refused.
const MAX_STEPS: usize = 100_000;

/// Why the tasks do not fit, or `None` when they do. `loads` holds the DEADLINE tasks of one CPU.
pub(super) fn overload(blocking: u64, loads: &[Load]) -> Option<Overload> {
    let utilisation: f64 = loads.iter().map(Load::utilisation).sum();
    if utilisation > MAX_DEADLINE_UTILISATION + ROUNDING {
        return Some(Overload::Utilisation(utilisation));
    }
    // Beyond this length h(t) <= U t + B + sum (T_i - D_i) U_i is below t. A larger length is harmless, so it is
    // rounded up.
    let slack: f64 =
        loads.iter().map(|load| (load.distance - load.demand_deadline()) as f64 * load.utilisation()).sum();
    let enough = (blocking as f64 + slack) / (1.0 - utilisation) * (1.0 + ROUNDING) + 2.0;
    let earliest = loads.iter().map(Load::demand_deadline).min()?;
    let mut length = last_deadline_before(enough as u64, loads)?;
    for _ in 0..MAX_STEPS {
        let demand = demand_within(length, blocking, loads);
        if demand > length {
            let [length, demand] = [length, demand].map(Duration::from_nanos);
            return Some(Overload::Interval { length, demand });
        }
        if demand <= earliest {
            return None;
        }
        length = if demand < length { demand } else { last_deadline_before(length, loads)? };
    }
    Some(Overload::Undecided)
}

/// `h(t)`: the work that must be done within any `length` nanoseconds.
pub(super) fn demand_within(length: u64, blocking: u64, loads: &[Load]) -> u64 {
    blocking + loads.iter().map(|load| load.jobs_due_within(length) * load.budget).sum::<u64>()
}

/// The last point before `time` at which a job is due when all tasks are released at 0.
fn last_deadline_before(time: u64, loads: &[Load]) -> Option<u64> {
    let last = |load: &Load| {
        let behind_first = time.checked_sub(load.demand_deadline() + 1)?;
        Some(load.demand_deadline() + behind_first / load.distance * load.distance)
    };
    loads.iter().filter_map(last).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(budget: u64, deadline: u64, distance: u64) -> Load {
        Load { budget, deadline, distance, jitter: 0 }
    }

    /// The definition, tried at every point.
    fn overloaded_somewhere(blocking: u64, loads: &[Load], end: u64) -> bool {
        let earliest = loads.iter().map(Load::demand_deadline).min().unwrap_or(end);
        (earliest..end).any(|length| demand_within(length, blocking, loads) > length)
    }

    #[test]
    fn a_stretch_with_more_work_than_time_is_found() {
        // h(4) = 2, h(6) = 5, h(8) = 7, h(10) = 9, h(16) = 14.
        assert_eq!(overload(0, &[load(2, 4, 6), load(3, 6, 10), load(2, 8, 20)]), None);
        // h(6) = 7 and h(10) = 11 are too much. The test comes from above and meets 10 first.
        let [length, demand] = [10, 11].map(Duration::from_nanos);
        let overflow = [load(2, 4, 6), load(5, 6, 14), load(2, 8, 40)];
        assert_eq!(overload(0, &overflow), Some(Overload::Interval { length, demand }));
    }

    #[test]
    fn more_than_the_kernel_gives_is_refused_whatever_the_deadlines() {
        assert_eq!(overload(0, &[load(95, 100, 100)]), None);
        assert_eq!(overload(0, &[load(50, 100, 100), load(450, 1_000, 1_000)]), None, "0.95 is allowed");
        assert_eq!(overload(0, &[load(96, 100, 100)]), Some(Overload::Utilisation(0.96)));
    }

    #[test]
    fn no_tasks_need_no_time() {
        assert_eq!(overload(0, &[]), None);
    }

    proptest::proptest! {
        #[test]
        fn the_quick_test_says_what_the_definition_says(
            blocking in 0..4u64,
            tasks in proptest::collection::vec((1..12u64, 1..40u64, 0..30u64, 0..6u64), 1..5),
        ) {
            let loads: Vec<Load> = tasks
                .iter()
                .map(|&(budget, deadline, more, jitter)| Load { budget, deadline, distance: deadline + more, jitter })
                .collect();
            let utilisation: f64 = loads.iter().map(Load::utilisation).sum();
            proptest::prop_assume!(utilisation <= MAX_DEADLINE_UTILISATION);
            // The slack is below 4 x 75 and 1 - U at least 0.05: 8,000 lies behind every point that can matter.
            let expected = overloaded_somewhere(blocking, &loads, 8_000);
            proptest::prop_assert_eq!(overload(blocking, &loads).is_some(), expected);
        }
    }
}
