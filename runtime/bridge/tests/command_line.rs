//! What a user reads when the command line is wrong, and that a bridge ends when it is told to.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

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

#[cfg(feature = "zenoh")]
#[test]
fn a_bridge_whose_router_is_not_there_says_so_and_ends_when_it_is_told_to() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus-bridge"));
    // No program listens on the discard port.
    command.args(["ros2", "--zenoh", "--connect", "tcp/127.0.0.1:9", "--to-ros", "imu=/imu"]);
    let mut running = command.env("HORUS_SHM_DIR", scratch.path()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(running.stderr.take().unwrap()).lines().map_while(Result::ok);
    // Where there is a journal, it is said there.
    if !std::path::Path::new("/run/systemd/journal/socket").exists() {
        assert!(lines.any(|line| line.contains("waits for tcp/127.0.0.1:9")));
    }
    Command::new("kill").arg(running.id().to_string()).status().unwrap();
    assert!(running.wait().unwrap().success());
}

#[test]
fn a_layout_is_imported_for_a_message_that_is_known_and_for_a_file() {
    let output = bridge(&["import", "nav_msgs/OccupancyGrid", "--size", "data=400"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for words in ["message nav_msgs/OccupancyGrid\n", " data [i8; 400]\n", " data_count u32\n", " frame_id [u8; 32]\n"]
    {
        assert!(text.contains(words), "{text}");
    }
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("my_robot/msg");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("Status.msg");
    std::fs::write(&file, "std_msgs/Header header\nstring state\nfloat32[] currents\n").unwrap();
    let output = bridge(&["import", file.to_str().unwrap(), "--texts", "16", "--lists", "4"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("message my_robot/Status\n") && text.contains(" currents [f32; 4]\n"), "{text}");
    let none = refused(&["import", "my_robot/msg/Nothing"]);
    assert!(none.contains("my_robot/msg/Nothing"), "{none}");
}

#[test]
fn a_service_is_imported_by_its_parts() {
    let output = bridge(&["import", "std_srvs/srv/SetBool", "--part", "request"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.starts_with("message std_srvs/SetBoolRequest\n data u8"), "{text}");
    let whole = refused(&["import", "std_srvs/srv/SetBool"]);
    assert!(whole.contains("--part request"), "{whole}");
    let message = refused(&["import", "std_msgs/msg/String", "--part", "goal"]);
    assert!(message.contains("leave out --part"), "{message}");
}

#[test]
fn a_service_that_is_nearly_one_of_ros_is_told_the_name_that_was_meant() {
    let near = refused(&["ros2", "--dds", "--service-to-ros", "light=/light:std_srvs/srv/SetBol"]);
    assert!(near.contains("did you mean std_srvs/srv/SetBool?"), "{near}");
    let words = refused(&["ros2", "--dds", "--action-from-ros", "/drive"]);
    assert!(words.contains("--action-from-ros /navigate=navigate:my_robot/action/Navigate"), "{words}");
}
