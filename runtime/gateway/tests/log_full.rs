//! A log on a full disk goes on in what it has, and says so where it has nothing. The disk is a file system of 64 KiB in a mount
//! namespace of the test's own.

use std::path::Path;
use std::process::Command;

use horus_gateway::log::{Durability, From, Log, LogError, Options};

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
    for role in ["alone_on_a_small_disk", "beside_something_large"] {
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
