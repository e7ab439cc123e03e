//! Bytes, mappings and atomics under HORUS topics: one ring, on the heap or in shared memory.
//!
//! A topic is one file in a RAM-backed directory, mapped by every peer. Its publisher owns a **lane**, a single-writer
//! ring of fixed-size slots; every subscriber reads it with a cursor of its own. The message path through this crate,
//! in reading order: [`layout`] (which byte is what), [`ring`] (how a message crosses), [`segment`] (which file a peer
//! trusts, after [`header`] was checked), [`copy`] (how payload bytes move without a data race).
//!
//! # What it does not do
//! - No waiting in the kernel: receivers poll, and [`spin`] bounds how long. No network, no serialization.
//! - No protection against a peer that may write to the segment and *truncates* the file: the kernel then sends SIGBUS,
//!   to who uses the topic, and to who at this moment opens another one and looks whether this one is still in use.
//!   What such a peer can scribble into the bytes is survived, and at worst yields wrong messages.
//! - No priority between subscribers: a live subscriber that stops reading holds a reliable lane, as reliable means.
//!
//! # Trade-offs
//! - Every message is copied in and out by atomic words, so that a concurrent overwrite is never undefined behaviour.
//!   That costs one 8-byte move a word; in exchange no reader can make a writer wait, and none can see half a message.
//! - Joining and leaving take a file lock and make system calls, so that sending and receiving hold no
//!   lock, make no system call, allocate nothing and need no compare-and-swap.
//!
//! # Where the unsafe code is
//! In [`map`] alone: calling `mmap` and lending the mapping as a slice of atomics. Everything else is safe Rust on top.

pub mod bell;
pub mod copy;
pub mod failpoint;
pub mod heap;
pub mod layout;
pub mod local;
pub mod ring;
pub mod sync;

// loom's atomics are no plain words, so what maps memory does not exist while loom drives the ring.
#[cfg(not(loom))]
pub mod bytes;
#[cfg(not(loom))]
pub mod clock;
#[cfg(not(loom))]
pub mod directory;
#[cfg(not(loom))]
pub mod endpoint;
#[cfg(not(loom))]
pub mod error;
#[cfg(not(loom))]
pub mod floor;
#[cfg(not(loom))]
pub mod header;
#[cfg(not(loom))]
pub mod inspect;
#[cfg(not(loom))]
mod lane;
#[cfg(not(loom))]
pub mod map;
#[cfg(not(loom))]
pub mod members;
#[cfg(not(loom))]
mod opening;
#[cfg(not(loom))]
pub mod peer;
#[cfg(not(loom))]
mod publication;
#[cfg(not(loom))]
pub mod rejected;
#[cfg(not(loom))]
pub mod segment;
#[cfg(not(loom))]
pub mod spin;
#[cfg(not(loom))]
mod subscription;
#[cfg(not(loom))]
pub mod sweep;
#[cfg(not(loom))]
pub mod wait;
