//! Which node is released next.

use crate::time::MonotonicTime;

/// A release, and the number of its node.
type Entry = (MonotonicTime, usize);

/// Releases of nodes, the earliest first; of the same time, the node that was declared first.
///
/// Sorted by insertion from the back. Nodes of one period come in the order in which they leave, so that each is put where it
/// stays at once: a tick of fifty nodes costs fifty times that of one.
///
/// A circle of a fixed size, a power of two: what `VecDeque` does to grow, and to be of any size, is a tenth of a tick.
pub(super) struct Queue {
    entries: Box<[Entry]>,
    /// The first one's place; counts on and is cut to the size where it is used.
    head: usize,
    len: usize,
}

impl Queue {
    /// A queue for `nodes`: each is in it once, or twice where grid and events release it.
    pub fn with_capacity(nodes: usize) -> Self {
        let size = (2 * nodes).next_power_of_two();
        Self { entries: vec![Entry::default(); size].into(), head: 0, len: 0 }
    }

    #[inline]
    fn place(&self, number: usize) -> usize {
        self.head.wrapping_add(number) & (self.entries.len() - 1)
    }

    /// Adds a release.
    ///
    /// # Panics
    /// When it holds as many as it was made for.
    #[inline]
    pub fn insert(&mut self, release: MonotonicTime, node: usize) {
        assert!(self.len < self.entries.len());
        let mut empty = self.len;
        while empty > 0 {
            let last = self.entries[self.place(empty - 1)];
            if last.0 < release || last.0 == release && last.1 <= node {
                break;
            }
            let place = self.place(empty);
            self.entries[place] = last;
            empty -= 1;
        }
        let place = self.place(empty);
        self.entries[place] = (release, node);
        self.len += 1;
    }

    /// The first release.
    #[inline]
    pub fn next(&self) -> Option<Entry> {
        (self.len > 0).then(|| self.entries[self.place(0)])
    }

    /// Takes the first release away.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.len > 0);
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_come_by_time_and_then_by_declaration() {
        let mut queue = Queue::with_capacity(4);
        for (release, node) in [(20, 0), (10, 2), (10, 1), (30, 3), (10, 0)] {
            queue.insert(MonotonicTime::from_nanos(release), node);
        }
        let order: Vec<_> = std::iter::from_fn(|| {
            let (release, node) = queue.next()?;
            queue.pop();
            Some((release.as_nanos(), node))
        })
        .collect();
        assert_eq!(order, [(10, 0), (10, 1), (10, 2), (20, 0), (30, 3)]);
    }

    proptest::proptest! {
        #[test]
        fn it_agrees_with_a_sorted_list(steps in proptest::collection::vec((0..20_u64, 0..3_usize), 1..200)) {
            let (mut queue, mut list) = (Queue::with_capacity(3), Vec::new());
            for (release, node) in steps {
                if list.len() == 6 || release % 3 == 0 {
                    proptest::prop_assert_eq!(queue.next(), list.first().copied());
                    if !list.is_empty() {
                        queue.pop();
                        list.remove(0);
                    }
                } else {
                    queue.insert(MonotonicTime::from_nanos(release), node);
                    list.push((MonotonicTime::from_nanos(release), node));
                    list.sort();
                }
            }
        }
    }
}
