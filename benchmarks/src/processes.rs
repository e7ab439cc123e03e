//! Cells between two processes, tied to two CPUs.

use std::sync::atomic::AtomicBool;

use crate::cell::Measured;
use crate::loops::{Drained, drain, flood, ping, pong};
use crate::options::{LATENCY_CAPACITY, throughput_capacity};
use crate::patience::{PATIENCE, Patience};
use crate::peer::{Peer, Role};
use crate::pinning::pin_to;
use crate::stage::Stage;
use crate::tally::Counts;
use crate::transport::{Content, End, Failure, Meeting, Processes, Receiver, Sender};

const ANSWER: &str = "answer";
const COUNT: &str = "count";

/// Round trips to a peer process, then a one-way run to another.
pub fn process_to_process<P: Processes<M>, M: Content>(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let stop = AtomicBool::new(false);

    let capacity = LATENCY_CAPACITY;
    let (peer, (mut sender, mut receiver)) = meet::<P, M>(stage, &stage.meeting.of("trip"), ANSWER, capacity)?;
    let lives = || peer.lives();
    let patience = Patience::new(PATIENCE, &stop).watching(&lives).sharing(stage.cpus.shared());
    let (samples, mut counts) = ping(&mut sender, &mut receiver, &stage.effort, &patience)?;
    counts.add(&peer.result::<Counts>()?);
    drop((peer, sender, receiver));

    let capacity = throughput_capacity(size_of::<M>());
    let (peer, (mut sender, receiver)) = meet::<P, M>(stage, &stage.meeting.of("stream"), COUNT, capacity)?;
    let lives = || peer.lives();
    let patience = Patience::new(PATIENCE, &stop).watching(&lives).sharing(stage.cpus.shared());
    let sent = flood(&mut sender, &stage.effort, &patience)?;
    let drained = peer.result::<Drained>()?;
    counts.add(&drained.with_sent(sent, receiver.subscribers()));
    Ok(Measured { samples: Some(samples), counts, per_second: drained.per_second, note: None })
}

type Ends<P, M> = (<P as Processes<M>>::Sender, <P as Processes<M>>::Receiver);

/// Starts a peer and connects with it.
fn meet<P: Processes<M>, M: Content>(
    stage: &Stage,
    meeting: &Meeting,
    role: &str,
    capacity: usize,
) -> Result<(Peer, Ends<P, M>), Failure> {
    let peer = stage.peer(meeting, role, stage.cpus.second)?;
    let ends = P::connect(meeting, End::First, capacity)?;
    peer.wait_until_ready()?;
    Ok((peer, ends))
}

/// What the peer process of [`process_to_process`] does.
pub fn be_the_peer<P: Processes<M>, M: Content>(role: &Role) -> Result<(), Failure> {
    let stop = AtomicBool::new(false);
    let patience = Patience::new(PATIENCE, &stop).sharing(role.shared);
    let answers = role.role == ANSWER;
    let capacity = if answers { LATENCY_CAPACITY } else { throughput_capacity(size_of::<M>()) };
    let (mut sender, mut receiver) = P::connect(&role.meeting, End::Second, capacity)?;
    role.ready()?;
    if answers {
        role.result(&pong(&mut receiver, &mut sender, &patience)?)
    } else {
        role.result(&drain(&mut receiver, sender.publishers(), &patience)?)
    }
}
