//! What became of the messages: received, lost, corrupt, repeated.

use serde::{Deserialize, Serialize};

use crate::content::Mark;

/// Counts of one run, or of several added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Messages that the sending calls accepted.
    pub sent: u64,
    /// Messages that came, right, once.
    pub received: u64,
    /// Messages that did not come: gaps in the sequence numbers.
    pub lost: u64,
    /// Messages that came with a wrong checksum; each also leaves a gap.
    pub corrupt: u64,
    /// Messages that came again or late.
    pub repeated: u64,
}

impl Counts {
    /// Adds another run's counts.
    pub fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.received += other.received;
        self.lost += other.lost;
        self.corrupt += other.corrupt;
        self.repeated += other.repeated;
    }
}

/// A receiver's account: feed it everything that came.
#[derive(Debug)]
pub struct Tally {
    counts: Counts,
    /// Sequence number that each publisher's next message should have; `None` after its end.
    expected: Vec<Option<u64>>,
}

impl Tally {
    /// An account of messages from `publishers` publishers.
    pub fn new(publishers: u64) -> Self {
        Self { counts: Counts::default(), expected: vec![Some(0); publishers as usize] }
    }

    /// Books what [`verify`](crate::content::verify) said about a message.
    #[inline]
    pub fn note(&mut self, verified: Option<Mark>) {
        let counts = &mut self.counts;
        let Some(mark) = verified else {
            counts.corrupt += 1;
            return;
        };
        let (publisher, number) = match mark {
            Mark::Message { publisher, sequence } => (publisher, sequence),
            Mark::End { publisher, sent } => (publisher, sent),
        };
        let Some(expected) = self.expected.get_mut(publisher as usize) else {
            counts.corrupt += 1;
            return;
        };
        let Some(next) = expected.filter(|next| number >= *next) else {
            counts.repeated += 1;
            return;
        };
        counts.lost += number - next;
        if let Mark::Message { sequence, .. } = mark {
            counts.received += 1;
            *expected = Some(sequence + 1);
        } else {
            *expected = None;
        }
    }

    /// Whether every publisher has said that it sends no more.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.expected.iter().all(Option::is_none)
    }

    /// The counts so far; `sent` is the sender's to fill in.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(publisher: u64, sequence: u64) -> Option<Mark> {
        Some(Mark::Message { publisher, sequence })
    }

    #[test]
    fn gaps_are_lost_and_counted_for_each_publisher() {
        let mut tally = Tally::new(2);
        for mark in [message(0, 0), message(1, 2), message(0, 1), message(0, 5), message(1, 3)] {
            tally.note(mark);
        }
        assert_eq!(tally.counts(), Counts { received: 5, lost: 2 + 3, ..Counts::default() });
    }

    #[test]
    fn what_is_missing_at_the_end_is_lost_too() {
        let mut tally = Tally::new(1);
        tally.note(message(0, 0));
        tally.note(Some(Mark::End { publisher: 0, sent: 10 }));
        assert!(tally.is_over());
        assert_eq!(tally.counts(), Counts { received: 1, lost: 9, ..Counts::default() });
    }

    #[test]
    fn corrupt_and_repeated_messages_are_not_received() {
        let mut tally = Tally::new(1);
        for mark in [message(0, 0), None, message(0, 0), message(7, 0), message(0, 2)] {
            tally.note(mark);
        }
        assert_eq!(tally.counts(), Counts { received: 2, lost: 1, corrupt: 2, repeated: 1, sent: 0 });
        assert!(!tally.is_over());
    }
}
