//! Units that systemd lists as failed, or that failed and were restarted, with the end of their logs: a crashed unit must never
//! read as a pass.

use serde::Deserialize;

use crate::child;
use crate::record::schema::{FailedUnit, RestartedUnit};

use super::events::{ANSWER, Events, systemd_runs};

/// How many log lines of a failed unit are kept.
const LOG_LINES: &str = "5";

/// How many units' logs are looked at.
const MAX_UNITS: usize = 20;

/// One line of `systemctl list-units --output=json`.
#[derive(Deserialize)]
struct Listed {
    unit: String,
}

/// The failed units of this machine; none where systemd does not run.
pub fn failed() -> Result<Vec<FailedUnit>, String> {
    if !systemd_runs() {
        return Ok(Vec::new());
    }
    let text = child::output("systemctl", &["list-units", "--failed", "--output=json"], ANSWER)?;
    let mut units = parse(&text)?;
    for unit in units.iter_mut().take(MAX_UNITS) {
        unit.log = last_lines(&unit.unit);
    }
    Ok(units)
}

/// The units that failed in this boot and that systemd restarted, which its list of failed units leaves out.
///
/// A unit that a person started again is none of them: that person has seen its failure, and a repeated determinism run would
/// fail for ever because of the first one.
pub fn restarted(events: &Events, failed: &[FailedUnit]) -> Vec<RestartedUnit> {
    let waits = |unit: &str| property(unit, "SubState").is_ok_and(|state| state.starts_with("auto-restart"));
    let mut units: Vec<RestartedUnit> = events
        .restarts(waits)
        .into_iter()
        .filter(|(unit, _)| failed.iter().all(|failed| failed.unit != *unit))
        .map(|(unit, failures)| RestartedUnit { unit, failures, ..RestartedUnit::default() })
        .collect();
    for unit in units.iter_mut().take(MAX_UNITS) {
        unit.state = property(&unit.unit, "ActiveState").unwrap_or_else(|error| error);
        unit.log = last_lines(&unit.unit);
    }
    units
}

/// One property of a unit.
pub fn property(unit: &str, name: &str) -> Result<String, String> {
    let name = format!("--property={name}");
    child::output("systemctl", &["show", &name, "--value", unit], ANSWER).map(|text| text.trim().to_owned())
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
    fn the_list_of_systemctl_reads() {
        let text = r#"[{"unit":"pong.service","load":"loaded","active":"failed","sub":"failed","description":"x"}]"#;
        assert_eq!(parse(text).unwrap()[0].unit, "pong.service");
        assert!(parse("[]").unwrap().is_empty());
        assert!(parse("nonsense").is_err());
    }
}
