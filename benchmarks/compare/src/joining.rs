//! What an empty receive costs at most while publishers come and go.
//!
//! The subscriber does nothing but look for messages. In another process, on the other CPU, a second publisher of the
//! same topic is made, exists for a millisecond, and is dropped, again and again. A sample is the longest look during one
//! coming or one going; the note tells the same for stretches in which no peer came or went.
//!
//! # What it does not do
//! It does not tell apart what the look itself did and what interrupted it: compare with the quiet stretches.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use horus::topic::{Publisher, Subscriber};
use horus_benchmarks::cell::{Heading, Measured, Path};
use horus_benchmarks::peer::{Peer, Role};
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::Task;
use horus_benchmarks::systems::horus::options;
use horus_benchmarks::transport::{Failure, Meeting, Small};
use horus_sys::clock::monotonic_ns;

use crate::iceoryx::open;

/// Length of a stretch.
const STRETCH: Duration = Duration::from_millis(1);
/// Comings and goings in a quick run; ten times as many otherwise.
const PEERS: usize = 200;
/// What the topic can hold of publishers: one that stays, and one that comes and goes.
const PUBLISHERS: usize = 2;
const CAPACITY: usize = 16;
/// The longest look is kept for each slot of time, because the peer tells only at the end when it came and went.
const SLOT_NS: u64 = 50_000;

pub fn horus() -> Task {
    let look = |stage: &Stage| {
        let (name, options) = horus_topic(&stage.meeting)?;
        let _first = Publisher::<Small>::open(&name, &options)?;
        let mut subscriber = Subscriber::<Small>::open(&name, &options)?;
        measure(stage, || subscriber.try_recv().is_some())
    };
    Task::new(heading("horus"), look).with_peer(|role| {
        let (name, options) = horus_topic(&role.meeting)?;
        come_and_go(role, || Ok(Publisher::<Small>::open(&name, &options)?))
    })
}

fn horus_topic(meeting: &Meeting) -> Result<(horus::topic::TopicName, horus::topic::Options), Failure> {
    Ok((meeting.name.parse()?, options(meeting, CAPACITY).publishers(PUBLISHERS)))
}

pub fn iceoryx2() -> Task {
    let look = |stage: &Stage| {
        let subscriber = open::<Small>(&stage.meeting, CAPACITY)?.subscriber_builder().create()?;
        measure(stage, || subscriber.receive().is_ok_and(|sample| sample.is_some()))
    };
    Task::new(heading("iceoryx2"), look).with_peer(|role| {
        let service = open::<Small>(&role.meeting, CAPACITY)?;
        come_and_go(role, || Ok(service.publisher_builder().create()?))
    })
}

fn heading(system: &str) -> Heading {
    Heading::new(Path::ProcessNTo1, system, size_of::<Small>())
        .ends(PUBLISHERS, 1)
        .message("joining")
        .unit("longest empty receive while a publisher comes or goes")
}

/// When a peer came or went, in nanoseconds of CLOCK_MONOTONIC; between two of them it was quiet.
type Stretches = Vec<(u64, u64)>;

/// What the peer does: makes and drops publishers, and tells when.
fn come_and_go<T>(role: &Role, make: impl Fn() -> Result<T, Failure>) -> Result<(), Failure> {
    let mut stretches = Stretches::new();
    role.ready()?;
    let peers = if role.effort.is_quick() { PEERS } else { 10 * PEERS };
    for _ in 0..peers {
        std::thread::sleep(STRETCH);
        let start = monotonic_ns();
        let publisher = make()?;
        std::thread::sleep(STRETCH);
        let made = monotonic_ns();
        drop(publisher);
        std::thread::sleep(STRETCH);
        stretches.extend([(start, made), (made, monotonic_ns())]);
    }
    role.result(&stretches)
}

/// What the first process does: looks for messages until the peer is done.
fn measure(stage: &Stage, mut look: impl FnMut() -> bool) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let peer = Peer::start(stage, &stage.meeting, "come and go")?;
    peer.wait_until_ready()?;
    let mut slots = BTreeMap::<u64, u64>::new();
    while peer.lives() {
        let start = monotonic_ns();
        look();
        let ns = monotonic_ns() - start;
        let longest = slots.entry(start / SLOT_NS).or_default();
        *longest = ns.max(*longest);
    }
    let longest = |range: Range<u64>| {
        let slots = slots.range(range.start / SLOT_NS..range.end / SLOT_NS);
        slots.map(|(_, longest)| *longest).max().unwrap_or_default()
    };
    let stretches: Stretches = peer.result()?;
    let mut samples = Samples::new(1);
    for (from, to) in &stretches {
        samples.record(longest(*from..*to));
    }
    let mut quiet: Vec<u64> = stretches.windows(2).map(|pair| longest(pair[0].1..pair[1].0)).collect();
    quiet.retain(|longest| *longest > 0);
    quiet.sort_unstable();
    let note = quiet.get(quiet.len() / 2).map(|ns| format!("median of the longest in a quiet millisecond: {ns} ns"));
    Ok(Measured { samples: Some(samples), note, ..Measured::default() })
}
