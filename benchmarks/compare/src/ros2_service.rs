//! A ROS 2 service through rclpy, timed by Python itself: the script `ros2_service.py` beside this package.
//!
//! It runs in a network namespace of its own, where DDS finds no other machine. `HORUS_ROS2_PYTHON` names a Python that has rclpy. The service is of a type that comes with
//! rclpy.

use std::path::{Path, PathBuf};
use std::process::Command;

use horus_benchmarks::cell::{Heading, Measured, Path as Way};
use horus_benchmarks::samples::Samples;
use horus_benchmarks::stage::Stage;
use horus_benchmarks::suite::{ASLEEP, Task};
use horus_benchmarks::tally::Counts;
use horus_benchmarks::transport::Failure;

/// Environment variable: the Python.
pub const PYTHON: &str = "HORUS_ROS2_PYTHON";
/// Calls of a window at most; its time ends it before.
const MOST_CALLS: u64 = 20_000;

/// The task, where there is such a Python.
pub fn task() -> Option<Task> {
    let python = PathBuf::from(std::env::var_os(PYTHON)?);
    let heading = Heading::new(Way::Process1To1, "ROS 2 service, rclpy", 1);
    let heading = Heading { wait: ASLEEP.to_owned(), ..heading }
        .message("asleep")
        .note("an empty list of names, answered by one byte");
    Some(Task::new(heading, move |stage| calls(stage, &python)))
}

fn calls(stage: &Stage, python: &Path) -> Result<Measured, Failure> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("ros2_service.py");
    let seconds = stage.effort.limit.as_secs_f64().max(0.5);
    let output = Command::new("unshare")
        .args(["--map-root-user", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh"])
        .arg(python)
        .arg(script)
        .args([MOST_CALLS.to_string(), seconds.to_string()])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    // Half of a round trip, as of all others.
    let mut samples = Samples::new(2);
    for line in String::from_utf8(output.stdout)?.lines() {
        samples.record(line.parse()?);
    }
    let calls = samples.meter.samples();
    let counts = Counts { sent: calls, received: calls, ..Counts::default() };
    Ok(Measured { samples: Some(samples), counts, per_second: None, note: None })
}
