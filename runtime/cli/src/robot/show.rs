//! What the robot of a machine is and does, as text and as JSON.

use horus_launch::Manifest;
use serde::Serialize;

use super::store::Store;
use super::units::{self, title};
use super::watch::{self, Part, State, has_ended, states};
use super::{Place, install};
use crate::table::{Head, table};
use crate::topic::json;

/// Versions as JSON.
#[derive(Serialize)]
struct Versions {
    /// Version of this structure.
    schema: &'static str,
    versions: Vec<Version>,
}

/// A version.
#[derive(Serialize)]
struct Version {
    /// What robot.toml says.
    version: Option<String>,
    /// Whether it is the one that runs; else it is the one before.
    is_current: bool,
    programs: Vec<String>,
    groups: Vec<String>,
    /// Why it is of no use.
    mistake: Option<String>,
}

/// What the programs do, as JSON.
#[derive(Serialize)]
struct Status {
    /// Version of this structure.
    schema: &'static str,
    version: Option<String>,
    programs: Vec<Program>,
}

/// A program.
#[derive(Serialize)]
struct Program {
    name: String,
    /// `ready`, `starting`, `waiting`, `ended` (it did its work), `stopped`, `failed`; `installed` where nothing starts units.
    state: &'static str,
    groups: Vec<String>,
    restarts: u32,
}

/// The versions that are there.
pub fn list(store: &Store, as_json: bool) -> Result<String, String> {
    let folders = [(store.current(), true), (store.previous(), false)];
    let found = folders.into_iter().filter_map(|(folder, is_current)| Some((units::read(&folder?), is_current)));
    let versions: Vec<_> = found
        .map(|(read, is_current)| match read {
            Ok(manifest) => Version {
                version: manifest.version.clone(),
                is_current,
                programs: manifest.entries.iter().map(|entry| entry.name.clone()).collect(),
                groups: manifest.groups.keys().cloned().collect(),
                mistake: None,
            },
            Err(mistake) => {
                Version { version: None, is_current, programs: Vec::new(), groups: Vec::new(), mistake: Some(mistake) }
            }
        })
        .collect();
    if as_json {
        return Ok(json(&Versions { schema: "horus-robot-versions/1", versions }));
    }
    if versions.is_empty() {
        return Err(install::none());
    }
    Ok(versions.iter().map(line).collect())
}

fn line(version: &Version) -> String {
    let which = if version.is_current { "installed" } else { "the version before" };
    let name = version.version.as_ref().map_or_else(|| "robot".to_owned(), |version| format!("robot {version}"));
    if let Some(mistake) = &version.mistake {
        return format!("{name}: {which}, and it does not start: {mistake}\n");
    }
    let groups = match version.groups.is_empty() {
        true => String::new(),
        false => format!("; groups {}", version.groups.join(", ")),
    };
    format!("{name}: {which}; programs {}{groups}\n", version.programs.join(", "))
}

/// What the programs do, and whether all are ready.
pub fn status(place: &Place, group: Option<&str>, as_json: bool) -> Result<(String, bool), String> {
    let manifest = units::read(&place.store().current().ok_or_else(install::none)?)?;
    let names = Part::of(&manifest, group)?.names();
    let states = if place.is_live() { states(&names) } else { vec![State::default(); names.len()] };
    let groups = |name: &str| {
        let place = manifest.entries.iter().position(|entry| entry.name == name);
        let is_of = |members: &[usize]| place.is_some_and(|place| members.contains(&place));
        manifest.groups.iter().filter(|(_, members)| is_of(members)).map(|(group, _)| group.clone()).collect()
    };
    let programs: Vec<_> = names
        .iter()
        .zip(&states)
        .map(|(name, state)| Program {
            name: (*name).to_owned(),
            state: if may_end(name, &manifest) && has_ended(state) { "ended" } else { word(state) },
            groups: groups(name),
            restarts: state.restarts,
        })
        .collect();
    let ready = programs.iter().filter(|program| ["ready", "ended"].contains(&program.state)).count();
    let is_ready = ready == programs.len();
    if as_json {
        let version = manifest.version.clone();
        return Ok((json(&Status { schema: "horus-robot/1", version, programs }), is_ready));
    }
    let mut text = format!("{}: {ready} of {} programs ready\n", title(&manifest), programs.len());
    const HEADS: [Head; 4] = [("PROGRAM", false), ("STATE", false), ("RESTARTS", true), ("GROUPS", false)];
    let rows: Vec<[String; 4]> = programs.iter().map(row).collect();
    text += &table(&HEADS, &rows);
    for program in programs.iter().filter(|program| ["failed", "starting"].contains(&program.state)) {
        text += &format!("{} is {}: journalctl --unit=horus-node@{0} says why\n", program.name, program.state);
    }
    if programs.iter().any(|program| program.state == "stopped") {
        text += "start what is stopped: horus robot start\n";
    }
    Ok((text, is_ready))
}

fn row(program: &Program) -> [String; 4] {
    let Program { name, state, groups, restarts } = program;
    [name.clone(), (*state).to_owned(), restarts.to_string(), groups.join(", ")]
}

/// Whether a program may do its work and end.
fn may_end(name: &str, manifest: &Manifest) -> bool {
    manifest.entries.iter().any(|entry| entry.name == name && watch::may_end(entry))
}

fn word(state: &State) -> &'static str {
    match (state.active.as_str(), state.is_queued) {
        ("active" | "reloading", _) => "ready",
        ("activating", _) => "starting",
        ("failed", _) => "failed",
        ("inactive", true) => "waiting",
        ("inactive" | "deactivating", _) => "stopped",
        _ => "installed",
    }
}
