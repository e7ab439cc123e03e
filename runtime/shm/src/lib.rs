//! Bytes, mappings and atomics under HORUS topics: one ring, on the heap or in shared memory.
//!
//! A topic is one file in a RAM-backed directory, mapped by every peer. Each publisher owns a **lane**, a single-writer ring of
//! fixed-size slots. Every subscriber reads every lane with a cursor of its own. `docs/message-path.md` follows one message
//! through all of it.
//!
//! | room | what is in it |
//! |---|---|
//! | [`ring`] | how a message crosses, on the heap and in shared memory; how its bytes move without a data race; how to watch unseen |
//! | [`segment`] | which byte is what, which file a peer trusts, how it is made and mapped |
//! | [`peers`] | who lives: places, their locks, reaping the dead, cleaning up after them |
//! | [`wait`] | how a subscriber waits and sleeps, at no cost to publishers while none does |
//! | [`ends`] | what a program holds: [`Publication`](ends::Publication) and [`Subscription`](ends::Subscription) |
//! | [`board`] | words that one process writes and others read: the figures of nodes |
//! | [`directory`] | names, namespaces, groups, and where topics lie |
//!
//! # What it does not do
//! - No network, no serialization, no discovery service: a topic is found by its file's name.
//! - No order between publishers: each lane keeps its own.
//! - No wake-up for a publisher that waits for room: it polls, busily or with naps ([`mod@wait`]).
//! - No time unless it is asked for: the sender says when, or 0.
//! - No messages for who uses a segment that a peer *truncates*: its memory turns to zeros (`segment::guard`), and
//!   [`check`](ends::Subscription::check) says why. What a peer scribbles into the bytes is survived by those who copy, and yields wrong
//!   messages at worst. A program that reads or writes in place trusts it ([`ends::place`]).
//! - No priority between subscribers: a live subscriber that stops reading holds a reliable lane, as reliable means. One that
//!   holds a message of a `latest` lane in place keeps its slot, and the publisher passes the slot over.
//! - No use in a child made by `fork`: it has neither the mapping nor the place ([`segment::map`]).
//!
//! # Trade-offs
//! - Messages are copied in and out in steps that the compiler cannot split or repeat: words and, for long ones, a few
//!   instructions of assembly. So a concurrent overwrite is never undefined behaviour, no copying reader makes a `latest`
//!   writer wait, and none sees half a message. In place there is no copy, and in exchange trust.
//! - Room for all messages, lanes and subscribers is allocated and locked when the topic is made, used or not. So nothing is
//!   allocated later, and being out of room is an answer ([`ring::Full`]) and not a crash.
//! - Joining and leaving make system calls. So sending and receiving hold no lock, allocate nothing, need no compare-and-swap,
//!   and make no system call but one wake-up for each time that a subscriber fell asleep.
//! - Publishers pay a full memory barrier a message while a subscriber that may sleep is there, and on `latest` topics
//!   whose messages are large enough to be held in place. Otherwise they pay none, but for one a lap of a reliable lane.
//! - Receiving costs a look at each lane that was ever used: subscribers have nothing to set up when a publisher comes.
//!
//! # Where the unsafe code is
//! Each block says what it relies on. Everything else is safe Rust on top. What has nothing of shared memory stands in
//! [`horus_sys`], with a table of its own.
//!
//! | where | what | why safe Rust cannot |
//! |---|---|---|
//! | [`segment::map`] | lends a mapping as a slice of atomics, and half a word of it to the futex; unmaps it by hand | no safe interface to memory that other processes change |
//! | `segment::guard` | handles SIGBUS, and maps zeros over a segment whose file was cut off | signal handlers and fixed mappings |
//! | `segment::lane` | makes references to words and slots of the mapping from addresses that were worked out and checked once | computing and checking them for each message costs a third of its instructions |
//! | `peers::locks` | calls `fcntl` for byte-range locks | neither the standard library nor rustix has them |
//! | `peers::fork` | has `fork` wait for openers, and keeps a child from what its parent had mapped | `pthread_atfork`, and fixed mappings |
//! | [`ring::copy`] | looks at a value to be as bytes to be written | uninitialized memory |
//! | `ring::copy::bulk` | blocks of 64 bytes by assembly | `memcpy` would be a data race, atomic words are slower |
//! | `ring::typed`, [`ends::Subscription`] | declare a value initialized whose bytes were all loaded | uninitialized memory, without a first write for nothing |
//! | [`ends::place`] | lends a slot's payload as a reference, for loans and samples | memory that the protocol, not the compiler, keeps from changing |

pub mod failpoint;
pub mod ring;
pub mod segment;
pub mod sets;
pub mod sync;

// loom's atomics are no plain words, so what maps memory does not exist while loom drives the ring.
#[cfg(not(loom))]
pub mod board;
#[cfg(not(loom))]
mod counted;
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
