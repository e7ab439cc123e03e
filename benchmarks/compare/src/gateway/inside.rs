//! What single steps cost, in one thread: a message of 64 bytes, every byte of which is written or read each time.
//!
//! Steps are timed by the thousand, and each thousand is a sample: reading the clock would be most of a single one.

use std::hint::black_box;
use std::path::Path;

use horus_benchmarks::gateway::figure::STEPS as NAMES;
use horus_benchmarks::systems::horus::Horus;
use horus_benchmarks::transport::{Failure, Meeting, Payload, Receiver, Sender, Threads};
use horus_gateway::frame::batch::{self, ITEM_HEAD_BYTES, Item};
use horus_gateway::frame::{Decoder, HEAD_BYTES, Head, Type, encode};
use horus_gateway::log::{Durability, From, Log, Options};
use horus_measure::meter::Meter;
use horus_sys::clock::monotonic_ns;

/// Bytes of a message.
const BYTES: usize = 64;
/// Steps of a sample.
const STEPS: u64 = 1_000;
/// Samples that are not counted: the first touch of memory, and cold branches.
const COLD: u64 = 100;

/// A step: its name, and picoseconds of one by sample.
pub struct Step {
    /// What is done.
    pub name: &'static str,
    /// Its bound in nanoseconds, where the project has set itself one.
    pub target_ns: Option<f64>,
    /// Picoseconds a step.
    pub picoseconds: Meter,
}

/// All steps; logs are written in `directory`.
///
/// # Errors
/// When no log can be written there.
pub fn steps(samples: u64, directory: &Path) -> Result<Vec<Step>, Failure> {
    let (push, pop) = ring(samples)?;
    let (write, read) = log(samples, directory)?;
    let (encoding, decoding) = (encoding(samples), decoding(samples));
    let (batching, unbatching) = (batching(samples), unbatching(samples));
    let targets = [None, None, Some(20.0), Some(10.0), Some(12.0), Some(8.0), None, None];
    let all = [push, pop, write, read, encoding, decoding, batching, unbatching];
    let steps = NAMES.into_iter().zip(targets).zip(all);
    Ok(steps.map(|((name, target_ns), picoseconds)| Step { name, target_ns, picoseconds }).collect())
}

/// Picoseconds of one of a thousand steps; each is told which it is.
fn once(sample: u64, one: impl FnMut(u64)) -> u64 {
    let began = monotonic_ns();
    (sample * STEPS..(sample + 1) * STEPS).for_each(one);
    (monotonic_ns() - began) * 1_000 / STEPS
}

/// Times `one` by the thousand; it is told which step it is.
fn time(samples: u64, mut one: impl FnMut(u64)) -> Meter {
    let mut meter = Meter::new();
    for sample in 0..COLD + samples {
        let picoseconds = once(sample, &mut one);
        if sample >= COLD {
            meter.record(picoseconds, sample);
        }
    }
    meter
}

fn message(number: u64) -> [u8; BYTES] {
    [number as u8; BYTES]
}

/// Looks at every byte.
fn sum(message: &[u8]) -> u64 {
    message.as_chunks::<8>().0.iter().fold(0, |sum, word| sum ^ u64::from_le_bytes(*word))
}

/// A topic's ring, filled by the thousand and emptied by the thousand.
fn ring(samples: u64) -> Result<(Meter, Meter), Failure> {
    let directory = tempfile::tempdir_in("/dev/shm")?;
    let meeting = Meeting { name: "ring".to_owned(), directory: directory.path().to_owned() };
    let (mut sender, mut receiver) = <Horus as Threads<Payload<8>>>::channel(meeting, 1_024)?;
    let (mut pushing, mut popping) = (Meter::new(), Meter::new());
    let mut message = Payload([0_u64; 8]);
    for sample in 0..COLD + samples {
        let pushed = once(sample, |number| assert!(sender.try_send(&Payload([number; 8])), "there is room"));
        let popped = once(sample, |number| {
            assert!(receiver.try_recv(&mut message), "it was sent");
            assert_eq!(black_box(message.0.iter().fold(0, |sum, word| sum ^ word ^ number)), 0, "it is whole");
        });
        if sample >= COLD {
            pushing.record(pushed, sample);
            popping.record(popped, sample);
        }
    }
    Ok((pushing, popping))
}

fn log(samples: u64, directory: &Path) -> Result<(Meter, Meter), Failure> {
    // Long enough for what is read afterwards, and used again many times while it is written.
    let options = Options { durability: Durability::None, keep_bytes: 64 << 20, ..Options::default() };
    let (mut log, _) = Log::open(&directory.join("log"), options)?;
    let write = time(samples, |number| {
        log.append(&message(number), number, 0).expect("there is room");
    });
    log.commit()?;
    let mut reader = log.reader(From::First);
    let mut last = 0;
    let read = time(samples, |_| {
        if reader.next(&mut log).is_none_or(|read| {
            last = read.sequence;
            black_box(sum(read.message));
            false
        }) {
            reader = log.reader(From::First);
        }
    });
    assert!(last > 0 && reader.damaged() == 0);
    Ok((write, read))
}

fn encoding(samples: u64) -> Meter {
    let mut out = Vec::with_capacity(1 << 16);
    time(samples, |number| {
        if out.len() + HEAD_BYTES + BYTES > out.capacity() {
            out.clear();
        }
        encode(&mut out, &Head { sequence: number, ..Head::new(Type::Message, 1) }, &message(number));
        black_box(&out);
    })
}

fn decoding(samples: u64) -> Meter {
    let mut stream = Vec::new();
    (0..600).for_each(|number| encode(&mut stream, &Head::new(Type::Message, 1), &message(number)));
    let mut decoder = Decoder::new(1 << 20);
    let mut found = 0;
    let meter = time(samples, |_| {
        if decoder.next().is_none_or(|frame| {
            found += 1;
            black_box(sum(frame.payload));
            false
        }) {
            assert_eq!(decoder.take(&stream), stream.len());
        }
    });
    assert!(found > 0 && decoder.damage().total() == 0);
    meter
}

fn batching(samples: u64) -> Meter {
    let (mut payload, mut out) = (Vec::with_capacity(4_096), Vec::with_capacity(4_096));
    time(samples, |number| {
        payload.clear();
        out.clear();
        for sequence in number..number + 10 {
            batch::push(&mut payload, &Item { sequence, stamp_ns: 0, message: &message(sequence) });
        }
        encode(&mut out, &Head::new(Type::Batch, 1), &payload);
        black_box(&out);
    })
}

fn unbatching(samples: u64) -> Meter {
    let mut payload = Vec::with_capacity(10 * (ITEM_HEAD_BYTES + BYTES));
    (0..10).for_each(|number| {
        batch::push(&mut payload, &Item { sequence: number, stamp_ns: 0, message: &message(number) })
    });
    let mut stream = Vec::new();
    (0..60).for_each(|_| encode(&mut stream, &Head::new(Type::Batch, 1), &payload));
    let mut decoder = Decoder::new(1 << 20);
    time(samples, |_| {
        if decoder.next().is_none_or(|frame| {
            let items = batch::items(frame.payload).expect("it is a batch");
            black_box(items.fold(0, |all, item| all ^ sum(item.message)));
            false
        }) {
            assert_eq!(decoder.take(&stream), stream.len());
        }
    })
}
