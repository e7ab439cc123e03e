//! A verdict in words: the sentence that a miss's journal entry ends with, and what prevents the next one.

use super::protocol::{Confidence, Kind, Missed, Share, Verdict};

/// The longest list of culprits in a sentence.
const MOST_NAMED: usize = 3;
/// Beside the longest share, these parts of the window are worth a word: a fifth.
const CONSIDERABLE: u64 = 5;

/// What kept a cycle: `missed by 4.2 ms: task hog/137 (FIFO 90) on CPU 1 for 4.99 ms (99 %)`.
pub fn sentence(verdict: &Verdict, missed: &Missed) -> String {
    let late = missed.completion_ns.saturating_sub(missed.deadline_ns);
    let named = culprits(verdict, missed);
    let mut text = format!("missed by {}: ", time(late));
    if named.is_empty() {
        text += "nothing is known of what kept it";
    }
    for (index, share) in named.iter().enumerate() {
        match index {
            0 => {}
            _ if index + 1 == named.len() => text += " and ",
            _ => text += ", ",
        }
        text += &phrase(share, verdict.window_ns, missed.cpu);
    }
    text += match verdict.confidence {
        Confidence::High => "",
        Confidence::Low => "; not certain",
        Confidence::None if named.iter().any(|share| share.kind != Kind::Unknown) => "; most of it was not seen",
        Confidence::None => "",
    };
    text
}

/// The shares that a sentence names: the suspects of a considerable part, or whose part alone was the lateness. Without any, it is the
/// longest share. The longest comes first.
pub fn culprits<'a>(verdict: &'a Verdict, missed: &Missed) -> Vec<&'a Share> {
    let late = missed.completion_ns.saturating_sub(missed.deadline_ns).max(1);
    let is_considerable =
        |share: &&Share| share.ns.saturating_mul(CONSIDERABLE) >= verdict.window_ns || share.ns >= late;
    let mut named: Vec<&Share> =
        verdict.shares.iter().filter(|share| share.is_suspect && share.ns > 0).filter(is_considerable).collect();
    named.sort_by_key(|share| std::cmp::Reverse(share.ns));
    named.truncate(MOST_NAMED);
    if named.is_empty() {
        named.extend(verdict.shares.iter().filter(|share| share.ns > 0).max_by_key(|share| share.ns));
    }
    named
}

/// One share: who had it, where, for how long.
fn phrase(share: &Share, window_ns: u64, cpu: u32) -> String {
    let detail = share.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
    let part = u128::from(share.ns) * 100 / u128::from(window_ns.max(1));
    format!("{}{detail} on CPU {cpu} for {} ({part} %)", who(share), time(share.ns))
}

/// Who had a share.
pub fn who(share: &Share) -> String {
    match share.kind {
        Kind::Task => format!("task {}", share.name),
        Kind::Interrupt => format!("interrupt {}", share.name),
        Kind::Softirq => format!("softirq {}", share.name),
        Kind::WorkItem => format!("work item {}", share.name),
        Kind::MinorFault => "page faults of its own".to_owned(),
        Kind::MajorFault => "page faults of its own that waited for a disk".to_owned(),
        Kind::OwnCode => "its own code".to_owned(),
        Kind::OwnWait => "a wait of its own".to_owned(),
        Kind::Frequency => "a lower clock frequency".to_owned(),
        Kind::Nobody => "nobody of this machine".to_owned(),
        Kind::Unknown => "unknown".to_owned(),
    }
}

/// What prevents the next miss of this kind. The rules are those of `horus audit`.
pub fn remedy(kind: Kind) -> &'static str {
    match kind {
        Kind::Task => "give it a lower priority than the node, or another CPU (rules I3 and U3)",
        Kind::Interrupt => "move it to a housekeeping CPU (rules C4, C4-effective and I1)",
        Kind::Softirq => "keep its interrupts and its timers off the node's CPU (rules C4-effective, C2 and S3-timer)",
        Kind::WorkItem => "keep the kernel's deferred work on housekeeping CPUs (rule S5)",
        Kind::MinorFault => {
            "allocate and touch memory before the loop, and give none back in it (rules U2 and K10-thp)"
        }
        Kind::MajorFault => {
            "lock the program's memory, read files before the loop, and keep swap off (rules U2 and S3-swap)"
        }
        Kind::OwnCode => "make the step shorter, or declare a longer budget and a later deadline",
        Kind::OwnWait => "wait for nothing in a step: take locks by try_lock, leave files and sleeps to other threads",
        Kind::Frequency => "hold the clock frequency, and cool the processor (rules P1, P1-range and P4)",
        Kind::Nobody => "look below Linux, at firmware, hypervisor and idle states (rule C8): see docs/blame.md",
        Kind::Unknown => {
            "see which events the witness misses in its journal, or give it a larger buffer: see docs/blame.md"
        }
    }
}

/// A time with three digits: `870 ns`, `31.4 us`, `4.99 ms`, `12.3 s`.
fn time(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests;
