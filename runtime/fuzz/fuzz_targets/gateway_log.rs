//! A log whose files were changed while no process had it open: it is opened or refused with a reason, what it replays has
//! growing numbers, and what is appended afterwards is replayed.
#![no_main]

use std::path::{Path, PathBuf};

use horus_gateway::log::{Durability, From, Log, Options};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

const SEGMENT_BYTES: usize = 8 << 10;

#[derive(Arbitrary, Debug)]
enum Change {
    /// A byte of a file.
    Byte {
        file: u8,
        at: u16,
        byte: u8,
    },
    /// A word of a file.
    Word {
        file: u8,
        at: u16,
        word: u64,
    },
    /// A page that never reached the disk.
    Page {
        file: u8,
        page: u8,
    },
    /// A file that ends there.
    Length {
        file: u8,
        bytes: u16,
    },
    /// A file with other contents.
    Contents {
        file: u8,
        bytes: Vec<u8>,
    },
    /// A file of another one's name.
    Copy {
        from: u8,
        to: u8,
    },
    Remove {
        file: u8,
    },
}

#[derive(Arbitrary, Debug)]
struct Input {
    /// Lengths of the messages that were appended first.
    lengths: Vec<u16>,
    changes: Vec<Change>,
    /// What is appended in the end.
    more: u8,
}

fn options() -> Options {
    Options { segment_bytes: SEGMENT_BYTES, keep_bytes: 64 << 10, durability: Durability::None, ..Options::default() }
}

fn message(number: u64, length: u16) -> Vec<u8> {
    vec![number as u8; usize::from(length) % 900]
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "log"));
    files.sort();
    files
}

/// Everything that is replayed: the numbers grow, and there is an end.
fn replay(log: &mut Log, from: From) -> Vec<(u64, Vec<u8>)> {
    let mut reader = log.reader(from);
    let mut found: Vec<(u64, Vec<u8>)> = Vec::new();
    while let Some(read) = reader.next(log) {
        assert!(found.last().is_none_or(|(last, _)| *last < read.sequence), "numbers grow");
        found.push((read.sequence, read.message.to_vec()));
    }
    found
}

impl Change {
    fn apply(&self, directory: &Path) {
        let files = files(directory);
        if files.is_empty() {
            return;
        }
        let path = |file: &u8| &files[usize::from(*file) % files.len()];
        let edit = |file: &u8, with: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = std::fs::read(path(file)).unwrap();
            with(&mut bytes);
            std::fs::write(path(file), bytes).unwrap();
        };
        let put = |bytes: &mut Vec<u8>, at: u16, new: &[u8]| {
            let at = usize::from(at) % bytes.len().max(1);
            let end = bytes.len().min(at + new.len());
            bytes[at..end].copy_from_slice(&new[..end - at]);
        };
        match self {
            Self::Byte { file, at, byte } => edit(file, &|bytes| put(bytes, *at, &[*byte])),
            Self::Word { file, at, word } => edit(file, &|bytes| put(bytes, *at & !7, &word.to_le_bytes())),
            Self::Page { file, page } => edit(file, &|bytes| put(bytes, u16::from(*page % 2) * 4096, &[0; 4096])),
            Self::Length { file, bytes } => edit(file, &|old| old.truncate(usize::from(*bytes))),
            Self::Contents { file, bytes } => std::fs::write(path(file), bytes).unwrap(),
            Self::Copy { from, to } => {
                let _ = std::fs::copy(path(from), path(to)); // onto itself
            }
            Self::Remove { file } => std::fs::remove_file(path(file)).unwrap(),
        }
    }
}

fuzz_target!(|input: Input| {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let directory = scratch.path().join("log");
    let (mut log, _) = Log::open(&directory, options()).unwrap();
    let mut sent = Vec::new();
    for length in input.lengths.iter().take(100) {
        let number = log.next_sequence();
        let message = message(number, *length);
        assert_eq!(log.append(&message, number, 0).unwrap(), number);
        sent.push((number, message));
    }
    drop(log);
    for change in &input.changes {
        change.apply(&directory);
    }
    let mut log = match Log::open(&directory, options()) {
        Ok((log, _)) => log,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let found = replay(&mut log, From::First);
    if input.changes.is_empty() {
        assert!(sent.ends_with(&found) && found.last() == sent.last(), "nothing is missing at the end");
    }
    replay(&mut log, From::Sequence(sent.len() as u64 / 2));
    replay(&mut log, From::Unix(u64::MAX / 2));
    // A header can say that the numbers are at their end.
    if log.next_sequence() > u64::MAX / 2 {
        return;
    }
    let mut reader = log.reader(From::Now);
    for length in 0..u16::from(input.more) {
        let number = log.next_sequence();
        let message = message(number, length);
        log.append(&message, number, 0).unwrap();
        let read = reader.next(&mut log).expect("what was appended is replayed");
        assert_eq!((read.sequence, read.message), (number, message.as_slice()));
    }
});
