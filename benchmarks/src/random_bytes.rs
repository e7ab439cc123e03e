//! Messages of random length and content that both ends can make up by themselves, from sender and number alone.
//!
//! Two bytes hold neither number nor checksum; so the receiver compares every byte with what it must be.

use fastrand::Rng;

/// Bytes of the shortest message.
pub const SHORTEST: usize = 2;
/// Bytes of the longest message.
pub const LONGEST: usize = 256;

const POOL: usize = 1 << 14;

/// A pool of random bytes; a message is a piece of it.
pub struct RandomBytes {
    pool: Vec<u8>,
}

impl Default for RandomBytes {
    /// The same pool in every process.
    fn default() -> Self {
        let mut pool = vec![0; POOL + LONGEST];
        Rng::with_seed(0).fill(&mut pool);
        Self { pool }
    }
}

impl RandomBytes {
    /// Message `number` of `sender`.
    #[inline]
    pub fn message(&self, sender: u64, number: u64) -> &[u8] {
        let mut random = Rng::with_seed(sender << 48 ^ number);
        let length = random.usize(SHORTEST..=LONGEST);
        let start = random.usize(..POOL);
        &self.pool[start..start + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_all_lengths_and_can_be_told_apart() {
        let random = RandomBytes::default();
        let lengths: std::collections::BTreeSet<_> =
            (0..20_000).map(|number| random.message(1, number).len()).collect();
        assert_eq!((lengths.len(), lengths.first(), lengths.last()), (255, Some(&SHORTEST), Some(&LONGEST)));
        assert_eq!(random.message(3, 7), RandomBytes::default().message(3, 7));
        let differing = (0..1000).filter(|number| random.message(0, *number) != random.message(1, *number)).count();
        assert!(differing > 990, "{differing}");
    }
}
