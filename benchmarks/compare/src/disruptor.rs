//! The disruptor: a ring between threads, read by an event poller that the reading thread calls itself.

use disruptor::{BusySpin, Producer, build_single_producer};
use horus_benchmarks::transport::{Content, Failure, Meeting, Receiver, Sender, Threads};

pub struct Disruptor;

impl<M: Content + Sync> Threads<M> for Disruptor {
    const SYSTEM: &'static str = "disruptor";

    fn channel(_: Meeting, capacity: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        let (mut poller, builder) = build_single_producer(capacity, M::new_zeroed, BusySpin).new_event_poller();
        let mut producer = builder.build();
        let publish = move |message: &M| producer.try_publish(|slot| *slot = *message).is_ok();
        let poll = move |into: &mut M| {
            let Ok(mut events) = poller.take(1) else { return false };
            let Some(message) = (&mut events).next() else { return false };
            *into = *message;
            true
        };
        Ok((publish, poll))
    }
}
