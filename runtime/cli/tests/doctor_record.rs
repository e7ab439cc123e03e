//! A tree that `scripts/record-tree` records is judged like the machine itself.

#[path = "fixtures/support.rs"]
mod support;

use std::path::Path;
use std::process::Command;

use support::{audit, repository, rule, rules};

fn record(directory: &Path) -> std::process::Output {
    Command::new(repository().join("scripts/record-tree")).arg(directory).output().expect("the script starts")
}

#[test]
fn a_recorded_machine_is_judged_like_the_live_one() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let output = record(directory.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (live_status, live) = audit(Path::new("/"), &rules());
    let (recorded_status, recorded) = audit(directory.path(), &rules());
    assert_eq!(live_status, recorded_status);
    for result in live["rules"].as_array().unwrap() {
        let id = result["id"].as_str().unwrap();
        assert_eq!(result["status"], rule(&recorded, id)["status"], "live {result}, recorded {}", rule(&recorded, id));
    }
}

#[test]
fn recording_over_an_older_tree_is_refused() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    std::fs::write(directory.path().join("old"), "").unwrap();
    assert_eq!(record(directory.path()).status.code(), Some(2));
}
