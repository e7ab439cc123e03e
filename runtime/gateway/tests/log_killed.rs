//! A process that is killed at any point of its writing leaves a log in which nothing is torn and nothing is lost that it had
//! acknowledged.
//!
//! The process is this test's own program. It writes down each number in a file of its own, by a system call, after the log has taken
//! the message: that is its acknowledgement.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use horus_gateway::log::{Durability, From, Log, Options};
use horus_shm::clock::monotonic_ns;

/// How often it is killed; the long run asks for more.
fn kills() -> u64 {
    std::env::var("HORUS_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(120)
}

const DIRECTORY: &str = "HORUS_TEST_LOG";
const DURABILITY: &str = "HORUS_TEST_DURABILITY";

fn options(durability: &str) -> Options {
    let durability = match durability {
        "none" => Durability::None,
        "each" => Durability::Each,
        _ => Durability::Interval(Duration::from_millis(1)),
    };
    // Small segments: a kill often meets the change from one to the next, in a file that was used before.
    Options { segment_bytes: 8 << 10, keep_bytes: 64 << 10, durability, ..Options::default() }
}

fn message(number: u64) -> Vec<u8> {
    let length = 8 + (number.wrapping_mul(0x9e37_79b9) >> 7) as usize % 300;
    number.to_le_bytes().into_iter().cycle().take(length).collect()
}

#[test]
#[ignore = "the process that is killed"]
fn writer_writes_until_it_is_killed() {
    let (Ok(directory), Ok(durability)) = (std::env::var(DIRECTORY), std::env::var(DURABILITY)) else { return };
    let acknowledged = File::options().write(true).open(format!("{directory}.acknowledged")).unwrap();
    let (mut log, _) = Log::open(Path::new(&directory), options(&durability)).unwrap();
    println!("ready");
    std::io::stdout().flush().unwrap();
    loop {
        let next = log.next_sequence();
        // Three at a time: a commit is for several.
        for number in next..next + 3 {
            assert_eq!(log.append(&message(number), number, 0).unwrap(), number);
        }
        log.commit().unwrap();
        acknowledged.write_all_at(&(next + 2).to_le_bytes(), 0).unwrap();
    }
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

fn read_number(file: &Path) -> u64 {
    u64::from_le_bytes(std::fs::read(file).unwrap().try_into().unwrap())
}

/// Starts a writer, and kills it at another time each time: every second one not before it has acknowledged something.
fn write_and_be_killed(directory: &Path, durability: &str, kill: u64, acknowledged: &Path) {
    let before = read_number(acknowledged);
    let mut writer = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer_writes_until_it_is_killed", "--ignored", "--nocapture"])
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

/// The last number of the log, all of whose messages are looked at.
fn last(directory: &Path, durability: &str) -> u64 {
    let (mut log, found) = Log::open(directory, options(durability)).unwrap();
    assert!(!found.torn && found.damaged_places == 0 && found.damaged_files.is_empty(), "{durability}: {found:?}");
    let mut reader = log.reader(From::First);
    let mut last = None;
    while let Some(read) = reader.next(&mut log) {
        assert!(last.is_none_or(|last| read.sequence == last + 1), "{durability}: {} after {last:?}", read.sequence);
        assert_eq!(read.message, message(read.sequence));
        last = Some(read.sequence);
    }
    assert_eq!(reader.damaged(), 0);
    assert_eq!(last.map_or(1, |last| last + 1), log.next_sequence());
    last.unwrap_or(0)
}
