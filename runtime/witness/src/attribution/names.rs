//! How threads, interrupts and their work are called.

use crate::event::Task;

/// The kernel's softirqs in the order of their numbers (`include/linux/interrupt.h`).
const SOFTIRQS: [&str; 10] =
    ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"];
/// The longest name of an interrupt's handler.
const LONGEST: usize = 48;

/// A softirq: `NET_RX`.
pub fn softirq(number: u32) -> String {
    let known = usize::try_from(number).ok().and_then(|number| SOFTIRQS.get(number));
    known.map_or_else(|| number.to_string(), |name| (*name).to_owned())
}

/// An interrupt: `27 (eth0)`.
pub fn interrupt(number: u32, name: &str) -> String {
    let name: String = name.chars().take(LONGEST).collect();
    if name.is_empty() { number.to_string() } else { format!("{number} ({name})") }
}

/// A thread: `hog/137`. An interrupt's thread has the number of its interrupt already.
pub fn task(task: Option<&Task>, tid: u32) -> String {
    match task {
        Some(task) if is_interrupt(task) => task.name.clone(),
        Some(task) => format!("{}/{tid}", task.name),
        None => format!("?/{tid}"),
    }
}

/// A kernel worker, whose name has numbers already: `kworker/1:1`.
pub fn worker(task: Option<&Task>, tid: u32) -> String {
    task.map_or_else(|| tid.to_string(), |task| task.name.clone())
}

/// Whether a thread serves an interrupt.
pub fn is_interrupt(task: &Task) -> bool {
    task.name.starts_with("irq/")
}

/// How a thread is scheduled. The kernel's number does not tell FIFO from round robin.
pub fn policy(task: &Task) -> String {
    match task.priority {
        ..0 => "deadline".to_owned(),
        real_time @ 0..100 => format!("FIFO {}", 99 - real_time),
        ordinary => format!("nice {}", ordinary - 120),
    }
}
