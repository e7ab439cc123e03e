//! A peer that writes what it likes into a segment, between any two calls of the others: each call returns, with a
//! message of plain data, with nothing, or with an error.
//!
//! One thread, so that an input that is found does the same again. A peer that scribbles at the same instant is tested by
//! `horus/tests/scribbling_peer.rs`.
#![no_main]

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::LazyLock;
use std::time::Duration;

use horus::topic::{Directory, Options, Publisher, Subscriber, TopicName, WaitStrategy};
use horus_shm::peers::clean::clean;
use horus_shm::segment::layout::{BELL, MAX_SUBSCRIBERS, MEMBERSHIP, Shape};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

horus::message! {
    /// Large enough to be held in place on every topic.
    pub struct Page = "fuzz/Page" { words: [u64; 512] }
}

const CAPACITY: usize = 2;
const LANES: usize = 6;

#[derive(Arbitrary, Debug)]
enum Step {
    Scribble { place: Place, value: Value },
    Send,
    SendInPlace,
    Receive { subscriber: u8 },
    ReceiveInPlace { subscriber: u8 },
    Wait { subscriber: u8 },
    Join { sleeps: bool },
    Leave,
    ReplacePublisher,
    Reap,
    Count,
    Clean,
}

/// Where to write. Most words of a segment are payload, so that a random one hits nothing that anybody steers by.
#[derive(Arbitrary, Debug)]
enum Place {
    Membership(u8),
    Bell(u8),
    Identity { subscriber: u8, word: u8 },
    Owner { lane: u8, word: u8 },
    Position { lane: u8 },
    Cursor { lane: u8, subscriber: u8 },
    Slot { lane: u8, slot: u8, word: u8 },
    Anywhere(u16),
}

impl Place {
    /// Offset in bytes.
    fn offset(&self, shape: &Shape) -> usize {
        let lane_of = |lane: u8| usize::from(lane) % shape.lanes();
        // The fuzzer joins no more than a handful.
        let subscriber_of = |subscriber: u8| usize::from(subscriber) % 4;
        match *self {
            Self::Membership(word) => MEMBERSHIP + usize::from(word % 16) * 8,
            Self::Bell(word) => BELL + usize::from(word % 2) * 8,
            Self::Identity { subscriber, word } => {
                shape.identity(subscriber_of(subscriber)) + usize::from(word % 3) * 8
            }
            Self::Owner { lane, word } => shape.lane(lane_of(lane)) + usize::from(word % 6) * 8,
            Self::Position { lane } => shape.position(lane_of(lane)),
            Self::Cursor { lane, subscriber } => shape.cursor(lane_of(lane), subscriber_of(subscriber)),
            Self::Slot { lane, slot, word } => {
                let lane = lane_of(lane);
                let slot = usize::from(slot) % shape.capacity_of(lane);
                shape.slots(lane) + slot * shape.slot_stride() + usize::from(word % 3) * 8
            }
            Self::Anywhere(word) => usize::from(word) * 8 % shape.total_bytes(),
        }
    }
}

/// Numbers that are likely to mean something where they land.
#[derive(Arbitrary, Debug)]
enum Value {
    Small(u8),
    Near(i8),
    /// Just below the end of all numbers, of all sequence numbers, and of the stamps of these.
    Last {
        distance: u8,
        bits: Bits,
    },
    Any(u64),
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Bits {
    All = 64,
    Stamps = 63,
    Sequences = 62,
}

#[derive(Arbitrary, Debug)]
struct Input {
    latest: bool,
    steps: Vec<Step>,
}

static DIRECTORY: LazyLock<tempfile::TempDir> = LazyLock::new(|| tempfile::tempdir_in("/dev/shm").unwrap());

/// The scribbling peer's own hold on the file.
struct Scribbler {
    file: File,
    shape: Shape,
}

impl Scribbler {
    fn new() -> Self {
        let file = File::options().read(true).write(true).open(DIRECTORY.path().join("topic.topic")).unwrap();
        let shape = Shape::new(size_of::<Page>(), align_of::<Page>(), CAPACITY, LANES, MAX_SUBSCRIBERS).unwrap();
        assert_eq!(file.metadata().unwrap().len(), shape.total_bytes() as u64);
        Self { file, shape }
    }

    fn write(&self, place: &Place, value: &Value) {
        let offset = place.offset(&self.shape) as u64;
        let mut found = [0; 8];
        self.file.read_exact_at(&mut found, offset).unwrap();
        let value = match *value {
            Value::Small(small) => small.into(),
            Value::Near(distance) => u64::from_ne_bytes(found).wrapping_add_signed(distance.into()),
            Value::Last { distance, bits } => (u64::MAX >> (64 - bits as u32)) - u64::from(distance),
            Value::Any(any) => any,
        };
        self.file.write_all_at(&value.to_ne_bytes(), offset).unwrap();
    }
}

fn one_of<T>(all: &mut [T], number: u8) -> Option<&mut T> {
    let count = all.len().max(1);
    all.get_mut(usize::from(number) % count)
}

fuzz_target!(|input: Input| {
    let name: TopicName = "topic".parse().unwrap();
    let options = if input.latest { Options::latest(CAPACITY) } else { Options::reliable(CAPACITY) };
    let options = options.publishers(LANES).history(1).directory(DIRECTORY.path());
    let open = || Publisher::<Page>::open(&name, &options);
    let mut publisher = open().ok();
    let scribbler = Scribbler::new();
    let mut subscribers: Vec<Subscriber<Page>> = vec![];
    for step in input.steps.iter().take(100) {
        match step {
            Step::Scribble { place, value } => scribbler.write(place, value),
            Step::Send => {
                let _refused = publisher.as_mut().map(|publisher| publisher.try_send(Page { words: [7; 512] }));
            }
            Step::SendInPlace => {
                if let Some(Ok(mut loan)) = publisher.as_mut().map(Publisher::loan) {
                    loan.words[511] = 8;
                    loan.publish();
                }
            }
            Step::Receive { subscriber } => {
                let found = one_of(&mut subscribers, *subscriber);
                let _message = found.map(|subscriber| (subscriber.try_recv(), subscriber.missed()));
            }
            Step::ReceiveInPlace { subscriber } => {
                let sample = one_of(&mut subscribers, *subscriber).and_then(Subscriber::borrow);
                let _sum = sample.map(|sample| sample.words.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word)));
            }
            Step::Wait { subscriber } => {
                let found = one_of(&mut subscribers, *subscriber);
                let _message = found.map(|subscriber| subscriber.recv_timeout(Duration::from_micros(10)));
            }
            Step::Join { sleeps } => {
                let options =
                    options.clone().wait_strategy(if *sleeps { WaitStrategy::Sleep } else { WaitStrategy::Spin });
                subscribers.extend(Subscriber::open(&name, &options));
            }
            Step::Leave => drop(subscribers.pop()),
            Step::ReplacePublisher => {
                drop(publisher.take());
                publisher = open().ok();
            }
            Step::Reap => {
                let _number = publisher.as_mut().map(Publisher::reap_dead_subscribers);
            }
            Step::Count => {
                let _number = publisher.as_ref().map(Publisher::subscribers);
                let _number = subscribers.last().map(Subscriber::is_published);
            }
            Step::Clean => {
                let _found = clean(&Directory::at(DIRECTORY.path()).unwrap()).unwrap();
            }
        }
    }
    drop((publisher, subscribers));
    // Who scribbles can make the file look used for ever: that much it is trusted.
    let _gone_already = std::fs::remove_file(DIRECTORY.path().join("topic.topic"));
});
