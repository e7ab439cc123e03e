//! Who broke a deadline: traces the real-time CPUs, and attributes a missed cycle's time to whoever had the CPU.
#![forbid(unsafe_code)]

pub mod attribution;
pub mod decode;
pub mod event;
pub mod page;
pub mod tracefs;
