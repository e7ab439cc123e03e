//! What systemd is asked and told about the units of installed nodes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use horus::time::pause;
use horus_evidence::child::{answer, output};

/// The longest that systemd may take to answer: longer than a unit may take to start and to stop.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// How long a version on trial is watched after it was ready: one that dies in its first cycles is no good version.
pub const PROBATION: Duration = Duration::from_secs(2);
/// How often it is looked at.
pub const LOOK: Duration = Duration::from_millis(100);
/// How many lines of a unit's journal tell why it failed.
const LAST_WORDS: &str = "4";

/// The unit of a node.
pub fn unit(name: &str) -> String {
    format!("horus-node@{name}.service")
}

/// Lets systemd read what is installed.
pub fn reload() -> Result<(), String> {
    output("systemctl", &["daemon-reload"], PATIENCE).map(drop)
}

/// Starts a node, or all of the target of nodes; does not wait for them.
pub fn start_without_waiting(unit: &str) -> Result<(), String> {
    output("systemctl", &["start", "--no-block", unit], PATIENCE).map(drop)
}

/// Stops a node and waits for its end.
pub fn stop(name: &str) -> Result<(), String> {
    output("systemctl", &["stop", &unit(name)], PATIENCE).map(drop)
}

/// Stops all that is a part of a target, and waits for its end.
pub fn stop_target(target: &str) -> Result<(), String> {
    output("systemctl", &["stop", target], PATIENCE).map(drop)
}

/// Starts a node anew, waits until it is ready, and a while longer. Says why it is not.
pub fn restart(name: &str) -> Result<(), String> {
    let unit = unit(name);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // An earlier version may have failed too often to be started once more.
    let _ = output("systemctl", &["reset-failed", &unit], PATIENCE);
    output("systemctl", &["restart", &unit], PATIENCE).map_err(|_| why(&unit, since, "did not become ready"))?;
    let started = property(&unit, "InvocationID");
    let mut left = PROBATION;
    while left > Duration::ZERO {
        pause(LOOK);
        left = left.saturating_sub(LOOK);
        if property(&unit, "InvocationID") != started || property(&unit, "ActiveState") != "active" {
            return Err(why(&unit, since, "ended soon after its start"));
        }
    }
    Ok(())
}

/// What systemd says of a node's unit: `inactive`, `failed`, …; empty where it is not the machine's own.
pub fn state(name: &str) -> String {
    match std::path::Path::new("/run/systemd/system").exists() {
        true => property(&unit(name), "ActiveState"),
        false => String::new(),
    }
}

fn property(unit: &str, name: &str) -> String {
    let asked = answer("systemctl", &["show", "--value", "--property", name, unit], PATIENCE);
    asked.unwrap_or_default().trim().to_owned()
}

/// What happened, with the program's last words, or those of systemd when it said none.
pub fn why(unit: &str, since: Duration, what: &str) -> String {
    let _ = answer("journalctl", &["--sync"], PATIENCE);
    let since = format!("--since=@{}.{:06}", since.as_secs(), since.subsec_micros());
    let last = |field: &str| {
        let matched = format!("{field}={unit}");
        let arguments = ["--quiet", "--output=cat", "--lines", LAST_WORDS, &since, &matched];
        answer("journalctl", &arguments, PATIENCE).unwrap_or_default()
    };
    let own = last("_SYSTEMD_UNIT");
    let words = if own.trim().is_empty() { last("UNIT") } else { own };
    let words: Vec<_> = words.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match words.is_empty() {
        true => format!("{what}: see journalctl --unit={unit}"),
        false => format!("{what}: {}", words.join("; ")),
    }
}
