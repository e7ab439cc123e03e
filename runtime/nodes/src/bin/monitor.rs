//! Watches over all nodes of the machine: publishes what is safe for a node that hangs, is stopped or dies, and parks runaways.
//! [`horus::monitor`] says how.
//!
//! It runs on the housekeeping CPUs, above all nodes. Without the permission for that it runs all the same, and says so.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

use horus::cpus::CpuChoice;
use horus::monitor::Monitor;
use horus::startup::{Process, RtPriority, SchedulingPolicy, Thread};
use horus::time::{Clock, MonotonicTime, SystemClock};
use horus::topic::Directory;
use horus::{stop, supervise};

/// Above every node, and below the kernel's own.
const PRIORITY: u8 = 97;

/// How long it may compute without sleeping.
const RT_TIME_LIMIT: Duration = Duration::from_millis(500);

/// The pause after a look that failed.
const AFTER_AN_ERROR: Duration = Duration::from_millis(500);

const HELP: &str = "\
Watches over all nodes on the topics of this machine: publishes what is safe for a node that hangs, is stopped or dies, and takes its policy from one
that computes without end. It takes no options. $HORUS_SHM_DIR and $HORUS_NAMESPACE say where the topics are.";

fn main() -> ExitCode {
    if let Some(option) = std::env::args_os().nth(1) {
        if option == "--help" || option == "-h" {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        eprintln!(
            "monitor: there is no option '{}': --help says what it does",
            option.to_string_lossy().escape_debug()
        );
        return ExitCode::FAILURE;
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("monitor: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> horus::Result {
    let stop = stop::on_termination()?;
    let mut monitor = Monitor::new(Directory::from_environment()?);
    let process = Process { lock_memory: true, hold_cpu_dma_latency: false, rt_time_limit: Some(RT_TIME_LIMIT) };
    let policy = SchedulingPolicy::Fifo(RtPriority::new(PRIORITY)?);
    let granted = process.prepare().and(Thread { cpu: CpuChoice::Housekeeping, policy, ..Thread::default() }.enter());
    granted.refused().for_each(|refused| eprintln!("monitor: {refused}"));
    supervise::notify_ready("watches over the nodes of this machine");
    let mut feeding = supervise::Feeding::new();
    while !stop.load(Ordering::Relaxed) {
        let now = MonotonicTime::now();
        let (told, next) = monitor.look(now).unwrap_or_else(|error| {
            eprintln!("monitor: {error}");
            (Vec::new(), now.plus(AFTER_AN_ERROR))
        });
        // What is safe is published by now.
        told.iter().for_each(|entry| entry.send_or_print());
        feeding.feed(now);
        SystemClock.sleep_until(next);
    }
    Ok(())
}
