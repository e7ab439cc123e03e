//! What the system granted and refused, in the words of the report.

use horus::cpus::CpuChoice;
use horus::startup::{Answer, Granted, Guarantee, Mode, Request, StartupError};

/// Moves the supervising thread, and with it every program that it starts, to the housekeeping CPUs, and keeps all CPUs
/// out of idle states with a wake-up cost. Returns what was refused.
pub fn prepare_process() -> Vec<String> {
    let request = Request { cpu: CpuChoice::Housekeeping, hold_cpu_dma_latency: true, ..Request::default() };
    match request.apply(Mode::Strict) {
        Ok(granted) | Err(StartupError::Refused(granted)) => granted.refused().map(not_granted).collect(),
        Err(error) => vec![error.to_string()],
    }
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
