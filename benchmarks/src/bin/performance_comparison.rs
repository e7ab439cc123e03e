//! Rust's side of `languages/csharp/PerformanceComparison.cs`: the same loops, as its processes for sending and receiving.
//!
//! ```text
//! performance_comparison send copy|place|untouched TOPIC BYTES
//! performance_comparison receive copy|place|untouched|line|memory TOPIC BYTES WARM_UP WINDOWS DURATION
//! ```
//!
//! `line` and `memory` are the machine without messages, and two threads of one process: a cache line that is thrown to and fro, and the
//! payload, written by one thread and read by another.

use std::io::Read;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use horus::topic::{Bytes, Options, Publisher, Subscriber};
use horus_benchmarks::patience::PATIENCE;
use horus_benchmarks::pinning::{Cpus, pin_to};
use horus_benchmarks::transport::Failure;
use horus_measure::floor::{Pinger, Ponger};
use horus_shm::directory::Directory;

/// As many messages as stay in caches; of those that are not looked into, as many as in the benchmark of iceoryx2.
const BYTES: usize = 4 << 20;
const UNTOUCHED_BYTES: usize = 64 << 20;
/// So many at least, and at most.
const FEWEST: usize = 8;
const MOST: usize = 1024;
const WORD: usize = size_of::<u64>();
/// Messages between two looks at the clock.
const LOOK: u64 = 16;
/// Looks for room before the CPU is offered to others.
const SPINS: u32 = 64;
/// Throws to and fro between two looks at the clock; many beside those that warm up, whose CPU time counts.
const THROWS: u64 = 20_000;

fn main() -> ExitCode {
    let told: Vec<_> = std::env::args().skip(1).collect();
    let told: Vec<_> = told.iter().map(String::as_str).collect();
    let done = match told[..] {
        ["send", way, topic, bytes] => send(way, topic, bytes),
        ["receive", way, topic, bytes, warm_up, windows, duration] => {
            receive(way, topic, bytes, [warm_up, windows, duration])
        }
        _ => {
            Err("performance_comparison send WAY TOPIC BYTES, or receive WAY TOPIC BYTES WARM_UP WINDOWS DURATION"
                .into())
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("performance_comparison: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn capacity(way: &str, bytes: usize) -> usize {
    (if way == "untouched" { UNTOUCHED_BYTES } else { BYTES } / bytes).clamp(FEWEST, MOST)
}

fn options(way: &str, bytes: usize) -> Options {
    Options::reliable(capacity(way, bytes))
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
    let mut publisher = Publisher::<[u8]>::open_as(topic, Bytes::up_to(bytes), options(way, bytes))?;
    let mut message = vec![0; bytes];
    for number in 0.. {
        if in_place {
            let mut looks = 0;
            while !lend(&mut publisher, bytes, |place| write(&mut place[..touched], number)) {
                // There is no waiting for a place: the CPU is offered to others when it takes long.
                looks += 1;
                if looks < SPINS { std::hint::spin_loop() } else { thread::yield_now() }
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

/// Sends a message that `fill` writes in its place; false when there is no room.
fn lend(publisher: &mut Publisher<[u8]>, bytes: usize, fill: impl FnOnce(&mut [u8])) -> bool {
    let loan = publisher.loan_of(bytes);
    loan.is_ok_and(|mut loan| {
        fill(&mut loan);
        loan.publish();
        true
    })
}

/// Receives in so many windows, and says how many messages came in each, and in how many seconds.
fn receive(way: &str, topic: &str, bytes: &str, times: [&str; 3]) -> Result<(), Failure> {
    let bytes = bytes.parse()?;
    match way {
        "line" => throw(topic, times),
        "memory" => hand_over(way, bytes, times),
        _ => take(way, topic, bytes, times),
    }
}

/// HORUS: receives what another process sends.
fn take(way: &str, topic: &str, bytes: usize, times: [&str; 3]) -> Result<(), Failure> {
    let (in_place, touched) = way_of(way, bytes);
    let mut subscriber = Subscriber::<[u8]>::open_as(topic, Bytes::up_to(bytes), options(way, bytes))?;
    let mut number = 0;
    measure(times, |span| {
        count(span, || {
            if in_place {
                while !look(&mut subscriber, |message| check(&message[..touched], number))? {
                    subscriber.wait(Duration::MAX);
                }
            } else {
                check(subscriber.recv_timeout(Duration::MAX).ok_or("no message came")?.message, number)?;
            }
            number += 1;
            Ok(())
        })
    })
}

/// Looks at the next message in its place; false when there is none.
fn look(subscriber: &mut Subscriber<[u8]>, check: impl FnOnce(&[u8]) -> Result<(), Failure>) -> Result<bool, Failure> {
    match subscriber.borrow() {
        Some(message) => check(&message).map(|()| true),
        None => Ok(false),
    }
}

/// The raw cache line: what no message is faster than that waits for the one before it to be seen.
fn throw(topic: &str, times: [&str; 3]) -> Result<(), Failure> {
    let directory = Directory::at(std::env::var("HORUS_SHM_DIR")?)?;
    let name = topic.parse()?;
    let mut pinger = Pinger::create(&directory, &name)?;
    let mut ponger = Ponger::open(&directory, &name)?;
    let stop = AtomicBool::new(false);
    let cpus = Cpus::default_pair();
    thread::scope(|scope| {
        let far = scope.spawn(|| -> Result<_, Failure> {
            pin_to(cpus.second)?;
            Ok(ponger.pong(PATIENCE, &stop)?)
        });
        pin_to(cpus.first)?;
        let measured = measure(times, |span| {
            let (mut throws, mut took_ns) = (0, 0);
            while Duration::from_nanos(took_ns) < span {
                pinger.ping(THROWS, PATIENCE, &stop, |ns| took_ns += 2 * ns)?; // it is told the time of one way
                throws += 2 * THROWS;
            }
            Ok((throws, took_ns as f64 / 1e9))
        });
        drop(pinger); // which tells the ponger that there will be no more
        far.join().map_err(|_| "the thread that throws back panicked")??;
        measured
    })
}

/// Memory from one CPU to another: buffers change their owner and stay where they are.
fn hand_over(way: &str, bytes: usize, times: [&str; 3]) -> Result<(), Failure> {
    let (give, full) = sync_channel::<Vec<u8>>(capacity(way, bytes));
    let (give_back, empty) = sync_channel::<Vec<u8>>(capacity(way, bytes));
    for _ in 0..capacity(way, bytes) {
        give_back.send(vec![0; bytes])?;
    }
    let cpus = Cpus::default_pair();
    thread::spawn(move || {
        let _ = pin_to(cpus.second); // what is refused here is refused below
        for (number, mut buffer) in (0..).zip(empty) {
            write(&mut buffer, number);
            if give.send(buffer).is_err() {
                break;
            }
        }
    });
    pin_to(cpus.first)?;
    let mut number = 0;
    measure(times, |span| {
        count(span, || {
            let buffer = full.recv()?;
            check(&buffer, number)?;
            number += 1;
            Ok(give_back.send(buffer)?)
        })
    })
}

/// Warms up, says so, and says what was counted in each window. `times`: to warm up, how many windows, and of what duration.
fn measure(times: [&str; 3], mut window: impl FnMut(Duration) -> Result<(u64, f64), Failure>) -> Result<(), Failure> {
    let [warm_up, windows, duration] = times;
    let (warm_up, duration) = (Duration::from_secs_f64(warm_up.parse()?), Duration::from_secs_f64(duration.parse()?));
    println!("ready");
    window(warm_up)?;
    println!("begin");
    let counted = (0..windows.parse()?).map(|_: u32| window(duration)).collect::<Result<Vec<_>, _>>()?;
    let counted: Vec<_> = counted.iter().map(|(messages, seconds)| format!(" {messages} {seconds}")).collect();
    println!("end 0{}", counted.concat()); // no object was made
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// Calls `next` for so long; gives how often, in how many seconds.
fn count(span: Duration, mut next: impl FnMut() -> Result<(), Failure>) -> Result<(u64, f64), Failure> {
    let (from, mut messages) = (Instant::now(), 0);
    loop {
        for _ in 0..LOOK {
            next()?;
        }
        messages += LOOK;
        let passed = from.elapsed();
        if passed >= span {
            return Ok((messages, passed.as_secs_f64()));
        }
    }
}
