//! What an empty receive costs at most while publishers come and go.
//!
//! The subscriber does nothing but look for messages. In another process, on the other CPU, a second publisher of the
//! same topic is made, exists for a millisecond, and is dropped, again and again. A sample is the longest look during one
//! coming or one going; the note tells the same for stretches in which nobody came or went.
//!
//! # What it does not do
//! It does not tell apart what the look itself did and what interrupted it: compare with the quiet stretches.

use std::ops::Range;
use std::time::Duration;

use horus::topic::{Publisher, Subscriber};
use horus_benchmarks::cell::{Heading, Measured, Path};
use horus_benchmarks::peer::Role;
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::Task;
use horus_benchmarks::systems::horus::options;
use horus_benchmarks::transport::{Failure, Meeting};
use horus_shm::clock::monotonic_ns;

use crate::iceoryx::open;
use crate::tasks::Small;

/// Length of a stretch.
const STRETCH: Duration = Duration::from_millis(1);
/// Comings and goings in a quick run; ten times as many otherwise.
const PEERS: usize = 200;
/// What the topic can hold of publishers: one that stays, and one that comes and goes.
const PUBLISHERS: usize = 2;
const CAPACITY: usize = 16;

/// The cell for HORUS.
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

/// The cell for iceoryx2.
pub fn iceoryx2() -> Task {
    let look = |stage: &Stage| {
        let opened = open::<Small>(&stage.meeting, CAPACITY)?;
        let subscriber = opened.service.subscriber_builder().create()?;
        measure(stage, || subscriber.receive().is_ok_and(|sample| sample.is_some()))
    };
    Task::new(heading("iceoryx2"), look).with_peer(|role| {
        let opened = open::<Small>(&role.meeting, CAPACITY)?;
        come_and_go(role, || Ok(opened.service.publisher_builder().create()?))
    })
}

fn heading(system: &str) -> Heading {
    Heading::new(Path::ProcessNTo1, system, size_of::<Small>())
        .ends(PUBLISHERS, 1)
        .message("joining")
        .unit("longest empty receive while a publisher comes or goes")
}

/// When somebody came or went, in nanoseconds of CLOCK_MONOTONIC; between two of them it was quiet.
type Stretches = Vec<(u64, u64)>;

/// What the peer does: makes and drops publishers, and tells when.
fn come_and_go<T>(role: &Role, make: impl Fn() -> Result<T, Failure>) -> Result<(), Failure> {
    let mut stretches = Stretches::new();
    role.ready()?;
    let peers = if role.effort.samples < 500_000 { PEERS } else { 10 * PEERS };
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
    let peer = stage.peer(&stage.meeting, "come and go", stage.cpus.second)?;
    peer.wait_until_ready()?;
    let mut looks = Looks::new();
    while peer.lives() {
        let start = monotonic_ns();
        look();
        looks.record(start, monotonic_ns() - start);
    }
    let stretches: Stretches = peer.result()?;
    let mut samples = Samples::new(1);
    for (from, to) in &stretches {
        samples.record(looks.longest(*from..*to));
    }
    let mut quiet: Vec<u64> = stretches.windows(2).map(|pair| looks.longest(pair[0].1..pair[1].0)).collect();
    quiet.retain(|longest| *longest > 0);
    quiet.sort_unstable();
    let note = quiet.get(quiet.len() / 2).map(|ns| format!("median of the longest in a quiet millisecond: {ns} ns"));
    Ok(Measured { samples: Some(samples), note, ..Measured::default() })
}

/// The longest look in each slot of time.
struct Looks {
    began: u64,
    longest: Vec<u64>,
}

impl Looks {
    const SLOT_NS: u64 = 50_000;
    /// Enough for 50 s; later looks count in the last slot.
    const SLOTS: usize = 1_000_000;

    fn new() -> Self {
        Self { began: monotonic_ns(), longest: vec![0; Self::SLOTS] }
    }

    #[inline]
    fn record(&mut self, start: u64, ns: u64) {
        let slot = self.slot(start);
        self.longest[slot] = self.longest[slot].max(ns);
    }

    fn slot(&self, ns: u64) -> usize {
        ((ns.saturating_sub(self.began) / Self::SLOT_NS) as usize).min(Self::SLOTS - 1)
    }

    /// Over the slots that lie in the range from end to end; a look that began before it, too, when it reached into it.
    fn longest(&self, range: Range<u64>) -> u64 {
        let (first, last) = (self.slot(range.start), self.slot(range.end));
        self.longest[first..last].iter().copied().max().unwrap_or_default()
    }
}
