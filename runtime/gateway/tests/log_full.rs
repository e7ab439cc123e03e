//! A log on a full disk goes on in what it has, and says so where it has nothing; on one that is read-only, too. The disk is a file system of 64 KiB in a mount
//! namespace of the test's own.

mod running;

use std::path::{Path, PathBuf};
use std::process::Command;

use horus_gateway::client::Connection;
use horus_gateway::frame::words::Ack;
use horus_gateway::frame::{Head, Type, WANTS_ACK};
use horus_gateway::log::{Durability, From, Log, LogError, Options};
use horus_gateway::server::Server;
use horus_gateway::server::config::Config;
use horus_shm::directory::Directory;
use running::process::Process;
use running::talk::{advertise, from, heartbeat, messages, next, now};

const SMALL_FILE_SYSTEM: &str = "HORUS_TEST_SMALL_FILE_SYSTEM";

fn disk() -> Option<PathBuf> {
    std::env::var_os(SMALL_FILE_SYSTEM).map(PathBuf::from)
}

fn options() -> Options {
    Options { segment_bytes: 8 << 10, keep_bytes: 1 << 20, durability: Durability::None, ..Options::default() }
}

#[test]
fn a_full_disk_costs_the_oldest_messages_or_is_an_error_and_nothing_is_damaged() {
    let home = tempfile::tempdir().unwrap();
    let test = std::env::current_exe().unwrap();
    let mount = r#"mount -t tmpfs -o size=64k,mode=0700 none "$HORUS_TEST_SMALL_FILE_SYSTEM""#;
    let unshared = || {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-c"]).env(SMALL_FILE_SYSTEM, home.path());
        command
    };
    // As tests of other crates do: where no namespace may be made, CI shows it, and the run goes on.
    if !unshared().arg(mount).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: this user may not mount in a namespace of his own");
        return;
    }
    for role in [
        "alone_on_a_small_disk",
        "beside_something_large",
        "a_gateway_whose_disk_is_full",
        "a_gateway_whose_disk_is_full_before_there_is_an_older_segment",
        "a_gateway_that_starts_on_a_full_disk",
        "a_gateway_that_starts_on_a_disk_that_is_read_only",
        "a_gateway_whose_disk_becomes_read_only",
    ] {
        let run = format!(r#"{mount} && exec "$0" --exact {role} --ignored --nocapture"#);
        assert!(unshared().arg(run).arg(&test).status().unwrap().success(), "{role}");
    }
}

fn count(log: &mut Log) -> Vec<u64> {
    let mut reader = log.reader(From::First);
    let mut found = Vec::new();
    while let Some(read) = reader.next(log) {
        assert_eq!(read.message, [read.sequence as u8; 200]);
        found.push(read.sequence);
    }
    assert_eq!(reader.damaged(), 0);
    found
}

#[test]
#[ignore = "needs a small file system"]
fn alone_on_a_small_disk() {
    let Some(disk) = disk() else { return };
    let directory = disk.join("log");
    let (mut log, _) = Log::open(&directory, options()).unwrap();
    for number in 1..2_001_u64 {
        assert_eq!(log.append(&[number as u8; 200], 1, 0).unwrap(), number, "there is an older segment to write over");
    }
    let kept = count(&mut log);
    assert!(kept.len() > 150 && *kept.last().unwrap() == 2_000, "{} kept", kept.len());
    assert!(log.counts().recycled > 10);
    drop(log);
    let (mut log, found) = Log::open(&directory, options()).unwrap();
    assert!(!found.torn && found.damaged_places == 0);
    assert_eq!(count(&mut log), kept);
}

#[test]
#[ignore = "needs a small file system"]
fn beside_something_large() {
    let Some(disk) = disk() else { return };
    let directory = disk.join("log");
    let (mut log, _) = Log::open(&directory, options()).unwrap();
    let large = fill(&disk);
    let mut appended = 0;
    let error = loop {
        match log.append(&[(appended + 1) as u8; 200], 1, 0) {
            Ok(_) => appended += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, LogError::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("free some"), "{error}");
    assert_eq!(count(&mut log).len() as u64, appended, "what was taken is there");
    std::fs::remove_file(&large).unwrap();
    // It tries again, but not for each message.
    let mut refused = 0_u64;
    while log.append(&[(appended + 1) as u8; 200], 1, 0).is_err() {
        refused += 1;
    }
    assert!(refused > 0);
    assert_eq!(count(&mut log).len() as u64, appended + 1);
}

/// Small segments, for a small disk, and a topic without a log beside.
const TOPICS: &str = "[topics.speed]\ndirection = \"both\"\nbytes = 1000\n\
    log = { durability = \"each\", segment_bytes = 8192, keep_bytes = 1048576 }\n\
    [topics.live]\ndirection = \"both\"\nbytes = 1000\n[limits]\nheartbeat_ms = 2000\n";

/// Messages of both topics go through a gateway, whatever becomes of its log.
struct Traffic {
    gateway: Process,
    sender: Connection,
    receiver: Connection,
    sent: u64,
}

impl Traffic {
    fn begin(gateway: Process) -> Self {
        let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
        for (channel, topic) in [(1, "speed"), (2, "live")] {
            sender.advertise(channel, &advertise(topic)).unwrap();
            receiver.subscribe(channel, &now(topic)).unwrap();
        }
        Self { gateway, sender, receiver, sent: 0 }
    }

    /// Sends a message of each topic, which have to come as they are; whether the log has the one.
    fn is_logged(&mut self) -> bool {
        self.sent += 1;
        let [logged, live] = [1, 2].map(|channel| {
            let message = vec![self.sent as u8; 400];
            self.sender.send(&Head { flags: WANTS_ACK, ..Head::new(Type::Message, channel) }, &message).unwrap();
            let Ack { taken, lost, .. } = Ack::read(&next(&mut self.sender).1).unwrap();
            // A client that is there gets it, whether or not it is in the log.
            assert_eq!(messages(&mut self.receiver, 1)[0].1, message);
            assert_eq!(taken + lost, 1);
            taken == 1
        });
        self.receiver.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
        assert!(live, "a topic without a log has nothing to lose");
        logged
    }

    /// How many are lost before one is logged again.
    fn lost(&mut self) -> u64 {
        (0..u64::MAX).take_while(|_| !self.is_logged()).count() as u64
    }

    /// What clients and journal are told: so many are lost, and it was said why, so many times.
    fn tells(mut self, lost: u64, why: &str, times: usize) {
        self.sender.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
        heartbeat(&mut self.sender); // which may be of before
        self.sender.send(&Head::new(Type::Heartbeat, 0), &[]).unwrap();
        assert_eq!(heartbeat(&mut self.sender).unlogged, lost);
        drop((self.sender, self.receiver));
        let journal = self.gateway.end();
        let lines = journal.lines().filter(|line| line.contains(why) && line.contains("topic speed")).count();
        assert_eq!(lines, times, "{why:?} in:\n{journal}");
        assert!(journal.contains(&format!(" {lost} lost from the log")), "{lost}:\n{journal}");
    }
}

fn fill(disk: &Path) -> PathBuf {
    let large = disk.join("large");
    let mut room = 64 << 10;
    while std::fs::write(&large, vec![1; room]).is_err() {
        room -= 4 << 10;
    }
    large
}

fn mount(arguments: &[&str], place: &Path) {
    assert!(Command::new(arguments[0]).args(&arguments[1..]).arg(place).status().unwrap().success(), "{arguments:?}");
}

#[test]
#[ignore = "needs a small file system"]
fn a_gateway_whose_disk_is_full() {
    let Some(disk) = disk() else { return };
    let mut traffic = Traffic::begin(Process::start_logging_in(&disk.join("log"), TOPICS));
    fill(&disk);
    assert!((0..200).all(|_| traffic.is_logged()), "the oldest make room");
    let topic = traffic.gateway.connect().subscribe(1, &from(1)).unwrap();
    assert!(topic.next == 201 && topic.first > 100, "{topic:?}");
    traffic.tells(0, "no room", 0);
}

#[test]
#[ignore = "needs a small file system"]
fn a_gateway_whose_disk_is_full_before_there_is_an_older_segment() {
    let Some(disk) = disk() else { return };
    let gateway = Process::start_logging_in(&disk.join("log"), TOPICS);
    let large = fill(&disk);
    // The topic has a type from now on, and needs a segment of its own.
    let mut traffic = Traffic::begin(gateway);
    assert!((0..20).all(|_| !traffic.is_logged()));
    std::fs::remove_file(large).unwrap();
    let lost = 20 + traffic.lost();
    assert!((0..20).all(|_| traffic.is_logged()));
    traffic.tells(lost, "no room for 8192 bytes", 1);
}

#[test]
#[ignore = "needs a small file system"]
fn a_gateway_that_starts_on_a_full_disk() {
    let Some(disk) = disk() else { return };
    std::fs::create_dir(disk.join("log")).unwrap();
    fill(&disk);
    let mut traffic = Traffic::begin(Process::start_logging_in(&disk.join("log"), TOPICS));
    assert!((0..20).all(|_| !traffic.is_logged()));
    traffic.tells(20, "served without its log", 1);
}

#[test]
#[ignore = "needs a small file system"]
fn a_gateway_that_starts_on_a_disk_that_is_read_only() {
    let Some(disk) = disk() else { return };
    let log = disk.join("log");
    let mut traffic = Traffic::begin(Process::start_logging_in(&log, TOPICS));
    assert!((0..20).all(|_| traffic.is_logged()));
    traffic.tells(0, "log", 1); // what the log was found to be
    mount(&["mount", "-o", "remount,ro"], &disk);
    let mut traffic = Traffic::begin(Process::start_logging_in(&log, TOPICS));
    assert!((0..20).all(|_| !traffic.is_logged()));
    let refused = traffic.gateway.connect().subscribe(1, &from(1)).unwrap_err().to_string();
    assert!(refused.contains("could not be opened"), "{refused}");
    traffic.tells(20, "name one by log_directory", 1);
    // It is all there when the disk can be written again.
    mount(&["mount", "-o", "remount,rw"], &disk);
    let gateway = Process::start_logging_in(&log, TOPICS);
    assert_eq!(
        messages(
            &mut {
                let mut client = gateway.connect();
                client.subscribe(1, &from(1)).unwrap();
                client
            },
            20
        )
        .len(),
        20
    );
}

#[test]
#[ignore = "needs a small file system"]
fn a_gateway_whose_disk_becomes_read_only() {
    let Some(disk) = disk() else { return };
    let log = disk.join("log");
    let mut traffic = Traffic::begin(Process::start_logging_in(&log, TOPICS));
    assert!(traffic.is_logged());
    // What it has open it may still write, as on a disk that the kernel takes back: the next segment it may not.
    let place = log.join("speed");
    mount(&["mount", "--bind", place.to_str().unwrap()], &place);
    mount(&["mount", "-o", "remount,bind,ro"], &place);
    let kept = (0..1_000).take_while(|_| traffic.is_logged()).count();
    assert!((1..40).contains(&kept), "{kept}");
    assert!((0..20).all(|_| !traffic.is_logged()));
    mount(&["umount", "-l"], &place);
    let lost = 1 + 20 + traffic.lost();
    assert!((0..20).all(|_| traffic.is_logged()), "it is tried again");
    traffic.tells(lost, "Read-only file system", 1);
}

#[test]
fn a_wrong_setting_is_no_fault_of_the_disk_and_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    std::fs::write(scratch.path().join("file"), "").unwrap();
    let shared = tempfile::tempdir_in("/dev/shm").unwrap();
    let settings = format!("log_directory = {:?}\n{TOPICS}", scratch.path().join("file"));
    let config: Config = settings.parse().unwrap();
    let Err(error) = Server::open(config, Directory::at(shared.path()).unwrap()) else { panic!("it is a file") };
    let words = error.to_string();
    assert!(words.contains("topic speed") && words.contains("make the directory"), "{words}");
}
