//! What a user reads when the command line is wrong, and that a bridge ends when it is told to.

use std::process::{Command, Output};

fn bridge(arguments: &[&str]) -> Output {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let program = env!("CARGO_BIN_EXE_horus-bridge");
    Command::new(program).args(arguments).env("HORUS_SHM_DIR", scratch.path()).output().unwrap()
}

fn refused(arguments: &[&str]) -> String {
    let output = bridge(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_wrong_command_line_is_told_what_to_write() {
    let no_topic = refused(&["ros2", "--dds"]);
    assert!(no_topic.contains("--to-ros imu=/imu"), "{no_topic}");
    let no_slash = refused(&["ros2", "--dds", "--to-ros", "imu=imu"]);
    assert!(no_slash.contains("it begins with `/`"), "{no_slash}");
    let two_wires = refused(&["ros2", "--dds", "--zenoh", "--to-ros", "imu=/imu"]);
    assert!(two_wires.contains("cannot be used with"), "{two_wires}");
    let both = refused(&["ros2", "--dds", "--to-ros", "imu=/imu", "--from-ros", "/imu=other"]);
    assert!(both.contains("bridged twice"), "{both}");
}

#[test]
fn the_messages_that_are_known_are_printed_with_their_hashes() {
    let output = bridge(&["messages"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.lines().count() > 40, "{text}");
    assert!(text.lines().all(|line| line.starts_with("RIHS01_") && line.contains("/msg/")), "{text}");
}

#[cfg(feature = "zenoh")]
#[test]
fn an_appliance_that_reaches_nobody_is_refused() {
    let alone = refused(&["zenoh", "--name", "robot1", "--share", "imu"]);
    assert!(alone.contains("--listen"), "{alone}");
}
