//! What a node locks of the machine's memory: a real process with three small topics and a real-time policy, as the kernel counts it.
//!
//! This program is both the test and, with an argument, the node: a test harness would have threads of its own to lock.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use horus::message::Stamp;
use horus::prelude::*;
use horus::startup::SchedulingPolicy;

/// All of it.
const MOST_KIB: u64 = 8 * 1024;

/// All but the program's own code, which is larger here than what is shipped: tests are compiled without optimization.
const MOST_BESIDE_CODE_KIB: u64 = 6 * 1024;

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("node") => node().unwrap(),
        _ => a_node_with_three_small_topics_locks_little(),
    }
}

/// Says in its first step that it runs.
fn node() -> horus::Result {
    let mut app = App::new("small")?;
    let mut left = app.input::<Stamp>("left")?;
    let mut right = app.input::<Stamp>("right")?;
    let mut wheels = app.output::<Stamp>("wheels")?;
    let mut is_first = true;
    let step = move |_: &Cycle| {
        if std::mem::take(&mut is_first) {
            let _ = std::io::stdout().write_all(b"\n");
        }
        let sequence = left.latest().zip(right.latest()).map_or(0, |(left, right)| left.sequence + right.sequence);
        wheels.set(Stamp { sequence, sent_ns: 0 });
    };
    app.node("wheels", step).period(ms(10)).scheduling_policy(SchedulingPolicy::Fifo("10".parse()?));
    app.run().map(drop)
}

fn a_node_with_three_small_topics_locks_little() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let program = std::env::current_exe().unwrap();
    let mut child = Command::new(&program)
        .arg("node")
        .env("HORUS_SHM_DIR", scratch.path().join("topics"))
        .env_remove("NOTIFY_SOCKET")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ran = child.stdout.take().unwrap().read_exact(&mut [0]);
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap_or_default();
    let (status, maps) = (read("status"), read("smaps"));
    let _ = child.kill();
    let output = child.wait_with_output().unwrap();
    ran.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));

    let (locked, resident) = (field_kib(&status, "VmLck:"), field_kib(&status, "VmRSS:"));
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("REFUSED memory") {
        println!("skipped: this user may not lock as much memory as the node asks for (ulimit -l): {said}");
        return;
    }
    let code = code_kib(&maps, &program.to_string_lossy());
    println!("a node with three small topics: {locked} KiB locked, {resident} KiB in RAM, {code} KiB of them its code");
    assert!(locked > 0 && code > 0, "nothing was measured: {said}");
    assert!(locked - code <= MOST_BESIDE_CODE_KIB, "{locked} KiB locked, {code} KiB of code:\n{maps}");
    assert!(cfg!(debug_assertions) || locked <= MOST_KIB, "{locked} KiB locked:\n{maps}");
    // What is locked is there: no page of it can be missing when the loop needs it.
    assert!(4 * resident >= 3 * locked, "{locked} KiB locked, {resident} KiB in RAM:\n{maps}");
}

/// A number of `/proc/PID/status`.
fn field_kib(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

/// How much of the address space shows the program's file.
fn code_kib(maps: &str, program: &str) -> u64 {
    let size = |line: &str| {
        let (from, to) = line.split_whitespace().next()?.split_once('-')?;
        Some((u64::from_str_radix(to, 16).ok()? - u64::from_str_radix(from, 16).ok()?) / 1024)
    };
    maps.lines().filter(|line| line.ends_with(program)).filter_map(size).sum()
}
