//! A peer that writes random words at random places of a live segment, through a mapping of its own, while others send
//! and receive: every call returns, with a message of plain data, with nothing, or with an error.
//!
//! `HORUS_SCRIBBLE_SECONDS` says for how long (2 unless set); `./scripts/soak fuzz --seconds N` runs it for long. What a
//! call does between two writes is found more thoroughly, because repeatably, by `runtime/fuzz`.
//!
//! What is *not* survived is a peer that truncates the file (`horus_shm`'s first page says so), so this one does not.

mod peers;

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use horus::message::Stamp;
use horus::topic::{Directory, Options, Publisher, Subscriber, TopicName, WaitStrategy};
use horus_shm::peers::clean::clean;
use horus_shm::segment::layout::{HEADER_BYTES, LANES_WORD, MAX_SUBSCRIBERS, MEMBERSHIP, Shape};
use peers::{PATIENCE, Peer};
use rustix::mm::{MapFlags, ProtFlags, mmap};

fn options(policy: &str, directory: &Path) -> Options {
    match policy {
        "reliable" => Options::reliable(2),
        _ => Options::latest(2),
    }
    .publishers(6)
    .history(1)
    .directory(directory)
}

fn name() -> TopicName {
    "scribbled".parse().unwrap()
}

/// All words of the topic's file, if there is one, for as long as the process runs.
fn map_all(directory: &Path) -> Option<&'static [AtomicU64]> {
    let file = File::options().read(true).write(true).open(directory.join("scribbled.topic")).ok()?;
    let bytes = usize::try_from(file.metadata().unwrap().len()).unwrap();
    let protection = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a null hint makes the kernel choose free addresses, so no memory of ours is replaced.
    let address = unsafe { mmap(std::ptr::null_mut(), bytes, protection, MapFlags::SHARED, &file, 0) }.unwrap();
    // SAFETY: the mapping was just made with this many bytes, starts on a page, is never unmapped, and the file is never
    // truncated. Every bit pattern is an AtomicU64.
    Some(unsafe { std::slice::from_raw_parts(address.cast(), bytes / 8) })
}

/// Deterministic noise.
fn noise(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 16
}

/// Writes until it is killed. Each file is scribbled on for a while, then it looks whether there is a new one.
#[test]
#[ignore = "a peer"]
fn peer_scribbles() {
    let directory = peers::directory();
    let mut state = 1;
    peers::ready();
    loop {
        let Some(words) = map_all(&directory) else { continue };
        // With a broken header no peer joins any more: mostly what is behind it.
        let first = if noise(&mut state).is_multiple_of(8) { 0 } else { HEADER_BYTES / 8 };
        for _ in 0..1 << (noise(&mut state) % 12) {
            let word = &words[first + noise(&mut state) as usize % (words.len() - first)];
            // Relaxed: any order is as bad as any other.
            let found = word.load(Ordering::Relaxed);
            let value = match noise(&mut state) % 5 {
                0 => noise(&mut state) % 40,
                1 => u64::MAX - noise(&mut state) % 4,
                2 => found.wrapping_add(noise(&mut state) % 9).wrapping_sub(4),
                3 => found ^ 1 << (noise(&mut state) % 64),
                _ => noise(&mut state) << 16,
            };
            word.store(value, Ordering::Relaxed);
        }
        let bytes = std::mem::size_of_val(words);
        // SAFETY: the mapping was made by `map_all` with this size, and `words` is not used after this.
        unsafe { rustix::mm::munmap(words.as_ptr().cast_mut().cast(), bytes) }.unwrap();
        // The others are to get on at times, further than to the next error.
        std::thread::park_timeout(Duration::from_micros(noise(&mut state) % 1_000));
    }
}

/// Opens, sends and leaves, over and over; how many messages were sent.
fn publish(policy: &str, directory: &Path, until: &AtomicBool) -> u64 {
    let mut sent = 0;
    while !until.load(Ordering::Relaxed) {
        let Ok(mut publisher) = Publisher::<Stamp>::open(name(), options(policy, directory)) else {
            // A peer that scribbles can make a file useless that looks used: then the test has to remove it.
            let _gone_already = std::fs::remove_file(directory.join("scribbled.topic"));
            continue;
        };
        for number in 0..200 {
            sent += u64::from(publisher.try_send(Stamp { sequence: number, sent_ns: 0 }).is_ok());
            if number % 50 == 0 {
                publisher.reap_dead_subscribers();
                let _number = publisher.subscribers();
                let _full = publisher.send_timeout(Stamp { sequence: number, sent_ns: 0 }, Duration::from_micros(100));
            }
        }
    }
    sent
}

/// Joins, receives and leaves, over and over; how many messages were received.
fn subscribe(policy: &str, directory: &Path, until: &AtomicBool) -> u64 {
    let mut received = 0;
    let waitings = [WaitStrategy::Spin, WaitStrategy::Sleep, WaitStrategy::SpinThenSleep(Duration::from_micros(10))];
    for wait_strategy in waitings.into_iter().cycle().take_while(|_| !until.load(Ordering::Relaxed)) {
        let opened = Subscriber::<Stamp>::open(name(), options(policy, directory).wait_strategy(wait_strategy));
        let Ok(mut subscriber) = opened else { continue };
        for number in 0..200 {
            received += u64::from(subscriber.try_recv().is_some());
            if number % 50 == 0 {
                let _asked = (subscriber.missed(), subscriber.is_published());
                received += u64::from(subscriber.recv_timeout(Duration::from_micros(100)).is_some());
            }
        }
        let _found = clean(&Directory::at(directory).unwrap()).unwrap();
    }
    received
}

#[test]
fn whoever_shares_a_topic_with_a_peer_that_scribbles_on_it_goes_on() {
    let seconds = std::env::var("HORUS_SCRIBBLE_SECONDS").map_or(2, |text| text.parse().expect("a number of seconds"));
    let (mut sent, mut received) = (0, 0);
    // Few messages get through what is scribbled, none at all on a machine that has no time for four.
    for policy in ["reliable", "latest"].into_iter().cycle().take(20) {
        let files = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut scribbler = Peer::start("peer_scribbles", files.path(), policy);
        scribbler.wait_until_ready();
        let enough = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let publishing = scope.spawn(|| publish(policy, files.path(), &enough));
            let subscribing = scope.spawn(|| subscribe(policy, files.path(), &enough));
            std::thread::park_timeout(Duration::from_secs(seconds) / 2);
            enough.store(true, Ordering::Relaxed);
            let started = Instant::now();
            while !(publishing.is_finished() && subscribing.is_finished()) {
                if started.elapsed() > PATIENCE {
                    eprintln!("a call does not return");
                    std::process::abort(); // a panic would wait for that call, too
                }
                std::thread::park_timeout(Duration::from_millis(1));
            }
            sent += publishing.join().unwrap();
            received += subscribing.join().unwrap();
        });
        scribbler.kill();
        if policy == "latest" && sent > 0 && received > 0 {
            break;
        }
    }
    assert!(sent > 0 && received > 0, "{sent} sent, {received} received: nothing was tested");
    println!("{seconds} s beside a peer that scribbles: {sent} messages sent, {received} received, 0 panics, 0 hangs");
}

#[test]
fn positions_at_the_end_of_all_numbers_are_survived_on_every_lane_at_once() {
    const LANES: usize = 6;
    const LAST: u64 = (1 << 62) - 1;
    let files = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = options("latest", files.path());
    let mut publisher = Publisher::<Stamp>::open(name(), &options).unwrap();
    let mut subscriber = Subscriber::<Stamp>::open(name(), &options).unwrap();
    let shape = Shape::new(size_of::<Stamp>(), align_of::<Stamp>(), 2, LANES, MAX_SUBSCRIBERS).unwrap();
    let words = map_all(files.path()).unwrap();
    words[MEMBERSHIP / 8 + LANES_WORD].store(u64::MAX, Ordering::Relaxed);
    for lane in 0..LANES {
        words[shape.position(lane) / 8].store(LAST, Ordering::Relaxed);
        (0..2).for_each(|slot| {
            words[(shape.slots(lane) + slot * shape.slot_stride()) / 8].store(2 * LAST, Ordering::Relaxed)
        });
    }
    for _ in 0..2 * LANES {
        let _none_or_garbage = subscriber.try_recv();
        assert!(subscriber.missed() >= LAST / 2, "what was skipped is counted, as far as numbers go");
    }
    publisher.try_send(Stamp { sequence: 1, sent_ns: 0 }).unwrap();
}
