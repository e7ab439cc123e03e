//! Cells within one process: one thread, or two threads tied to two CPUs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::scope;

use crate::loops::{alternate, drain, flood, ping, pong};
use crate::measured::Measured;
use crate::options::{LATENCY_CAPACITY, throughput_capacity};
use crate::patience::{NEVER, Stuck};
use crate::pinning::pin_to;
use crate::samples::Samples;
use crate::stage::Stage;
use crate::tally::Counts;
use crate::transport::{Content, Failure, Receiver, Sender, Threads};

/// Send and receive in one thread.
pub fn same_thread<T: Threads<M>, M: Content>(stage: &Stage) -> Result<Measured, Failure> {
    pin_to(stage.cpus.first)?;
    let (mut sender, mut receiver) = T::channel(stage.meeting.clone(), LATENCY_CAPACITY)?;
    let (samples, counts) = alternate(&mut sender, &mut receiver, &stage.effort, &stage.patience(&NEVER))?;
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
    let (mut there, mut arrives) = T::channel(stage.meeting.of("there"), LATENCY_CAPACITY)?;
    let (mut back, mut returns) = T::channel(stage.meeting.of("back"), LATENCY_CAPACITY)?;
    let own = |stop: &_| Ok(ping(&mut there, &mut returns, &stage.effort, &stage.patience(stop))?);
    let peer = move |stop: &_| Ok(pong(&mut arrives, &mut back, &stage.patience(stop))?);
    let ((samples, mut counts), ponged) = on_both_cpus(stage, own, peer)?;
    counts.add(&ponged);
    Ok((samples, counts))
}

fn one_way<T: Threads<M>, M: Content>(stage: &Stage) -> Result<(Counts, Option<f64>), Failure> {
    let (mut sender, mut receiver) = T::channel(stage.meeting.of("stream"), throughput_capacity(size_of::<M>()))?;
    let (publishers, subscribers) = (sender.publishers(), receiver.subscribers());
    let own = |stop: &_| Ok(flood(&mut sender, &stage.effort, &stage.patience(stop))?);
    let peer = move |stop: &_| Ok(drain(&mut receiver, publishers, &stage.patience(stop))?);
    let (sent, drained) = on_both_cpus(stage, own, peer)?;
    Ok((drained.with_sent(sent, subscribers), drained.per_second))
}

/// Does `own` on the first CPU and `peer`, in a thread of its own, on the second.
///
/// A failure of one stops the other. Of two failures the first is told, not that of the end that was stopped for it.
pub fn on_both_cpus<T, U: Send>(
    stage: &Stage,
    own: impl FnOnce(&AtomicBool) -> Result<T, Failure>,
    peer: impl FnOnce(&AtomicBool) -> Result<U, Failure> + Send,
) -> Result<(T, U), Failure> {
    let stop = AtomicBool::new(false);
    let (own, peer) = scope(|scope| {
        let peer = scope.spawn(|| {
            let result = pin_to(stage.cpus.second).map_err(Failure::from).and_then(|()| peer(&stop));
            stop.fetch_or(result.is_err(), Ordering::Relaxed);
            result
        });
        let own = pin_to(stage.cpus.first).map_err(Failure::from).and_then(|()| own(&stop));
        stop.fetch_or(own.is_err(), Ordering::Relaxed);
        (own, peer.join().unwrap_or_else(|_| Err("the second thread panicked; its own words are above".into())))
    });
    let was_stopped = |failure: &Failure| matches!(failure.downcast_ref(), Some(Stuck::Stopped));
    match (own, peer) {
        (Ok(own), Ok(peer)) => Ok((own, peer)),
        (Err(cause), _) if !was_stopped(&cause) => Err(cause),
        (_, Err(cause)) | (Err(cause), _) => Err(cause),
    }
}
