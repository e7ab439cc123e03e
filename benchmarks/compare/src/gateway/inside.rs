//! What single steps cost, in one thread: a message of 64 bytes, every byte of which is written or read each time.
//!
//! Steps are timed by the thousand, and each thousand is a sample: reading the clock would be most of a single one.

use std::hint::black_box;
use std::path::Path;

use horus_benchmarks::transport::Failure;
use horus_gateway::frame::batch::{self, ITEM_HEAD_BYTES, Item};
use horus_gateway::frame::{Decoder, HEAD_BYTES, Head, Type, encode};
use horus_gateway::log::{Durability, From, Log, Options};
use horus_measure::meter::Meter;
use horus_shm::clock::monotonic_ns;

/// Bytes of a message.
const BYTES: usize = 64;
/// Steps of a sample.
const STEPS: u64 = 1_000;
/// Samples that nobody counts: the first touch of memory, and cold branches.
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
    let step = |name, target_ns, picoseconds| Step { name, target_ns, picoseconds };
    let (write, read) = log(samples, directory)?;
    let (encoding, decoding) = (encoding(samples), decoding(samples));
    let (batching, unbatching) = (batching(samples), unbatching(samples));
    Ok(vec![
        step("log write, 64 B", Some(20.0), write),
        step("log read, 64 B", Some(10.0), read),
        step("encode a frame, 64 B", Some(12.0), encoding),
        step("decode a frame, 64 B", Some(8.0), decoding),
        step("encode a batch of 10 x 64 B", None, batching),
        step("decode a batch of 10 x 64 B", None, unbatching),
    ])
}

/// Times `one` by the thousand; it is told which step it is.
fn time(samples: u64, mut one: impl FnMut(u64)) -> Meter {
    let mut meter = Meter::new();
    for sample in 0..COLD + samples {
        let began = monotonic_ns();
        (sample * STEPS..(sample + 1) * STEPS).for_each(&mut one);
        let picoseconds = (monotonic_ns() - began) * 1_000 / STEPS;
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
