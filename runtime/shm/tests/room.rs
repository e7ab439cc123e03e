//! Topics where there is no room for them. Apart from other tests, since these start programs, which for a moment inherit what other
//! threads are opening.
#![cfg(not(loom))]

mod common;

use std::process::Command;

use common::{MAKING, Scratch};
use horus_shm::directory::Directory;
use horus_shm::ends::Making;
use horus_shm::error::OpenError;

#[test]
fn file_larger_than_the_process_may_make_is_an_error_and_not_a_signal() {
    let scratch = Scratch::new();
    let run = r#"ulimit -f 8; "$TEST" --exact in_a_process_that_may_make_small_files --ignored"#;
    let mut command = Command::new("bash");
    command.args(["-c", run]).env("DIRECTORY", scratch.files.path()).env("TEST", std::env::current_exe().unwrap());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "started by file_larger_than_the_process_may_make_is_an_error_and_not_a_signal"]
fn in_a_process_that_may_make_small_files() {
    let directory = Directory::at(std::env::var_os("DIRECTORY").unwrap()).unwrap();
    let error = Scratch { directory, ..Scratch::new() }.publish().err().unwrap();
    assert!(matches!(error, OpenError::FileSizeLimit { .. }), "{error}");
}

/// Runs in a process of its own, with a file system of 64 KiB.
#[test]
#[ignore = "started by full_file_system_is_an_error_before_anything_is_mapped"]
fn in_a_small_file_system() {
    let directory = Directory::at(std::env::var_os("SMALL_FILE_SYSTEM").unwrap()).unwrap();
    let scratch = Scratch { directory, ..Scratch::new() };
    let error = scratch.publish_as(&Making { capacity: 1 << 14, ..MAKING }).err().unwrap();
    assert!(matches!(error, OpenError::NoSpace { .. }), "{error}");
    assert!(error.to_string().contains("smaller capacity"), "{error}");
    assert_eq!(scratch.files(), 0);

    // What the dead left takes the room; it is removed, and there is room.
    let publisher = scratch.publish_as(&Making { capacity: 512, ..MAKING }).unwrap();
    let left = std::fs::read(scratch.file()).unwrap();
    drop(publisher);
    let other = scratch.directory.path().join("other.topic");
    std::fs::write(&other, left).unwrap();
    drop(scratch.publish_as(&Making { capacity: 512, ..MAKING }).unwrap());
    assert!(!other.exists());
}

#[test]
fn full_file_system_is_an_error_before_anything_is_mapped() {
    let scratch = Scratch::new();
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-ec", script]);
        command.env("SMALL_FILE_SYSTEM", scratch.files.path()).env("TEST", std::env::current_exe().unwrap());
        command.output()
    };
    let mount = r#"mount -t tmpfs -o size=64k,mode=0700 none "$SMALL_FILE_SYSTEM""#;
    if !unshare(mount).is_ok_and(|output| output.status.success()) {
        println!("skipped: this machine permits no mount in a namespace (unprivileged container)");
        return;
    }
    let run = format!(r#"{mount}; "$TEST" --exact in_a_small_file_system --ignored"#);
    let output = unshare(&run).unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
