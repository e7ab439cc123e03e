//! `horus param` beside a program of nodes that runs in this process.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use horus::prelude::*;

/// What the node's last step has read, in bits.
static GAIN: AtomicU64 = AtomicU64::new(0);

fn navigation(app: &mut App) -> horus::Result {
    let gain = app.param("gain", 0.8).unit("1/s").range(0.0..=4.0).about("speed for a metre of distance");
    let turn = app.param("turn", 2).range(0..=5);
    let _frame = app.param("frame", "base").read_only();
    let drive = move |_: &Cycle| GAIN.store((gain.get() + turn.get() as f64).to_bits(), Ordering::Relaxed);
    app.node("drive", drive).period(ms(5));
    Ok(())
}

fn param(topics: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.arg("param").args(arguments).env("HORUS_SHM_DIR", topics).env_remove("HORUS_NAMESPACE");
    command.output().unwrap()
}

fn said(topics: &Path, arguments: &[&str]) -> String {
    let output = param(topics, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn refused(topics: &Path, arguments: &[&str]) -> String {
    let output = param(topics, arguments);
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn parameters_are_listed_and_set_from_another_process_and_what_is_refused_changes_nothing() {
    const PROGRAM: &str = "HORUS_TEST_PARAM_PROGRAM";
    if std::env::var_os(PROGRAM).is_some() {
        return horus_program();
    }
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let topics = scratch.path();
    assert!(said(topics, &["list"]).starts_with("no living program has parameters"));
    let mut program = Command::new(std::env::current_exe().unwrap());
    let name = thread::current().name().unwrap().to_owned();
    program.args([&*name, "--exact", "--nocapture"]).env(PROGRAM, "1").env("HORUS_SHM_DIR", topics);
    program.env_remove("HORUS_NAMESPACE").env_remove("HORUS_NODE_FILE").stdout(std::process::Stdio::piped());
    let running = Running(program.spawn().unwrap());
    let began = Instant::now();
    while said(topics, &["list"]).starts_with("no living") {
        assert!(began.elapsed() < Duration::from_secs(60), "the program does not start");
        horus::time::sleep(ms(20));
    }

    let list = said(topics, &["list", "nav/drive"]);
    assert!(list.contains("0.8 1/s") && list.contains("0 to 4") && list.contains("program"), "{list}");
    assert_eq!(
        refused(topics, &["set", "nav/drive", "gain=9"]),
        "refused: gain may be 0 to 4 1/s (speed for a metre of distance); it stays 0.8\n"
    );
    for (value, words) in [
        ("gain=NaN", "gain may be 0 to 4 1/s"),
        ("gain=inf", "gain may be 0 to 4 1/s"),
        ("gain=fast", "gain may be 0 to 4 1/s"),
        ("turn=2.5", "turn may be a whole number from 0 to 5; it stays 2"),
        ("gian=1", "did you mean gain?"),
        ("frame=odom", "frame changes at the program's start alone"),
    ] {
        let error = refused(topics, &["set", "nav/drive", value]);
        assert!(error.contains(words), "{value}: {error}");
    }
    let error = refused(topics, &["set", "nav/drive", "turn=3", "gain=9"]);
    assert!(error.contains("nothing else changes"), "{error}");
    assert_eq!(said(topics, &["get", "nav/drive", "turn"]), "2\n");

    assert_eq!(
        said(topics, &["set", "nav/drive", "turn=3", "gain=1.5"]),
        "turn = 3 (was 2)\ngain = 1.5 1/s (was 0.8 1/s)\n"
    );
    assert_eq!(said(topics, &["get", "nav", "gain"]), "1.5 1/s\n");
    let list: serde_json::Value = serde_json::from_str(&said(topics, &["list", "--json"])).unwrap();
    assert_eq!(list["parameters"][0]["value"], 1.5);
    assert!(list["parameters"][0]["from"].as_str().unwrap().starts_with("user "), "{list}");
    let error = refused(topics, &["get", "nav/driver", "gain"]);
    assert!(error.contains("has no node driver"), "{error}");
    drop(running);
    assert!(refused(topics, &["get", "nav/drive", "gain"]).contains("no living program nav"));
}

/// The program: it ends by itself when its step has read the new values, and its peer kills it otherwise.
fn horus_program() {
    let mut app = App::new("nav").unwrap();
    navigation(&mut app).unwrap();
    app.run().unwrap();
}

struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ = self.0.wait();
    }
}
