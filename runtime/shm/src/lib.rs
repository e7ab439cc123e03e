//! Bytes, mappings and atomics under HORUS topics: one ring, on the heap or in shared memory.
//!
//! A topic is one file in a RAM-backed directory, mapped by every peer. Each of its publishers owns a **lane**, a
//! single-writer ring of fixed-size slots; every subscriber reads every lane with a cursor of its own. The message path
//! through this crate, in reading order: [`layout`] (which byte is what), [`ring`] (how a message crosses), [`segment`]
//! (which file a peer trusts, after [`header`] was checked), [`copy`] (how payload bytes move without a data race),
//! [`bell`] (how a subscriber sleeps, at no cost to publishers while none does). What programs use are the ends of a
//! topic: [`endpoint`] for plain data of one type, [`bytes`] for messages of any length. `docs/message-path.md` follows
//! one message through all of it.
//!
//! # What it does not do
//! - No network, no serialization, no discovery service: a topic is found by its file's name.
//! - No order between publishers: each lane keeps its own.
//! - No wake-up for a publisher that waits for room: it polls, busily or with naps ([`wait`]).
//! - No time unless it is asked for: whoever sends says when, or 0.
//! - No protection against a peer that may write to the segment and *truncates* the file: the kernel then sends SIGBUS,
//!   to who uses the topic, and to who at this moment opens another one and looks whether this one is still in use.
//!   What such a peer can scribble into the bytes is survived by those who copy, and at worst yields wrong messages; who
//!   reads or writes in place trusts it ([`endpoint`]).
//! - No priority between subscribers: a live subscriber that stops reading holds a reliable lane, as reliable means, and
//!   one that holds a message in place keeps its slot.
//!
//! # Trade-offs
//! - Messages are copied in and out in steps that the compiler cannot split or repeat, words and, for long ones, a few
//!   instructions of assembly, so that a concurrent overwrite is never undefined behaviour. In exchange no copying
//!   reader can make a `latest` writer wait, and none can see half a message. In place there is no copy, and in
//!   exchange trust, and a writer that finds no room.
//! - Room for all messages, lanes and subscribers is allocated and locked when the topic is made, used or not, so that
//!   nothing is allocated later and being out of room is an answer ([`ring::Full`]), not a crash.
//! - Joining and leaving take a file lock and make system calls, so that sending and receiving hold no lock, allocate
//!   nothing, need no compare-and-swap, and make no system call unless somebody sleeps.
//! - Publishers pay a full memory barrier a message while a subscriber that may sleep is there, and on `latest` topics
//!   whose messages are large enough to be held in place; otherwise none, but for one a lap of a reliable lane.
//! - Receiving costs a look at each lane that was ever used: subscribers have nothing to set up when a publisher comes.
//!
//! # Where the unsafe code is
//! Each block says what it relies on. Everything else is safe Rust on top.
//!
//! | where | what | why safe Rust cannot |
//! |---|---|---|
//! | [`map`] | calls `mmap`, `madvise`, `mlock`, `munmap`; lends the mapping as a slice of atomics, half a word of it to the futex | no safe interface to memory that other processes change |
//! | `lane` | makes references to words and slots of the mapping from addresses that were worked out and checked once | computing and checking them for each message costs a third of its instructions |
//! | [`copy`] | looks at a value to be as bytes to be written | uninitialized memory |
//! | `copy/bulk` | blocks of 64 bytes by assembly | `memcpy` would be a data race, atomic words are slower |
//! | `ring/typed`, [`endpoint`] | declares a value initialized whose bytes were all loaded; loads over a value in place | uninitialized memory, without a first write for nothing |
//! | [`endpoint`], [`bytes`] | lends a slot's payload as a reference, for loans and samples | memory that the protocol, not the compiler, keeps from changing |
//! | [`bytes`] | looks at the receiver's buffer as bytes to be written | as above |

pub mod failpoint;
pub mod ring;
pub mod segment;
pub mod sync;

// loom's atomics are no plain words, so what maps memory does not exist while loom drives the ring.
#[cfg(not(loom))]
pub mod clock;
#[cfg(not(loom))]
pub mod directory;
#[cfg(not(loom))]
pub mod ends;
#[cfg(not(loom))]
pub mod error;
#[cfg(not(loom))]
mod patience;
#[cfg(not(loom))]
pub mod peers;
pub mod wait;
