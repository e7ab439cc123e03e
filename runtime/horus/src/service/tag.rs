//! What the stamp of an answer says: which request it answers, and how.

/// Bits of the number.
const NUMBER_BITS: u32 = 60;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;

/// What a message from a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The answer, or the last part of it.
    Answer = 1,
    /// A part of the answer, and more of them follow.
    Part = 2,
    /// There are no more parts. The message says nothing.
    End = 3,
    /// The server took the request and does not answer it. The message says nothing.
    Unanswered = 4,
    /// A server started: it does not know requests of lower numbers. The message says nothing.
    Started = 5,
    /// The server stops. The message says nothing.
    Stopped = 6,
}

/// The stamp of a message from a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tag {
    pub kind: Kind,
    /// The number of the request in its client's lane.
    pub number: u64,
}

impl Tag {
    /// The stamp that a process sends it by. A ring takes stamps for times, and moves them from one time namespace's clock to another's; this process's
    /// is `ahead_ns` ahead of the machine's ([`ahead_of_machine_ns`](horus_sys::clock::ahead_of_machine_ns)).
    pub fn stamp(self, ahead_ns: i64) -> u64 {
        self.word().saturating_add_signed(ahead_ns)
    }

    /// What a stamp says that this process, whose clock is `ahead_ns` ahead, received.
    pub fn of_stamp(stamp: u64, ahead_ns: i64) -> Option<Self> {
        Self::of(stamp.saturating_add_signed(ahead_ns.saturating_neg()))
    }

    /// Never 0, which would say that there is no stamp.
    fn word(self) -> u64 {
        (self.kind as u64) << NUMBER_BITS | self.number & NUMBER
    }

    /// What a peer alleges; `None` when it makes no sense.
    fn of(word: u64) -> Option<Self> {
        let kind = match word >> NUMBER_BITS {
            1 => Kind::Answer,
            2 => Kind::Part,
            3 => Kind::End,
            4 => Kind::Unanswered,
            5 => Kind::Started,
            6 => Kind::Stopped,
            _ => return None,
        };
        Some(Self { kind, number: word & NUMBER })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_as_it_was_written_and_is_never_zero() {
        for kind in [Kind::Answer, Kind::Part, Kind::End, Kind::Unanswered, Kind::Started, Kind::Stopped] {
            for number in [0, 1, NUMBER] {
                let tag = Tag { kind, number };
                assert_ne!(tag.word(), 0);
                assert_eq!(Tag::of(tag.word()), Some(tag));
            }
        }
        assert_eq!((Tag::of(0), Tag::of(u64::MAX)), (None, None));
    }

    #[test]
    fn a_tag_crosses_time_namespaces_as_a_time_does() {
        let tag = Tag { kind: Kind::Answer, number: 17 };
        for (sender, receiver) in [(0, 0), (100_000_000_000_000, 0), (0, -5), (-7_000_000_000, 3)] {
            // As the ring does it: by the machine's clock between the two.
            let in_slot = tag.stamp(sender).saturating_add_signed(-sender);
            assert_eq!(Tag::of_stamp(in_slot.saturating_add_signed(receiver), receiver), Some(tag));
        }
    }
}
