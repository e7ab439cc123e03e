//! Who broke a deadline: traces the real-time CPUs, and attributes a missed cycle's time to those that had the CPU.
//!
//! [`serve`] sets up one trace for each CPU, and answers programs of nodes ([`horus::witness::protocol`]) until it is told to stop. What
//! an answer is made of is in `attribution`; how it is said is in [`horus::witness::words`].
//!
//! # What it does not do
//! - It does not read a trace while it runs: a reader disturbs the CPU that writes. A trace is read once a miss has frozen it.
//! - It sees the CPUs that it traces. What another CPU did to a node's lock or file is a wait of the node's own.
//! - It never waits for a program: one that does not read its answers loses its connection.
#![forbid(unsafe_code)]

mod attribution;
mod decode;
mod event;
pub mod flight;
mod notice;
mod page;
mod server;
mod signs;
mod symbols;
pub mod tracefs;
mod witness;

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use thiserror::Error;

pub use notice::Notice;

/// Where the kernel's tracer is.
pub const TRACEFS: &str = "/sys/kernel/tracing";
/// Where frozen traces are kept.
pub const TRACES: &str = "/var/lib/horus/flight";
/// The memory of one CPU's trace. In quiet, half a megabyte is more than a second; in a flood of interrupts, some ten milliseconds,
/// which is why a miss freezes it.
pub(crate) const KILOBYTES: u32 = 512;

/// What a witness traces, and for whom.
#[derive(Debug)]
pub struct Config {
    /// Where the kernel's tracer is: [`TRACEFS`].
    pub tracefs: PathBuf,
    /// The CPUs to trace.
    pub cpus: Vec<u32>,
    /// The folder for frozen traces: [`TRACES`].
    pub traces: PathBuf,
    /// How many bytes of frozen traces are kept.
    pub quota_bytes: u64,
    /// Where programs find it.
    pub listen: Listen,
}

/// Where programs find the witness.
#[derive(Debug)]
pub enum Listen {
    /// A SEQPACKET socket that listens already: systemd's.
    Socket(OwnedFd),
    /// A path to listen at. What is left there of a witness before is removed.
    Path(PathBuf),
}

/// The witness cannot serve.
#[derive(Debug, Error)]
pub enum ServeError {
    /// No program could reach it.
    #[error("cannot listen for programs at {}: {error}; {}", place.display(), server::remedy(error, place))]
    Listen {
        /// The socket's path; empty where systemd gave the socket.
        place: PathBuf,
        /// What the kernel said.
        #[source]
        error: std::io::Error,
    },
    /// The kernel no longer says who calls.
    #[error("cannot wait for programs: {0}")]
    Wait(#[source] std::io::Error),
}

/// Traces, and answers programs until `stop` is set, which is seen within a second. `notice` gets what a person should know.
///
/// Without a tracer it serves all the same, and refuses programs with the reason.
///
/// # Errors
/// When programs cannot reach it.
pub fn serve(config: Config, stop: &AtomicBool, notice: &mut dyn FnMut(Notice)) -> Result<(), ServeError> {
    let place = match &config.listen {
        Listen::Socket(_) => PathBuf::new(),
        Listen::Path(path) => path.clone(),
    };
    let listener = server::listen(config.listen).map_err(|error| ServeError::Listen { place, error })?;
    let mut witness = witness::Witness::new(&config.tracefs, &config.cpus, config.traces, config.quota_bytes, notice);
    let served = server::run(&listener, &mut witness, stop, notice);
    witness.end();
    served.map_err(ServeError::Wait)
}
