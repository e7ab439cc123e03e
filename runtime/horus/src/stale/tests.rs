//! What a stale input leaves in the journal. Time is virtual: cycles of 10 ms, and a limit of 100 ms.

use super::*;

const MS: u64 = 1_000_000;

fn at(millis: u64) -> MonotonicTime {
    MonotonicTime::from_nanos(millis * MS)
}

/// A loop's end, which looks every 10 ms.
struct Loop(InputWatch, u64);

impl Loop {
    /// Cycles up to `until`, in milliseconds; something comes in each of them, or in none.
    fn run(&mut self, until: u64, came: bool) {
        while self.1 < until {
            self.1 += 10;
            self.0.observe(came, at(self.1));
        }
    }
}

fn scene() -> (Loop, StaleCollector) {
    let (watch, collector) = channel("pong", "ping", Duration::from_millis(100));
    (Loop(watch, 0), collector)
}

fn told(entry: Option<Entry>) -> (String, Priority, String) {
    let entry = entry.expect("there is something to tell");
    let length = entry.get("HORUS_STALE_NS").unwrap().to_owned();
    (entry.get("MESSAGE_ID").unwrap().to_owned(), entry.priority(), length)
}

#[test]
fn an_input_that_comes_every_period_is_never_told() {
    let (mut cycles, mut collector) = scene();
    cycles.run(5_000, true);
    assert!(collector.collect(at(5_000)).is_none());
    assert_eq!(cycles.0.totals().stale_times(), 0);
}

#[test]
fn a_stale_input_is_told_once_when_it_becomes_so_and_once_with_the_length_when_it_is_fresh() {
    let (mut cycles, mut collector) = scene();
    cycles.run(1_000, true);
    cycles.run(1_090, false);
    assert!(collector.collect(at(1_090)).is_none(), "below the limit");
    cycles.run(1_100, false);
    let entry = collector.collect(at(1_100));
    assert_eq!(entry.as_ref().unwrap().get("HORUS_TOPIC"), Some("ping"));
    let expected = (journal::id::INPUT_STALE.to_owned(), Priority::Warning, (100 * MS).to_string());
    assert_eq!(told(entry), expected);
    cycles.run(4_200, false);
    assert!(collector.collect(at(4_200)).is_none(), "it is not told again while it lasts");
    assert_eq!(cycles.0.totals().longest(), Duration::from_millis(3_200), "one that lasts counts");
    cycles.run(4_300, true);
    let entry = collector.collect(at(4_300)).unwrap();
    assert!(entry.message().contains("is fresh again after 3.21s"), "{}", entry.message());
    let expected = (journal::id::INPUT_FRESH.to_owned(), Priority::Info, (3_210 * MS).to_string());
    assert_eq!(told(Some(entry)), expected);
    assert!(collector.collect(at(9_000)).is_none(), "nothing is told twice");
    assert_eq!((cycles.0.totals().stale_times(), cycles.0.totals().longest()), (1, Duration::from_millis(3_210)));
}

#[test]
fn a_peer_that_was_never_there_is_told_and_counts_as_no_stale_input() {
    let (mut cycles, mut collector) = scene();
    cycles.run(700, false);
    let entry = collector.collect(at(700)).unwrap();
    assert!(
        entry.message().contains("input ping of node pong has had no message yet, 100ms after"),
        "{}",
        entry.message()
    );
    assert_eq!(entry.priority(), Priority::Info);
    cycles.run(2_000, true);
    let entry = collector.collect(at(2_000)).unwrap();
    assert!(entry.message().contains("had its first message 700ms after the node's start"), "{}", entry.message());
    assert_eq!((cycles.0.totals().stale_times(), cycles.0.totals().longest()), (0, Duration::ZERO));
}

#[test]
fn an_input_that_comes_and_goes_is_summed_up_to_one_entry_a_second() {
    let (mut cycles, mut collector) = scene();
    cycles.run(10, true);
    let mut entries = Vec::new();
    for round in 1..=100_u64 {
        cycles.run(round * 200 - 50, false);
        cycles.run(round * 200, true);
        entries.extend(collector.collect(at(round * 200)));
    }
    assert!((19..=21).contains(&entries.len()), "{} entries in 20 s", entries.len());
    entries.extend(collector.collect(MonotonicTime::MAX));
    let summed: u64 = entries.iter().map(|entry| entry.get("HORUS_STALE_COUNT").unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!((summed, cycles.0.totals().stale_times()), (100, 100), "none is left out");
}

#[test]
fn the_end_of_the_loop_tells_the_rest_without_waiting_for_the_second() {
    let (mut cycles, mut collector) = scene();
    cycles.run(10, true);
    cycles.run(200, false);
    assert!(collector.collect(at(200)).is_some());
    cycles.run(300, true);
    assert!(collector.collect(at(300)).is_none());
    assert_eq!(told(collector.collect(MonotonicTime::MAX)).0, journal::id::INPUT_FRESH);
}

#[test]
fn nobody_who_collects_costs_the_loop_nothing_and_loses_no_count() {
    let (mut cycles, mut collector) = scene();
    cycles.run(10, true);
    let allocations = allocation_counter::measure(|| {
        for round in 1..=100 {
            cycles.run(round * 200 - 50, false);
            cycles.run(round * 200, true);
        }
    });
    assert_eq!(allocations.count_total, 0, "{allocations:?}");
    assert_eq!(cycles.0.totals().stale_times(), 100);
    // The ring was full long ago. What it holds is told, then what it had no room for.
    let first = collector.collect(at(30_000)).unwrap();
    cycles.run(21_000, true);
    let rest: Vec<_> = [at(40_000), MonotonicTime::MAX].into_iter().filter_map(|now| collector.collect(now)).collect();
    let count = |entry: &Entry| entry.get("HORUS_STALE_COUNT").unwrap().parse::<u64>().unwrap();
    assert!(count(&first) >= 8 && count(&first) + rest.iter().map(count).sum::<u64>() <= 100, "{first:?} {rest:?}");
}
