//! What the system granted and refused, in the words of the report.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};

use horus::cpus::CpuChoice;
use horus::startup::{Answer, Granted, Guarantee, Thread};

/// The device that bounds the wake-up time of all CPUs while a process holds it open.
const CPU_DMA_LATENCY: &str = "/dev/cpu_dma_latency";

/// Moves the supervising thread, and with it every program that it starts, to the housekeeping CPUs. Returns what was refused.
pub fn prepare_process() -> Vec<String> {
    let thread = Thread { cpu: CpuChoice::Housekeeping, ..Thread::default() }.enter();
    thread.refused().map(not_granted).collect()
}

/// Keeps all CPUs out of idle states with a wake-up cost, for as long as it exists. A phase without it is one of the machine as it
/// would be without us.
#[derive(Debug)]
pub(crate) struct Awake(#[expect(dead_code, reason = "open, therefore wished")] File);

impl Awake {
    /// Asks for it.
    ///
    /// # Errors
    /// What was refused, in the words of the report.
    pub fn take() -> Result<Self, String> {
        let take = || {
            let mut file = OpenOptions::new().read(true).write(true).open(CPU_DMA_LATENCY)?;
            file.write_all(&0_i32.to_ne_bytes()).map(|()| file)
        };
        take().map(Self).map_err(|error| format!("not granted: CPU wake-up latency 0 ({CPU_DMA_LATENCY}: {error})"))
    }

    /// Whether another process keeps the CPUs awake as well, so that letting go of it changes nothing.
    pub(crate) fn is_kept_by_others() -> bool {
        let mut found = [0; size_of::<i32>()];
        let read = File::open(CPU_DMA_LATENCY).and_then(|mut file| file.read_exact(&mut found));
        read.is_ok() && i32::from_ne_bytes(found) == 0
    }
}

/// A refusal in short; what to do about it stands in the audit.
pub(crate) fn not_granted(guarantee: &Guarantee) -> String {
    match &guarantee.answer {
        Answer::Refused { reason, .. } => format!("not granted: {} ({reason})", guarantee.asked),
        Answer::Granted(found) => found.clone(),
    }
}

/// The policy that a thread has after it asked for FIFO at `priority`.
pub fn policy(granted: &Granted, priority: u8) -> String {
    let has_fifo =
        granted.guarantees().iter().any(|guarantee| guarantee.name == "scheduling-policy" && guarantee.is_granted());
    if has_fifo { format!("FIFO/{priority}") } else { "OTHER".to_owned() }
}
