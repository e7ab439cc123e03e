//! What a disk is asked for, and what becomes of messages when it does not take them: nothing that it did not take is acknowledged.

mod running;

use std::path::Path;
use std::time::Duration;

use horus_gateway::frame::words::{Ack, Heartbeat};
use horus_gateway::frame::{Head, Type, WANTS_ACK};
use horus_gateway::log::{Durability, From, Log, LogError, Options};
use running::PATIENCE;
use running::disk::Disk;
use running::process::Process;
use running::talk::*;

const DURABILITY: &str = "HORUS_TEST_DURABILITY";
const COMMITS: u64 = 100;
const HOUR: Duration = Duration::from_secs(3_600);

fn small() -> Options {
    Options { segment_bytes: 4096, keep_bytes: 1 << 20, durability: Durability::Each, ..Options::default() }
}

/// How often the disk was asked to write while a role ran behind it.
fn asked(role: &str, durability: &str) -> u64 {
    let scratch = tempfile::tempdir().unwrap();
    let status = Disk::command(scratch.path(), role).env(DURABILITY, durability).status().unwrap();
    assert!(status.success(), "{role} {durability}");
    let calls = Disk(scratch.path().to_owned()).calls();
    calls.iter().filter(|(name, _)| *name != "failed" && *name != "fsync").map(|(_, count)| count).sum()
}

#[test]
fn the_disk_is_asked_once_a_commit_now_and_then_or_never_as_was_promised() {
    let [none, never_due, due, each] =
        ["none", "hour", "interval", "each"].map(|durability| asked("writer_of_a_log", durability));
    assert_eq!(none, 0, "nothing is promised");
    assert_eq!(never_due, 1, "an hour is not over: at the end, and not before");
    // The thread is asked at each commit, and again when it is through: on a busy disk that is seldom, and yet before the end.
    assert!((2..=COMMITS + 2).contains(&due), "{due} for {COMMITS} commits");
    // The first segment's name, what the log begins with, and the end.
    assert!((COMMITS..=COMMITS + 3).contains(&each), "{each} for {COMMITS} commits");
}

#[test]
#[ignore = "a writer of other tests"]
fn writer_of_a_log() {
    let (Some(disk), Ok(durability)) = (Disk::own(), std::env::var(DURABILITY)) else { return };
    let durability = match durability.as_str() {
        "none" => Durability::None,
        "hour" => Durability::Interval(HOUR),
        "interval" => Durability::Interval(Duration::ZERO),
        _ => Durability::Each,
    };
    let (mut log, _) = Log::open(&disk.0.join("log"), Options { durability, ..Options::default() }).unwrap();
    for number in 1..=COMMITS {
        log.append(&number.to_le_bytes(), 1, 0).unwrap();
        log.commit().unwrap();
        std::thread::park_timeout(Duration::from_millis(1)); // the other thread has its turn
    }
    assert_eq!(log.counts().sync_failures, 0);
}

#[test]
fn what_a_disk_did_not_take_is_promised_by_no_later_commit() {
    for role in ["writer_on_a_disk_that_fails", "writer_whose_disk_fails_at_the_end_of_a_segment"] {
        asked(role, "each");
    }
}

/// The segments of a log.
fn segments(directory: &Path) -> usize {
    let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    names.filter(|path| path.extension().is_some_and(|ending| ending == "log")).count()
}

fn numbers(log: &mut Log) -> Vec<u64> {
    let mut reader = log.reader(From::First);
    std::iter::from_fn(|| reader.next(log).map(|read| read.sequence)).collect()
}

#[test]
#[ignore = "a writer of other tests"]
fn writer_on_a_disk_that_fails() {
    let Some(disk) = Disk::own() else { return };
    let directory = disk.0.join("log");
    let (mut log, _) = Log::open(&directory, small()).unwrap();
    log.append(&[1; 100], 1, 0).unwrap();
    log.commit().unwrap();
    (2..4).for_each(|number| assert_eq!(log.append(&[1; 100], 1, 0).unwrap(), number));
    disk.fail(1);
    let Err(LogError::Disk { .. }) = log.commit() else { panic!("the disk took it") };
    assert_eq!((log.counts().sync_failures, log.counts().doubtful), (1, 2));
    // The disk would say that all is well: nothing is asked of it again, and what comes is elsewhere.
    let before = disk.calls()["fdatasync"];
    log.commit().unwrap();
    assert_eq!(disk.calls()["fdatasync"], before);
    assert_eq!(segments(&directory), 1);
    assert_eq!(log.append(&[1; 100], 1, 0).unwrap(), 4);
    log.commit().unwrap();
    assert_eq!((segments(&directory), log.counts().doubtful), (2, 2));
    // A segment that cannot be begun is not tried for every message, and is begun with nothing of the attempt before.
    log.append(&[1; 100], 1, 0).unwrap();
    disk.fail(2);
    assert!(log.commit().is_err());
    assert!(matches!(log.append(&[1; 100], 1, 0), Err(LogError::Disk { .. })));
    assert_eq!(segments(&directory), 2);
    let before = disk.calls()["fdatasync"];
    assert!(matches!(log.append(&[1; 100], 1, 0), Err(LogError::Paused { .. })));
    assert_eq!(disk.calls()["fdatasync"], before);
    while log.append(&[1; 100], 1, 0).is_err() {
        std::thread::yield_now();
    }
    log.commit().unwrap();
    assert_eq!((numbers(&mut log), log.counts().doubtful), ((1..7).collect(), 3));
    // Opened again, all of the last segment is written: who was here before may have been told that the disk did not take it.
    drop(log);
    let before = disk.calls()["fdatasync"];
    let (mut log, _) = Log::open(&directory, small()).unwrap();
    assert!(disk.calls()["fdatasync"] > before);
    assert_eq!(numbers(&mut log), (1..7).collect::<Vec<_>>());
}

#[test]
#[ignore = "a writer of other tests"]
fn writer_whose_disk_fails_at_the_end_of_a_segment() {
    let Some(disk) = Disk::own() else { return };
    let directory = disk.0.join("log");
    let (mut log, _) = Log::open(&directory, small()).unwrap();
    const FIT: u64 = 28;
    let append = |log: &mut Log, numbers: std::ops::RangeInclusive<u64>| {
        numbers.for_each(|number| assert_eq!(log.append(&[1; 100], 1, 0).unwrap(), number));
    };
    append(&mut log, 1..=20);
    log.commit().unwrap();
    append(&mut log, 21..=FIT);
    assert_eq!(segments(&directory), 1);
    // The next segment and its name are taken, and what is left in the one before is not.
    disk.fail_after(2, 1);
    append(&mut log, FIT + 1..=FIT + 1);
    assert_eq!((segments(&directory), log.counts().sync_failures), (2, 1));
    let Err(LogError::Disk { path, .. }) = log.commit() else { panic!("half of it is not on the disk") };
    assert!(path.to_string_lossy().contains("001.log"), "{}", path.display());
    assert_eq!(log.counts().doubtful, FIT + 1 - 20);
    append(&mut log, FIT + 2..=FIT + 2);
    log.commit().unwrap();
    assert_eq!((segments(&directory), log.counts().doubtful), (2, FIT + 1 - 20));
}

const FAST: &str = "[limits]\nheartbeat_ms = 2000\n";

/// Messages one by one on channel 1, each of which the log has or has not.
fn is_logged(sender: &mut horus_gateway::client::Connection) -> bool {
    sender.send(&Head { flags: WANTS_ACK, ..Head::new(Type::Message, 1) }, &[7; 100]).unwrap();
    let ack = Ack::read(&next(sender).1).unwrap();
    assert_eq!(ack.taken + ack.lost, 1);
    ack.taken == 1
}

/// Waits until a heartbeat says that the disk failed.
fn told(client: &mut horus_gateway::client::Connection) -> Heartbeat {
    let until = std::time::Instant::now() + PATIENCE;
    loop {
        assert!(std::time::Instant::now() < until, "the failures are told");
        client.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
        let heartbeat = heartbeat(client);
        if heartbeat.disk_failures > 0 {
            return heartbeat;
        }
    }
}

#[test]
fn a_gateway_whose_disk_fails_says_lost_and_goes_on_elsewhere_and_tells_it_once() {
    let (gateway, disk) = Process::start_on_a_disk(&format!("{BOTH}{LOGGED}{FAST}"));
    let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    receiver.subscribe(1, &now("speed")).unwrap();
    assert!((0..10).all(|_| is_logged(&mut sender)));
    disk.fail(1);
    assert!(!is_logged(&mut sender), "the disk did not take it");
    assert!((0..10).all(|_| is_logged(&mut sender)), "a new segment has nothing to do with it");
    assert_eq!(messages(&mut receiver, 21).len(), 21, "all the same, everybody gets all of them");
    // And one that stays broken for a while: nothing is acknowledged, and nothing is tried for each message.
    disk.fail(4);
    let lost = std::iter::repeat_with(|| is_logged(&mut sender)).take_while(|is_logged| !is_logged).count();
    assert!(lost > 4, "{lost}");
    let Heartbeat { unlogged, disk_failures, .. } = told(&mut sender);
    assert_eq!((unlogged, disk_failures), (1 + lost as u64, 5));
    let journal = gateway.end();
    let told = journal.lines().filter(|line| line.contains("did not take")).count();
    assert!((1..=5).contains(&told), "once for each thing that it did not take: {journal}");
    assert!(journal.contains(&format!(" {} lost from the log, 5 failures of its disk", 1 + lost)), "{journal}");
}

#[test]
fn what_the_thread_could_not_write_is_counted_and_told_and_what_comes_is_elsewhere() {
    let log = "log = { durability = \"interval\", interval_ms = 1 }\n";
    let (gateway, disk) = Process::start_on_a_disk(&format!("{BOTH}{log}{FAST}"));
    let mut sender = gateway.connect();
    sender.advertise(1, &advertise("speed")).unwrap();
    assert!(is_logged(&mut sender));
    let directory = gateway.log.join("speed");
    let before = segments(&directory);
    disk.fail(1);
    assert!(is_logged(&mut sender), "this durability promises a copy, and the disk later");
    assert_eq!(told(&mut sender).disk_failures, 1);
    assert!(is_logged(&mut sender));
    assert_eq!(segments(&directory), before + 1, "nothing is written behind what may be a hole");
    let journal = gateway.end();
    assert_eq!(journal.lines().filter(|line| line.contains("did not take")).count(), 1, "{journal}");
    assert!(journal.contains("1 failures of its disk"), "{journal}");
}
