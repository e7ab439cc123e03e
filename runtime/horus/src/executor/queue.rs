//! Which node is released next.

use std::collections::VecDeque;

use crate::time::MonotonicTime;

/// Releases of nodes, the earliest first; of the same time, the node that was declared first.
///
/// Sorted by insertion from the back. Nodes of one period come in the order in which they leave, so that each is put where it
/// stays at once: a tick of fifty nodes costs fifty times that of one.
pub(super) struct Queue(VecDeque<(MonotonicTime, usize)>);

impl Queue {
    /// A queue that never grows beyond `nodes`: each is in it once, or twice where grid and events release it.
    pub fn with_capacity(nodes: usize) -> Self {
        Self(VecDeque::with_capacity(2 * nodes + 1))
    }

    #[inline]
    pub fn insert(&mut self, release: MonotonicTime, node: usize) {
        match self.0.back() {
            Some(last) if *last > (release, node) => self.insert_before_others(release, node),
            _ => self.0.push_back((release, node)),
        }
    }

    fn insert_before_others(&mut self, release: MonotonicTime, node: usize) {
        let behind = self.0.iter().rev().take_while(|other| **other > (release, node)).count();
        self.0.insert(self.0.len() - behind, (release, node));
    }

    #[inline]
    pub fn next(&self) -> Option<(MonotonicTime, usize)> {
        self.0.front().copied()
    }

    #[inline]
    pub fn pop(&mut self) {
        self.0.pop_front();
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
            let next = queue.next();
            queue.pop();
            next.map(|(release, node)| (release.as_nanos(), node))
        })
        .collect();
        assert_eq!(order, [(10, 0), (10, 1), (10, 2), (20, 0), (30, 3)]);
    }
}
