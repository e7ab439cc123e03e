//! Files under a topic's name with a header of the fuzzer's choice: a program that opens them gets a reason, or a topic that
//! works.
//!
//! An input is either the file itself or a list of changes to a good header, which reaches the checks behind the first.
#![no_main]

use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use horus::message::Stamp;
use horus::topic::{Options, Publisher, Subscriber, TopicName};
use horus_shm::segment::layout::HEADER_BYTES;
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
enum Input {
    Whole(Vec<u8>),
    Changed { changes: Vec<(u16, u64)>, length: Option<u16> },
}

struct Place {
    directory: tempfile::TempDir,
    name: TopicName,
    /// A topic's file as a publisher makes it.
    good: Vec<u8>,
    /// Lives in the file, which would be removed otherwise, whatever it says. Never looks at its memory again.
    holder: Option<Mutex<Publisher<Stamp>>>,
}

impl Place {
    fn options(&self) -> Options {
        Options::reliable(4).publishers(2).directory(self.directory.path())
    }

    fn file(&self) -> PathBuf {
        only_file_in(self.directory.path())
    }
}

fn only_file_in(directory: &Path) -> PathBuf {
    std::fs::read_dir(directory).unwrap().next().unwrap().unwrap().path()
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let name: TopicName = "topic".parse().unwrap();
    let mut place = Place { directory, name, good: vec![], holder: None };
    let publisher = Publisher::<Stamp>::open(&place.name, &place.options()).unwrap();
    place.good = std::fs::read(place.file()).unwrap();
    place.holder = Some(Mutex::new(publisher));
    place
});

fuzz_target!(|input: Input| {
    let place = &*PLACE;
    let path = place.directory.path().join("topic.topic");
    let bytes = match input {
        Input::Whole(bytes) => bytes,
        Input::Changed { changes, length } => {
            let mut bytes = place.good.clone();
            for (offset, value) in changes {
                let offset = usize::from(offset) % (HEADER_BYTES - 8);
                bytes[offset..offset + 8].copy_from_slice(&value.to_ne_bytes());
            }
            bytes.truncate(length.map_or(usize::MAX, usize::from));
            bytes
        }
    };
    std::fs::write(&path, bytes).unwrap();
    let subscriber = Subscriber::<Stamp>::open(&place.name, &place.options());
    let publisher = Publisher::<Stamp>::open(&place.name, &place.options());
    if let Err(error) = &subscriber {
        assert!(!error.to_string().is_empty());
    }
    if let (Ok(mut publisher), Ok(mut subscriber)) = (publisher, subscriber) {
        for number in 0..6 {
            let _full = publisher.try_send(Stamp { sequence: number, sent_ns: 0 });
        }
        while subscriber.try_recv().is_some() {}
    }
});
