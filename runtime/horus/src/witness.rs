//! Who broke a deadline: a program's conversation with the witness, the service that traces the real-time CPUs.
//!
//! The loop of a thread freezes the trace of its CPU by one write (`freeze`). The thread beside the loops then asks
//! the witness what kept the missed cycle (`client`, `beside`), and puts the answer into the miss's journal entry
//! (`miss`). With a question goes what the flight recorder keeps (`recording`).
//! What both say is [`protocol`], and [`words`] are for people.

pub(crate) mod beside;
pub(crate) mod client;
pub(crate) mod freeze;
pub mod protocol;
pub(crate) mod recording;
mod seqpacket;
pub mod words;
