//! What a miss leaves in the journal, and what is left out when there are too many.

use super::*;
use crate::deadline::Tally;
use crate::journal;
use crate::witness::protocol::{Confidence, Kind, Share};

const MS: u64 = 1_000_000;

fn timing() -> Timing {
    Timing::new(Duration::from_millis(10), Duration::from_millis(8)).unwrap()
}

/// A loop's end of the channel, with the account that judges its cycles.
struct Loop(MissRecorder, Tally);

impl Loop {
    fn observe(&mut self, cycle: &CycleRecord) {
        let verdict = self.1.add(&timing(), cycle);
        self.0.observe(cycle, &verdict);
    }
}

fn channel(capacity: usize) -> (Loop, MissCollector) {
    let (recorder, collector) = super::channel("ping", timing(), capacity).unwrap();
    (Loop(recorder, Tally::default()), collector)
}

/// Cycle `number` of the grid `10 ms * k`, woken after 1 ms on CPU 3, which completes after `response_ms` on
/// CPU 2.
fn cycle(number: u64, response_ms: u64) -> CycleRecord {
    let release = MonotonicTime::from_nanos(number * 10 * MS);
    let completion = release.plus_nanos(response_ms * MS);
    CycleRecord {
        number,
        release,
        wake: release.plus_nanos(MS),
        completion,
        wake_cpu: 3,
        completion_cpu: 2,
        skipped: timing().releases_skipped(release, completion),
    }
}

fn at(millis: u64) -> MonotonicTime {
    MonotonicTime::from_nanos(millis * MS)
}

fn fields<'a, const N: usize>(entry: &'a Entry, names: [&str; N]) -> [&'a str; N] {
    names.map(|name| entry.get(name).unwrap_or_else(|| panic!("no field {name}")))
}

#[test]
fn a_cycle_in_time_leaves_no_record() {
    let (mut recorder, mut collector) = channel(4);
    recorder.observe(&cycle(0, 8));
    assert!(collector.collect(at(100)).is_none());
}

#[test]
fn misses_of_one_second_become_one_entry_with_their_sums_and_maxima() {
    let (mut recorder, mut collector) = channel(16);
    recorder.observe(&cycle(0, 9));
    let first = collector.collect(at(100)).expect("the first miss is told at once");
    assert_eq!(fields(&first, ["HORUS_MISSES", "HORUS_CYCLE"]), ["1", "0"]);

    recorder.observe(&cycle(1, 25)); // releases 2 and 3 are skipped
    recorder.observe(&cycle(4, 9));
    recorder.observe(&cycle(5, 1));
    recorder.observe(&cycle(6, 10));
    assert!(collector.collect(at(1_099)).is_none(), "a second has not passed yet");
    let second = collector.collect(at(1_100)).unwrap();
    let names = ["HORUS_MISSES", "HORUS_SKIPPED", "HORUS_MAX_CONSECUTIVE", "HORUS_WORST_RESPONSE_NS", "HORUS_CYCLE"];
    // Cycle 0 missed as well, so the run is 0, 1, 2, 3, 4.
    assert_eq!(fields(&second, names), ["5", "2", "5", "25000000", "1"]);
    let names = ["HORUS_NODE", "HORUS_DEADLINE_NS", "HORUS_PERIOD_NS", "HORUS_DROPPED_RECORDS", "MESSAGE_ID"];
    assert_eq!(fields(&second, names), ["ping", "8000000", "10000000", "0", journal::id::DEADLINE_MISS]);
    assert!(collector.collect(at(9_000)).is_none(), "nothing is told twice");
}

#[test]
fn the_worst_cycle_is_told_with_its_times_its_thread_and_its_cpus() {
    let (mut recorder, mut collector) = channel(4);
    recorder.observe(&cycle(1, 9));
    recorder.observe(&cycle(2, 10));
    let tid = rustix::thread::gettid().as_raw_nonzero().to_string();
    let entry = collector.collect(at(100)).unwrap();
    let times = ["HORUS_RELEASE_NS", "HORUS_WAKE_NS", "HORUS_COMPLETION_NS", "HORUS_WORST_RESPONSE_NS"];
    assert_eq!(fields(&entry, times), ["20000000", "21000000", "30000000", "10000000"]);
    let places = ["HORUS_TID", "HORUS_CPU", "HORUS_COMPLETION_CPU"];
    assert_eq!(fields(&entry, places), [tid.as_str(), "3", "2"]);
    assert!(entry.message().contains("in cycle 2 on CPU 3"), "{}", entry.message());
}

#[test]
fn a_full_ring_drops_details_but_no_count() {
    let (mut recorder, mut collector) = channel(2);
    for number in 0..5 {
        recorder.observe(&cycle(number, 9));
    }
    let entry = collector.collect(at(100)).unwrap();
    assert_eq!(fields(&entry, ["HORUS_MISSES", "HORUS_DROPPED_RECORDS"]), ["5", "3"]);
    assert!(entry.message().contains("3 late cycles"), "{}", entry.message());
    recorder.observe(&cycle(5, 9));
    let entry = collector.finish().unwrap();
    assert_eq!(fields(&entry, ["HORUS_MISSES", "HORUS_DROPPED_RECORDS"]), ["1", "0"]);
}

#[test]
fn dropped_records_count_their_skipped_releases_and_their_run() {
    let (mut recorder, mut collector) = channel(2);
    recorder.observe(&cycle(0, 9));
    recorder.observe(&cycle(1, 9)); // the ring is full
    recorder.observe(&cycle(2, 25)); // releases 3 and 4 are skipped
    recorder.observe(&cycle(5, 1));
    recorder.observe(&cycle(6, 9)); // a short run after the long one
    let entry = collector.collect(at(100)).unwrap();
    let names = ["HORUS_MISSES", "HORUS_SKIPPED", "HORUS_MAX_CONSECUTIVE", "HORUS_DROPPED_RECORDS"];
    assert_eq!(fields(&entry, names), ["6", "2", "5", "2"]);
    assert!(entry.message().contains("longest run 5"), "{}", entry.message());
    assert!(collector.collect(at(9_000)).is_none(), "nothing is told twice");
}

#[test]
fn a_look_in_the_middle_of_a_drop_loses_none_of_its_counters() {
    let (_recorder, mut collector) = channel(2);
    // What the loop has done when it is interrupted before the last of its counters.
    collector.shared.dropped_records.fetch_add(1, Ordering::Relaxed);
    collector.shared.dropped_skipped.fetch_add(2, Ordering::Relaxed);
    collector.shared.dropped_run.fetch_max(7, Ordering::Relaxed);
    assert!(collector.collect(at(100)).is_none());
    collector.shared.dropped_misses.fetch_add(3, Ordering::Relaxed);
    let entry = collector.collect(at(101)).expect("nothing was told before, so a second need not pass");
    let names = ["HORUS_MISSES", "HORUS_SKIPPED", "HORUS_MAX_CONSECUTIVE", "HORUS_DROPPED_RECORDS"];
    assert_eq!(fields(&entry, names), ["3", "2", "7", "1"]);
}

#[test]
fn the_end_of_the_loop_tells_the_rest_without_waiting_for_the_second() {
    let (mut recorder, mut collector) = channel(4);
    recorder.observe(&cycle(0, 9));
    assert!(collector.collect(at(100)).is_some());
    recorder.observe(&cycle(1, 9));
    drop(recorder);
    let last = collector.finish().unwrap();
    assert_eq!(fields(&last, ["HORUS_MISSES", "HORUS_CYCLE"]), ["1", "1"]);
}

#[test]
fn one_collection_is_bounded_and_the_next_goes_on() {
    let capacity = 4 * RING_CAPACITY;
    let (mut recorder, mut collector) = channel(capacity);
    for number in 0..capacity as u64 {
        recorder.observe(&cycle(number, 9));
    }
    let first = collector.collect(at(0)).unwrap();
    assert_eq!(fields(&first, ["HORUS_MISSES"]), [RING_CAPACITY.to_string()]);
    let rest = collector.finish().unwrap();
    assert_eq!(fields(&rest, ["HORUS_MISSES"]), [(capacity - RING_CAPACITY).to_string()]);
}

/// What a witness says: all of the window was seen, or nothing.
fn verdict(missed: &Missed, confidence: Confidence) -> crate::witness::protocol::Verdict {
    let window_ns = missed.completion_ns - missed.release_ns;
    let (kind, name, ns) = (Kind::Task, "hog/137".to_owned(), window_ns);
    let shares = vec![Share { kind, name, ns, is_suspect: true, detail: None }];
    crate::witness::protocol::Verdict { cycle: missed.cycle, window_ns, shares, confidence, trace: None }
}

#[test]
fn of_several_verdicts_in_a_second_the_one_on_the_latest_cycle_is_told() {
    let (mut recorder, mut collector) = channel(16);
    recorder.observe(&cycle(0, 9));
    assert!(collector.collect(at(100)).is_some(), "the second begins");
    for (number, response, now) in [(1, 9, 200), (3, 18, 300), (6, 9, 500)] {
        let missed = collector.missed(&MissRecord::new(
            &cycle(number, response),
            &recorder.1.add(&timing(), &cycle(number, response)),
            7,
        ));
        recorder.observe(&cycle(number, response));
        collector.testimony.ask(missed, 0);
        let (asked, _) = collector.take_question(at(now)).expect("it froze");
        assert!(collector.take_answered(at(now + 250)).is_none(), "it is not answered");
        let confidence = if number == 6 { Confidence::None } else { Confidence::High };
        collector.answer(number, Ok(verdict(&asked, confidence)));
        assert!(collector.take_answered(at(now + 100)).is_none(), "too early");
        assert_eq!(collector.take_answered(at(now + 200)), Some(7));
    }
    let entry = collector.collect(at(1_100)).unwrap();
    assert_eq!(fields(&entry, ["HORUS_CULPRIT", "HORUS_CULPRIT_CYCLE"]), ["hog/137", "3"]);
    recorder.observe(&cycle(20, 9));
    assert!(collector.collect(at(2_100)).unwrap().get("HORUS_CULPRIT").is_none(), "told once");
}

#[test]
fn an_answer_that_comes_after_its_entry_is_not_told_with_the_next() {
    let (mut recorder, mut collector) = channel(16);
    recorder.observe(&cycle(0, 18));
    let record = MissRecord::new(&cycle(0, 18), &Tally::default().add(&timing(), &cycle(0, 18)), 7);
    let missed = collector.missed(&record);
    collector.testimony.ask(missed, 0);
    let (asked, _) = collector.take_question(at(0)).unwrap();
    assert!(collector.collect(at(100)).is_none(), "it waits");
    let entry = collector.collect(at(60_000)).unwrap();
    assert!(fields(&entry, ["HORUS_CULPRIT_MISSING"])[0].contains("in time"));
    collector.answer(0, Ok(verdict(&asked, Confidence::High)));
    assert_eq!(collector.take_answered(at(60_000)), Some(7), "the loop may freeze again");
    recorder.observe(&cycle(9, 9));
    assert!(collector.collect(at(62_000)).unwrap().get("HORUS_CULPRIT").is_none());
}

#[test]
fn the_worst_cycle_is_asked_about_though_another_froze() {
    let (mut recorder, mut collector) = channel(16);
    collector.absent(None);
    for (number, response) in [(1, 9), (3, 27), (9, 9)] {
        recorder.observe(&cycle(number, response));
    }
    assert!(collector.collect(at(100)).is_none(), "it waits");
    let (asked, recorded) = collector.take_question(at(100)).expect("nothing froze, and a witness can be asked");
    assert_eq!((asked.cycle, recorded), (3, None));
    assert!(collector.take_question(at(100)).is_none());
    collector.answer(3, Ok(verdict(&asked, Confidence::High)));
    assert!(collector.take_answered(at(9_000)).is_none(), "it did not freeze");
    let entry = collector.collect(at(200)).unwrap();
    assert_eq!(fields(&entry, ["HORUS_CULPRIT", "HORUS_CULPRIT_CYCLE", "HORUS_CYCLE"]), ["hog/137", "3", "3"]);
}

#[test]
fn a_storm_that_grows_worse_holds_no_entry_back() {
    let (mut recorder, mut collector) = channel(64);
    collector.absent(None);
    let mut told = Vec::new();
    for look in 0..100 {
        recorder.observe(&cycle(look * 20, 20 + look));
        let now = at(look * 100);
        told.extend(collector.collect(now).map(|_| look));
        while let Some((asked, _)) = collector.take_question(now) {
            collector.answer(asked.cycle, Ok(verdict(&asked, Confidence::High)));
        }
    }
    assert!(told.len() >= 8, "{told:?}");
}
