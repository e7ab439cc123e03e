//! What systemd says of the programs of a robot, and whether all are ready.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use horus::time::{MonotonicTime, pause};
use horus_evidence::child::{answer, output};
use horus_launch::{Entry, Manifest, Ready, Restart};

use super::units::{TARGET, target};
use crate::installed::systemd::{LOOK, PATIENCE, PROBATION, unit, why};

/// How long a robot may take beside what its programs say: systemd bounds each start, and this is for when systemd does not.
const SPARE: Duration = Duration::from_secs(600);
/// What is asked of each unit.
const ASKED: &str = "--property=Id,ActiveState,SubState,Result,NRestarts,InvocationID,Job,ExecMainCode,ExecMainStatus";
/// The end of a process that ended by itself, and not by a signal: `CLD_EXITED`.
const EXITED: &str = "1";

/// What systemd says of a program's unit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// `active`, `inactive`, `failed`, `activating`, …; empty where nothing starts units.
    pub active: String,
    /// The same, finer.
    pub sub: String,
    /// `success`, or why it failed.
    pub result: String,
    /// How often it was started again by its rule.
    pub restarts: u32,
    /// Changes with every start.
    pub invocation: String,
    /// Whether it waits for its start.
    pub is_queued: bool,
    /// How its process ended, as `waitid` numbers that.
    pub end: String,
    /// The status or the signal of that.
    pub status: String,
}

/// What a program on trial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waits,
    IsReady,
    /// It is optional, and the others run without it.
    IsLeftOut,
    Failed,
}

/// The states of these programs, in their order.
pub fn states(names: &[&str]) -> Vec<State> {
    if names.is_empty() {
        return Vec::new();
    }
    let units: Vec<_> = names.iter().map(|name| unit(name)).collect();
    let words: Vec<_> = ["show", ASKED].into_iter().chain(units.iter().map(String::as_str)).collect();
    let mut found = parse(&answer("systemctl", &words, PATIENCE).unwrap_or_default());
    units.iter().map(|unit| found.remove(unit).unwrap_or_default()).collect()
}

/// Reads blocks of KEY=VALUE, with an empty line between two of them.
fn parse(text: &str) -> BTreeMap<String, State> {
    let block = |block: &str| {
        let (mut id, mut state) = (None, State::default());
        for (key, value) in block.lines().filter_map(|line| line.split_once('=')) {
            let value = value.trim();
            match key {
                "Id" => id = Some(value.to_owned()),
                "ActiveState" => value.clone_into(&mut state.active),
                "SubState" => value.clone_into(&mut state.sub),
                "Result" => value.clone_into(&mut state.result),
                "NRestarts" => state.restarts = value.parse().unwrap_or(0),
                "InvocationID" => value.clone_into(&mut state.invocation),
                "Job" => state.is_queued = !value.is_empty() && value != "0",
                "ExecMainCode" => value.clone_into(&mut state.end),
                "ExecMainStatus" => value.clone_into(&mut state.status),
                _ => {}
            }
        }
        id.map(|id| (id, state))
    };
    text.split("\n\n").filter_map(block).collect()
}

/// What a program is that was started for the first time of this trial.
fn stage(entry: &Entry, state: &State) -> Stage {
    match of_a_needed_one(entry, state) {
        Stage::Failed if entry.is_optional => Stage::IsLeftOut,
        stage => stage,
    }
}

fn of_a_needed_one(entry: &Entry, state: &State) -> Stage {
    match state.active.as_str() {
        _ if state.restarts > 0 || state.sub == "auto-restart" => Stage::Failed,
        "active" => Stage::IsReady,
        "failed" => Stage::Failed,
        "inactive" if state.is_queued => Stage::Waits,
        "inactive" if may_end(entry) && has_ended(state) => Stage::IsReady,
        "inactive" => Stage::Failed,
        _ => Stage::Waits,
    }
}

/// Whether a program may do its work and end: one that is ready when it was started.
pub fn may_end(entry: &Entry) -> bool {
    entry.ready == Ready::Start && !matches!(entry.restart, Some(Restart::Always))
}

/// Whether a program was started and ended well, by itself: one that was stopped has its success, too.
pub fn has_ended(state: &State) -> bool {
    let is_over = state.active == "inactive" && !state.is_queued && !state.invocation.is_empty();
    is_over && state.result == "success" && (state.end.as_str(), state.status.as_str()) == (EXITED, "0")
}

/// Programs of a robot that start and stop together: all, or those of a group.
pub struct Part<'a> {
    entries: Vec<&'a Entry>,
    target: String,
}

impl<'a> Part<'a> {
    /// All programs.
    pub fn whole(manifest: &'a Manifest) -> Self {
        Self { entries: manifest.entries.iter().collect(), target: TARGET.to_owned() }
    }

    /// Those of a group; all if none is named.
    pub fn of(manifest: &'a Manifest, group: Option<&str>) -> Result<Self, String> {
        let Some(group) = group else { return Ok(Self::whole(manifest)) };
        let found = manifest.groups.get(group).ok_or_else(|| {
            let known = manifest.groups.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let known = if known.is_empty() { "it has none".to_owned() } else { format!("there is {known}") };
            format!("the robot has no group {group}; {known}")
        })?;
        Ok(Self { entries: found.iter().map(|place| &manifest.entries[*place]).collect(), target: target(group) })
    }

    /// With all programs that these start after.
    pub fn with_those_before(self, manifest: &'a Manifest) -> Self {
        let is_of = |entry: &Entry| self.entries.iter().any(|own| own.name == entry.name);
        let places: Vec<_> = (0..manifest.entries.len()).filter(|place| is_of(&manifest.entries[*place])).collect();
        let all = manifest.with_those_before(&places);
        Self { entries: all.iter().map(|place| &manifest.entries[*place]).collect(), ..self }
    }

    /// Its programs.
    pub fn names(&self) -> Vec<&'a str> {
        self.entries.iter().map(|entry| entry.name.as_str()).collect()
    }

    /// Starts them in order, waits until all are ready, and a while longer. Says which one is not, with its last words.
    pub fn start(&self, tell: &dyn Fn(&str)) -> Result<(), String> {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let failed = |place: usize, what: &str| {
            let name = &self.entries[place].name;
            format!("{name} {}", why(&unit(name), since, what))
        };
        // An earlier version may have failed too often to be started once more.
        self.forget_failures();
        self.systemctl(&["start", "--no-block", &self.target])?;
        let patience = self.entries.iter().filter_map(|entry| entry.ready_within).sum::<Duration>() + SPARE;
        let end = MonotonicTime::now().plus(patience);
        let mut is_told = vec![false; self.entries.len()];
        let started = loop {
            let states = states(&self.names());
            let stages = self.stages(&states);
            if let Some(place) = stages.iter().position(|stage| *stage == Stage::Failed) {
                return Err(failed(place, "did not become ready"));
            }
            for (place, stage) in stages.iter().enumerate().filter(|(_, stage)| **stage != Stage::Waits) {
                if !std::mem::replace(&mut is_told[place], true) {
                    match stage {
                        Stage::IsLeftOut => tell(&failed(place, "is left out: it did not become ready")),
                        _ => tell(&format!("{} is ready", self.entries[place].name)),
                    }
                }
            }
            match stages.iter().position(|stage| *stage == Stage::Waits) {
                None => break states,
                Some(place) if MonotonicTime::now() >= end => return Err(failed(place, "did not become ready")),
                Some(_) => pause(LOOK),
            }
        };
        let end = MonotonicTime::now().plus(PROBATION);
        while MonotonicTime::now() < end {
            pause(LOOK);
            let states = states(&self.names());
            let is_as_before = |place: &usize| states[*place].invocation == started[*place].invocation;
            let stages = self.stages(&states);
            let is_watched = |place: &usize| !self.entries[*place].is_optional;
            let has_ended = |place: &usize| stages[*place] != Stage::IsReady || !is_as_before(place);
            let ended = (0..stages.len()).filter(is_watched).find(has_ended);
            if let Some(place) = ended {
                return Err(failed(place, "ended soon after its start"));
            }
        }
        Ok(())
    }

    /// Stops them, in the reverse order of their start, and forgets that they failed.
    pub fn stop(&self) -> Result<(), String> {
        self.systemctl(&["stop", &self.target])?;
        self.forget_failures();
        Ok(())
    }

    fn stages(&self, states: &[State]) -> Vec<Stage> {
        self.entries.iter().zip(states).map(|(entry, state)| stage(entry, state)).collect()
    }

    /// Forgets failures, and how often programs were started again. One that is not loaded has none.
    fn forget_failures(&self) {
        let _ = self.systemctl(&["reset-failed"]);
    }

    fn systemctl(&self, words: &[&str]) -> Result<(), String> {
        let units: Vec<_> = self.names().into_iter().map(unit).collect();
        let words: Vec<_> = words.iter().copied().chain(units.iter().map(String::as_str)).collect();
        output("systemctl", &words, PATIENCE).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "Id=horus-node@sim.service\nActiveState=active\nSubState=running\nResult=success\nNRestarts=0\nInvocationID=a1\nJob=0\n\n\
                         Id=horus-node@nav.service\nActiveState=inactive\nSubState=dead\nResult=success\nNRestarts=0\nInvocationID=\nJob=17\nExecMainCode=2\nExecMainStatus=15\n";

    #[test]
    fn states_are_read_by_unit_in_any_order() {
        let found = parse(SHOWN);
        assert_eq!(found.len(), 2);
        assert_eq!(found["horus-node@sim.service"].invocation, "a1");
        let nav = &found["horus-node@nav.service"];
        assert_eq!((nav.end.as_str(), nav.status.as_str()), ("2", "15"));
        assert!(found["horus-node@nav.service"].is_queued && !found["horus-node@sim.service"].is_queued);
        assert!(parse("").is_empty() && parse("\n\n=\nx").is_empty());
    }

    #[test]
    fn a_program_is_ready_when_its_unit_is_active_and_was_not_started_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("robot.toml");
        let text = "[programs.a]\nrun = \"a\"\n[programs.b]\nrun = \"b\"\nready = \"start\"\n[programs.c]\nrun = \"c\"\nready = \"start\"\nrestart = \"always\"\n";
        std::fs::write(&file, text).unwrap();
        let manifest = Manifest::read(&file).unwrap();
        let [notifies, works, stays] = &manifest.entries[..] else { panic!("{manifest:?}") };
        let state = |active: &str, sub: &str, restarts: u32| State {
            active: active.to_owned(),
            sub: sub.to_owned(),
            result: "success".to_owned(),
            restarts,
            ..State::default()
        };
        let done = State {
            invocation: "a1".to_owned(),
            end: EXITED.to_owned(),
            status: "0".to_owned(),
            ..state("inactive", "dead", 0)
        };
        let stopped = State { end: "2".to_owned(), status: "15".to_owned(), ..done.clone() };
        for (entry, state, expected) in [
            (notifies, state("active", "running", 0), Stage::IsReady),
            (notifies, state("activating", "start", 0), Stage::Waits),
            (notifies, State { is_queued: true, ..done.clone() }, Stage::Waits),
            (notifies, state("activating", "auto-restart", 0), Stage::Failed),
            (notifies, state("active", "running", 1), Stage::Failed),
            (notifies, state("failed", "failed", 0), Stage::Failed),
            (notifies, done.clone(), Stage::Failed),
            (works, done.clone(), Stage::IsReady),
            (works, State { result: "exit-code".to_owned(), ..done.clone() }, Stage::Failed),
            (works, stopped, Stage::Failed),
            (stays, done, Stage::Failed),
            (works, State::default(), Stage::Waits),
        ] {
            assert_eq!(stage(entry, &state), expected, "{} {state:?}", entry.name);
            let optional = Entry { is_optional: true, ..entry.clone() };
            assert_ne!(stage(&optional, &state), Stage::Failed);
        }
    }
}
