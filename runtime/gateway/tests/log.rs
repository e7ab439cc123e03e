//! A log keeps what it was given, says what it lost, and stays within its bytes, whatever is done to its files.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use horus_gateway::log::{Durability, From, Kind, Log, LogError, Options, Recovered};
use horus_sys::clock::monotonic_ns;

const PAGE: usize = 4096;

fn small() -> Options {
    Options { segment_bytes: PAGE, keep_bytes: 1 << 20, durability: Durability::None, ..Options::default() }
}

fn open(directory: &Path, options: Options) -> (Log, Recovered) {
    Log::open(directory, options).unwrap()
}

/// A message that says its number, as long as that number wants it.
fn message(number: u64) -> Vec<u8> {
    let length = 8 + (number * 7 % 90) as usize;
    number.to_le_bytes().into_iter().cycle().take(length).collect()
}

fn fill(log: &mut Log, numbers: std::ops::Range<u64>) {
    for number in numbers {
        assert_eq!(log.append(&message(number), 1_000 + number, (number % 5) as u16).unwrap(), number);
    }
}

/// The numbers of all messages from a place on, each of which is compared.
fn numbers(log: &mut Log, from: From) -> Vec<u64> {
    let mut reader = log.reader(from);
    let mut found = Vec::new();
    while let Some(read) = reader.next(log) {
        let number = read.sequence;
        assert_eq!(read.message, message(number), "message {number}");
        assert_eq!((read.stamp_ns, read.publisher), (1_000 + number, (number % 5) as u16));
        found.push(number);
    }
    found
}

fn all(numbers: std::ops::Range<u64>) -> Vec<u64> {
    numbers.collect()
}

fn segments(directory: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|ending| ending == "log")).collect();
    files.sort();
    files
}

#[test]
fn what_was_appended_is_read_from_any_number_also_after_reopening() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("topic");
    let (mut log, found) = open(&directory, small());
    assert_eq!((found, log.next_sequence()), (Recovered::default(), 1));
    fill(&mut log, 1..501);
    for reopened in [false, true] {
        if reopened {
            drop(log);
            let found;
            (log, found) = open(&directory, small());
            assert!(found.segments > 5 && !found.torn && found.damaged_places == 0, "{found:?}");
        }
        assert_eq!((log.first_sequence(), log.next_sequence()), (1, 501));
        assert_eq!(numbers(&mut log, From::First), all(1..501));
        for from in 0..510 {
            assert_eq!(numbers(&mut log, From::Sequence(from)), all(from.max(1)..501), "from {from}");
        }
    }
    fill(&mut log, 501..600);
    assert_eq!(numbers(&mut log, From::First), all(1..600));
}

#[test]
fn a_reader_goes_on_when_more_comes_over_the_borders_of_segments() {
    let scratch = tempfile::tempdir().unwrap();
    let (mut log, _) = open(scratch.path(), small());
    let mut reader = log.reader(From::Now);
    for number in 1..400 {
        assert!(reader.next(&mut log).is_none());
        fill(&mut log, number..number + 1);
        assert_eq!(reader.next(&mut log).unwrap().sequence, number);
    }
}

#[test]
fn skipped_numbers_are_a_gap_in_what_is_read() {
    let scratch = tempfile::tempdir().unwrap();
    let (mut log, _) = open(scratch.path(), small());
    fill(&mut log, 1..3);
    log.skip(4);
    fill(&mut log, 7..9);
    assert_eq!(numbers(&mut log, From::Sequence(4)), [7, 8]);
    drop(log);
    let (mut log, _) = open(scratch.path(), small());
    assert_eq!(numbers(&mut log, From::First), [1, 2, 7, 8]);
}

#[test]
fn a_record_that_is_torn_at_any_byte_is_not_replayed_and_those_before_it_are() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("topic");
    let (mut log, _) = open(&directory, small());
    fill(&mut log, 1..11);
    drop(log);
    let file = segments(&directory).remove(0);
    let whole = std::fs::read(&file).unwrap();
    let bytes = |number| 32 + message(number).len().next_multiple_of(8);
    let begin = 256 + (1..10).map(bytes).sum::<usize>();
    let end = begin + bytes(10);
    assert!(whole[begin..end].iter().any(|byte| *byte != 0) && whole[end..].iter().all(|byte| *byte == 0));
    for torn in begin..end {
        // As a disk leaves it that wrote only what is before `torn`: the rest is of an older life of the page.
        for older in [0, 0xff] {
            let mut bytes = whole.clone();
            bytes[torn..].fill(older);
            if bytes[..end] == whole[..end] {
                continue; // the message ends in such bytes
            }
            std::fs::write(&file, &bytes).unwrap();
            let (mut log, found) = open(&directory, small());
            assert_eq!(found.records, 9, "torn at {torn}: {found:?}");
            assert_eq!(numbers(&mut log, From::First), all(1..10));
            fill(&mut log, 10..60);
            assert_eq!(numbers(&mut log, From::First), all(1..60), "it goes on behind what was torn at {torn}");
            drop(log);
            for added in segments(&directory).into_iter().skip(1) {
                std::fs::remove_file(added).unwrap();
            }
        }
    }
}

#[test]
fn a_flipped_bit_costs_the_message_that_it_is_in_and_no_other() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("topic");
    let (mut log, _) = open(&directory, small());
    fill(&mut log, 1..300);
    drop(log);
    let files = segments(&directory);
    let records = 256..PAGE as u64 - 200; // of a full segment; its end is not
    for (turn, at) in records.step_by(23).enumerate() {
        let file = &files[turn % (files.len() - 1)];
        flip(file, at, turn % 8);
        let (mut log, _) = open(&directory, small());
        let found = numbers(&mut log, From::First);
        assert_eq!(found.len(), 298, "bit {} of byte {at} of {}", turn % 8, file.display());
        assert_eq!(log.next_sequence(), 300);
        drop(log);
        flip(file, at, turn % 8);
    }
    // In the segment that is written on, too.
    flip(&files[files.len() - 1], 300, 0);
    let (mut log, found) = open(&directory, small());
    assert_eq!((found.damaged_places, found.torn), (1, false));
    fill(&mut log, 300..310);
    let mut reader = log.reader(From::First);
    assert_eq!(std::iter::from_fn(|| reader.next(&mut log).map(|read| read.sequence)).count(), 308);
    assert_eq!(reader.damaged(), 1);
}

fn flip(file: &Path, at: u64, bit: usize) {
    let file = OpenOptions::new().read(true).write(true).open(file).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1 << bit], at).unwrap();
}

#[test]
fn a_damaged_header_costs_its_segment_which_is_put_aside() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path().join("topic");
    let (mut log, _) = open(&directory, small());
    fill(&mut log, 1..300);
    drop(log);
    let files = segments(&directory);
    for at in [0, 9, 20, 40, 255] {
        flip(&files[1], at, 3);
        let (mut log, found) = open(&directory, small());
        assert_eq!(found.damaged_files, [files[1].with_extension("damaged")]);
        let left = numbers(&mut log, From::First);
        assert!(left.len() < 299 && left[0] == 1 && left[left.len() - 1] == 299);
        drop(log);
        std::fs::rename(&found.damaged_files[0], &files[1]).unwrap();
        flip(&files[1], at, 3);
    }
    assert_eq!(numbers(&mut open(&directory, small()).0, From::First), all(1..300));
}

#[test]
fn a_file_that_was_made_and_not_begun_is_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let (mut log, _) = open(scratch.path(), small());
    fill(&mut log, 1..5);
    drop(log);
    for (number, bytes) in [(7, 0), (8, PAGE)] {
        std::fs::write(scratch.path().join(format!("{number:020}.log")), vec![0; bytes]).unwrap();
    }
    let (mut log, found) = open(scratch.path(), small());
    assert_eq!((found.segments, found.damaged_files.len(), segments(scratch.path()).len()), (1, 0, 1));
    assert_eq!(numbers(&mut log, From::First), all(1..5));
}

#[test]
fn a_log_keeps_its_newest_messages_within_its_bytes_in_files_that_it_uses_again() {
    let scratch = tempfile::tempdir().unwrap();
    let options = Options { keep_bytes: 5 * PAGE as u64, ..small() };
    let (mut log, _) = open(scratch.path(), options.clone());
    for thousand in 0..5 {
        fill(&mut log, 1 + thousand * 1_000..1_001 + thousand * 1_000);
        assert!(log.bytes() <= options.keep_bytes);
        let kept = numbers(&mut log, From::First);
        let first = log.first_sequence();
        assert_eq!(kept, all(first..log.next_sequence()));
        assert!(kept.len() > 100, "a segment holds about 40: {}", kept.len());
        assert_eq!(numbers(&mut log, From::Sequence(1)), kept, "what is gone is left out");
        drop(log);
        (log, _) = open(scratch.path(), options.clone());
        assert_eq!(numbers(&mut log, From::First), kept, "also when its files are read again");
    }
    fill(&mut log, 5_001..6_001);
    let counts = log.counts();
    assert!(counts.recycled > 20 && counts.made == 0 && counts.removed == 0, "{counts:?}");
    assert_eq!(segments(scratch.path()).len(), 5);
}

#[test]
fn a_segment_that_is_read_stays_for_its_reader_when_the_log_has_gone_on() {
    let scratch = tempfile::tempdir().unwrap();
    let (mut log, _) = open(scratch.path(), Options { keep_bytes: 4 * PAGE as u64, ..small() });
    fill(&mut log, 1..200);
    let first = log.first_sequence();
    let mut slow = log.reader(From::First);
    assert_eq!(slow.next(&mut log).unwrap().sequence, first);
    fill(&mut log, 200..1_000);
    let mut last = first;
    while let Some(read) = slow.next(&mut log) {
        assert!(read.sequence > last);
        assert_eq!(read.message, message(read.sequence));
        last = read.sequence;
    }
    assert_eq!((last, slow.damaged()), (999, 0));
}

#[test]
fn messages_that_are_too_old_go() {
    let scratch = tempfile::tempdir().unwrap();
    let keep = Duration::from_millis(300);
    let (mut log, _) = open(scratch.path(), Options { keep: Some(keep), ..small() });
    fill(&mut log, 1..301);
    let begun = monotonic_ns();
    // Old segments are looked for at most once a second; a loop without an end would be a failure, and the test's runner says so.
    while log.first_sequence() < 301 {
        log.commit().unwrap();
        std::thread::yield_now();
    }
    assert!(monotonic_ns() - begun > keep.as_nanos() as u64, "they were kept as long as that");
    assert!(numbers(&mut log, From::First).is_empty());
    fill(&mut log, 301..303);
    assert_eq!(numbers(&mut log, From::First), [301, 302]);
}

#[test]
fn a_log_is_replayed_from_a_time_of_the_day() {
    let scratch = tempfile::tempdir().unwrap();
    let (mut log, _) = open(scratch.path(), small());
    let mut stamp = monotonic_ns();
    (1..500).for_each(|number| {
        while monotonic_ns() < stamp + 20_000 {
            std::hint::spin_loop();
        }
        stamp = monotonic_ns();
        // Every second message is of a publisher whose messages come three numbers late.
        log.append(&message(number), stamp - if number.is_multiple_of(2) { 60_000 } else { 0 }, 0).unwrap();
    });
    let mut times = Vec::new();
    let mut reader = log.reader(From::First);
    while let Some(read) = reader.next(&mut log) {
        times.push((read.unix_ns, read.sequence));
    }
    // Between two segments the clock of the day may be corrected a little.
    const CORRECTED_NS: u64 = 2_000;
    for (time, sequence) in times.iter().copied() {
        let first = log.reader(From::Unix(time - CORRECTED_NS)).next(&mut log).unwrap().sequence;
        let earliest = times.iter().find(|(unix, _)| *unix + 2 * CORRECTED_NS >= time).unwrap().1;
        assert!((earliest..=sequence).contains(&first), "{sequence}: {first}");
    }
    assert_eq!(log.reader(From::Unix(0)).next(&mut log).unwrap().sequence, 1);
    assert!(log.reader(From::Unix(u64::MAX / 2)).next(&mut log).is_none());
}

#[test]
fn a_log_of_another_type_of_message_goes_on_in_a_segment_of_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let kind = |name: &str, layout_hash| Kind { type_name: name.to_owned(), layout_hash };
    for (turn, kind) in [kind("horus/Imu", 1), kind("horus/Imu", 2), kind("horus/CmdVel", 2)].into_iter().enumerate() {
        let (mut log, _) = open(scratch.path(), Options { kind, ..small() });
        let turn = turn as u64;
        fill(&mut log, 1 + turn * 10..11 + turn * 10);
        assert_eq!(numbers(&mut log, From::First), all(1..11 + turn * 10));
    }
    assert_eq!(segments(scratch.path()).len(), 3);
}

#[test]
fn what_was_committed_is_read_again_whatever_the_durability() {
    for durability in [Durability::Each, Durability::Interval(Duration::ZERO)] {
        let scratch = tempfile::tempdir().unwrap();
        let (mut log, _) = open(scratch.path(), Options { durability, ..small() });
        for number in 1..200 {
            fill(&mut log, number..number + 1);
            log.commit().unwrap();
        }
        assert_eq!((log.counts().appended, log.counts().sync_failures), (199, 0));
        drop(log);
        let (mut log, found) = open(scratch.path(), Options { durability, ..small() });
        assert!(!found.torn);
        assert_eq!(numbers(&mut log, From::First), all(1..200));
    }
}

#[test]
fn what_cannot_be_is_refused_in_words() {
    let scratch = tempfile::tempdir().unwrap();
    let refused = |options| match Log::open(&scratch.path().join("x"), options) {
        Ok(_) => panic!("it cannot be"),
        Err(error) => error.to_string(),
    };
    assert!(refused(Options { segment_bytes: 100, ..small() }).contains("segments of 100 bytes"));
    assert!(refused(Options { keep_bytes: PAGE as u64, ..small() }).contains("room for two segments"));
    let kind = Kind { type_name: "x".repeat(129), layout_hash: 0 };
    assert!(refused(Options { kind, ..small() }).contains("129 bytes"));

    let (mut log, _) = open(scratch.path(), small());
    assert!(matches!(Log::open(scratch.path(), small()), Err(LogError::InUse { .. })));
    let Err(LogError::TooLong { maximum, .. }) = log.append(&[0; PAGE], 0, 0) else { panic!("it does not fit") };
    assert_eq!(log.append(&vec![1; maximum], 1, 0).unwrap(), 1);
    assert_eq!(log.append(&[2], 1, 0).unwrap(), 2);
    let mut reader = log.reader(From::First);
    assert_eq!(reader.next(&mut log).unwrap().message.len(), maximum);
    assert_eq!(reader.next(&mut log).unwrap().message, [2]);
}
