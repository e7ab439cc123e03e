//! A writer of a log that is killed, and what is looked at then.
//!
//! The writer is the test's own program. It writes down each number in a file of its own, by a system call, after the log has taken
//! the message: that is its acknowledgement.

#![allow(dead_code, reason = "each test that includes this uses a part of it")]

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use horus_gateway::log::{Durability, From, Log, Options};

pub const DIRECTORY: &str = "HORUS_TEST_LOG";
pub const DURABILITY: &str = "HORUS_TEST_DURABILITY";
/// After how many messages the writer ends, if the test does not kill it.
pub const MESSAGES: &str = "HORUS_TEST_MESSAGES";

pub fn options(durability: &str) -> Options {
    let durability = match durability {
        "none" => Durability::None,
        "each" => Durability::Each,
        _ => Durability::Interval(Duration::from_millis(1)),
    };
    // Small segments: a kill often meets the change from one to the next, in a file that was used before.
    Options { segment_bytes: 8 << 10, keep_bytes: 64 << 10, durability, ..Options::default() }
}

pub fn message(number: u64) -> Vec<u8> {
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
    let end = std::env::var(MESSAGES).map_or(u64::MAX, |text| log.next_sequence() + text.parse::<u64>().unwrap());
    while log.next_sequence() < end {
        let next = log.next_sequence();
        // Three at a time: a commit is for several.
        for number in next..next + 3 {
            assert_eq!(log.append(&message(number), number, 0).unwrap(), number);
        }
        log.commit().unwrap();
        acknowledged.write_all_at(&(next + 2).to_le_bytes(), 0).unwrap();
    }
}

pub fn read_number(file: &Path) -> u64 {
    u64::from_le_bytes(std::fs::read(file).unwrap().try_into().unwrap())
}

/// The last number of the log, all of whose messages are looked at.
pub fn last(directory: &Path, durability: &str) -> u64 {
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
