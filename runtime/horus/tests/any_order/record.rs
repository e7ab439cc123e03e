//! What a program of nodes wrote about its messages, and how two of them are compared.
//!
//! A record is a file of native 64-bit words, three for each thing that happened, appended one after the other so that SIGKILL leaves
//! what was written: its kind, and two numbers.

use std::io::Write;
use std::path::Path;

use horus::time::MonotonicTime;

/// An input is open: when, and nothing.
pub const OPENED: u64 = 1;
/// A step begins: when, and nothing.
pub const STEP: u64 = 2;
/// An output accepted a message: its number, and when it was set.
pub const SET: u64 = 3;
/// An input got a message: its publisher's number, and its own.
pub const RECEIVED: u64 = 4;
/// What the input has missed so far, and nothing.
pub const MISSED: u64 = 5;
/// It was killed: when, as its parent knows, and nothing.
pub const KILLED: u64 = 6;
/// Its last step has returned: when, and nothing.
pub const ENDED: u64 = 7;

/// Appends to a record.
pub fn append(file: &mut std::fs::File, kind: u64, one: u64, two: u64) {
    let words = [kind, one, two];
    let mut bytes = [0; 24];
    for (place, word) in bytes.chunks_mut(8).zip(words) {
        place.copy_from_slice(&word.to_ne_bytes());
    }
    file.write_all(&bytes).expect("the record is written");
}

/// Says that a program was killed.
pub fn note_death(record: &Path, now: MonotonicTime) {
    // Killed before its first word, it has no record yet; in the middle of three, they do not count.
    let mut file = std::fs::OpenOptions::new().append(true).create(true).open(record).unwrap();
    let torn = file.metadata().unwrap().len() % 24;
    file.set_len(file.metadata().unwrap().len() - torn).unwrap();
    append(&mut file, KILLED, now.as_nanos(), 0);
}

/// A record that was read.
#[derive(Default)]
pub struct Record(Vec<[u64; 3]>);

impl Record {
    pub fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).unwrap_or_default();
        let (things, _being_written) = bytes.as_chunks::<24>();
        let word = |thing: &[u8; 24], place: usize| {
            u64::from_ne_bytes(thing[8 * place..8 * place + 8].try_into().expect("eight bytes"))
        };
        Self(things.iter().map(|thing| [word(thing, 0), word(thing, 1), word(thing, 2)]).collect())
    }

    fn of(&self, kind: u64) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.0.iter().filter(move |thing| thing[0] == kind).map(|thing| (thing[1], thing[2]))
    }

    /// How many steps began after a time.
    pub fn steps_since(&self, since: MonotonicTime) -> usize {
        self.of(STEP).filter(|(began, _)| *began > since.as_nanos()).count()
    }

    fn was_killed(&self) -> bool {
        self.of(KILLED).next().is_some()
    }

    /// The numbers of accepted messages. Of a program that was killed, those of its last step are apart: it perhaps did not return.
    fn accepted(&self) -> (Vec<u64>, Vec<u64>) {
        let last_step = match self.was_killed() {
            true => self.0.iter().rposition(|thing| thing[0] == STEP).unwrap_or(0),
            false => self.0.len(),
        };
        let sets = self.0.iter().enumerate().filter(|(_, thing)| thing[0] == SET);
        let (sure, unsure): (Vec<_>, Vec<_>) = sets.partition(|(place, _)| *place < last_step);
        let numbers = |sets: Vec<(usize, &[u64; 3])>| sets.into_iter().map(|(_, thing)| thing[1]).collect();
        (numbers(sure), numbers(unsure))
    }

    /// When its last message was set, or it was killed.
    fn end(&self) -> u64 {
        self.of(KILLED).chain(self.of(ENDED)).next().map_or(u64::MAX, |(when, _)| when)
    }
}

/// What was compared.
#[derive(Debug, Default)]
pub struct Link {
    pub accepted: u64,
    pub received: u64,
    pub missed: u64,
    /// Messages accepted while a reader was there from before the first to after the last.
    pub complete: u64,
}

impl Link {
    pub fn add(&mut self, other: &Self) {
        self.accepted += other.accepted;
        self.received += other.received;
        self.missed += other.missed;
        self.complete += other.complete;
    }
}

/// Compares what the writers of a topic accepted with what its readers got.
pub fn compare(topic: &str, writers: &[(u64, Record)], readers: &[(u64, Record)], is_reliable: bool) -> Link {
    let mut link = Link::default();
    for (_, writer) in writers {
        let (sure, unsure) = writer.accepted();
        let numbers: Vec<_> = sure.iter().chain(&unsure).copied().collect();
        assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>(), "topic {topic}: a writer's record");
        link.accepted += numbers.len() as u64;
    }
    for (reader_number, reader) in readers {
        let Some((opened, _)) = reader.of(OPENED).next() else { continue };
        let missed = reader.of(MISSED).map(|(missed, _)| missed).max().unwrap_or(0);
        assert!(!is_reliable || missed == 0, "topic {topic}: a reader of a reliable topic missed {missed}");
        link.missed += missed;
        let (mut gaps, mut lost) = (0, 0);
        for (origin, _) in reader.of(RECEIVED) {
            assert!(
                writers.iter().any(|(number, _)| *number == origin),
                "topic {topic}: a message of no writer, {origin}"
            );
        }
        for (number, writer) in writers {
            let got: Vec<u64> =
                reader.of(RECEIVED).filter(|(origin, _)| origin == number).map(|(_, own)| own).collect();
            let what = format!("topic {topic}, writer {number}, reader {reader_number}: {got:?}");
            assert!(got.is_sorted_by(|a, b| a < b), "twice or out of order: {what}");
            let (sure, unsure) = writer.accepted();
            let last = got.last().copied();
            let all = (sure.len() + unsure.len()) as u64;
            // A message is set, seen and then written down; who was killed perhaps did not come to the last.
            let unwritten = if writer.was_killed() { 8 } else { 0 };
            assert!(last.is_none_or(|last| last < all + unwritten), "it was never accepted: {what}, {all} accepted");
            link.received += got.len() as u64;
            if let (Some(first), Some(last)) = (got.first(), last) {
                gaps += last - first + 1 - got.len() as u64;
            }
            let first_set = writer.of(SET).next().map_or(u64::MAX, |(_, when)| when);
            let reads_to_the_end =
                !reader.was_killed() && reader.steps_since(MonotonicTime::from_nanos(writer.end())) >= 2;
            if opened < first_set && reads_to_the_end {
                link.complete += sure.len() as u64;
                lost += sure.iter().filter(|own| !got.contains(own)).count() as u64;
            }
        }
        // A count is written down when the messages of a step have been read: who was killed perhaps did not come to that.
        let is_counted = !reader.was_killed() || is_reliable;
        assert!(
            !is_counted || gaps <= missed,
            "topic {topic}: reader {reader_number} has gaps of {gaps} messages, {missed} were counted"
        );
        assert!(lost <= missed, "topic {topic}: reader {reader_number} lost {lost} messages, {missed} were counted");
    }
    link
}
