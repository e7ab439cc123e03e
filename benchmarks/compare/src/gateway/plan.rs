//! What is sent, and how each message is known again: when it was to be sent, its number, and bytes that follow from it.

/// The number of messages that only try whether a subscriber listens.
const PROBE: u64 = u64::MAX;
/// Messages that may be under way without a rate. Sender and receiver are of one process, so this costs nothing and is alike for all.
pub const WINDOW: u64 = 32_768;

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Messages a second; 0 for as fast as the receiver gets them.
    pub rate: f64,
    /// Messages in all.
    pub count: u64,
    /// Bytes of a message: 16 and more.
    pub bytes: usize,
    /// Messages that are sent at once.
    pub batch: usize,
    /// How long is sent at most, whatever is left then: some systems are slower than what they are asked for.
    pub longest_ns: u64,
}

/// What a message turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// One of the plan's: its number, and when it was to be sent.
    Message { number: u64, due_ns: u64 },
    /// One that only tries.
    Probe,
    /// Something else.
    Wrong,
}

impl Plan {
    /// Appends a message.
    pub fn write(&self, number: u64, due_ns: u64, into: &mut Vec<u8>) {
        let begin = into.len();
        into.resize(begin + self.bytes, number as u8);
        into[begin..begin + 8].copy_from_slice(&due_ns.to_le_bytes());
        into[begin + 8..begin + 16].copy_from_slice(&number.to_le_bytes());
    }

    /// A message that only tries whether a subscriber listens.
    pub fn probe(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(PROBE, 0, &mut bytes);
        bytes
    }

    /// Looks at every byte of a message.
    pub fn read(&self, message: &[u8]) -> Known {
        if message.len() != self.bytes {
            return Known::Wrong;
        }
        let (words, rest) = message.split_at(16);
        let word = |at: usize| u64::from_le_bytes(words[at..at + 8].try_into().expect("eight bytes"));
        let (due_ns, number) = (word(0), word(8));
        // Without a branch a byte, so that looking costs little.
        let differences = rest.iter().fold(0, |all, byte| all | (byte ^ number as u8));
        match number {
            _ if differences != 0 => Known::Wrong,
            PROBE => Known::Probe,
            _ => Known::Message { number, due_ns },
        }
    }
}
