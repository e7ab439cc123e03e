//! Units that systemd lists as failed, or that failed and run again, with the end of their logs: a crashed unit must never read as a
//! pass.

use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::determinism::child;
use crate::determinism::evidence::schema::{FailedUnit, RestartedUnit};

/// What one question to systemd or journald may take.
const ANSWER: Duration = Duration::from_secs(10);

/// How many log lines of a failed unit are kept.
const LOG_LINES: &str = "5";

/// How many units' logs are looked at.
const MAX_UNITS: usize = 20;

/// One line of `systemctl list-units --output=json`.
#[derive(Deserialize)]
struct Listed {
    unit: String,
}

/// systemd's identifier of "Failed with result …" (`SD_MESSAGE_UNIT_FAILURE_RESULT` in sd-messages.h).
const UNIT_FAILURE_RESULT: &str = "d9b373ed55a64feb8242e02dbe79a49c";

/// One such entry.
#[derive(Deserialize)]
struct Failure {
    #[serde(rename = "UNIT")]
    unit: String,
}

/// The failed units of this machine; none where systemd does not run.
pub fn failed() -> Result<Vec<FailedUnit>, String> {
    if !Path::new("/run/systemd/system").is_dir() {
        return Ok(Vec::new());
    }
    let text = child::output("systemctl", &["list-units", "--failed", "--output=json"], ANSWER)?;
    let mut units = parse(&text)?;
    for unit in units.iter_mut().take(MAX_UNITS) {
        unit.log = last_lines(&unit.unit);
    }
    Ok(units)
}

/// The units that failed in this boot and run again, which systemd's list of failed units leaves out; none where systemd
/// does not run.
///
/// systemd's own count of restarts will not do: journald is started anew in every boot, when the initrd ends, and login
/// prompts after each logout. What counts is that systemd wrote "Failed with result".
pub fn restarted(failed: &[FailedUnit]) -> Result<Vec<RestartedUnit>, String> {
    if !Path::new("/run/systemd/system").is_dir() {
        return Ok(Vec::new());
    }
    let failures = format!("MESSAGE_ID={UNIT_FAILURE_RESULT}");
    let text = child::output("journalctl", &["-b", &failures, "-o", "json", "--output-fields=UNIT"], ANSWER)?;
    let mut units = parse_failures(&text);
    units.retain(|unit| failed.iter().all(|failed| failed.unit != unit.unit));
    for unit in units.iter_mut().take(MAX_UNITS) {
        let state = child::output("systemctl", &["show", "--property=ActiveState", "--value", &unit.unit], ANSWER);
        unit.state = state.map_or_else(|error| error, |text| text.trim().to_owned());
        unit.log = last_lines(&unit.unit);
    }
    Ok(units)
}

/// Counts the failures of each unit in `journalctl -o json` output.
fn parse_failures(text: &str) -> Vec<RestartedUnit> {
    let mut units: Vec<RestartedUnit> = Vec::new();
    for failure in text.lines().filter_map(|line| serde_json::from_str::<Failure>(line).ok()) {
        match units.iter_mut().find(|unit| unit.unit == failure.unit) {
            Some(unit) => unit.failures += 1,
            None => units.push(RestartedUnit { unit: failure.unit, failures: 1, ..RestartedUnit::default() }),
        }
    }
    units
}

fn last_lines(unit: &str) -> Vec<String> {
    let log = child::output("journalctl", &["-b", "-u", unit, "-n", LOG_LINES, "-o", "cat"], ANSWER);
    log.map_or_else(|error| vec![error], |text| text.lines().map(str::to_owned).collect())
}

fn parse(text: &str) -> Result<Vec<FailedUnit>, String> {
    let listed: Vec<Listed> =
        serde_json::from_str(text).map_err(|error| format!("the list of failed units cannot be read: {error}"))?;
    Ok(listed.into_iter().map(|listed| FailedUnit { unit: listed.unit, log: Vec::new() }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_a_unit_are_counted_and_other_entries_skipped() {
        let text = "{\"UNIT\":\"pong.service\"}\n{\"UNIT\":\"a.service\"}\n\n{\"USER_UNIT\":\"x\"}\n{\"UNIT\":\"pong.service\"}\n";
        let units = parse_failures(text);
        let counts: Vec<_> = units.iter().map(|unit| (unit.unit.as_str(), unit.failures)).collect();
        assert_eq!(counts, [("pong.service", 2), ("a.service", 1)]);
    }

    #[test]
    fn the_list_of_systemctl_reads() {
        let text = r#"[{"unit":"pong.service","load":"loaded","active":"failed","sub":"failed","description":"x"}]"#;
        assert_eq!(parse(text).unwrap()[0].unit, "pong.service");
        assert!(parse("[]").unwrap().is_empty());
        assert!(parse("nonsense").is_err());
    }
}
