//! Who broke a deadline: a program's conversation with the witness, the service that traces the real-time CPUs.
//!
//! The loop of a thread freezes the trace of its CPU by one write ([`protocol`] says to what). The thread beside the loops then asks
//! the witness what kept the missed cycle, and puts the answer into the miss's journal entry.

pub mod protocol;
pub mod words;
