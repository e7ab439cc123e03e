//! Cells within one process: one thread, or two threads tied to two CPUs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle, scope};

use crate::cell::Measured;
use crate::loops::{alternate, drain, flood, ping, pong};
use crate::options::{LATENCY_CAPACITY, throughput_capacity};
use crate::patience::{PATIENCE, Patience, Stuck};
use crate::pinning::pin_to;
use crate::samples::Samples;
use crate::stage::Stage;
use crate::tally::Counts;
use crate::transport::{Content, Failure, Receiver, Sender, Threads};

/// Send and receive in one thread.
pub fn same_thread<T: Threads<M>, M: Content>(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let stop = AtomicBool::new(false);
    let (mut sender, mut receiver) = T::channel(&stage.meeting, LATENCY_CAPACITY)?;
    let (samples, counts) = alternate(&mut sender, &mut receiver, &stage.effort, &patience(stage, &stop))?;
    let per_second = samples.mean().map(|ns| 1e9 / ns);
    Ok(Measured { samples: Some(samples), counts, per_second, note: None })
}

/// Round trips between two threads, then a one-way run between two others.
pub fn thread_to_thread<T: Threads<M>, M: Content>(stage: &Stage) -> Result<Measured, Failure> {
    let (samples, mut counts) = round_trips::<T, M>(stage)?;
    let (streamed, per_second) = one_way::<T, M>(stage)?;
    counts.add(&streamed);
    Ok(Measured { samples: Some(samples), counts, per_second, note: None })
}

fn round_trips<T: Threads<M>, M: Content>(stage: &Stage) -> Result<(Samples, Counts), Failure> {
    let stop = AtomicBool::new(false);
    let (mut there, mut arrives) = T::channel(&stage.meeting.of("there"), LATENCY_CAPACITY)?;
    let (mut back, mut returns) = T::channel(&stage.meeting.of("back"), LATENCY_CAPACITY)?;
    scope(|scope| {
        let peer = start(scope, stage, &stop, move |patience| Ok(pong(&mut arrives, &mut back, patience)?));
        pin_to(stage.cpus.first)?;
        let pinged = ping(&mut there, &mut returns, &stage.effort, &patience(stage, &stop));
        stop.store(pinged.is_err(), Ordering::Relaxed);
        let ((samples, mut counts), ponged) = both(pinged, join(peer))?;
        counts.add(&ponged);
        Ok((samples, counts))
    })
}

fn one_way<T: Threads<M>, M: Content>(stage: &Stage) -> Result<(Counts, Option<f64>), Failure> {
    let stop = AtomicBool::new(false);
    let (mut sender, mut receiver) = T::channel(&stage.meeting.of("stream"), throughput_capacity(size_of::<M>()))?;
    let (publishers, subscribers) = (sender.publishers(), receiver.subscribers());
    scope(|scope| {
        let peer = start(scope, stage, &stop, move |patience| Ok(drain(&mut receiver, publishers, patience)?));
        pin_to(stage.cpus.first)?;
        let flooded = flood(&mut sender, &stage.effort, &patience(stage, &stop));
        stop.store(flooded.is_err(), Ordering::Relaxed);
        let (sent, drained) = both(flooded, join(peer))?;
        Ok((drained.with_sent(sent, subscribers), drained.per_second))
    })
}

fn patience<'a>(stage: &Stage, stop: &'a AtomicBool) -> Patience<'a> {
    Patience::new(PATIENCE, stop).sharing(stage.cpus.shared())
}

/// Starts the second end on its CPU; its failure stops the first.
fn start<'scope, 'env, T: Send + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    stage: &'scope Stage,
    stop: &'scope AtomicBool,
    body: impl FnOnce(&Patience) -> Result<T, Failure> + Send + 'scope,
) -> ScopedJoinHandle<'scope, Result<T, Failure>> {
    scope.spawn(move || {
        let result = pin_to(stage.cpus.second).map_err(Failure::from).and_then(|()| body(&patience(stage, stop)));
        if result.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        result
    })
}

/// Both ends' results; of two failures the one that came first, not the end that was stopped for it.
fn both<T, U>(own: Result<T, Stuck>, peer: Result<U, Failure>) -> Result<(T, U), Failure> {
    match (own, peer) {
        (Ok(own), Ok(peer)) => Ok((own, peer)),
        (Ok(_) | Err(Stuck::Stopped), Err(cause)) => Err(cause),
        (Err(cause), _) => Err(cause.into()),
    }
}

fn join<T>(peer: ScopedJoinHandle<'_, Result<T, Failure>>) -> Result<T, Failure> {
    peer.join().unwrap_or_else(|_| Err("the second thread panicked; its own words are above".into()))
}
