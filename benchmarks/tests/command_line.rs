//! A benchmark as a program: what it prints with `--json`, and what becomes of its peers.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_cross_process_benchmark");

#[test]
fn json_is_one_object_with_every_cell_verified() {
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(PROGRAM)
        .args(["--quick", "--json", "--only", "horus, 16 bytes", "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["schema"], "horus-bench/1");
    let cell = &report["cells"][0];
    assert_eq!((&cell["path"], &cell["bytes"]), (&Value::from("process-1:1"), &Value::from(16)));
    assert_eq!((&cell["lost"], &cell["corrupt"]), (&Value::from(0), &Value::from(0)));
    assert!(cell["p50_ns"].as_f64().unwrap() > 0.0 && cell["per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 2, "JSON and log");
}

#[test]
fn a_program_that_is_killed_takes_its_peer_along_and_leaves_little() {
    let mut child = Command::new(PROGRAM).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let peers = || {
        let children = format!("/proc/{0}/task/{0}/children", child.id());
        let text = std::fs::read_to_string(children).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let patience = Instant::now();
    let mut found = peers();
    while found.is_empty() {
        assert!(patience.elapsed() < Duration::from_secs(60), "no peer was started");
        std::thread::yield_now();
        found = peers();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = || found.iter().all(|process| !std::path::Path::new(&format!("/proc/{process}/exe")).exists());
    while !gone() {
        assert!(patience.elapsed() < Duration::from_secs(90), "a peer survived");
        std::thread::yield_now();
    }
    // The next run sweeps the directory that this one could not remove.
    let left = format!("/dev/shm/horus-bench-{}", child.id());
    let next = Command::new(PROGRAM).args(["--quick", "--only", "nothing"]).output().unwrap();
    assert!(next.status.success());
    assert!(!std::path::Path::new(&left).exists(), "{left} is still there");
}

#[test]
fn a_cpu_that_is_not_there_is_refused_with_a_remedy() {
    let output = Command::new(PROGRAM).args(["--cpus", "0,1023"]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && words.contains("taskset"), "{words}");
}
