//! `horus tf` as a program, beside programs that send frames: this one, and one that is killed.

use std::path::Path;
use std::process::{Command, Output};

use horus::time::MonotonicTime;
use horus::topic::Options;
use horus::transform::{Broadcaster, StaticBroadcaster, Transform};
use serde_json::Value;

fn tf(directory: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_horus"));
    command.arg("tf").args(arguments).env("HORUS_SHM_DIR", directory).env_remove("HORUS_NAMESPACE");
    command.output().unwrap()
}

fn said(directory: &Path, arguments: &[&str]) -> String {
    let output = tf(directory, arguments);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// map -> odom -> base -> lidar, of which the last is static.
fn robot(options: &Options) -> (StaticBroadcaster, Broadcaster, Broadcaster) {
    let mut mounted = StaticBroadcaster::open(options).unwrap();
    mounted.add("base", "lidar", &Transform::planar(0.0, 0.5, 0.0)).unwrap();
    let mut odom = Broadcaster::open("map", "odom", options).unwrap();
    let mut base = Broadcaster::open("odom", "base", options).unwrap();
    let now = MonotonicTime::now();
    odom.send(now, &Transform::IDENTITY).unwrap();
    base.send(now, &Transform::planar(2.31, -0.012, 3.1_f64.to_radians())).unwrap();
    (mounted, odom, base)
}

#[test]
fn tree_shows_who_sends_which_frame_and_how_old_it_is() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let robot = robot(&Options::default().directory(scratch.path()));
    let text = said(scratch.path(), &["tree"]);
    let lines: Vec<_> = text.lines().collect();
    let own = format!("process {}", std::process::id());
    assert_eq!(lines[0], "map");
    for (line, (frame, told)) in
        lines[1..].iter().zip([("└─ odom", " old, "), ("   └─ base", " old, "), ("      └─ lidar", "static, ")])
    {
        assert!(line.starts_with(frame) && line.contains(told) && line.ends_with(&own), "{text}");
    }
    let value: Value = serde_json::from_str(&said(scratch.path(), &["tree", "--json"])).unwrap();
    assert_eq!((&value["roots"][0], &value["frames"][1]["child"]), (&"map".into(), &"lidar".into()));
    assert_eq!(value["frames"][1]["static"], true);
    drop(robot);
}

#[test]
fn echo_prints_one_frame_in_another_with_the_way_and_its_ages() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let _robot = robot(&Options::default().directory(scratch.path()));
    let text = said(scratch.path(), &["echo", "map", "base", "--once"]);
    assert!(
        text.contains("  x 2.310  y -0.012  yaw 3.1 deg    map -> odom (") && text.trim_end().ends_with(" old)"),
        "{text}"
    );
    let text = said(scratch.path(), &["echo", "lidar", "map", "--count", "2", "--every", "1ms"]);
    assert_eq!(text.lines().count(), 2);
    assert!(text.contains("lidar -> base (static) -> odom ("), "{text}");
    let output = tf(scratch.path(), &["echo", "map", "bse", "--timeout", "1ms"]);
    assert_eq!(output.status.code(), Some(1));
    let reason = String::from_utf8(output.stderr).unwrap();
    assert_eq!(reason, "horus tf: no frame is called bse: the nearest name is base\n");
}

#[test]
fn check_says_what_is_wrong_and_what_to_do() {
    let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
    let options = Options::default().directory(scratch.path());
    let none = tf(scratch.path(), &["check"]);
    assert!(String::from_utf8_lossy(&none.stderr).starts_with("horus tf: no program sends frames in "), "{none:?}");
    let (_mounted, _odom, mut base) = robot(&options);
    assert_eq!(
        said(scratch.path(), &["check", "--old-after", "60s"]),
        "4 frames in one tree from map: nothing is wrong\n"
    );
    let mut docks = StaticBroadcaster::open(&options).unwrap();
    docks.add("dock", "plate", &Transform::IDENTITY).unwrap();
    let _arm = Broadcaster::open("base", "arm", &options).unwrap();
    base.send(MonotonicTime::now(), &Transform::IDENTITY).unwrap();
    let output = tf(scratch.path(), &["check", "--old-after", "60s"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "there are 2 trees, which begin with dock, map: send all but one of these in a frame of another tree\n\
         arm in base was announced and not sent yet\n"
    );
    let output = String::from_utf8(tf(scratch.path(), &["check", "--old-after", "0ns"]).stdout).unwrap();
    assert!(output.contains("odom in map is ") && output.contains("still gets what it sends it from"), "{output}");
}
