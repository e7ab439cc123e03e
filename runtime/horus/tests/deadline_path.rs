//! The deadline path, walked in reading order: `node.toml`, `app/settings`, `node/spec`, `startup`, `executor`, `miss`, `journal`,
//! catalog text.
//!
//! Time is virtual: the walk asserts what is accounted for, never how fast this machine is.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use horus::graph::NodeInfo;
use horus::journal::{self, Entry, Priority};
use horus::prelude::*;
use horus::stale;
use horus::startup::{self, Answer, Process, RtPriority, Thread};
use horus::task::KernelPolicy;

fn conf_path(file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conf/horus/rootfs").join(file)
}

fn conf(file: &str) -> String {
    let path = conf_path(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

const fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
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
    let mut text = texts(&conf("usr/lib/systemd/catalog/horus-node.catalog"))
        .remove(id)
        .unwrap_or_else(|| panic!("{id} is not explained"));
    for (name, value) in entry.fields().filter(|(name, _)| is_replaced(name)) {
        text = text.replace(&format!("@{name}@"), value);
    }
    assert!(!text.contains('@'), "a field is named that the entry does not have or journald does not replace:\n{text}");
    text
}

/// How late every cycle wakes.
const LATENESS: Duration = Duration::from_micros(50);

#[test]
fn a_stall_is_explained_in_the_journal_with_the_numbers_of_node_toml() {
    // node.toml -> app/settings -> node/spec
    let file = conf_path("usr/lib/horus/nodes/ping.toml");
    let mut world = VirtualWorld::with_settings(&file, |app| {
        app.node("ping", |_: &Cycle| {}); // everything else stands in the file
        Ok(())
    })
    .unwrap();
    let (period, deadline) = (ms(10), ms(8));
    let begin = world.now();

    // executor -> miss: a stall over two releases in cycle 5, and a nanosecond too much in cycle 9
    let in_time = deadline - LATENESS;
    world.delay("ping", LATENESS);
    for (cycles, execution) in
        [(5, in_time), (1, 2 * period + in_time), (1, in_time), (1, in_time + ns(1)), (10, in_time)]
    {
        world.takes("ping", execution).for_cycles(cycles);
        let (before, cycles) = (world.tally("ping").cycles, cycles);
        while world.tally("ping").cycles < before + cycles {
            world.run_for(ms(1));
        }
    }
    let tally = world.tally("ping");
    assert_eq!((tally.misses, tally.skipped, tally.max_consecutive, tally.releases()), (4, 2, 3, 20));

    // miss -> journal
    let entries: Vec<_> =
        world.journal().iter().filter(|entry| entry.get("MESSAGE_ID") == Some(journal::id::DEADLINE_MISS)).collect();
    let entry = entries[0];
    assert_eq!(entry.priority(), Priority::Warning);
    for (field, value) in [
        ("HORUS_NODE", "ping".to_owned()),
        ("HORUS_MISSES", "3".to_owned()),
        ("HORUS_SKIPPED", "2".to_owned()),
        ("HORUS_MAX_CONSECUTIVE", "3".to_owned()),
        ("HORUS_CYCLE", "5".to_owned()),
        ("HORUS_WORST_RESPONSE_NS", (2 * period + deadline).as_nanos().to_string()),
        ("HORUS_RELEASE_NS", begin.plus(6 * period).as_nanos().to_string()),
        ("HORUS_WAKE_NS", begin.plus(6 * period + LATENESS).as_nanos().to_string()),
        ("HORUS_COMPLETION_NS", begin.plus(8 * period + deadline).as_nanos().to_string()),
        ("HORUS_DEADLINE_NS", deadline.as_nanos().to_string()),
        ("HORUS_PERIOD_NS", period.as_nanos().to_string()),
        ("HORUS_DROPPED_RECORDS", "0".to_owned()),
    ] {
        assert_eq!(entry.get(field), Some(value.as_str()), "{field}");
    }

    // journal -> catalog
    let text = explain(entry);
    assert!(text.contains("it missed 3 deadlines") && text.contains("cycle was number 5"), "{text}");
}

#[test]
fn every_message_that_the_node_catalog_explains_is_one_that_nodes_send() {
    let ids: Vec<_> = texts(&conf("usr/lib/systemd/catalog/horus-node.catalog")).into_keys().collect();
    let mut sent = [
        journal::id::DEADLINE_MISS,
        journal::id::NODE_SUMMARY,
        journal::id::NODE_START,
        journal::id::NODE_REACTION,
        journal::id::OVER_BUDGET,
        journal::id::NODE_REARMED,
        journal::id::MONITOR,
        journal::id::CLOCK_STEP,
        journal::id::INPUT_STALE,
        journal::id::INPUT_FRESH,
        journal::id::OUTPUT_LOST,
        journal::id::INPUT_MISSED,
        journal::id::NODE_LOG,
        journal::id::NODE_LOG_LOST,
        journal::id::NODE_INSTALLED,
        journal::id::ROBOT_INSTALLED,
        journal::id::TOPIC_VANISHED,
        journal::id::WITNESS_STARTED,
        journal::id::WITNESS_MISSING,
    ];
    sent.sort_unstable();
    assert_eq!(ids, sent);
}

#[test]
fn a_stale_input_is_explained_with_its_topic_and_its_length() {
    let (mut watch, mut collector) = stale::channel("pong", "ping", Duration::from_millis(100));
    let at = |millis: u64| MonotonicTime::from_nanos(millis * 1_000_000);
    watch.observe(true, at(1_000));
    watch.observe(false, at(1_100));
    let text = explain(&collector.collect(at(1_100)).unwrap());
    assert!(text.contains("horus topic info ping") && text.contains("for 100000000 ns"), "{text}");
    watch.observe(true, at(3_000));
    let text = explain(&collector.collect(at(3_000)).unwrap());
    assert!(text.contains("for at most\n2000000000 ns at a time; how often: 1 ("), "{text}");
}

#[test]
fn the_units_of_nodes_differ_only_in_what_they_start() {
    let settings = |file| -> Vec<String> {
        let unit = conf(file);
        let service = unit.split_once("\n[Service]\n").unwrap().1.split("\n[Install]\n").next().unwrap();
        let starts = |line: &str| line.starts_with("ExecStart=") || line.starts_with("Environment=HORUS_NODE_FILE=");
        let kept = |line: &&str| !line.is_empty() && !line.starts_with('#') && !starts(line);
        service.lines().filter(kept).map(str::to_owned).collect()
    };
    assert_eq!(
        settings("usr/lib/systemd/system/horus-ping.service"),
        settings("usr/lib/systemd/system/horus-pong.service")
    );
    let example = settings("usr/lib/systemd/system/horus-ping.service");
    let mut installed = settings("usr/lib/systemd/system/horus-node@.service");
    installed.retain(|line| !example.contains(line));
    // What a user brings is on trial, may start slowly, may leak, keeps its parameters, and has a name of its own.
    let own =
        ["SyslogIdentifier=%i", "TimeoutStartSec=60s", "StateDirectory=horus/params/%i", "StateDirectoryMode=0750"];
    assert_eq!(installed, [own.as_slice(), &["MemoryMax=50%"]].concat());
    let installed = settings("usr/lib/systemd/system/horus-node@.service");
    assert!(example.iter().all(|line| installed.contains(line)), "{example:?}");
}

#[test]
fn what_startup_calls_granted_is_what_the_kernel_says() {
    // On a thread of its own, which ends at once: its policy and affinity end with it. Whether this user may have a
    // real-time policy is unknown; that the answer is the truth is not.
    let answers = thread::spawn(|| {
        let process = Process { rt_time_limit: Some(Duration::from_secs(1)), ..Process::default() };
        let policy = SchedulingPolicy::Fifo(RtPriority::new(1).unwrap());
        let thread = Thread { cpu: CpuChoice::Housekeeping, policy, ..Thread::default() };
        (process.prepare().and(thread.enter()), startup::policy_of_this_thread().unwrap())
    });
    let (granted, (policy, priority)) = answers.join().unwrap();
    let answer = |name| granted.guarantees().iter().find(|guarantee| guarantee.name == name).expect("asked for");
    assert_eq!(granted.guarantees().len(), 3);
    assert!(answer("cpu").is_granted() && answer("rt-time-limit").is_granted(), "{granted}");
    match &answer("scheduling-policy").answer {
        Answer::Granted(found) => {
            assert_eq!((policy, priority, found.as_str()), (KernelPolicy::Fifo, 1, "SCHED_FIFO priority 1"))
        }
        Answer::Refused { reason, remedy } => {
            assert_eq!(policy, KernelPolicy::Other);
            assert!(!reason.is_empty() && remedy.contains("LimitRTPRIO"), "{granted}");
        }
    }
    assert_eq!(startup::policy_of_this_thread().unwrap().0, KernelPolicy::Other, "other threads are left alone");
}

#[test]
fn a_refusal_stops_a_node_that_wants_all_or_nothing_and_is_named_by_any_other() {
    let granted = Thread { cpu: CpuChoice::Number(8191), ..Thread::default() }.enter();
    let error = granted.complete().unwrap_err();
    assert_eq!(error.0.refused().count(), 1, "{error}");
    assert!(error.to_string().contains("REFUSED cpu: asked CPU 8191"), "{error}");

    let node =
        NodeInfo { name: "pong".to_owned(), period_ns: 10_000_000, deadline_ns: 8_000_000, ..NodeInfo::default() };
    let start = granted.entry(&node);
    assert_eq!((start.get("HORUS_REFUSED"), start.priority()), (Some("cpu"), Priority::Warning));
    assert!(start.message().contains("WITHOUT cpu"), "{}", start.message());
    assert!(explain(&start).contains("REFUSED cpu"));
}

#[test]
fn a_priority_of_the_kernel_or_of_nobody_is_refused_before_anything_is_asked() {
    for priority in ["0", "99", "100", "high", "-1", ""] {
        let error = priority.parse::<RtPriority>().unwrap_err().to_string();
        assert!(error.contains(priority) && error.contains("choose 1 to 98"), "{error}");
    }
    assert_eq!("80".parse(), RtPriority::new(80));
}

#[test]
fn what_an_output_lost_and_an_input_missed_is_explained() {
    let mut world = VirtualWorld::new(|app| {
        let mut output = app.output_with::<CmdVel>("base.cmd", Options::latest(2))?;
        app.node("control", move |_: &Cycle| (0..3).for_each(|_| output.set(CmdVel::STOP))).period(ms(1));
        let mut input = app.input::<CmdVel>("base.cmd")?;
        app.node("base", move |_: &Cycle| input.messages().for_each(drop)).period(ms(5));
        Ok(())
    })
    .unwrap();
    world.run_for(ms(20));
    for (id, says) in [
        (journal::id::OUTPUT_LOST, "1 were more than the topic holds in one step"),
        (journal::id::INPUT_MISSED, "base.cmd"),
    ] {
        let entry = world.journal().iter().find(|entry| entry.get("MESSAGE_ID") == Some(id)).expect(id);
        assert!(explain(entry).contains(says), "{}", explain(entry));
    }
}
