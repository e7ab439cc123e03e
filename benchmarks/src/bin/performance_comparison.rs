//! Rust's side of `languages/csharp/PerformanceComparison.cs`: the same loops, as its processes for sending and receiving.
//!
//! ```text
//! performance_comparison send copy|place|untouched TOPIC BYTES
//! performance_comparison receive copy|place|untouched TOPIC BYTES WARM_UP DURATION
//! ```

use std::io::Read;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use horus::bytes::{BytesPublisher, BytesSubscriber};
use horus::topic::Options;
use horus_benchmarks::transport::Failure;

const CAPACITY: usize = 64;
/// From here on, a lane holds fewer.
const LARGE: usize = 65536;
const LARGE_CAPACITY: usize = 8;
const WORD: usize = size_of::<u64>();
/// Messages between two looks at the clock.
const LOOK: u32 = 64;

fn main() -> ExitCode {
    let told: Vec<_> = std::env::args().skip(1).collect();
    let told: Vec<_> = told.iter().map(String::as_str).collect();
    let done = match told[..] {
        ["send", way, topic, bytes] => send(way, topic, bytes),
        ["receive", way, topic, bytes, warm_up, duration] => receive(way, topic, bytes, [warm_up, duration]),
        _ => Err("performance_comparison send copy|place|untouched TOPIC BYTES, or receive … WARM_UP DURATION".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("performance_comparison: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn options(bytes: usize) -> Options {
    Options::reliable(if bytes < LARGE { CAPACITY } else { LARGE_CAPACITY })
}

/// Whether a message is written and read in its place, and how many bytes of it.
fn way_of(way: &str, bytes: usize) -> (bool, usize) {
    (way != "copy", if way == "untouched" { WORD } else { bytes })
}

fn write(message: &mut [u8], number: u64) {
    message.chunks_exact_mut(WORD).for_each(|word| word.copy_from_slice(&number.to_le_bytes()));
}

fn check(message: &[u8], number: u64) -> Result<(), Failure> {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("chunks of a word"));
    let differs = message.chunks_exact(WORD).fold(0, |differs, bytes| differs | (word(bytes) ^ number));
    if differs == 0 { Ok(()) } else { Err(format!("message {number} is not what was sent").into()) }
}

/// Sends until it is killed.
fn send(way: &str, topic: &str, bytes: &str) -> Result<(), Failure> {
    let bytes = bytes.parse()?;
    let (in_place, touched) = way_of(way, bytes);
    let mut publisher = BytesPublisher::open(topic, bytes, options(bytes))?;
    let mut message = vec![0; bytes];
    for number in 0.. {
        if in_place {
            loop {
                if let Ok(mut loan) = publisher.loan(bytes) {
                    write(&mut loan[..touched], number);
                    loan.publish();
                    break;
                }
                std::hint::spin_loop();
            }
        } else {
            write(&mut message, number);
            if publisher.try_send(&message).is_err() {
                publisher.send_timeout(&message, Duration::MAX)?;
            }
        }
    }
    Ok(())
}

fn receive(way: &str, topic: &str, bytes: &str, seconds: [&str; 2]) -> Result<(), Failure> {
    let bytes = bytes.parse()?;
    let (in_place, touched) = way_of(way, bytes);
    let mut subscriber = BytesSubscriber::open(topic, bytes, options(bytes))?;
    let mut message = vec![0; bytes];
    let mut number = 0;
    let mut next = || {
        let sample = subscriber.recv_timeout(Duration::MAX).ok_or("no message came")?;
        let received = if in_place {
            check(&sample[..touched], number)
        } else {
            message.copy_from_slice(&sample);
            check(&message, number)
        };
        number += 1;
        received.map(|()| number)
    };
    println!("ready");
    next()?;
    run(&mut next, seconds[0].parse()?)?;
    println!("begin");
    let (messages, span) = run(&mut next, seconds[1].parse()?)?;
    println!("end {messages} {span}");
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Receives for so many seconds; gives how many messages came, in how many seconds.
fn run(next: &mut impl FnMut() -> Result<u64, Failure>, seconds: f64) -> Result<(u64, f64), Failure> {
    let (from, mut messages) = (Instant::now(), 0);
    while from.elapsed().as_secs_f64() < seconds {
        for _ in 0..LOOK {
            next()?;
        }
        messages += u64::from(LOOK);
    }
    Ok((messages, from.elapsed().as_secs_f64()))
}
