//! Who broke a deadline: traces the real-time CPUs, and attributes a missed cycle's time to whoever had the CPU.
#![forbid(unsafe_code)]
