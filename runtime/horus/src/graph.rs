//! What a program's nodes are, as text: for observers, for `horus node check`, and for who installs it. [`admit()`] says whether
//! they meet their deadlines on a machine.

pub mod admit;
pub mod chains;
pub mod circle;
pub mod jitter;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use admit::{AdmitError, Admitted, Machine, admit};
pub use circle::Circle;
pub use jitter::CpuJitter;

/// A program and its nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessInfo {
    /// Its name.
    pub name: String,
    /// Its nodes, in the order of their declaration.
    pub nodes: Vec<NodeInfo>,
    /// Chains of its nodes, from a first input to a last output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chains: Vec<ChainInfo>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// Its name.
    pub name: String,
    /// The distance of its releases, in nanoseconds; 0 where only events release it.
    pub period_ns: u64,
    /// The topic that releases it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// The shortest distance of two releases by events, in nanoseconds.
    #[serde(default)]
    pub min_inter_arrival_ns: u64,
    /// From release to completion, in nanoseconds.
    pub deadline_ns: u64,
    /// CPU time of a cycle, in nanoseconds; 0 where none was declared.
    #[serde(default)]
    pub budget_ns: u64,
    /// Which CPU it asked for.
    pub cpu: String,
    /// Its scheduling policy, such as `fifo:80`.
    pub scheduling_policy: String,
    /// From a release to when the monitor makes the node safe, in nanoseconds; 0 where it did not say.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub monitor_limit_ns: u64,
    /// Whether its outputs are those of its deadline.
    #[serde(default)]
    pub logical: bool,
    /// Its thread in the program: nodes of one thread run one after the other.
    pub thread: usize,
    /// The longest response that was predicted, in nanoseconds; 0 where it cannot be.
    #[serde(default)]
    pub predicted_ns: u64,
    /// Topics that it reads.
    pub inputs: Vec<String>,
    /// Topics that it writes, with the message that is safe.
    pub outputs: Vec<OutputInfo>,
    /// Services that it asks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
    /// Services that it serves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub serves: Vec<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputInfo {
    /// Its topic.
    pub topic: String,
    /// The bytes of the safe message, if the node has one and reacts by its safe state; as hexadecimal digits.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub safe: String,
}

/// Nodes that hand data on to each other, and how long that may take.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainInfo {
    /// Their names.
    pub nodes: Vec<String>,
    /// The longest time from the first release to the last completion, in nanoseconds.
    pub end_to_end_ns: u64,
}

impl NodeInfo {
    /// Its deadline.
    pub fn deadline(&self) -> Duration {
        Duration::from_nanos(self.deadline_ns)
    }

    /// Whether another process has to publish what is safe when it cannot.
    pub fn relies_on_monitor(&self) -> bool {
        self.period_ns > 0 && self.outputs.iter().any(|output| !output.safe.is_empty())
    }
}

impl OutputInfo {
    /// The bytes of the safe message.
    pub fn safe_bytes(&self) -> Option<Vec<u8>> {
        bytes_of(&self.safe).filter(|bytes| !bytes.is_empty())
    }
}

/// The bytes of hexadecimal digits; `None` where there is something else.
pub fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

/// Bytes as hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
