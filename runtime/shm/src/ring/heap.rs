//! A lane on the heap: for rings inside one process, and for loom and Miri, which cannot follow a mapping.

use super::copy::words_for;
use super::{Memory, Plain};
use crate::segment::layout::{LINE, LINE_PAIR, Shape, ShapeError, WORD};
use crate::sync::{Arc, AtomicU64};

/// The words of one lane; clones share them.
#[derive(Clone)]
pub struct HeapLane(Arc<Words>);

struct Words {
    capacity: u64,
    stride_words: usize,
    slots: AlignedWords,
    members: AtomicU64,
    holders: AtomicU64,
    asking: AtomicU64,
    position: Padded,
    cursors: Box<[Padded]>,
}

/// A word that shares its cache lines with nothing.
#[repr(align(128))]
struct Padded(AtomicU64);

const _: () = assert!(align_of::<Padded>() == LINE_PAIR);

impl Padded {
    fn zero() -> Self {
        Self(AtomicU64::new(0))
    }
}

/// Zeroed words of which the first lent one starts a cache line.
struct AlignedWords {
    words: Box<[AtomicU64]>,
    first: usize,
}

impl AlignedWords {
    fn zeroed(count: usize) -> Self {
        let words: Box<[AtomicU64]> = (0..count + LINE / WORD).map(|_| AtomicU64::new(0)).collect();
        let address = words.as_ptr().addr();
        // loom's atomics are larger than a word and have no use for alignment.
        let first = if cfg!(loom) { 0 } else { (address.next_multiple_of(LINE) - address) / WORD };
        Self { words, first }
    }
}

impl HeapLane {
    /// A lane of `capacity` slots for messages of type `T`, with cursors for `subscribers` readers.
    pub fn new<T: Plain>(capacity: usize, subscribers: usize) -> Result<Self, ShapeError> {
        Self::of(size_of::<T>(), align_of::<T>(), capacity, subscribers)
    }

    /// As [`new`](Self::new), for messages whose size and alignment are known only now.
    pub fn of(bytes: usize, align: usize, capacity: usize, subscribers: usize) -> Result<Self, ShapeError> {
        let shape = Shape::new(bytes, align, capacity, 1, subscribers)?;
        let stride_words = words_for(shape.slot_stride());
        Ok(Self(Arc::new(Words {
            capacity: capacity as u64,
            stride_words,
            slots: AlignedWords::zeroed(capacity * stride_words),
            members: AtomicU64::new(0),
            holders: AtomicU64::new(0),
            asking: AtomicU64::new(0),
            position: Padded::zero(),
            cursors: (0..subscribers).map(|_| Padded::zero()).collect(),
        })))
    }
}

impl Memory for HeapLane {
    fn capacity(&self) -> u64 {
        self.0.capacity
    }

    fn subscribers(&self) -> usize {
        self.0.cursors.len()
    }

    fn members(&self) -> &AtomicU64 {
        &self.0.members
    }

    fn holders(&self) -> &AtomicU64 {
        &self.0.holders
    }

    fn asking(&self) -> &AtomicU64 {
        &self.0.asking
    }

    fn position(&self) -> &AtomicU64 {
        &self.0.position.0
    }

    fn cursor(&self, subscriber: usize) -> &AtomicU64 {
        &self.0.cursors[subscriber].0
    }

    #[inline]
    fn slot(&self, sequence: u64) -> &[AtomicU64] {
        let index = (sequence & (self.0.capacity - 1)) as usize;
        let start = self.0.slots.first + index * self.0.stride_words;
        &self.0.slots.words[start..start + self.0.stride_words]
    }
}
