//! What HORUS asks of the processor, the C library and the kernel, apart from shared memory.
//!
//! It stands below all other crates of ours, and uses none of them. Each file is one thing:
//!
//! | file | what is in it |
//! |---|---|
//! | [`clock`] | the clock that messages are stamped with, and how far it is ahead of the machine's |
//! | [`checksum`] | CRC32C of short messages |
//! | [`gate`] | a value for one thread at a time, for which no thread waits |
//! | [`heap`] | how much memory the heap reserves |
//! | [`process`] | whether this process is the one that opened a handle, or a child of it |
//! | [`scheduling`] | a thread's CPU, and taking a thread out of the real-time policies |
//! | [`termination`] | what SIGTERM and SIGINT do |
//! | [`mod@failpoint`] | places at which a test has a process kill itself |
//!
//! # What it does not do
//! It offers no function that rustix or the standard library has. What maps a file, locks it or moves bytes between processes belongs
//! to `horus-shm`.
//!
//! # Where the unsafe code is
//! Each block says what it relies on. Everything else is safe Rust.
//!
//! | where | what | why safe Rust cannot |
//! |---|---|---|
//! | [`checksum`] | calls functions for processors that have the instruction, after asking | nothing says so to the compiler |
//! | [`gate`] | lends a value to one thread at a time, and makes no thread wait | the standard library's locks cost two locked instructions |
//! | [`heap`] | calls `mallopt` | no safe crate has it |
//! | [`process`] | uses a page that the kernel empties in a child, and asks the kernel to do so | a mapping, and an advice that changes memory |
//! | [`scheduling`] | calls `sched_setscheduler`, and asks the C library for the CPU's number | no safe crate has the one for threads of other processes, or the other as cheaply |
//! | [`termination`] | puts a function into signal handlers | nothing says to the compiler what a handler may call |

pub mod checksum;
pub mod clock;
pub mod failpoint;
pub mod gate;
pub mod heap;
pub mod process;
pub mod scheduling;
pub mod termination;
