//! What somebody else wrote, on its way to a person: it steers no terminal and breaks no table; and a result that is not written is a failure.

use std::fs::{self, File};
use std::process::{Command, Output, Stdio};

use horus::topic::Directory;

fn horus(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn text(output: &Output) -> (String, String) {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).into()
}

#[test]
fn a_report_with_a_phase_of_a_hundred_thousand_characters_is_shown_without_its_escapes() {
    let scratch = tempfile::tempdir().unwrap();
    let report = fs::read_to_string("../../docs/data/first-boot-qemu/report.json").unwrap();
    let mut report: serde_json::Value = serde_json::from_str(&report).unwrap();
    report["phases"][0]["name"] = format!("\x1b[2J{}", "x".repeat(100_000)).into();
    report["kernel"] = "\x1b]0;owned\x07".into();
    let path = scratch.path().join("report.json");
    fs::write(&path, report.to_string()).unwrap();
    let done = horus(&["report", path.to_str().unwrap()]).output().unwrap();
    let (out, err) = text(&done);
    assert!(done.status.success() && out.contains("xxx") && out.contains("\u{fffd}]0;owned"), "{err}");
    assert!(!out.contains(['\x1b', '\x07']), "it steers a terminal");
}

#[test]
fn an_entry_of_a_hundred_thousand_characters_ends_no_blame() {
    let scratch = tempfile::tempdir().unwrap();
    let entry = serde_json::json!({
        "__REALTIME_TIMESTAMP": "1795349051000000",
        "HORUS_NODE": format!("\x1b[2J{}", "n".repeat(100_000)),
        "HORUS_CULPRIT_KIND": "task",
        "HORUS_CULPRIT": "c".repeat(100_000),
        "HORUS_CULPRIT_REMEDY": "r".repeat(100_000),
    });
    let path = scratch.path().join("entries");
    fs::write(&path, format!("{entry}\n{entry}\n")).unwrap();
    let done = horus(&["blame", "--entries", path.to_str().unwrap()]).output().unwrap();
    let (out, err) = text(&done);
    assert!(done.status.success() && out.contains("nnn") && !out.contains('\x1b'), "{err}");
    assert!(out.lines().all(|line| line.chars().count() < 2_000), "a line is too long");
}

#[test]
fn a_result_that_a_full_disk_did_not_take_is_a_failure() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    Directory::at(scratch.path().join("topics")).unwrap();
    for arguments in [
        &["node", "list"][..],
        &["topic", "list"],
        &["top", "--once", "--interval", "100ms"],
        &["blame", "--entries", "/dev/null"],
    ] {
        let run = |out: Stdio| {
            let mut command = horus(arguments);
            command.env("HORUS_SHM_DIR", scratch.path().join("topics")).stdout(out).output().unwrap()
        };
        let done = run(Stdio::piped());
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        let done = run(File::options().write(true).open("/dev/full").unwrap().into());
        assert_eq!(done.status.code(), Some(1), "{arguments:?}");
        assert!(text(&done).1.contains("cannot write the result: No space left"), "{done:?}");
    }
}
