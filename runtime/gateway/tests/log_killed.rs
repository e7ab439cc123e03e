//! A process that is killed at any time of its writing leaves a log in which nothing is torn and nothing is lost that it had
//! acknowledged. `log_steps.rs` kills it at each step.

mod killed;

use std::path::Path;
use std::process::{Command, Stdio};

use horus_sys::clock::monotonic_ns;
use killed::{DIRECTORY, DURABILITY, last, read_number};

/// How often it is killed; the long run asks for more.
fn kills() -> u64 {
    std::env::var("HORUS_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

#[test]
fn nothing_that_was_acknowledged_is_lost_and_nothing_torn_is_replayed() {
    for durability in ["none", "interval", "each"] {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("topic");
        let acknowledged_file = scratch.path().join("topic.acknowledged");
        std::fs::write(&acknowledged_file, 0_u64.to_le_bytes()).unwrap();
        let mut grown = 0;
        for kill in 0..kills() / 3 {
            let before = last(&directory, durability);
            write_and_be_killed(&directory, durability, kill, &acknowledged_file);
            let acknowledged = read_number(&acknowledged_file);
            let after = last(&directory, durability);
            assert!(after >= acknowledged, "{durability}: {acknowledged} was acknowledged, {after} is there");
            grown += u64::from(after > before);
        }
        assert!(grown >= kills() / 6, "{durability}: half of them wrote before they were killed: {grown}");
    }
}

/// Starts a writer, and kills it at another time each time: every second one not before it has acknowledged something.
fn write_and_be_killed(directory: &Path, durability: &str, kill: u64, acknowledged: &Path) {
    let before = read_number(acknowledged);
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::writer_writes_until_it_is_killed", "--ignored", "--nocapture"])
        .env(DIRECTORY, directory)
        .env(DURABILITY, durability)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let out = writer.stdout.take().unwrap();
    let is_ready = std::io::BufRead::lines(std::io::BufReader::new(out)).any(|line| line.unwrap().contains("ready"));
    assert!(is_ready, "the writer began");
    while kill.is_multiple_of(2) && read_number(acknowledged) == before {
        std::thread::yield_now();
    }
    let wait_ns = 7_919 * (kill * kill % 401); // up to 3 ms, at no regular distance
    let until = monotonic_ns() + wait_ns;
    while monotonic_ns() < until {
        std::hint::spin_loop();
    }
    writer.kill().unwrap();
    writer.wait().unwrap();
}
