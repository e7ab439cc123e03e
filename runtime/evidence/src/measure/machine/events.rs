//! What systemd wrote about units in this boot: failures, restarts that it scheduled itself, processes killed for memory.
//!
//! systemd's state will not do. The list of failed units forgets those that run again. The count of restarts (`NRestarts`)
//! starts anew when a person starts the unit, and counts what is no failure: journald is started anew in every boot, when
//! the initrd ends, and login prompts after each logout.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::child;

/// What one question to systemd or journald may take.
pub const ANSWER: Duration = Duration::from_secs(10);

/// "Failed with result …" (`SD_MESSAGE_UNIT_FAILURE_RESULT` in systemd's sd-messages.h).
const FAILURE: &str = "d9b373ed55a64feb8242e02dbe79a49c";

/// "Scheduled restart job" (`SD_MESSAGE_UNIT_RESTART_SCHEDULED`): systemd's own doing, never a person's.
const RESTART: &str = "5eb03494b6584870a536b337290809b3";

/// "A process of this unit has been killed by the OOM killer" (`SD_MESSAGE_UNIT_OUT_OF_MEMORY`): the kernel's.
const OUT_OF_MEMORY: &str = "fe6faa94e7774663a0da52717891d8ef";

/// "systemd-oomd killed …" (`SD_MESSAGE_UNIT_OOMD_KILL`).
const OOMD_KILL: &str = "d989611b15e44c9dbf31e3c81256e4ed";

/// The result of a unit that ended because a process of it was killed for memory.
const OOM_RESULT: &str = "oom-kill";

/// One entry.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(rename = "MESSAGE_ID")]
    id: String,
    #[serde(rename = "UNIT")]
    unit: String,
    #[serde(rename = "UNIT_RESULT")]
    result: Option<String>,
}

/// The entries of this boot, the oldest first.
#[derive(Debug, Default)]
pub struct Events(Vec<Event>);

/// Whether systemd runs this machine; otherwise there is no manager to ask.
pub fn systemd_runs() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

impl Events {
    /// Asks the journal.
    ///
    /// # Errors
    /// When journalctl cannot be asked.
    pub fn of_this_boot() -> Result<Self, String> {
        if !systemd_runs() {
            return Ok(Self::default());
        }
        let kinds = [FAILURE, RESTART, OUT_OF_MEMORY, OOMD_KILL].map(|id| format!("MESSAGE_ID={id}"));
        let fields = "--output-fields=MESSAGE_ID,UNIT,UNIT_RESULT";
        let mut arguments = vec!["-b", "-q", "-o", "json", fields];
        arguments.extend(kinds.iter().map(String::as_str));
        child::output("journalctl", &arguments, ANSWER).map(|text| Self::parse(&text))
    }

    /// Reads `journalctl -o json`; entries about a user's units have no `UNIT` and are left out.
    fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// How often each unit failed and systemd itself restarted it. A failure that a person repaired by a start is none of
    /// these, and neither is a restart without a failure.
    ///
    /// `waits` says of a unit that failed last whether systemd is about to restart it: it writes so only when it does.
    pub fn restarts(&self, waits: impl Fn(&str) -> bool) -> Vec<(String, u64)> {
        let mut units: BTreeMap<&str, (bool, u64)> = BTreeMap::new();
        for event in &self.0 {
            let (failed, count) = units.entry(&event.unit).or_default();
            match event.id.as_str() {
                FAILURE => *failed = true,
                RESTART if std::mem::take(failed) => *count += 1,
                _ => {}
            }
        }
        let counted = units.into_iter().map(|(unit, (failed, count))| {
            let waiting = failed && waits(unit);
            (unit.to_owned(), count + u64::from(waiting))
        });
        counted.filter(|(_, count)| *count > 0).collect()
    }

    /// How often each unit lost a process for want of memory.
    pub fn memory_kills(&self) -> BTreeMap<String, u64> {
        let mut kills: BTreeMap<String, [u64; 2]> = BTreeMap::new();
        for event in &self.0 {
            let [killed, ended] = kills.entry(event.unit.clone()).or_default();
            match event.id.as_str() {
                OUT_OF_MEMORY | OOMD_KILL => *killed += 1,
                FAILURE if event.result.as_deref() == Some(OOM_RESULT) => *ended += 1,
                _ => {}
            }
        }
        // A unit that ends so has usually said both.
        let counted = kills.into_iter().map(|(unit, [killed, ended])| (unit, killed.max(ended)));
        counted.filter(|(_, count)| *count > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(all: &[(&str, &str, &str)]) -> Events {
        let line = |(id, unit, result): &(&str, &str, &str)| {
            format!("{{\"MESSAGE_ID\":\"{id}\",\"UNIT\":\"{unit}\",\"UNIT_RESULT\":\"{result}\"}}\n")
        };
        Events::parse(&all.iter().map(line).collect::<String>())
    }

    #[test]
    fn a_failure_that_systemd_restarted_counts_each_time() {
        let pong = "horus-pong.service";
        let events =
            events(&[(FAILURE, pong, "signal"), (RESTART, pong, ""), (FAILURE, pong, "signal"), (RESTART, pong, "")]);
        assert_eq!(events.restarts(|_| false), [(pong.to_owned(), 2)]);
    }

    #[test]
    fn what_a_person_started_again_and_what_was_restarted_without_a_failure_do_not_count() {
        let run = "horus-determinism.service";
        let events = events(&[
            (FAILURE, run, "exit-code"), // and `systemctl start` after it
            (RESTART, "serial-getty@ttyS0.service", ""),
            (FAILURE, run, "exit-code"),
        ]);
        assert_eq!(events.restarts(|_| false), []);
    }

    #[test]
    fn a_unit_that_waits_for_its_restart_counts_already() {
        let events = events(&[(FAILURE, "a.service", "signal"), (FAILURE, "b.service", "signal")]);
        assert_eq!(events.restarts(|unit| unit == "a.service"), [("a.service".to_owned(), 1)]);
    }

    #[test]
    fn a_kill_is_counted_once_whether_the_unit_ended_with_it_or_not() {
        let events = events(&[
            (OUT_OF_MEMORY, "a.service", ""),
            (FAILURE, "a.service", "oom-kill"),
            (OUT_OF_MEMORY, "b.service", ""),
            (OOMD_KILL, "b.service", ""),
            (FAILURE, "c.service", "oom-kill"),
            (FAILURE, "d.service", "exit-code"),
        ]);
        let kills: Vec<_> = events.memory_kills().into_iter().collect();
        let of = |unit: &str, count| (unit.to_owned(), count);
        assert_eq!(kills, [of("a.service", 1), of("b.service", 2), of("c.service", 1)]);
    }

    #[test]
    fn entries_that_are_none_are_skipped() {
        let text =
            format!("\nnonsense\n{{\"USER_UNIT\":\"x\"}}\n{{\"MESSAGE_ID\":\"{FAILURE}\",\"UNIT\":\"a.service\"}}\n");
        assert_eq!(Events::parse(&text).0.len(), 1);
    }
}
