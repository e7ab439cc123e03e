//! One publisher process to 1, 2, 4 and 8 subscriber processes, lossless: every subscriber gets and verifies everything.

use std::process::ExitCode;

use horus::message::Message;
use horus_benchmarks::cell::{Heading, Measured, Path};
use horus_benchmarks::loops::{Drained, drain, flood};
use horus_benchmarks::options::throughput_capacity;
use horus_benchmarks::patience::NEVER;
use horus_benchmarks::peer::{Peer, Role};
use horus_benchmarks::pinning::pin_to;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{Suite, Task};
use horus_benchmarks::systems::horus::{Publishing, Subscribing};
use horus_benchmarks::transport::{Content, Failure, Large, Medium, Small};

/// Peers are told whether they share their CPU with others.
const ALONE: &str = "alone";
const TOGETHER: &str = "together";

fn publish<M: Message + Content>(stage: &Stage, subscribers: usize) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let mut publisher = Publishing::<M>::new(&stage.meeting, throughput_capacity(size_of::<M>()))?;
    let role = if subscribers == 1 { ALONE } else { TOGETHER };
    let start = |_| Peer::start(stage, &stage.meeting, role);
    let peers: Vec<Peer> = (0..subscribers).map(start).collect::<Result<_, _>>()?;
    peers.iter().try_for_each(Peer::wait_until_ready)?;

    let lives = || peers.iter().all(Peer::lives);
    let patience = stage.patience(&NEVER).watching(&lives);
    let sent = flood(&mut publisher, &stage.effort, &patience)?;
    let mut measured = Measured::default();
    measured.counts.sent = sent;
    for peer in &peers {
        let drained = peer.result::<Drained>()?;
        measured.counts.add(&drained.with_sent(0, 1));
        measured.counts.lost += if drained.over { 0 } else { sent.saturating_sub(drained.counts.received) };
        // The rate is the slowest subscriber's.
        let slowest = measured.per_second.unwrap_or(f64::INFINITY).min(drained.per_second.unwrap_or(0.0));
        measured.per_second = Some(slowest);
    }
    Ok(measured)
}

fn subscribe<M: Message + Content>(role: &Role) -> Result<(), Failure> {
    let patience = role.patience().sharing(role.shared || role.role == TOGETHER);
    let mut subscriber = Subscribing::<M>::new(&role.meeting, 1)?;
    role.ready()?;
    role.result(&drain(&mut subscriber, 1, &patience)?)
}

fn task<M: Message + Content>(subscribers: usize) -> Task {
    let path = if subscribers == 1 { Path::Process1To1 } else { Path::Process1ToN };
    let heading = Heading::new(path, "horus", size_of::<M>()).ends(1, subscribers).message("fan-out");
    let heading = heading.note("lossless; the publisher has a CPU, all subscriber processes share the other; the rate is the slowest subscriber's");
    Task::new(heading, move |stage| publish::<M>(stage, subscribers)).with_peer(subscribe::<M>)
}

fn tasks() -> Vec<Task> {
    let sizes = |count| [task::<Small>(count), task::<Medium>(count), task::<Large>(count)];
    [1, 2, 4, 8].into_iter().flat_map(sizes).collect()
}

fn main() -> ExitCode {
    Suite { name: "fanout_shm_bench", tasks, summary: |_| Vec::new() }.main()
}
