//! Figures of programs that do not run.

use horus::deadline::CycleRecord;
use horus::figures::imitation::Imitation;
use horus::graph::ProcessInfo;

use super::*;

const MS: u64 = 1_000_000;

fn at(nanos: u64) -> MonotonicTime {
    MonotonicTime::from_nanos(nanos)
}

fn balance() -> ProcessInfo {
    let control = NodeInfo {
        name: "control".to_owned(),
        period_ns: MS,
        deadline_ns: 800_000,
        budget_ns: 150_000,
        scheduling_policy: "fifo:80".to_owned(),
        ..NodeInfo::default()
    };
    let log = NodeInfo { name: "log".to_owned(), deadline_ns: MS, budget_ns: 0, ..control.clone() };
    ProcessInfo { name: "balance".to_owned(), nodes: vec![control, log], chains: Vec::new() }
}

/// A cycle that ends so long after its release, on CPU 3, and over so many further releases.
fn cycle(number: u64, response: u64, skipped: u64) -> CycleRecord {
    let release = at(number * MS);
    let (wake, completion) = (release.plus_nanos(10_000), release.plus_nanos(response));
    CycleRecord { number, release, wake, completion, wake_cpu: 3, completion_cpu: 3, skipped }
}

fn directory() -> (tempfile::TempDir, Directory) {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let directory = Directory::at(scratch.path()).unwrap();
    (scratch, directory)
}

#[test]
fn what_a_program_counts_is_seen_from_outside() {
    let (_scratch, directory) = directory();
    assert!(running(None).unwrap().is_empty() && running(Some(&directory)).unwrap().is_empty());
    let mut balance = Imitation::begin(&directory, &balance()).unwrap();
    balance.state(0, State::Running);
    (0..999).for_each(|number| balance.cycle(0, &cycle(number, 90_000, 0)));
    balance.cycle(0, &cycle(999, 2_500_000, 2));
    balance.used(0, Duration::from_micros(60), false);
    balance.used(0, Duration::from_micros(180), true);

    let nodes = running(Some(&directory)).unwrap();
    let [control, log] = &nodes[..] else { panic!("{nodes:?}") };
    assert_eq!((control.name(), control.state()), ("balance/control".to_owned(), "running".to_owned()));
    let figures = &control.figures;
    assert_eq!((figures.cycles, figures.skipped, figures.releases), (1_000, 2, 1_002));
    assert_eq!((figures.misses, figures.max_consecutive, figures.cpu), (3, 3, Some(3)));
    let p50 = figures.response_p50_ns.unwrap();
    assert!((90_000..=95_625).contains(&p50), "at most 6 % too long: {p50}");
    assert_eq!((figures.response_p999_ns, figures.response_max_ns), (None, Some(2_500_000)));
    assert_eq!((figures.jitter_max_ns, figures.cpu_time_max_ns), (Some(10_000), Some(180_000)));
    assert_eq!((control.budget_percent(), figures.over_budget), (Some(120.0), 1));

    assert_eq!((log.figures.cpu, log.figures.response_max_ns, log.budget_percent()), (None, None, None));
    assert_eq!(log.state(), "starting");
    drop(balance);
    assert!(running(Some(&directory)).unwrap().is_empty(), "its figures went with it");
}

#[test]
fn a_quantile_is_never_said_to_be_longer_than_the_longest_response() {
    let (_scratch, directory) = directory();
    let mut balance = Imitation::begin(&directory, &balance()).unwrap();
    (0..100).for_each(|number| balance.cycle(0, &cycle(number, 90_001, 0)));
    let figures = &running(Some(&directory)).unwrap()[0].figures;
    assert_eq!((figures.response_p50_ns, figures.response_max_ns), (Some(90_001), Some(90_001)));
}

#[test]
fn only_a_node_that_misses_now_or_is_not_what_it_should_be_asks_for_a_look() {
    let (_scratch, directory) = directory();
    let mut balance = Imitation::begin(&directory, &balance()).unwrap();
    balance.cycle(0, &cycle(0, 900_000, 0));
    let before = running(Some(&directory)).unwrap();
    let look = || {
        let mut node = running(Some(&directory)).unwrap().swap_remove(0);
        node.compare(&before);
        (node.figures.missed_lately, node.is_bad())
    };
    assert_eq!(look(), (Some(0), false), "it missed before");
    balance.cycle(0, &cycle(1, 900_000, 0));
    assert_eq!(look(), (Some(1), true));
    let mut new = before[0].clone();
    new.compare(&[]);
    assert!(new.is_bad(), "one that was not there missed since");
    balance.state(1, State::Safe);
    let log = &running(Some(&directory)).unwrap()[1];
    assert!(log.is_bad() && log.state() == "safe state");
}

#[test]
fn messages_that_its_outputs_lost_are_said_and_ask_for_a_look() {
    let (_scratch, directory) = directory();
    let balance = Imitation::begin(&directory, &balance()).unwrap();
    balance.state(0, State::Running);
    let look = || running(Some(&directory)).unwrap().swap_remove(0);
    balance.messages(0, 0, 7);
    assert_eq!(
        (look().state(), look().is_bad()),
        ("running".to_owned(), false),
        "who wants the newest only misses some"
    );
    balance.messages(0, 12, 7);
    let node = look();
    assert_eq!((node.state(), node.is_bad()), ("running, 12 messages lost".to_owned(), true));
    assert_eq!((node.figures.lost, node.figures.missed), (12, 7));
    let text = crate::node::text::info(&node, std::slice::from_ref(&node));
    assert!(text.contains("12 set and not published, 7 overwritten before they were read"), "{text}");
}

#[test]
fn a_step_that_hangs_and_a_monitor_that_took_over_are_said() {
    let (scratch, directory) = directory();
    let balance = Imitation::begin(&directory, &balance()).unwrap();
    balance.state(0, State::Running);
    balance.step(0, MonotonicTime::now().plus(Duration::from_secs(3_600)));
    assert_eq!(running(Some(&directory)).unwrap()[0].state(), "running", "it has hardly begun");
    balance.step(0, at(1));
    let state = running(Some(&directory)).unwrap()[0].state();
    assert!(state.starts_with("hangs for "), "{state}");
    let figures = figures::list(&Directory::at(scratch.path()).unwrap()).unwrap();
    figures[0].take_over(0);
    let node = &running(Some(&directory)).unwrap()[0];
    assert!(node.is_bad() && node.state().starts_with("taken over, hangs for "), "{}", node.state());
}

#[test]
fn releases_that_pass_while_a_step_hangs_or_no_cycle_begins_are_missed_already() {
    let (_scratch, directory) = directory();
    let mut balance = Imitation::begin(&directory, &balance()).unwrap();
    let look = || running(Some(&directory)).unwrap().swap_remove(0);
    balance.state(0, State::Running);
    balance.step(0, MonotonicTime::now());
    assert_eq!((look().figures.passing, look().figures.misses), (0, 0), "it has hardly begun");
    let began = at(MonotonicTime::now().as_nanos() - 5_000 * MS);
    balance.step(0, began);
    let node = look();
    let Figures { misses, releases, passing, max_consecutive, .. } = node.figures;
    assert!((5_000..60_000).contains(&passing) && node.state().starts_with("hangs for "), "{node:?}");
    assert_eq!((misses, releases, max_consecutive), (passing, passing, passing));

    // The step returned, and its process was stopped.
    balance.cycle(0, &cycle(0, 90_000, 0));
    let node = look();
    assert!(node.state().starts_with("stands still for ") && node.is_bad(), "{}", node.state());
    assert!(node.figures.misses >= 4_998 && node.figures.still_ns.is_some());
    balance.state(0, State::Ended);
    assert_eq!((look().figures.misses, look().state()), (0, "ended".to_owned()));
}
