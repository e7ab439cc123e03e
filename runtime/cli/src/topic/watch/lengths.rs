//! How many bytes messages have: all the same, or, on topics of bytes, each its own.

use horus_shm::ends::observe::Observation;

/// The lengths of some messages.
#[derive(Clone, Debug, Default)]
pub struct Lengths {
    /// The length of every message, if they are all the same.
    fixed: Option<u64>,
    /// How many were looked at, their sum, the least and the most.
    seen: u64,
    sum: u64,
    range: Option<(u64, u64)>,
    /// How many were overwritten before, and how many of them were told already.
    unseen: u64,
    told: u64,
    /// Bytes of all messages, when the window is over.
    bytes: f64,
}

impl Lengths {
    pub fn of(topic: &Observation) -> Self {
        let fixed = (!topic.header().is_of_bytes()).then(|| topic.payload().bytes as u64);
        Self { fixed, ..Self::default() }
    }

    /// Looks at messages that came since the last look.
    pub fn look(&mut self, topic: &mut Observation) {
        if self.fixed.is_some() {
            return;
        }
        while let Some(received) = topic.try_take_bytes(&mut []) {
            self.see(received.message as u64);
        }
        self.unseen = topic.missed().wrapping_sub(self.told);
    }

    fn see(&mut self, length: u64) {
        self.seen += 1;
        self.sum += length;
        let (min, max) = self.range.unwrap_or((length, length));
        self.range = Some((min.min(length), max.max(length)));
    }

    /// Goes on with another topic of the same name. What was seen of the first counts with it.
    pub fn follow(&mut self, topic: &Observation) {
        self.fixed = Self::of(topic).fixed;
        // What the first one's messages were counts on; those of the other begin anew.
        self.told = 0_u64.wrapping_sub(self.unseen);
    }

    /// The lengths of the messages that were sent since the last call, `messages` of them.
    pub fn close(&mut self, messages: u64) -> Self {
        let next = Self { fixed: self.fixed, told: self.told.wrapping_add(self.unseen), ..Self::default() };
        let mut closed = std::mem::replace(self, next);
        if let Some(fixed) = closed.fixed.filter(|_| messages > 0) {
            (closed.seen, closed.sum, closed.range) = (messages, messages * fixed, Some((fixed, fixed)));
        }
        closed.bytes = closed.sum as f64 + closed.mean().unwrap_or(0.0) * closed.unseen as f64;
        closed
    }

    /// Takes over those of another window.
    pub fn add(&mut self, other: &Self) {
        self.seen += other.seen;
        self.sum += other.sum;
        self.unseen += other.unseen;
        self.bytes += other.bytes;
        if let Some((min, max)) = other.range {
            let (least, most) = self.range.unwrap_or((min, max));
            self.range = Some((least.min(min), most.max(max)));
        }
    }

    /// The mean of those that were seen.
    pub fn mean(&self) -> Option<f64> {
        self.fixed.map(|fixed| fixed as f64).or((self.seen > 0).then(|| self.sum as f64 / self.seen as f64))
    }

    pub fn range(&self) -> Option<(u64, u64)> {
        self.range
    }

    /// The bytes of all messages; those that were overwritten before they were seen count with the mean of the others.
    pub fn bytes(&self) -> f64 {
        self.bytes
    }

    /// How many messages were overwritten before their length was seen.
    pub fn unseen(&self) -> u64 {
        self.unseen
    }
}
