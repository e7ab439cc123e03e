//! A writer that is killed at each step of its writing leaves a log in which nothing is torn and nothing is lost that it had
//! acknowledged, and in which the next one goes on.
//!
//! The steps have to be compiled in, which an ordinary build has not:
//!
//! ```text
//! RUSTC_WORKSPACE_WRAPPER=$PWD/../scripts/checks/runtime/failpoints cargo test --package horus-gateway --test log_steps
//! ```
#![cfg(failpoints)]

mod killed;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use horus_gateway::failpoint::{NAMES, VARIABLE};
use horus_gateway::log::{Log, Options};
use killed::{DIRECTORY, DURABILITY, MESSAGES, last, message, options, read_number};

/// What the writer finds: nothing, or more than it may keep.
const BEFORE: [u64; 2] = [0, 1_000];
/// What it writes, which is several segments.
const WRITTEN: u64 = 180;
/// The first time that it comes by, and a later one.
const PASSAGES: [u64; 2] = [1, 4];

/// Whether a writer comes by at all.
fn is_on_its_way(name: &str, durability: &str) -> bool {
    match name {
        "thread:before" | "thread:after" => durability == "interval",
        "segment:synced" | "segment:named" => durability == "each",
        "sync:before" | "sync:after" | "open:again" => durability != "none",
        _ => true,
    }
}

#[test]
fn a_writer_that_is_killed_at_any_step_has_lost_nothing_and_leaves_nothing_torn() {
    let mut kills = 0;
    for name in NAMES {
        for durability in ["none", "interval", "each"] {
            let mut killed = 0;
            for (before, passage) in BEFORE.into_iter().flat_map(|before| PASSAGES.map(|passage| (before, passage))) {
                let what = format!("{name}:{passage}, {durability}, {before} before");
                killed += u64::from(is_killed(&format!("{name}:{passage}"), durability, before, &what));
            }
            assert_eq!(killed > 0, is_on_its_way(name, durability), "{name}, {durability}: {killed} were killed");
            kills += killed;
        }
    }
    println!("{kills} kills at {} steps", NAMES.len());
}

/// Whether a writer was killed there; what it leaves is looked at.
fn is_killed(place: &str, durability: &str, before: u64, what: &str) -> bool {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let directory = scratch.path().join("topic");
    let acknowledged = scratch.path().join("topic.acknowledged");
    // More than the writer may keep: it has to remove some of it.
    write(&directory, Options { keep_bytes: 1 << 20, ..options("none") }, before);
    std::fs::write(&acknowledged, before.to_le_bytes()).unwrap();
    let status = run(&directory, durability, place);
    let was_killed = status.signal() == Some(9);
    assert!(was_killed || status.success(), "{what}: {status}");
    let (promised, found) = (read_number(&acknowledged), last(&directory, durability));
    assert!(found >= promised, "{what}: {promised} was acknowledged, and {found} is the last");
    if !was_killed {
        assert_eq!(found, before + WRITTEN, "{what}");
    }
    // The next one goes on where this one was killed, whatever it left behind there.
    write(&directory, options(durability), 60);
    assert_eq!(last(&directory, durability), found + 60, "{what}");
    was_killed
}

fn run(directory: &Path, durability: &str, place: &str) -> ExitStatus {
    let mut writer = Command::new(std::env::current_exe().unwrap());
    writer.args(["--exact", "killed::writer_writes_until_it_is_killed", "--ignored", "--nocapture"]);
    writer.env(DIRECTORY, directory).env(DURABILITY, durability).env(MESSAGES, WRITTEN.to_string());
    writer.env(VARIABLE, place).stdout(Stdio::null()).status().unwrap()
}

fn write(directory: &Path, options: Options, messages: u64) {
    if messages == 0 {
        return;
    }
    let (mut log, _) = Log::open(directory, options).unwrap();
    for _ in 0..messages {
        let next = log.next_sequence();
        log.append(&message(next), next, 0).unwrap();
    }
}
