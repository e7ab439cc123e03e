//! Cells between two processes, tied to two CPUs.

use crate::loops::{Drained, drain, flood, ping, pong};
use crate::measured::Measured;
use crate::options::{LATENCY_CAPACITY, throughput_capacity};
use crate::patience::NEVER;
use crate::peer::{Peer, Role};
use crate::pinning::pin_to;
use crate::samples::Samples;
use crate::stage::Stage;
use crate::tally::Counts;
use crate::transport::{Content, End, Failure, Link, Processes, Receiver, Sender};

const ANSWER: &str = "answer";
const COUNT: &str = "count";

/// Round trips to a peer process, then a one-way run to another.
pub fn process_to_process<P: Processes<M>, M: Content>(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let (samples, mut counts) = round_trips::<P, M>(stage)?;
    let (streamed, per_second) = one_way::<P, M>(stage)?;
    counts.add(&streamed);
    Ok(Measured { samples: Some(samples), counts, per_second, note: None })
}

/// Round trips to a peer process, and nothing else.
pub fn calls<P: Processes<M>, M: Content>(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let (samples, counts) = round_trips::<P, M>(stage)?;
    Ok(Measured { samples: Some(samples), counts, per_second: None, note: None })
}

fn round_trips<P: Processes<M>, M: Content>(stage: &Stage) -> Result<(Samples, Counts), Failure> {
    let link = Link { meeting: stage.meeting.of("trip"), end: End::First };
    let peer = Peer::start(stage, &link.meeting, ANSWER)?;
    let (mut sender, mut receiver) = P::connect(link, LATENCY_CAPACITY)?;
    peer.wait_until_ready()?;
    let lives = || peer.lives();
    let patience = stage.patience(&NEVER).watching(&lives);
    let (samples, mut counts) = ping(&mut sender, &mut receiver, &stage.effort, &patience)?;
    counts.add(&peer.result::<Counts>()?);
    drop(peer); // before the ends here, among which a driver may be that its own ends need
    Ok((samples, counts))
}

fn one_way<P: Processes<M>, M: Content>(stage: &Stage) -> Result<(Counts, Option<f64>), Failure> {
    let link = Link { meeting: stage.meeting.of("stream"), end: End::First };
    let peer = Peer::start(stage, &link.meeting, COUNT)?;
    let (mut sender, receiver) = P::connect(link, throughput_capacity(size_of::<M>()))?;
    peer.wait_until_ready()?;
    let lives = || peer.lives();
    let patience = stage.patience(&NEVER).watching(&lives);
    let sent = flood(&mut sender, &stage.effort, &patience)?;
    let drained = peer.result::<Drained>()?;
    drop(peer);
    Ok((drained.with_sent(sent, receiver.subscribers()), drained.per_second))
}

/// What the peer process of [`process_to_process`] does.
pub fn be_the_peer<P: Processes<M>, M: Content>(role: &Role) -> Result<(), Failure> {
    let answers = role.role == ANSWER;
    let capacity = if answers { LATENCY_CAPACITY } else { throughput_capacity(size_of::<M>()) };
    let (mut sender, mut receiver) = P::connect(Link { meeting: role.meeting.clone(), end: End::Second }, capacity)?;
    role.ready()?;
    if answers {
        role.result(&pong(&mut receiver, &mut sender, &role.patience())?)
    } else {
        role.result(&drain(&mut receiver, sender.publishers(), &role.patience())?)
    }
}
