//! rtrb: a wait-free ring between two threads, without shared memory.

use horus_benchmarks::transport::{Content, Failure, Meeting, Receiver, Sender, Threads};
use rtrb::RingBuffer;

pub struct Rtrb;

impl<M: Content> Threads<M> for Rtrb {
    const SYSTEM: &'static str = "rtrb";

    fn channel(_: Meeting, capacity: usize) -> Result<(impl Sender<M> + Send, impl Receiver<M> + Send), Failure> {
        let (mut producer, mut consumer) = RingBuffer::new(capacity);
        let push = move |message: &M| producer.push(*message).is_ok();
        let pop = move |into: &mut M| consumer.pop().map(|message| *into = message).is_ok();
        Ok((push, pop))
    }
}
