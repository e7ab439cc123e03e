//! The independent witness: cyclictest measures wake-up latency on the same CPU at the same priority, with none of our
//! code.
//!
//! Its unit is the microsecond; it also holds `/dev/cpu_dma_latency` at 0, as our nodes do.
//!
//! It leaves the machine's power management alone where it is told to (`--default-system`); the run then lets go of it too.
//!
//! It writes its result to a file only, and says nothing when that goes wrong. The file is therefore one in memory, which no
//! full disk can cut short.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use horus::task::{KernelPolicy, TaskStat};
use horus::time::pause;
use horus_measure::quantile;
use rustix::fs::{MemfdFlags, memfd_create};
use serde::Deserialize;

use crate::child::{Group, Words};
use crate::record::schema::{Latency, Phase};

use super::plan::Places;

/// Latencies from here on are counted, but only the largest of them is known. 20 ms: beyond any machine worth
/// measuring.
const CLASSES_US: u64 = 20_000;

/// What cyclictest may take beyond its cycles: start, locking its memory, writing its file.
const MARGIN: Duration = Duration::from_secs(10);

/// When its measuring thread is looked at, to see which policy it was granted.
const LOOK: Duration = Duration::from_millis(200);

/// The parts of cyclictest's `--json` file that we read (rt-tests 2.x, `file_version` 1).
#[derive(Deserialize)]
struct Outcome {
    thread: BTreeMap<String, Thread>,
}

/// One measuring thread.
#[derive(Deserialize)]
struct Thread {
    /// Latency in microseconds, and how often.
    histogram: BTreeMap<String, u64>,
    cycles: u64,
    max: u64,
    cpu: u32,
}

/// What cyclictest is told.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Its `SCHED_FIFO` priority.
    pub priority: u8,
    /// Distance of two wake-ups.
    pub interval: Duration,
    /// Whether it leaves power management alone.
    pub default_system: bool,
    /// How long it measures.
    pub time: Duration,
}

/// Runs cyclictest; what cannot be measured is a phase that says why.
pub fn measure(name: &str, task: Task, places: &Places) -> Phase {
    match run(task, places) {
        Ok((text, policy)) => {
            phase(name, task.interval, policy, &text).unwrap_or_else(|error| Phase::not_measured(name, error))
        }
        Err(reason) => Phase::not_measured(name, reason),
    }
}

/// A file in memory that programs which we start inherit, and its name for them.
fn file_in_memory() -> io::Result<(File, String)> {
    // Kernels before 6.3 do not know the flag.
    let name = "cyclictest.json";
    let file = memfd_create(name, MemfdFlags::NOEXEC_SEAL).or_else(|_| memfd_create(name, MemfdFlags::empty()))?;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok((file.into(), path))
}

fn run(task: Task, places: &Places) -> Result<(String, String), String> {
    let (mut file, path) = file_in_memory().map_err(|error| format!("no memory for cyclictest's result: {error}"))?;
    let Task { priority, interval, time, .. } = task;
    let cycles = (time.as_nanos() / interval.as_nanos()).max(1);
    let mut command = Command::new("cyclictest");
    command.args(["--quiet", "--mlockall", "--threads=1"]);
    command.arg(format!("--json={path}"));
    command.arg(format!("--priority={}", priority));
    command.arg(format!("--interval={}", interval.as_micros()));
    command.arg(format!("--loops={cycles}"));
    command.arg(format!("--histogram={CLASSES_US}"));
    if task.default_system {
        command.arg("--default-system");
    }
    if let Some(cpu) = places.node {
        command.arg(format!("--affinity={cpu}"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut group = Group::start(&mut command).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => "cyclictest is not installed (package rt-tests)".to_owned(),
        _ => format!("cyclictest cannot be started: {error}"),
    })?;
    let words = Words::of(group.leader().stderr.take().expect("stderr is a pipe"));
    pause((time / 2).min(LOOK));
    let policy = policy_of(&format!("/proc/{}/task", group.leader().id()))
        .unwrap_or_else(|| format!("FIFO/{} asked for", priority));
    let ended = group.wait(time + MARGIN);
    ended.map_err(|error| format!("cyclictest failed: {error}{}; is SCHED_FIFO permitted?", words.last()))?;
    // The program opened the file anew, so our own place in it is still the start.
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(|error| format!("cyclictest's result cannot be read: {error}"))?;
    if text.is_empty() { Err(format!("cyclictest wrote no result{}", words.last())) } else { Ok((text, policy)) }
}

/// The real-time policy that a thread of the process has; the main thread of cyclictest has none.
fn policy_of(tasks: &str) -> Option<String> {
    let stats = std::fs::read_dir(tasks).ok()?.flatten();
    stats.filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok()).find_map(|stat| fifo(&stat))
}

/// The policy in a `stat`, if it is `SCHED_FIFO`.
fn fifo(stat: &str) -> Option<String> {
    let task = TaskStat::parse(stat)?;
    (task.policy == KernelPolicy::Fifo).then(|| format!("FIFO/{}", task.rt_priority))
}

fn phase(name: &str, interval: Duration, policy: String, text: &str) -> Result<Phase, String> {
    let wrong = |what: &str| format!("cyclictest's result cannot be read: {what}");
    let outcome: Outcome = serde_json::from_str(text).map_err(|error| wrong(&error.to_string()))?;
    let thread = outcome.thread.into_values().next().ok_or_else(|| wrong("it has no thread"))?;
    let mut classes = Vec::with_capacity(thread.histogram.len() + 1);
    for (microseconds, count) in &thread.histogram {
        let microseconds: u64 = microseconds.parse().map_err(|_| wrong("a class is not a number"))?;
        classes.push((microseconds * 1_000, *count));
    }
    classes.sort_unstable(); // the keys of a JSON object are texts: "10" comes before "9"
    let counted: u64 = classes.iter().map(|class| class.1).sum();
    let beyond = thread.cycles.saturating_sub(counted);
    if beyond > 0 {
        classes.push((thread.max * 1_000, beyond));
    }
    let at = |share| quantile::of_classes(&classes, thread.cycles, share);
    Ok(Phase {
        name: name.to_owned(),
        measured: true,
        cpu: Some(thread.cpu),
        policy: Some(policy),
        period_ns: Some(interval.as_nanos() as u64),
        samples: thread.cycles,
        latency: Latency::from_quantiles(at, Some(thread.max * 1_000)),
        histogram: classes,
        ..Phase::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shortened from a file that cyclictest 2.40 wrote, spelling of its keys included.
    const FILE: &str = r#"{ "file_version": 1, "cmdline:": "cyclictest", "return_code": 0, "num_threads": 1,
        "thread": { "0": { "histogram": { "12": 20, "9": 900, "100": 79 }, "cycles": 1000, "min": 9, "max": 25000,
        "avg": 16.01, "cpu": 1, "node": 0 } } }"#;

    #[test]
    fn a_result_reads_with_its_classes_in_order_and_none_lost() {
        let phase = phase("cyclictest-quiet", Duration::from_millis(1), "FIFO/80".to_owned(), FILE).unwrap();
        assert_eq!((phase.samples, phase.cpu), (1_000, Some(1)));
        assert_eq!(phase.histogram, [(9_000, 900), (12_000, 20), (100_000, 79), (25_000_000, 1)]);
        assert_eq!((phase.latency.p50_ns, phase.latency.p99_ns), (Some(9_000), Some(100_000)));
        assert_eq!((phase.latency.p999_ns, phase.latency.max_ns), (None, Some(25_000_000)));
        assert_eq!(phase.misses, None, "a latency has no deadline");
    }

    #[test]
    fn a_program_writes_to_the_file_in_memory_by_its_name() {
        let (mut file, path) = file_in_memory().unwrap();
        let status = Command::new("sh").args(["-c", "echo result > \"$0\"", &path]).status().unwrap();
        assert!(status.success());
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "result\n");
    }

    #[test]
    fn the_policy_is_the_one_that_the_kernel_states() {
        let stat = |priority, policy| format!("7 (cyclic) test) S {}{priority} {policy} 0 0", "0 ".repeat(36));
        assert_eq!(fifo(&stat(80, 1)).as_deref(), Some("FIFO/80"));
        assert_eq!((fifo(&stat(0, 0)), fifo("")), (None, None));
    }

    #[test]
    fn a_torn_result_is_a_reason_and_not_a_figure() {
        for text in ["", "{", "{}", "{\"thread\": {}}", "{\"thread\": {\"0\": {\"cycles\": 1}}}"] {
            let error = phase("cyclictest-quiet", Duration::from_millis(1), "FIFO/80".to_owned(), text).unwrap_err();
            assert!(error.contains("cannot be read"), "{text}: {error}");
        }
    }
}
