//! A machine that `scripts/record-tree` records is judged like the machine itself.

#[path = "fixtures/support.rs"]
mod support;

use std::path::Path;
use std::process::Command;

use support::{audit, repository, rule, rules, unpack};

fn record(file: &Path) -> std::process::Output {
    Command::new(repository().join("scripts/record-tree")).arg(file).output().expect("the script starts")
}

#[test]
fn a_recorded_machine_is_judged_like_the_live_one() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("machine.tree");
    let output = record(&file);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (live_status, live) = audit(Path::new("/"), &rules());
    let (recorded_status, recorded) = audit(&file, &rules());
    assert_eq!(live_status, recorded_status);
    for result in live["rules"].as_array().unwrap() {
        let id = result["id"].as_str().unwrap();
        assert_eq!(result["status"], rule(&recorded, id)["status"], "live {result}, recorded {}", rule(&recorded, id));
    }
    let directory = scratch.path().join("machine");
    unpack(&file, &directory);
    assert_eq!(audit(&directory, &rules()), (recorded_status, recorded), "as a directory");
}

#[test]
fn recording_over_an_older_recording_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("old.tree");
    std::fs::write(&file, "old").unwrap();
    assert_eq!(record(&file).status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(file).unwrap(), "old");
}
