//! A project that `horus new` made: it builds without us, and passes its own test.

use std::path::Path;
use std::process::Command;

#[test]
fn a_new_project_builds_and_passes_its_test_on_the_virtual_clock() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("upright");
    let made = Command::new(env!("CARGO_BIN_EXE_horus")).arg("new").arg(&project).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    // What it depends on is built already where this test was, and the same versions of it.
    let target = Path::new(env!("CARGO_BIN_EXE_horus")).ancestors().nth(2).unwrap();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--quiet"]).current_dir(&project).env("CARGO_TARGET_DIR", target).env_remove("CARGO_MAKEFLAGS");
    let tested = cargo.output().unwrap();
    let text = String::from_utf8_lossy(&tested.stdout);
    assert!(tested.status.success(), "{text}{}", String::from_utf8_lossy(&tested.stderr));
    assert!(text.contains("1 passed"), "{text}");
}
