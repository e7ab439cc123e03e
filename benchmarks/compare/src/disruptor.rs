//! The disruptor: a ring between threads, read by an event poller that the reading thread calls itself.

use disruptor::{
    BusySpin, EventPoller, Producer, SingleConsumerBarrier, SingleProducer, SingleProducerBarrier,
    build_single_producer,
};
use horus_benchmarks::transport::{Content, Failure, Meeting, Receiver, Sender, Threads};

pub struct Disruptor;
pub struct Publishing<M>(SingleProducer<M, SingleConsumerBarrier>);
pub struct Polling<M>(EventPoller<M, SingleProducerBarrier>);

impl<M: Content> Sender<M> for Publishing<M> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        self.0.try_publish(|slot| *slot = *message).is_ok()
    }
}

impl<M: Content> Receiver<M> for Polling<M> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        let Ok(mut events) = self.0.take(1) else { return false };
        let Some(message) = (&mut events).next() else { return false };
        *into = *message;
        true
    }
}

impl<M: Content + Sync> Threads<M> for Disruptor {
    const SYSTEM: &'static str = "disruptor";
    type Sender = Publishing<M>;
    type Receiver = Polling<M>;

    fn channel(_: &Meeting, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let builder = build_single_producer(capacity, M::new_zeroed, BusySpin);
        let (poller, builder) = builder.new_event_poller();
        Ok((Publishing(builder.build()), Polling(poller)))
    }
}
