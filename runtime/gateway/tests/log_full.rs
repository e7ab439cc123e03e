//! A log on a full disk goes on in what it has, and says so where it has nothing. The disk is a file system of 64 KiB in a mount
//! namespace of the test's own.

mod running;

use std::path::Path;
use std::process::Command;

use horus_gateway::frame::words::Ack;
use horus_gateway::frame::{Head, Type, WANTS_ACK};
use horus_gateway::log::{Durability, From, Log, LogError, Options};
use horus_gateway::server::Server;
use horus_gateway::server::config::Config;
use horus_shm::directory::Directory;
use running::talk::{BOTH, advertise, from, messages, next, now};

const SMALL_FILE_SYSTEM: &str = "HORUS_TEST_SMALL_FILE_SYSTEM";

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
        "a_gateway_whose_disk_is_read_only",
    ] {
        // What the gateway of a test writes goes there too.
        let run = format!(
            r#"{mount} && TMPDIR="$HORUS_TEST_SMALL_FILE_SYSTEM" exec "$0" --exact {role} --ignored --nocapture"#
        );
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
    let Some(disk) = std::env::var_os(SMALL_FILE_SYSTEM) else { return };
    let directory = Path::new(&disk).join("log");
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
    let Some(disk) = std::env::var_os(SMALL_FILE_SYSTEM) else { return };
    let directory = Path::new(&disk).join("log");
    let (mut log, _) = Log::open(&directory, options()).unwrap();
    let large = Path::new(&disk).join("large");
    let mut room = 60 << 10;
    while std::fs::write(&large, vec![1; room]).is_err() {
        room -= 4 << 10;
    }
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

const LOGGED: &str = "log = { durability = \"each\", segment_bytes = 8192, keep_bytes = 1048576 }\n";

#[test]
#[ignore = "needs a small file system"]
fn a_gateway_whose_disk_is_full() {
    let Some(disk) = std::env::var_os(SMALL_FILE_SYSTEM) else { return };
    let gateway = running::process::Process::start(None, &format!("{BOTH}{LOGGED}"));
    let (mut sender, mut receiver) = (gateway.connect(), gateway.connect());
    sender.advertise(1, &advertise("speed")).unwrap();
    receiver.subscribe(1, &now("speed")).unwrap();
    let large = Path::new(&disk).join("large");
    let mut room = 60 << 10;
    while std::fs::write(&large, vec![1; room]).is_err() {
        room -= 4 << 10;
    }
    let mut number = 0_u64;
    let mut ask = || {
        number += 1;
        sender.send(&Head { flags: WANTS_ACK, ..Head::new(Type::Message, 1) }, &[number as u8; 400]).unwrap();
        let Ack { taken, lost, .. } = Ack::read(&next(&mut sender).1).unwrap();
        // Whoever is there gets it, whether or not it is in the log.
        assert_eq!(messages(&mut receiver, 1), [(number, vec![number as u8; 400])]);
        assert_eq!(taken + lost, 1);
        taken == 1
    };
    assert!((0..200).all(|_| ask()), "the oldest make room");
    let topic = gateway.connect().subscribe(1, &from(1)).unwrap();
    assert!(topic.next == 201 && topic.first > 100, "{topic:?}");
}

#[test]
#[ignore = "needs a small file system"]
fn a_gateway_whose_disk_is_read_only() {
    let Some(disk) = std::env::var_os(SMALL_FILE_SYSTEM) else { return };
    assert!(Command::new("mount").args(["-o", "remount,ro"]).arg(&disk).status().unwrap().success());
    let shared = tempfile::tempdir_in("/dev/shm").unwrap();
    let settings = format!("log_directory = \"{}/log\"\n{BOTH}{LOGGED}", Path::new(&disk).display());
    let config: Config = settings.parse().unwrap();
    let Err(error) = Server::open(config, Directory::at(shared.path()).unwrap()) else {
        panic!("nothing can be written")
    };
    let words = error.to_string();
    assert!(words.contains("topic speed") && words.contains("name one by log_directory"), "{words}");
}
