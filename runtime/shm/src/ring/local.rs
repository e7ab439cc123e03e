//! The ring between two threads of one process: how records leave a real-time loop.
//!
//! It is the lane of [`super`] on heap memory, with one reader and the reliable policy.
//!
//! ```
//! let (mut writer, mut reader) = horus_shm::ring::local::ring::<u64>(4).unwrap();
//! writer.try_send(7).unwrap();
//! assert_eq!(reader.try_recv(), Some(7));
//! assert_eq!(reader.try_recv(), None);
//! ```
//!
//! Both ends may move to another thread, and neither may be shared between two:
//!
//! ```compile_fail
//! let (writer, _reader) = horus_shm::ring::local::ring::<u64>(4).unwrap();
//! fn shared(_: impl Sync) {}
//! shared(writer);
//! ```
//! ```compile_fail
//! let (_writer, reader) = horus_shm::ring::local::ring::<u64>(4).unwrap();
//! fn shared(_: impl Sync) {}
//! shared(reader);
//! ```
//! ```
//! let (writer, reader) = horus_shm::ring::local::ring::<u64>(4).unwrap();
//! fn movable(_: impl Send) {}
//! movable(writer);
//! movable(reader);
//! ```

use std::marker::PhantomData;

pub use super::Full;
use super::heap::HeapLane;
use super::{Consumer, Plain, Producer};
use crate::segment::layout::{DeliveryPolicy, ShapeError};

/// A ring for `capacity` values of plain data, a power of two; allocates here and never again.
pub fn ring<T: Plain>(capacity: usize) -> Result<(Writer<T>, Reader<T>), ShapeError> {
    let (producer, consumer) = ends(HeapLane::new::<T>(capacity, 1)?);
    Ok((Writer { producer, _value: PhantomData }, Reader { consumer, _value: PhantomData }))
}

fn ends(lane: HeapLane) -> (Producer<HeapLane>, Consumer<HeapLane>) {
    let mut consumers =
        super::join(vec![lane.clone()], 0, DeliveryPolicy::Reliable, 0).expect("fresh memory starts at 0").into_vec();
    let consumer = consumers.pop().expect("one lane, one consumer");
    (Producer::resume(lane, DeliveryPolicy::Reliable, false).expect("fresh memory starts at message 0"), consumer)
}

/// The end that sends; see [`ring()`].
pub struct Writer<T> {
    producer: Producer<HeapLane>,
    _value: PhantomData<fn(T)>,
}

/// The end that receives; see [`ring()`].
pub struct Reader<T> {
    consumer: Consumer<HeapLane>,
    _value: PhantomData<fn() -> T>,
}

impl<T: Plain> Writer<T> {
    /// Sends a value, or gives it back when the reader is `capacity` values behind. Wait-free, allocates nothing.
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), Full<T>> {
        self.producer.try_send(value, 0).map(|_sequence| ())
    }
}

impl<T: Plain> Reader<T> {
    /// The oldest value not read yet, or `None`. Wait-free, allocates nothing.
    #[inline]
    pub fn try_recv(&mut self) -> Option<T> {
        self.consumer.try_recv::<T>().map(|received| received.message)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn values_come_out_in_the_order_they_went_in() {
        let (mut writer, mut reader) = ring::<[u8; 5]>(2).unwrap();
        for i in 0..100_u8 {
            writer.try_send([i; 5]).unwrap();
            assert_eq!(reader.try_recv(), Some([i; 5]));
        }
    }

    #[test]
    fn a_full_ring_gives_the_value_back() {
        let (mut writer, mut reader) = ring::<u32>(2).unwrap();
        writer.try_send(1).unwrap();
        writer.try_send(2).unwrap();
        assert_eq!(writer.try_send(3), Err(Full(3)));
        assert_eq!(reader.try_recv(), Some(1));
        writer.try_send(3).unwrap();
        assert_eq!((reader.try_recv(), reader.try_recv(), reader.try_recv()), (Some(2), Some(3), None));
    }
}
