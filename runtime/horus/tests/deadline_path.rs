//! The deadline path, walked in reading order: unit file, `deadline`, `startup`, `scheduler`, `miss`, `journal`,
//! catalog text.
//!
//! Time is virtual: the walk asserts what is accounted for, never how fast this machine is.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use horus::cpus::CpuChoice;
use horus::deadline::Timing;
use horus::journal::{self, Entry, Priority};
use horus::scheduler::{Cycle, Node, Scheduler};
use horus::startup::{self, Answer, FifoPriority, Policy, Process, Thread};
use horus::task::SchedulingPolicy;
use horus::time::{Clock, MonotonicTime, VirtualClock, parse_duration};
use horus::{miss, silence};

static RUNNING: AtomicBool = AtomicBool::new(false);

fn conf(file: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conf/horus/rootfs/usr/lib/systemd").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The value that follows `option` in the unit's `ExecStart=`.
fn option_of(unit: &str, option: &str) -> String {
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("the unit starts something");
    let mut words = command.split_whitespace().skip_while(|word| *word != option);
    words.nth(1).unwrap_or_else(|| panic!("no {option} in {command}")).to_owned()
}

fn timing_of(unit: &str) -> Timing {
    let duration = |option| parse_duration(&option_of(unit, option)).unwrap();
    Timing::new(duration("--period"), duration("--deadline")).unwrap()
}

/// Text by message id of a catalog file.
fn texts(catalog: &str) -> BTreeMap<String, String> {
    let sections = catalog.split("\n-- ").skip(1);
    sections
        .map(|section| section.split_once('\n').expect("an id and a text"))
        .map(|(id, text)| (id.to_owned(), text.to_owned()))
        .collect()
}

/// Whether journald replaces `@name@`: it knows capital letters and underscores in catalog texts, digits it does not.
fn is_replaced(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// What `journalctl -x` prints below `entry`: its text with every `@FIELD@` replaced.
fn explain(entry: &Entry) -> String {
    let id = entry.get("MESSAGE_ID").unwrap();
    let mut text =
        texts(&conf("catalog/horus-node.catalog")).remove(id).unwrap_or_else(|| panic!("{id} is not explained"));
    for (name, value) in entry.fields().filter(|(name, _)| is_replaced(name)) {
        text = text.replace(&format!("@{name}@"), value);
    }
    assert!(!text.contains('@'), "a field is named that the entry does not have or journald does not replace:\n{text}");
    text
}

/// How late every cycle wakes.
const LATENESS: Duration = Duration::from_micros(50);

/// A node that stalls over two releases in cycle 5, and is late by a nanosecond in cycle 9.
struct Stalling<'a> {
    clock: &'a VirtualClock,
    timing: Timing,
}

impl Node for Stalling<'_> {
    fn step(&mut self, cycle: &Cycle) {
        let in_time = self.timing.deadline() - LATENESS;
        self.clock.advance(match cycle.number {
            5 => 2 * self.timing.period() + in_time,
            9 => in_time + Duration::from_nanos(1),
            _ => in_time,
        });
    }
}

#[test]
fn a_stall_is_explained_in_the_journal_with_the_numbers_of_the_unit_file() {
    // unit -> deadline
    let unit = conf("system/horus-ping.service");
    let timing = timing_of(&unit);
    let (period, deadline) = (timing.period(), timing.deadline());

    // startup: nothing is asked of this machine here, and that is what the journal says
    let clock = VirtualClock::new();
    clock.wake_late_by(LATENESS);
    let stalling = Stalling { clock: &clock, timing };
    let opened = Process::default().prepare().open(|| Ok::<_, Infallible>(stalling)).unwrap();
    let mut entered = opened.enter(&Thread::default());
    let start = entered.granted().entry("ping", &timing);
    assert_eq!((start.get("HORUS_REFUSED"), start.priority()), (Some("none"), Priority::Info));
    assert!(explain(&start).contains(&format!("period of {} ns", period.as_nanos())));

    // scheduler -> miss
    let (mut recorder, mut collector) = miss::channel("ping", timing, miss::RING_CAPACITY).unwrap();
    let scheduler = Scheduler::with_clock(timing, &clock).releases(20);
    let tally = entered.run(&scheduler, &RUNNING, |record, verdict| recorder.observe(record, verdict));
    assert_eq!((tally.misses, tally.skipped, tally.max_consecutive), (4, 2, 3));

    // miss -> journal
    let entry = collector.collect(clock.now()).expect("the stall leaves an entry");
    assert_eq!(entry.priority(), Priority::Warning);
    for (field, value) in [
        ("MESSAGE_ID", journal::id::DEADLINE_MISS.to_owned()),
        ("HORUS_NODE", "ping".to_owned()),
        ("HORUS_MISSES", "4".to_owned()),
        ("HORUS_SKIPPED", "2".to_owned()),
        ("HORUS_MAX_CONSECUTIVE", "3".to_owned()),
        ("HORUS_CYCLE", "5".to_owned()),
        ("HORUS_WORST_RESPONSE_NS", (2 * period + deadline).as_nanos().to_string()),
        ("HORUS_RELEASE_NS", (6 * period).as_nanos().to_string()),
        ("HORUS_WAKE_NS", (6 * period + LATENESS).as_nanos().to_string()),
        ("HORUS_COMPLETION_NS", (8 * period + deadline).as_nanos().to_string()),
        ("HORUS_DEADLINE_NS", deadline.as_nanos().to_string()),
        ("HORUS_PERIOD_NS", period.as_nanos().to_string()),
        ("HORUS_DROPPED_RECORDS", "0".to_owned()),
    ] {
        assert_eq!(entry.get(field), Some(value.as_str()), "{field}");
    }

    // journal -> catalog
    let text = explain(&entry);
    assert!(text.contains("it missed 4 deadlines") && text.contains("cycle was number 5"), "{text}");
}

#[test]
fn every_message_that_the_node_catalog_explains_is_one_that_nodes_send() {
    let ids: Vec<_> = texts(&conf("catalog/horus-node.catalog")).into_keys().collect();
    let mut sent = [
        journal::id::DEADLINE_MISS,
        journal::id::NODE_SUMMARY,
        journal::id::NODE_START,
        journal::id::INPUT_SILENT,
        journal::id::INPUT_BACK,
    ];
    sent.sort_unstable();
    assert_eq!(ids, sent);
}

#[test]
fn a_silent_input_is_explained_with_its_topic_and_its_length() {
    let (mut watch, mut collector) = silence::channel("pong", "ping", Duration::from_millis(100));
    let at = |millis: u64| MonotonicTime::from_nanos(millis * 1_000_000);
    watch.observe(true, at(1_000));
    watch.observe(false, at(1_100));
    let text = explain(&collector.collect(at(1_100)).unwrap());
    assert!(text.contains("horus topic info ping") && text.contains("for 100000000 ns"), "{text}");
    watch.observe(true, at(3_000));
    let text = explain(&collector.collect(at(3_000)).unwrap());
    assert!(text.contains("took\n2000000000 ns; there were 1 "), "{text}");
}

#[test]
fn the_example_units_differ_only_in_what_they_start() {
    let settings = |file| -> Vec<String> {
        let unit = conf(file);
        timing_of(&unit);
        assert!(option_of(&unit, "--cpu").parse::<CpuChoice>().is_ok());
        let service = unit.split_once("\n[Service]\n").unwrap().1;
        let kept = |line: &&str| !line.is_empty() && !line.starts_with('#') && !line.starts_with("ExecStart=");
        service.lines().filter(kept).map(str::to_owned).collect()
    };
    assert_eq!(settings("system/horus-ping.service"), settings("system/horus-pong.service"));
}

#[test]
fn what_startup_calls_granted_is_what_the_kernel_says() {
    // On a thread of its own, which ends at once: its policy and affinity end with it. Whether this user may have a
    // real-time policy is unknown; that the answer is the truth is not.
    let answers = thread::spawn(|| {
        let process = Process { rt_time_limit: Some(Duration::from_secs(1)), ..Process::default() };
        let thread = Thread { cpu: CpuChoice::Housekeeping, policy: Policy::Fifo(FifoPriority::new(1).unwrap()) };
        let opened = process.prepare().open(startup::policy_of_this_thread).unwrap();
        let entered = opened.enter(&thread);
        (entered.granted().clone(), startup::policy_of_this_thread().unwrap())
    });
    let (granted, (policy, priority)) = answers.join().unwrap();
    let answer = |name| granted.guarantees().iter().find(|guarantee| guarantee.name == name).expect("asked for");
    assert_eq!(granted.guarantees().len(), 3);
    assert!(answer("cpu").is_granted() && answer("rt-time-limit").is_granted(), "{granted}");
    match &answer("policy").answer {
        Answer::Granted(found) => {
            assert_eq!((policy, priority, found.as_str()), (SchedulingPolicy::Fifo, 1, "SCHED_FIFO priority 1"))
        }
        Answer::Refused { reason, remedy } => {
            assert_eq!(policy, SchedulingPolicy::Other);
            assert!(!reason.is_empty() && remedy.contains("LimitRTPRIO"), "{granted}");
        }
    }
    assert_eq!(startup::policy_of_this_thread().unwrap().0, SchedulingPolicy::Other, "other threads are left alone");
}

#[test]
fn what_a_node_opens_is_opened_on_an_ordinary_thread_after_memory_was_locked() {
    let asked = thread::spawn(|| {
        let thread = Thread { cpu: CpuChoice::Housekeeping, policy: Policy::Fifo(FifoPriority::new(1).unwrap()) };
        let prepared = Process { lock_memory: true, ..Process::default() }.prepare();
        let locked = prepared.granted().clone();
        let opened = prepared.open(|| startup::policy_of_this_thread().map(|(policy, _)| policy)).unwrap();
        let entered = opened.enter(&thread);
        let names = entered.granted().guarantees().iter().map(|guarantee| guarantee.name).collect::<Vec<_>>();
        (locked.guarantees().len(), names, *entered.node())
    });
    assert_eq!(asked.join().unwrap(), (1, vec!["memory", "cpu", "policy"], SchedulingPolicy::Other));
}

#[test]
fn a_refusal_stops_a_node_that_wants_all_or_nothing_and_is_named_by_any_other() {
    let granted = Thread { cpu: CpuChoice::Number(8191), ..Thread::default() }.enter();
    let error = granted.complete().unwrap_err();
    assert_eq!(error.0.refused().count(), 1, "{error}");
    assert!(error.to_string().contains("REFUSED cpu: asked CPU 8191"), "{error}");

    let timing = timing_of(&conf("system/horus-pong.service"));
    let start = granted.entry("pong", &timing);
    assert_eq!((start.get("HORUS_REFUSED"), start.priority()), (Some("cpu"), Priority::Warning));
    assert!(start.message().contains("WITHOUT cpu"), "{}", start.message());
    assert!(explain(&start).contains("REFUSED cpu"));
}

#[test]
fn a_priority_of_the_kernel_or_of_nobody_is_refused_before_anything_is_asked() {
    for priority in ["0", "99", "100", "high", "-1", ""] {
        let error = priority.parse::<FifoPriority>().unwrap_err().to_string();
        assert!(error.contains(priority) && error.contains("choose 1 to 98"), "{error}");
    }
    assert_eq!("80".parse(), FifoPriority::new(80));
}
