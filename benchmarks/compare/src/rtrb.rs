//! rtrb: a wait-free ring between two threads, without shared memory.

use horus_benchmarks::transport::{Content, Failure, Meeting, Receiver, Sender, Threads};
use rtrb::{Consumer, Producer, RingBuffer};

pub struct Rtrb;
pub struct Pushing<M>(Producer<M>);
pub struct Popping<M>(Consumer<M>);

impl<M: Content> Sender<M> for Pushing<M> {
    #[inline]
    fn try_send(&mut self, message: &M) -> bool {
        self.0.push(*message).is_ok()
    }
}

impl<M: Content> Receiver<M> for Popping<M> {
    #[inline]
    fn try_recv(&mut self, into: &mut M) -> bool {
        match self.0.pop() {
            Ok(message) => {
                *into = message;
                true
            }
            Err(_) => false,
        }
    }
}

impl<M: Content> Threads<M> for Rtrb {
    const SYSTEM: &'static str = "rtrb";
    type Sender = Pushing<M>;
    type Receiver = Popping<M>;

    fn channel(_: &Meeting, capacity: usize) -> Result<(Self::Sender, Self::Receiver), Failure> {
        let (producer, consumer) = RingBuffer::new(capacity);
        Ok((Pushing(producer), Popping(consumer)))
    }
}
