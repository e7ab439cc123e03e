//! Why a file under a topic's name is not what was asked for: what was found, what was expected, what to do.

use std::path::PathBuf;

use thiserror::Error;

use super::layout::{BYTE_ORDER, DeliveryPolicy, HEADER_BYTES, ShapeError, VERSION};
use crate::counted::counted;

/// A file under a topic's name that is not what was asked for.
#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct Rejected {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: Reason,
}

/// What is wrong with a segment's header.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Reason {
    /// The file ends before the header does.
    #[error("has {found} bytes, a segment's header alone has {HEADER_BYTES}: it is no topic; remove it")]
    Truncated {
        /// Bytes of the file.
        found: u64,
    },
    /// The first bytes are others.
    #[error("starts with {found:02x?}, not with \"HORUSSHM\": it is no topic; remove it")]
    Magic {
        /// The first bytes.
        found: [u8; 8],
    },
    /// Another version of this code made it.
    #[error(
        "has segment version {found}, this program speaks {VERSION}: run programs of one release, then remove the file"
    )]
    Version {
        /// The version in the header.
        found: u32,
    },
    /// A machine of another byte order made it.
    #[error(
        "has byte order tag {found:#010x}, this machine reads {BYTE_ORDER:#010x}: segments do not move between \
        machines; remove it"
    )]
    ByteOrder {
        /// The tag in the header.
        found: u32,
    },
    /// A number in the header is impossible.
    #[error("its header is damaged ({0}): stop its users and remove it")]
    Shape(#[from] ShapeError),
    /// Two numbers in the header contradict each other or the file's size.
    #[error("its header is damaged ({field} is {found}, {expected} would fit): stop its users and remove it")]
    Inconsistent {
        /// Which number.
        field: &'static str,
        /// What it is.
        found: u64,
        /// What the other fields ask for.
        expected: u64,
    },
    /// The lane's position is beyond all that can have been sent.
    #[error("its lane is damaged (position {found}): stop its users and remove it")]
    Position {
        /// The position.
        found: u64,
    },
    /// The policy's number stands for none.
    #[error("its header is damaged (delivery policy {found}, 1 and 2 exist): stop its users and remove it")]
    DeliveryPolicyCode {
        /// The number.
        found: u32,
    },
    /// The type name is no text.
    #[error("its header is damaged (the type name is no text): stop its users and remove it")]
    TypeNameBytes,
    /// The topic carries another type.
    #[error(
        "carries messages of type {found:?}, this program expects {expected:?}: use another topic name, or the same \
        type"
    )]
    TypeName {
        /// The type of the topic.
        found: String,
        /// The type asked for.
        expected: String,
    },
    /// The topic's type has the same name and another size or alignment.
    #[error(
        "its {type_name} has {found_bytes} bytes aligned to {found_align}, this program's has {expected_bytes} \
        aligned to {expected_align}{difference}; build both programs from the same message definition"
    )]
    Payload {
        /// The type's name.
        type_name: String,
        /// Bytes of a message in the topic.
        found_bytes: usize,
        /// Alignment of a message in the topic.
        found_align: usize,
        /// Bytes of a message in this program.
        expected_bytes: usize,
        /// Alignment of a message in this program.
        expected_align: usize,
        /// The first field that differs, in words.
        difference: String,
    },
    /// The topic's type has the same name and size, and other fields.
    #[error(
        "its {type_name} has layout {found:016x}, this program's has {expected:016x}{difference}; build both programs \
        from the same message definition"
    )]
    LayoutHash {
        /// The type's name.
        type_name: String,
        /// Layout of the topic's type.
        found: u64,
        /// Layout of this program's type.
        expected: u64,
        /// The first field that differs, in words.
        difference: String,
    },
    /// The topic has another delivery policy.
    #[error(
        "has the delivery policy {found}, this program asks for {expected}: agree on one, and restart the topic's users"
    )]
    DeliveryPolicy {
        /// The topic's policy.
        found: DeliveryPolicy,
        /// The policy asked for.
        expected: DeliveryPolicy,
    },
    /// The topic has room for fewer publishers.
    #[error(
        "has room for {}, this program asks for {expected}: ask for no more here, or for as many in the program that published first \
        (`Options::publishers`), and restart the topic's users",
        counted(*found, "publisher")
    )]
    Publishers {
        /// Publishers that the topic has room for.
        found: usize,
        /// The number asked for.
        expected: usize,
    },
    /// The topic holds fewer messages.
    #[error(
        "holds {}, this program asks for {expected}: ask for no more here, or for as many in the program that published first, and \
        restart the topic's users",
        counted(*found, "message")
    )]
    Capacity {
        /// The topic's capacity.
        found: usize,
        /// The capacity asked for.
        expected: usize,
    },
    /// The topic holds fewer messages than a subscriber needs.
    #[error(
        "holds {}, this subscriber needs {needed}: make the topic larger where it is published, or ask for less",
        counted(*found, "message")
    )]
    TooSmall {
        /// The topic's capacity.
        found: usize,
        /// The least capacity asked for.
        needed: usize,
    },
    /// The topic's publishers wake no subscriber, and this subscriber wants to be woken.
    #[error(
        "is made so that its publishers never wake a subscriber (`Options::never_wake`): wait with `WaitStrategy::Poll` or \
        `WaitStrategy::Spin`, or leave the choice open"
    )]
    NeverWakes,
    /// Publishers disagree on whether they wake subscribers.
    #[error(
        "is published by programs that {} subscribers, this one asks for the contrary (`Options::never_wake`): agree, and \
        restart the topic's users",
        if *found { "wake" } else { "never wake" }
    )]
    Wakes {
        /// Whether the topic's publishers wake who sleeps.
        found: bool,
    },
    /// A publisher wants its messages to outlive it, and the topic was published without.
    #[error(
        "is not latched, and this program publishes it latched (`Options::latched`): say so in each of its publishers, and restart the \
        topic's users"
    )]
    NotLatched,
}
