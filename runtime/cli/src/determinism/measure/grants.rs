//! What the system granted and refused, in the words of the report.

use horus::cpus::CpuChoice;
use horus::startup::{Answer, Granted, Guarantee, Process, Thread};

/// Moves the supervising thread, and with it every program that it starts, to the housekeeping CPUs, and keeps all CPUs
/// out of idle states with a wake-up cost. Returns what was refused.
pub fn prepare_process() -> Vec<String> {
    let prepared = Process { hold_cpu_dma_latency: true, ..Process::default() }.prepare();
    let thread = Thread { cpu: CpuChoice::Housekeeping, ..Thread::default() }.enter();
    prepared.refused().chain(thread.refused()).map(not_granted).collect()
}

/// A refusal in short; what to do about it stands in the audit.
pub fn not_granted(guarantee: &Guarantee) -> String {
    match &guarantee.answer {
        Answer::Refused { reason, .. } => format!("not granted: {} ({reason})", guarantee.asked),
        Answer::Granted(found) => found.clone(),
    }
}

/// The policy that a thread has after it asked for FIFO at `priority`.
pub fn policy(granted: &Granted, priority: u8) -> String {
    let has_fifo = granted.guarantees().iter().any(|guarantee| guarantee.name == "policy" && guarantee.is_granted());
    if has_fifo { format!("FIFO/{priority}") } else { "OTHER".to_owned() }
}
