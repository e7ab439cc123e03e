//! What another program wrote, on its way to a person: it steers no terminal and breaks no table; and a result that is not
//! written is a failure.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};

use horus::topic::Directory;

/// The rules of the repository, and a machine that they find no fault with.
const RULES: &str = "../../conf/rt/audit";
const TREE: &str = "tests/fixtures/trees/tuned-x86.tree";

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
    let node_file = scratch.path().join("node.toml");
    fs::write(&node_file, "program = \"idle\"\n").unwrap();
    let node = r#"{"name":"idle","nodes":[{"name":"idle","period_ns":10000000,"deadline_ns":10000000,"budget_ns":1000000,"cpu":"0","scheduling_policy":"fifo:50","thread":0,"inputs":[],"outputs":[]}]}"#;
    let program = scratch.path().join("idle");
    fs::write(&program, format!("#!/bin/sh\necho '{node}'\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for arguments in [
        &["node", "list"][..],
        &["topic", "list"],
        &["top", "--once", "--interval", "100ms"],
        &["blame", "--entries", "/dev/null"],
        &["doctor", "--explain", "--rules", RULES],
        &["doctor", "--root", TREE, "--rules", RULES],
        &["doctor", "--root", TREE, "--rules", RULES, "--json"],
        &["node", "check", node_file.to_str().unwrap()],
        &["node", "check", node_file.to_str().unwrap(), "--json"],
    ] {
        let run = |out: Stdio| {
            let mut command = horus(arguments);
            command.env("HORUS_SHM_DIR", scratch.path().join("topics")).stdout(out).output().unwrap()
        };
        let done = run(Stdio::piped());
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        let done = run(File::options().write(true).open("/dev/full").unwrap().into());
        // Of these two, 1 says that what was asked about is not good.
        let failed = if matches!(arguments[0], "doctor") || arguments[1] == "check" { 2 } else { 1 };
        assert_eq!(done.status.code(), Some(failed), "{arguments:?}");
        assert!(text(&done).1.contains("cannot write the result: No space left"), "{done:?}");
    }
}

#[test]
fn doctor_shows_what_others_are_called_without_their_escapes() {
    let scratch = tempfile::tempdir().unwrap();
    let tree = fs::read_to_string(TREE).unwrap().replace("Linux version ", "Linux version \x1b[2J");
    assert!(tree.contains('\x1b'));
    let (root, rules) = (scratch.path().join("machine.tree"), scratch.path().join("rules"));
    fs::write(&root, tree).unwrap();
    fs::create_dir(&rules).unwrap();
    let rule = "[[rule]]\nid = \"X1\"\nseverity = \"high\"\ntitle = \"A version\"\nread = \"file:/proc/version\"\nexpect = { equals = \"none\" }\n\
                why = \"Because.\"\nfix = \"Do.\"\n";
    fs::write(rules.join("x.toml"), rule).unwrap();
    for options in [&[][..], &["--all"], &["--fix", "--dry-run"], &["--junit"], &["--json"]] {
        let fixed = ["doctor", "--root", root.to_str().unwrap(), "--rules", rules.to_str().unwrap()];
        let done = horus(&[&fixed, options].concat()).output().unwrap();
        let (out, err) = text(&done);
        assert!(done.status.code() == Some(1) && out.contains("[2J"), "{out}{err}");
        assert!(!out.contains('\x1b') && !err.contains('\x1b'), "{options:?} steers a terminal: {out:?}");
    }
}

#[test]
fn a_witness_without_its_folder_names_the_folder_and_what_to_do() {
    let scratch = tempfile::tempdir().unwrap();
    let socket = scratch.path().join("missing/witness.sock");
    let done = horus(&["witness", "--tracefs", "/nowhere", "--listen", socket.to_str().unwrap()]).output().unwrap();
    let (_, said) = text(&done);
    let folder = scratch.path().join("missing");
    assert!(
        !done.status.success() && said.contains(&format!("there is no folder {}: make it", folder.display())),
        "{said}"
    );
    assert!(said.contains("--listen SOCKET") && !said.contains("another witness"), "{said}");
}
