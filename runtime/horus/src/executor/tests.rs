//! The loop on a clock that the test moves, and on the machine's.

mod allocations;
mod clock;

use std::time::Duration;

use clock::VirtualClock;

use super::*;
use crate::deadline::{CycleRecord, Tally, Timing, Verdict};
use crate::miss;
use crate::node::Cycle;
use crate::time::SystemClock;

static RUNNING: AtomicBool = AtomicBool::new(false);

fn timing() -> Timing {
    Timing::new(Duration::from_millis(10), Duration::from_millis(8)).unwrap()
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Runs `releases` releases from `r_0` = 10 ms, where cycle `k` takes `work(k)`.
fn run(releases: u64, work: impl Fn(u64) -> Duration + Sync) -> (Vec<CycleRecord>, Tally) {
    let clock = VirtualClock::new();
    let mut records = Vec::new();
    let tally = Solo::with_clock(timing(), &clock).releases(releases).run_observed(
        &RUNNING,
        |cycle| clock.advance(work(cycle.number)),
        |record, _| records.push(*record),
    );
    (records, tally)
}

fn numbers(records: &[CycleRecord]) -> Vec<u64> {
    records.iter().map(|record| record.number).collect()
}

#[test]
fn releases_lie_on_the_grid_whatever_the_work_takes() {
    let (records, tally) = run(100, |k| Duration::from_micros(k * 79));
    for record in &records {
        assert_eq!(record.release.as_nanos(), 10_000_000 * (record.number + 1));
        assert_eq!(record.wake, record.release);
    }
    assert_eq!((tally.cycles, tally.misses, tally.skipped, tally.max_jitter), (100, 0, 0, Duration::ZERO));
    assert_eq!(tally.max_response, Duration::from_micros(99 * 79));
}

#[test]
fn a_deadline_is_met_on_the_nanosecond_and_missed_one_later() {
    let (_, met) = run(1, |_| ms(8));
    let (_, missed) = run(1, |_| ms(8) + Duration::from_nanos(1));
    assert_eq!((met.misses, missed.misses), (0, 1));
}

#[test]
fn an_overrun_skips_releases_counts_them_and_keeps_the_grid() {
    // Cycle 2 is released at 30 ms and runs until 65 ms: over the releases 3 (40), 4 (50) and 5 (60 ms).
    let (records, tally) = run(10, |k| if k == 2 { ms(35) } else { ms(1) });
    assert_eq!(numbers(&records), [0, 1, 2, 6, 7, 8, 9]);
    assert_eq!(records[2].skipped, 3);
    assert_eq!(records[3].release.as_nanos(), 70_000_000);
    assert_eq!(records[3].jitter(), Duration::ZERO);
    assert_eq!((tally.cycles, tally.skipped, tally.misses, tally.max_consecutive), (7, 3, 4, 4));
    assert_eq!(tally.releases(), 10);
}

#[test]
fn a_cycle_that_ends_exactly_on_the_next_release_skips_nothing() {
    let (records, tally) = run(3, |k| if k == 0 { ms(10) } else { ms(1) });
    assert_eq!(numbers(&records), [0, 1, 2]);
    assert_eq!((tally.misses, tally.skipped), (1, 0), "late, but no overrun");
    let (records, tally) = run(3, |k| if k == 0 { ms(10) + Duration::from_nanos(1) } else { ms(1) });
    assert_eq!(numbers(&records), [0, 2]);
    assert_eq!((tally.misses, tally.skipped), (2, 1));
}

#[test]
fn runs_of_misses_go_on_over_skipped_releases_and_end_with_a_cycle_in_time() {
    let late = [0, 1, 4, 5, 8];
    let (_, tally) = run(10, |k| {
        if k == 1 {
            ms(25)
        } else if late.contains(&k) {
            ms(9)
        } else {
            ms(1)
        }
    });
    // 0 late, 1 late over 2 and 3, 4 and 5 late: six in a row; 8 alone.
    assert_eq!((tally.max_consecutive, tally.misses, tally.skipped), (6, 7, 2));
}

#[test]
fn an_overrun_at_the_end_of_the_run_counts_no_release_beyond_it() {
    let (records, tally) = run(4, |k| if k == 2 { ms(500) } else { ms(1) });
    assert_eq!(numbers(&records), [0, 1, 2]);
    assert_eq!((tally.releases(), tally.skipped), (4, 1));
}

proptest::proptest! {
    #[test]
    fn every_release_is_served_or_counted_as_skipped(work_us in proptest::collection::vec(0..40_000u64, 1..100)) {
        let releases = work_us.len() as u64;
        let (records, tally) = run(releases, |k| Duration::from_micros(work_us[k as usize]));
        let mut next = 0;
        let mut free_at = MonotonicTime::default();
        for record in &records {
            proptest::prop_assert_eq!(record.number, next);
            proptest::prop_assert_eq!(record.release.as_nanos(), 10_000_000 * (record.number + 1));
            proptest::prop_assert!(record.release >= free_at, "a release that passed is not served late");
            let last_skipped = 10_000_000 * (record.number + 1 + record.skipped);
            proptest::prop_assert!(record.skipped == 0 || last_skipped < record.completion.as_nanos());
            next = record.number + 1 + record.skipped;
            free_at = record.completion;
        }
        let late = records.iter().filter(|record| record.response() > ms(8)).count() as u64;
        let skipped = releases - records.len() as u64;
        proptest::prop_assert_eq!((tally.cycles, tally.skipped), (releases - skipped, skipped));
        proptest::prop_assert_eq!((tally.misses, tally.releases()), (late + skipped, releases));
    }
}

#[test]
fn a_late_wake_up_is_jitter_and_part_of_the_response() {
    let clock = VirtualClock::new();
    clock.wake_late_by(ms(6));
    let node = |cycle: &Cycle| {
        assert_eq!(cycle.wake.since(cycle.release), ms(6));
        assert_eq!(cycle.deadline.since(cycle.release), ms(8));
        clock.advance(ms(3));
    };
    let tally = Solo::with_clock(timing(), &clock).releases(5).run(&RUNNING, node);
    assert_eq!((tally.max_jitter, tally.max_response, tally.misses, tally.skipped), (ms(6), ms(9), 5, 0));
}

#[test]
fn the_observer_hears_the_verdict_that_the_account_was_made_of() {
    let clock = VirtualClock::new();
    let mut verdicts = Vec::new();
    let tally = Solo::with_clock(timing(), &clock).releases(6).run_observed(
        &RUNNING,
        |cycle| clock.advance(ms([1, 9, 25, 1, 1, 1][cycle.number as usize])),
        |record, verdict| verdicts.push((record.number, *verdict)),
    );
    let verdict = |missed, overran, skipped, consecutive| Verdict { missed, overran, skipped, consecutive };
    let expected = [
        (0, verdict(false, false, 0, 0)),
        (1, verdict(true, false, 0, 1)),
        (2, verdict(true, true, 2, 4)),
        (5, verdict(false, false, 0, 0)),
    ];
    assert_eq!(verdicts, expected);
    assert_eq!(tally.misses, verdicts.iter().map(|(_, verdict)| verdict.misses()).sum::<u64>());
}

#[test]
fn the_cpu_is_that_of_the_wake_up_and_that_of_the_completion_and_none_of_the_time_after() {
    let clock = VirtualClock::new();
    let mut cpus = Vec::new();
    let _ = Solo::with_clock(timing(), &clock).releases(2).run_observed(
        &RUNNING,
        |_| clock.migrate_to(clock.cpu() + 1),
        |record, _| {
            clock.migrate_to(7); // after the cycle
            cpus.push((record.wake_cpu, record.completion_cpu));
        },
    );
    assert_eq!(cpus, [(0, 1), (7, 8)]);
}

#[test]
fn time_spent_in_the_observer_delays_the_next_cycle_visibly() {
    let clock = VirtualClock::new();
    let tally = Solo::with_clock(timing(), &clock).releases(2).run_observed(
        &RUNNING,
        |_| clock.advance(ms(1)),
        |_, _| clock.advance(ms(13)),
    );
    assert_eq!((tally.max_jitter, tally.max_response, tally.misses), (ms(4), ms(5), 0));
}

#[test]
fn a_stop_request_ends_the_loop_without_another_cycle() {
    let stop = AtomicBool::new(false);
    let clock = VirtualClock::new();
    let tally = Solo::with_clock(timing(), &clock).run(&stop, |cycle| stop.store(cycle.number == 6, Ordering::Relaxed));
    assert_eq!(tally.cycles, 7);
    assert_eq!(Solo::with_clock(timing(), &clock).run(&stop, |_| {}), Tally::default());
}

#[test]
fn the_loop_and_the_miss_recorder_allocate_nothing() {
    let timing = Timing::new(ms(1), ms(1)).unwrap();
    let (mut recorder, collector) = miss::channel("test", timing, 4).unwrap();
    let solo = Solo::new(timing).releases(50); // on the machine's own clock
    let node = |cycle: &Cycle| {
        if cycle.number.is_multiple_of(5) {
            SystemClock.sleep_until(cycle.release.plus_nanos(1_500_000)); // provoke misses: the ring fills up
        }
    };
    let mut executor = solo.executor(node, Some(Box::new(|record, verdict| recorder.observe(record, verdict))));
    let allocations = allocation_counter::measure(|| executor.run_released(&RUNNING));
    let tally = *executor.runners()[0].tally();
    drop(executor);
    assert_eq!(allocations.count_total, 0, "{allocations:?}");
    assert!(tally.misses >= 10 && tally.releases() == 50, "{tally:?}");
    let entry = collector.finish().unwrap();
    assert_eq!(entry.get("HORUS_MISSES"), Some(tally.misses.to_string().as_str()));
    let control = allocation_counter::measure(|| drop(std::hint::black_box(Box::new(1))));
    assert_eq!(control.count_total, 1, "the counter counts");
}

#[test]
fn a_node_of_grid_and_events_has_as_many_releases_as_asked_for() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = crate::topic::Options::latest(8).publishers(2).directory(scratch.path());
    let mut app = crate::app::App::new("grid-and-events").unwrap();
    let mut output = app.output_with::<crate::message::Stamp>("again", options.clone()).unwrap();
    let _input = app.input_with::<crate::message::Stamp>("again", options).unwrap();
    // Each cycle sends the message that releases the next one, so that the last release is one by an event.
    app.node("both", move |_: &Cycle| output.set(crate::message::Stamp::default())).period(ms(1)).on("again");
    app.releases(7);
    let accounts = app.run_in_place(SystemClock, &RUNNING).unwrap();
    assert_eq!(accounts[0].tally.releases(), 7);
}
